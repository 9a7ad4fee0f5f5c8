import { describe, expect, test } from 'vitest';
import type { OrderState } from '../../../protocol/order/state.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { happyPath, kitOf, pathTo, transactionOf } from './histories.js';
import {
  attentionIn,
  awaited,
  lateLife,
  life,
  lost,
  newId,
  notFound,
  opening,
  orderId,
  refusal,
  report,
  shipped,
  shownAt,
  stateIn,
} from './lives.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The lives of orders, from the hand-over to the end: what the product is notified of, and when the service is asked. */

const readsOf = ({ calls }: Life) => calls.map((call) => Math.round(Number.parseFloat(call)));

describe('an order', () => {
  test('is announced with each phase, its result, its correction and its end', async () => {
    const order = await life(['ordered']);
    for (let day = 1; day < happyPath.length; day += 1) {
      await order.until(24 * day);
      await report(order, happyPath.slice(0, day + 1), { interpretation: 'normal' });
    }
    expect(order.events).toEqual([
      '0h order.phase_changed preparing',
      '24h order.phase_changed awaiting_registration',
      '48h order.phase_changed in_transit_to_customer',
      '96h order.phase_changed awaiting_registration',
      '120h order.phase_changed with_customer',
      '168h order.return_reminder 1',
      '168h order.phase_changed in_transit_to_lab',
      '192h order.phase_changed at_lab',
      '216h order.result',
      '216h order.phase_changed completed',
      '216h completed',
    ]);
    const about = { orderId, rootOrderId: orderId, reference: 'ref-1', userId: 'user-1' };
    expect(order.announced.at(-1)).toEqual({
      ...{ id: `${orderId}/10/phase_changed`, at: '2024-03-10T10:00:00.000Z', type: 'order.phase_changed' },
      ...{ source: `kit-order/${orderId}`, subject: orderId },
      data: { ...about, phase: 'completed', status: 'completed.testkit.completed' },
    });
    expect(order.calls).toEqual([]);
  });

  test.each(['HH', 'Above  normal', 'other'])(
    'whose results mean %j needs a person, once, and the product gets the word as it is',
    async (interpretation) => {
      const order = await life(pathTo('delivered_to_lab'));
      for (const low of ['partial_results', 'completed'])
        await report(order, [...pathTo('delivered_to_lab'), `completed.testkit.${low}`], { interpretation });
      expect(order.announced.filter(({ type }) => type === 'order.result')).toMatchObject([
        { data: { interpretation } },
      ]);
      expect(order.events.filter((event) => event.includes('attention'))).toEqual([
        '0h order.attention_raised unknown_interpretation',
      ]);
    },
  );

  test('whose results mean something unknown needs nobody once that is answered, or a known word takes its place', async () => {
    const atLab = pathTo('delivered_to_lab');
    const order = await life(atLab);
    const partial = [...atLab, 'sample_with_lab.testkit.partial_results'];
    await report(order, partial, { interpretation: 'HH' });
    expect(attentionIn(await order.update('resolveProblem', { orderId, decision: 'wait' }))).toEqual([]);
    await report(order, partial, { interpretation: 'HH', sampleId: 'SAMPLE-1' });
    await report(order, partial, { interpretation: 'LL', updatedAt: '2024-03-10T11:00:00.000Z' });
    expect(((await order.run.query('state')) as OrderState).attention).toMatchObject([
      { reason: 'unknown_interpretation', orderId },
    ]);
    await report(order, partial, { interpretation: 'panic low', updatedAt: '2024-03-10T12:00:00.000Z' });
    expect(((await order.run.query('state')) as OrderState).attention).toMatchObject([{ reason: 'critical_result' }]);
  });

  test('that never moves is read each day, needs a person, and is given up', async () => {
    const order = await (await life(['ordered'], { giveUpAfter: '5d' })).until(1000);
    expect(order.events).toEqual([
      '0h order.phase_changed preparing',
      '120h order.attention_raised shipping_overdue',
      '240h order.ended unresolved',
      '240h completed',
    ]);
    expect(readsOf(order)).toEqual([120, 143, 166, 188, 211, 234, 240]);
    expect(order.announced.at(-1)).toMatchObject({
      id: `${orderId}/1.unresolved/ended`,
      at: '2024-03-11T10:00:00.000Z',
    });
    const asked = order.announced[1];
    expect(asked?.id).toBe(`${orderId}/shipping_overdue.shipping_overdue/attention_raised`);
    expect(asked?.data).toMatchObject({ orderId, reason: 'shipping_overdue', since: '2024-03-06T10:00:00.000Z' });
  });

  test('announces its end once, whatever else comes in before the product is notified', async () => {
    const order = await life(['ordered'], { giveUpAfter: '5d' });
    await order.until(239);
    order.answers['notify'] = silent;
    await order.until(240);
    await order.signal('orderChanged', shownAt(['ordered']));
    delete order.answers['notify'];
    await order.settle();
    expect(order.events.slice(2)).toEqual(['240h order.ended unresolved', '240h completed']);
  });

  test('needs nobody any more once it moves on, however late', async () => {
    const order = await life(['ordered']);
    await order.until(24 * 6);
    await report(order, shipped);
    expect(order.events.slice(1)).toEqual([
      '120h order.attention_raised shipping_overdue',
      '144h order.attention_cleared shipping_overdue',
      '144h order.phase_changed in_transit_to_customer',
    ]);
  });

  test('that the service does not show for a day needs a person, and nothing is concluded from the silence', async () => {
    const order = await life(['ordered'], { giveUpAfter: '5d' }, { readOrder: unavailable });
    await order.until(24 * 15);
    expect(order.events.slice(1)).toEqual(['144h order.attention_raised order_unreadable']);
    const reads = readsOf(order);
    expect(reads.slice(0, 9)).toEqual([120, 120, 120, 121, 122, 125, 130, 136, 141]);
    expect(reads.filter((hours) => hours === 144)).toHaveLength(1);
    order.answers['readOrder'] = shownAt(shipped);
    await order.until(24 * 16);
    expect(order.events.slice(2).map((event) => event.replace(/^[\d.]+h /, ''))).toEqual([
      'order.attention_cleared order_unreadable',
      'order.attention_raised delivery_overdue',
      'order.registration_reminder 1',
      'order.phase_changed in_transit_to_customer',
    ]);
  });
});

test('an order that is overdue is read no more often than the service asks for', async () => {
  const details = { fields: [], retryAfterMs: 12 * 3_600_000 };
  const readOrder = { failure: { type: 'TooManyRequests', isFinal: false, details } };
  const order = await (await life(['ordered'], {}, { readOrder })).until(191);
  expect(readsOf(order)).toEqual([120, 132, 144, 156, 168, 180]);
});

describe('a kit', () => {
  test('that is not registered is asked for three times, and needs a person', async () => {
    const order = await (await lateLife(pathTo('with_customer'), { giveUpAfter: '1d' })).until(24 * 100);
    expect(order.events).toEqual([
      '96h order.phase_changed awaiting_registration',
      '168h order.registration_reminder 1',
      '336h order.registration_reminder 2',
      '816h order.registration_reminder 3',
      '2160h order.attention_raised registration_overdue',
      '2184h order.ended unresolved',
      '2184h completed',
    ]);
    expect(order.announced[1]).toMatchObject({
      ...{ id: `${orderId}/registration_reminder.1/registration_reminder`, at: '2024-03-08T10:00:00.000Z' },
      ...{ portalLink: { userId: 'user-1', orderId }, data: { reminder: 1 } },
    });
  });

  test('that is not sent back is asked for twice, and needs a person', async () => {
    const order = await (await lateLife(pathTo('testkit_registered'), { giveUpAfter: '1d' })).until(24 * 100);
    expect(order.events).toEqual([
      '120h order.phase_changed with_customer',
      '168h order.return_reminder 1',
      '288h order.return_reminder 2',
      '456h order.attention_raised return_overdue',
      '480h order.ended unresolved',
      '480h completed',
    ]);
    expect(order.announced[1]).not.toHaveProperty('portalLink');
  });

  test('with a problem needs a person for that and for its delay, each once', async () => {
    const order = await lateLife([...pathTo('transit_lab'), 'problem_in_transit_lab'], { giveUpAfter: '1d' });
    expect((await order.until(24 * 100)).events).toEqual([
      '192h order.phase_changed in_transit_to_lab',
      '360h order.attention_raised problem_persists',
      '384h order.ended unresolved',
      '384h completed',
    ]);
  });
});

describe('a kit that is lost', () => {
  test('waits a month for a decision, and fails', async () => {
    const order = await (await life(lost)).until(24 * 100);
    expect(order.events).toEqual([
      '0h order.attention_raised decision_needed',
      '0h order.phase_changed failed',
      '792h order.ended failed',
      '792h completed',
    ]);
    expect(order.announced.at(-1)).toMatchObject({ id: `${orderId}/4.failed/ended`, data: { outcome: 'failed' } });
  });

  test('is followed by another by the policy, which is announced with the one that it replaces', async () => {
    const events = [{ id: 71, at: '2024-03-02T10:00:00.000Z', status: 'received.testkit.ordered' }];
    const placed = { orderId: newId, userId: 'user-1', method: 'testkit', events, createdAt: events[0]?.at };
    const decided: unknown[] = [];
    const replaceKitOrder = (_now: number, { decidedOn }: { decidedOn: unknown }) => {
      decided.push(decidedOn);
      return { snapshot: placed, adopted: false };
    };
    const order = await life(lost, { onLost: 'replace' }, { replaceKitOrder });
    expect(decided).toEqual([{ eventId: 4 }]);
    expect(order.events).toEqual([
      '0h order.phase_changed failed',
      '0h order.phase_changed preparing',
      '0h order.replacement',
    ]);
    expect(order.announced.at(-1)).toMatchObject({
      ...{ id: `${newId}/71/replacement`, at: '2024-03-01T10:00:00.000Z', subject: newId },
      data: { orderId: newId, rootOrderId: orderId, replaces: orderId },
    });
  });

  test('is given up by the policy', async () => {
    const { events } = await life(lost, { onLost: 'fail' });
    expect(events).toEqual(['0h order.phase_changed failed', '0h order.ended failed', '0h completed']);
  });

  test('is decided on by a person: to wait as long again, or to give up', async () => {
    const waiting = await life(lost);
    await waiting.until(24 * 10);
    await waiting.update('resolveProblem', { orderId, decision: 'wait' });
    expect((await waiting.until(24 * 100)).events.slice(2)).toEqual([
      '240h order.attention_cleared decision_needed',
      '960h order.ended failed',
      '960h completed',
    ]);
    const order = await life(lost);
    await order.update('resolveProblem', { orderId, decision: 'abandon' });
    expect(order.events.slice(2)).toEqual(['0h order.ended abandoned', '0h completed']);
  });
});

test('a sample that cannot be used waits ten days for a redraw, then for a decision', async () => {
  const order = await (await lateLife([...pathTo('delivered_to_lab'), 'sample_error'])).until(24 * 100);
  expect(order.events.slice(1)).toEqual([
    '240h order.attention_raised decision_needed',
    '960h order.ended failed',
    '960h completed',
  ]);
});

test('a critical result is announced, and repeated each hour until somebody has acknowledged it', async () => {
  const order = await life(pathTo('delivered_to_lab'));
  await report(order, happyPath, { interpretation: 'critical' });
  await order.until(2);
  await order.update('acknowledgeCriticalResult', { orderId, by: 'person-1', outcome: 'confirmed' });
  expect((await order.until(10)).events.slice(1)).toEqual([
    '0h order.critical_result',
    '0h order.attention_raised critical_result',
    '0h order.result',
    '0h order.phase_changed completed',
    '1h order.critical_result_reminder 1',
    '2h order.critical_result_reminder 2',
    '2h order.attention_cleared critical_result',
    '2h completed',
  ]);
});

test('an order that a webhook brings is read first, with all of its chain', async () => {
  const snapshot = shownAt(['ordered']);
  const readChain = { snapshots: [snapshot], gone: false, rootOrderId: orderId, notifies: true };
  const order = new Life(opening, { readOrder: snapshot, readChain });
  const policy = resolvePolicy('order');
  await order.start({ rootOrderId: orderId, policy }, { name: 'orderChanged', argument: snapshot });
  await order.until(1);
  expect(order.calls.map((call) => call.replace(/^[\d.]+h /, ''))).toEqual(['readChain']);
  expect(order.announced.map(({ type }) => type)).toEqual(['order.phase_changed']);
});

const registration = { sample_id: 'SAMPLE-1' };
const registered = [...awaited, 'testkit_registered'];

describe('a command', () => {
  test('that registers the kit gives the service what it needs, and takes up the order that it answers', async () => {
    const asked: unknown[] = [];
    const registerKit = (_now: number, call: unknown) => {
      asked.push(call);
      return shownAt(registered);
    };
    const order = await life(awaited, {}, { registerKit });
    const reply = await order.update('register', { registration });
    expect(asked).toEqual([{ orderId, registration, chain: [orderId] }]);
    expect(stateIn(reply).chain).toMatchObject([{ orderId, status: 'received.testkit.testkit_registered' }]);
    expect(order.run.shown.details).toContain('the product registered the kit');
    expect(order.run.summaries).toContain('register 00000000');
    expect(order.calls).toEqual(['0h registerKit']);
  });

  test.each(['SAMPLE-1', ' sample-1\n'])(
    'that registered the kit with %j has the same answer again without asking the service, also at the end',
    async (sample_id) => {
      for (const shown of [{ sampleId: 'SAMPLE-1' }, {}]) {
        const order = await life(awaited, {}, { registerKit: shownAt(registered, shown) });
        const first = stateIn(await order.update('register', { registration }));
        expect(first.chain).toMatchObject([{ orderId, sampleId: 'SAMPLE-1' }]);
        const again = { registration: { ...registration, sample_id } };
        expect(stateIn(await order.update('register', again))).toEqual(first);
        order.answers['notify'] = silent;
        await report(order, [...registered, 'completed'], shown);
        for (const named of [{}, { orderId }])
          expect(stateIn(await order.update('register', { ...again, ...named }))).toMatchObject({
            outcome: 'completed',
          });
        const other = { registration: { sample_id: 'SAMPLE-2' } };
        expect(await order.update('register', other)).toEqual({ name: 'register', refused: 'OrderEnded' });
        expect(order.calls).toEqual(['0h registerKit']);
      }
    },
  );

  test('that changed the policy has the same answer again at the end, and another change is refused', async () => {
    const resolvePolicy = (_now: number, { policy: given, base }: { policy: object; base: object }) => ({
      ...base,
      ...given,
    });
    const order = await life(awaited, {}, { resolvePolicy });
    const policy = { shippingDeadline: 691_200_000, onLost: 'fail' };
    await order.update('setPolicy', { policy });
    order.answers['notify'] = silent;
    await report(order, [...registered, 'completed']);
    expect(stateIn(await order.update('setPolicy', { policy }))).toMatchObject({ outcome: 'completed' });
    const other = { policy: { ...policy, onLost: 'ask' } };
    expect(await order.update('setPolicy', other)).toEqual({ name: 'setPolicy', refused: 'OrderEnded' });
    expect(order.calls).toEqual(['0h resolvePolicy']);
  });

  test('that registers another order of the chain needs a person, until it registers the right one', async () => {
    const order = await life(awaited, {}, { registerKit: refusal('RegisteredAnotherOrder') });
    expect(await order.update('register', { registration })).toEqual({
      name: 'register',
      refused: 'RegisteredAnotherOrder',
    });
    expect(order.events.slice(1)).toEqual(['0h order.attention_raised registered_another_order']);
    order.answers['registerKit'] = refusal('RegistrationRefused');
    expect(await order.update('register', { registration })).toMatchObject({ refused: 'RegistrationRefused' });
    expect(order.events).toHaveLength(2);
    order.answers['registerKit'] = shownAt(registered);
    expect(attentionIn(await order.update('register', { registration }))).toEqual([]);
    expect(order.events).toContain('0h order.attention_cleared registered_another_order');
  });

  test('that cancels ends the order as the service shows it, and is refused for good if the service refuses', async () => {
    const order = await life(['ordered'], {}, { cancelOrder: shownAt(['ordered', 'cancelled']) });
    expect(stateIn(await order.update('cancel'))).toMatchObject({ phase: 'cancelled' });
    expect(order.events.slice(-2)).toEqual(['0h order.phase_changed cancelled', '0h completed']);
    const refused = await life(['ordered'], {}, { cancelOrder: refusal('CancelRefused', null) });
    expect(await refused.update('cancel', { orderId })).toEqual({ name: 'cancel', refused: 'CancelRefused' });
    expect(refused.calls).toEqual(['0h cancelOrder']);
    expect(refused.run.summaries).toContain('cancel 00000000');
    expect(refused.run.end).toBeUndefined();
  });

  test.each([
    ['cancel', 'cancelOrder'],
    ['register', 'registerKit'],
  ])('%s for an order that the service does not find has it read at once, ahead of all others', async (name, call) => {
    const within: unknown[] = [];
    const readOrder = (_now: number, _orderId: string, { within: limit }: { within?: number }) => {
      within.push(limit);
      return shownAt(shipped);
    };
    const order = await life(awaited, {}, { [call]: refusal('OrderRefused', notFound), readOrder });
    expect(await order.update(name, { registration })).toEqual({ name, refused: 'OrderRefused' });
    expect(within).toEqual([120_000]);
    expect(order.events.slice(1)).toEqual(['0h order.phase_changed in_transit_to_customer']);
  });

  test('for an order that is really gone ends the chain once the service has said so for long enough', async () => {
    const order = await life(['ordered'], {}, { cancelOrder: refusal('OrderRefused', notFound), readOrder: null });
    await order.update('cancel');
    expect(order.run.end).toBeUndefined();
    await order.until(1);
    expect(order.events.slice(1).map((event) => event.replace(/^\S+ /, ''))).toEqual([
      'order.ended order_gone',
      'completed',
    ]);
  });

  test('waits for the one before it on the same order, and is refused if that has ended it', async () => {
    const order = await life(awaited, {}, { cancelOrder: silent, notify: silent });
    await order.update('cancel');
    await order.update('register', { registration });
    expect(order.run.calls.map(({ call }) => call.name)).not.toContain('registerKit');
    order.answers['cancelOrder'] = shownAt([...awaited, 'cancelled']);
    await order.settle();
    expect(order.run.replies.slice(0, 2)).toMatchObject([
      { name: 'cancel' },
      { name: 'register', refused: 'OrderEnded' },
    ]);
    // Sent again, a cancellation that happened has its answer.
    expect(stateIn(await order.update('cancel'))).toMatchObject({ phase: 'cancelled' });
    expect(order.calls.filter((call) => call.includes('cancel'))).toHaveLength(1);
  });

  test('that does not hold up the main loop: reports are announced while the service is silent', async () => {
    const order = await life(awaited, {}, { registerKit: silent });
    await order.update('register', { registration });
    await report(order, shipped);
    expect(order.events.at(-1)).toBe('0h order.phase_changed in_transit_to_customer');
    // It does not end before its caller is answered.
    await report(order, [...shipped, 'cancelled']);
    expect(order.run.end).toBeUndefined();
    order.answers['registerKit'] = refusal('RegistrationRefused');
    await order.settle();
    expect(order.run.replies).toEqual([{ name: 'register', refused: 'RegistrationRefused' }]);
    expect(order.run.end).toMatchObject({ kind: 'completed' });
  });

  test('is not carried out without an order, or with one of another chain', async () => {
    const order = await life(['ordered']);
    const other = { orderId: newId };
    for (const [name, argument] of [
      ['register', { registration, ...other }],
      ['cancel', other],
      ['resolveProblem', { ...other, decision: 'wait' }],
      ['replaceKit', other],
    ] as const)
      expect(await order.update(name, argument)).toEqual({ name, refused: 'OrderNotInChain' });
    for (const [name, argument] of [
      ['resolveProblem', { decision: 'wait' }],
      ['resolveProblem', { orderId, decision: 'shrug' }],
      ['resolveProblem', undefined],
      ['replaceKit', {}],
      ['replaceKit', undefined],
      ['acknowledgeCriticalResult', {}],
      ['setPolicy', {}],
    ] as const)
      expect(await order.update(name, argument)).toEqual({ name, refused: 'InvalidCommand' });
    for (const argument of [{}, undefined])
      expect(await order.update('register', argument)).toEqual({ name: 'register', refused: 'RegistrationRefused' });
    expect(order.calls).toEqual([]);
  });
});

describe('a problem', () => {
  const overdue = ['ordered'];

  test('that is left to wait has its time once more, from now', async () => {
    const order = await life(overdue, { shippingDeadline: '5d' });
    await order.until(24 * 6);
    const reply = await order.update('resolveProblem', { orderId, decision: 'wait' });
    expect(attentionIn(reply)).toEqual([]);
    expect(order.run.shown.details).toContain('decided: wait');
    expect((await order.until(24 * 12)).events.slice(1)).toEqual([
      '120h order.attention_raised shipping_overdue',
      '144h order.attention_cleared shipping_overdue',
      '264h order.attention_raised shipping_overdue',
    ]);
    expect(await order.update('resolveProblem', { orderId, decision: 'wait' })).toMatchObject({
      name: 'resolveProblem',
    });
  });

  test('that is none is not resolved', async () => {
    const order = await life(overdue);
    expect(await order.update('resolveProblem', { orderId, decision: 'wait' })).toMatchObject({
      refused: 'NothingToResolve',
    });
  });

  test('that is given up ends the order, and nobody changes that decision', async () => {
    const order = await life(overdue, {}, { notify: silent });
    const reply = await order.update('resolveProblem', { orderId, decision: 'abandon' });
    expect(stateIn(reply)).toMatchObject({ outcome: 'abandoned' });
    expect(await order.update('resolveProblem', { orderId, decision: 'abandon' })).toMatchObject({
      value: { outcome: 'abandoned' },
    });
    expect(await order.update('resolveProblem', { orderId, decision: 'wait' })).toMatchObject({
      refused: 'OrderEnded',
    });
    delete order.answers['notify'];
    expect((await order.settle()).events.at(-1)).toBe('0h completed');
  });

  test('is solved by a new kit: by its decision, or by a command for it', async () => {
    for (const [name, argument] of [
      ['resolveProblem', { orderId, decision: 'replace' }],
      ['replaceKit', { orderId }],
    ] as const) {
      const passthrough = `labops:${orderId}:ref-1:2`;
      const replaceKitOrder = { snapshot: { ...kitOf(newId, ['ordered'], { passthrough }), userId: 'user-1' } };
      const order = await life(lost, {}, { replaceKitOrder });
      const reply = await order.update(name, argument);
      expect(stateIn(reply).chain).toMatchObject([
        { orderId, replacedBy: newId },
        { orderId: newId, replaces: orderId },
      ]);
      const what = name === 'replaceKit' ? 'the product asked for a new kit' : 'decided: replace';
      expect(order.run.shown.details).toContain(what);
      expect(order.calls.filter((call) => call.includes('replace'))).toHaveLength(1);
    }
  });
});

describe('an order whose placing was cancelled', () => {
  /** The hand-over says so. */
  async function cancelled(answers: Answers, statuses = ['ordered']): Promise<Life> {
    const snapshot = shownAt(statuses);
    const order = new Life(opening, { readOrder: snapshot, ...answers });
    const placed = { reference: 'ref-1', policy: resolvePolicy('order'), adopted: false, notifies: true, snapshot };
    const handOver = { name: 'orderPlaced', argument: { ...placed, cancelRequested: true } };
    return order.start({ rootOrderId: orderId }, handOver);
  }

  test('is cancelled at once', async () => {
    const order = await cancelled({ cancelOrder: shownAt(['ordered', 'cancelled']) });
    expect(order.calls).toEqual(['0h cancelOrder']);
    expect(order.events.at(-1)).toBe('0h completed');
  });

  test('needs a person if that fails, once, and is left alone by that person’s decision or by a later cancellation', async () => {
    const order = await cancelled({ cancelOrder: refusal('CancelRefused') });
    await order.until(24);
    expect(order.calls).toEqual(['0h cancelOrder']);
    expect(order.events.slice(0, 2)).toContain('0h order.attention_raised cancellation_failed');
    const noted = 'the cancellation of its placing could not be carried out: CancelRefused';
    expect(order.run.shown.details).toContain(noted);
    expect(order.events).toHaveLength(2);
    const reply = await order.update('resolveProblem', { orderId, decision: 'wait' });
    expect(attentionIn(reply)).toEqual([]);
    const later = await cancelled({ cancelOrder: refusal('CancelRefused') });
    later.answers['cancelOrder'] = shownAt(['ordered', 'cancelled']);
    expect(attentionIn(await later.update('cancel'))).toEqual([]);
    expect(later.events).toContain('0h order.attention_cleared cancellation_failed');
  });

  test.each([[['ordered', 'cancelled']], [happyPath]])(
    'is not cancelled if it has ended by itself',
    async (statuses) => {
      const order = await cancelled({}, statuses);
      expect(order.calls).toEqual([]);
      expect(order.events.at(-1)).toBe('0h completed');
      expect(order.run.shown.details).not.toContain('could not be carried out');
    },
  );

  test('that ended while the cancellation was refused needs nobody', async () => {
    const order = await cancelled({ cancelOrder: silent });
    await report(order, ['ordered', 'cancelled']);
    order.answers['cancelOrder'] = refusal('CancelRefused');
    await order.settle();
    expect(order.events.slice(1).map((event) => event.replace(/^\S+ /, ''))).toEqual([
      'order.phase_changed cancelled',
      'completed',
    ]);
  });
});

describe('an order of another chain', () => {
  test('passes on what it receives, refuses commands, and says where to', async () => {
    const snapshot = shownAt(['ordered']);
    const readChain = { snapshots: [snapshot], gone: false, rootOrderId: newId, notifies: true };
    const order = new Life(opening, { readChain });
    const input = { rootOrderId: orderId, policy: resolvePolicy('order') };
    await order.start(input, { name: 'orderChanged', argument: snapshot });
    expect(order.calls).toEqual(['0h readChain', '0h forwardOrder']);
    expect(await order.update('cancel')).toEqual({ name: 'cancel', refused: 'OrderForwarded' });
    await order.signal('orderChanged', shownAt(['ordered', 'cancelled']));
    expect(order.run.end).toMatchObject({ kind: 'completed', result: { outcome: 'forwarded', forwardsTo: newId } });
  });
});

describe('a history that grows long', () => {
  test('goes on in the next run with all that is known', async () => {
    const order = await life(['ordered'], { giveUpAfter: '5d' });
    order.run.suggestNewRun();
    await report(order, shipped);
    expect(order.events.at(-1)).toBe('0h continued');
    const { input } = order.run.end as { input: { rootOrderId: string } };
    expect(input.rootOrderId).toBe(orderId);
    const next = await new Life(opening, order.answers).start(input);
    expect(next.calls).toEqual([]);
    await report(next, [...shipped, 'lost']);
    expect(next.events.filter((event) => event.includes('phase'))).toEqual([
      '0h order.phase_changed in_transit_to_customer',
      '0h order.phase_changed failed',
    ]);
  });
});

describe('an order', () => {
  const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
  const redraw = (statuses: readonly string[]) =>
    kitOf(newId, statuses, { origin: 'redraw', parentId: orderId, transaction });

  test('can be asked where it stands, and what it would wait for with another policy', async () => {
    const order = await life(['ordered']);
    expect(await order.run.query('state')).toMatchObject({ phase: 'preparing', reference: 'ref-1' });
    expect(await order.run.query('state')).not.toHaveProperty('forwardsTo');
    const preview = await order.run.query('policyPreview', { shippingDeadline: '2d' });
    expect(preview).toMatchObject({ moved: [{ name: 'shipping_overdue', after: '2024-03-03T10:00:00.000Z' }] });
  });

  test('that was started without an input follows the order of its ID', async () => {
    const asked: unknown[] = [];
    const readChain = (_now: number, id: unknown) => {
      asked.push(id);
      return { snapshots: [shownAt(['ordered'])], gone: false, rootOrderId: orderId, notifies: true };
    };
    const order = await new Life(opening, { readChain, resolvePolicy: resolvePolicy('order') }).start(null);
    await order.until(1);
    expect(asked[0]).toBe(orderId);
    expect(order.run.end).toBeUndefined();
  });

  test('whose command comes before it is known whose order it is answers it then', async () => {
    const snapshot = shownAt(['ordered']);
    const readChain = { snapshots: [snapshot], gone: false, rootOrderId: orderId, notifies: true };
    const order = new Life(opening, { readChain: silent, cancelOrder: shownAt(['ordered', 'cancelled']) });
    const input = { rootOrderId: orderId, policy: resolvePolicy('order') };
    await order.start(input, { name: 'orderChanged', argument: snapshot });
    await order.update('cancel');
    expect(order.calls).toEqual([]);
    order.answers['readChain'] = readChain;
    await order.settle();
    expect(order.calls.slice(0, 2)).toEqual(['0h readChain', '0h cancelOrder']);
    expect(stateIn(order.run.replies[0])).toMatchObject({ phase: 'cancelled' });
  });

  test('turns out to be a replacement in another chain: it stops at once, and passes on', async () => {
    const order = await life(['ordered']);
    await order.signal('replacementPlaced', { rootOrderId: newId, reference: 'ref-2', snapshot: shownAt(['ordered']) });
    expect(order.calls.at(-1)).toBe('0h forwardOrder');
    expect(await order.run.query('state')).toMatchObject({ forwardsTo: newId });
    await order.signal('orderChanged', shownAt(['ordered', 'cancelled']));
    expect(order.run.end).toMatchObject({ result: { outcome: 'forwarded', reference: 'ref-2' } });
    expect(order.events.filter((event) => event.includes('cancel'))).toEqual([]);
  });

  test('reads the orders that its transaction names and that nobody reported, once', async () => {
    const order = await life(pathTo('with_customer'));
    order.answers['readOrder'] = (_now: number, id: string) =>
      id === newId ? redraw(['ordered']) : shownAt(['ordered']);
    await order.signal('orderChanged', shownAt([...pathTo('delivered_to_lab'), 'sample_error'], { transaction }));
    expect(order.calls).toEqual(['0h readOrder']);
    expect(await order.run.query('state')).toMatchObject({
      chain: [{ orderId }, { orderId: newId, replaces: orderId }],
    });
    await order.signal('orderChanged', redraw(['ordered', 'awaiting_registration']));
    expect(order.calls).toHaveLength(1);
  });

  test('reads one that its transaction names again later if the service does not answer, and not if it refuses', async () => {
    const named = () => shownAt(pathTo('with_customer'), { transaction });
    const silence = await life(pathTo('with_customer'), {}, { readOrder: unavailable });
    await silence.signal('orderChanged', named());
    await silence.signal('orderChanged', shownAt(happyPath.slice(0, -2), { transaction }));
    expect(silence.calls).toEqual(['0h readOrder']);
    silence.answers['readOrder'] = redraw(['ordered']);
    await silence.until(2);
    expect(await silence.run.query('state')).toMatchObject({ chain: [{ orderId }, { orderId: newId }] });
    for (const [details, isReadAgain] of [
      [{ fields: [], status: 400 }, false],
      [notFound, true],
      [{ fields: [] }, false],
      [null, false],
    ] as const) {
      const refused = await life(pathTo('with_customer'), {}, { readOrder: refusal('ServiceRefused', details) });
      await refused.signal('orderChanged', named());
      await refused.until(2);
      expect(refused.calls.length > 1).toBe(isReadAgain);
      expect(refused.run.summaries).toContain('read order 00000000');
      expect(refused.run.end).toBeUndefined();
    }
  });

  test('that a redraw follows before its own end was reported is read once for that, whatever comes of it', async () => {
    for (const read of [shownAt([...pathTo('delivered_to_lab'), 'sample_error'], { transaction }), unavailable, null]) {
      const order = await life(pathTo('delivered_to_lab'), {}, { readOrder: read });
      await order.signal('orderChanged', redraw(['ordered']));
      expect(order.calls).toEqual(['0h readOrder']);
      const problems = order.run.logged.filter((line) => line.includes('could not be read'));
      expect(problems).toEqual(read === unavailable ? ['warn: order could not be read'] : []);
      await order.signal('orderChanged', redraw(['ordered', 'awaiting_registration']));
      expect(order.calls).toHaveLength(1);
      const { chain } = (await order.run.query('state')) as OrderState;
      expect(chain[0]?.status).toBe(
        read === unavailable || read === null
          ? 'sample_with_lab.testkit.delivered_to_lab'
          : 'failed.testkit.sample_error',
      );
    }
  });

  test('with a critical result reminds until a person has acknowledged it', async () => {
    const order = await life(pathTo('delivered_to_lab'));
    await order.signal('criticalResultReported', { orderId, interpretation: 'critical' });
    expect(order.events.at(-1)).toMatch(/critical_result/);
    const command = { orderId, by: 'nurse-17', outcome: 'confirmed' };
    const accepted = order.run.accepted.length;
    expect(await order.update('acknowledgeCriticalResult', { ...command, by: 'a name' })).toMatchObject({
      refused: 'InvalidCommand',
    });
    expect(await order.update('cancel', { orderId: newId })).toMatchObject({ refused: 'OrderNotInChain' });
    expect(order.run.accepted).toHaveLength(accepted);
    const reply = await order.update('acknowledgeCriticalResult', command);
    expect(JSON.stringify(stateIn(reply).timeline)).toContain('critical_result_acknowledged');
    const count = order.events.length;
    await order.until(3);
    expect(order.events.slice(count).filter((event) => event.includes('critical'))).toEqual([]);
  });

  test('names its lab account to the service when its kit is registered', async () => {
    const asked: unknown[] = [];
    const registerKit = (_now: number, call: unknown) => {
      asked.push(call);
      return shownAt(registered);
    };
    const snapshot = shownAt(awaited);
    const order = new Life(opening, { registerKit });
    const placed = {
      reference: 'ref-1',
      policy: resolvePolicy('order'),
      labAccountId: 'account-1',
      adopted: false,
      notifies: true,
    };
    await order.start({ rootOrderId: orderId }, { name: 'orderPlaced', argument: { ...placed, snapshot } });
    await order.update('register', { registration });
    expect(asked).toMatchObject([{ labAccountId: 'account-1' }]);
  });

  test('shows operators what the product did, and what could not be done', async () => {
    const order = await life(['ordered'], {}, { cancelOrder: shownAt(['ordered', 'cancelled']) });
    await order.update('cancel');
    expect(order.run.shown.details).toContain('the product cancelled the order');
  });
});
