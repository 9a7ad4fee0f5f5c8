import { describe, expect, test } from 'vitest';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import { silent, unavailable, type Answers, type Life } from '../life.js';
import { day, happyPath, pathTo } from './histories.js';
import {
  acknowledgement,
  alarm,
  atLab,
  attentionIn,
  awaited,
  conflict,
  hidden,
  lateLife,
  life,
  lost,
  newId,
  newKit,
  notFound,
  orderId,
  type OrderLife,
  redraw,
  refusal,
  registered,
  registration,
  replaced,
  resolvingPolicy,
  shipped,
  showing,
  shownAt,
  spoiled,
  stateIn,
  stuck,
  transaction,
  wait,
} from './lives.js';

/* The lives of orders, from the hand-over to the end: what the product is notified of, and when the service is asked. */

const readsOf = ({ calls }: Life) => calls.map((call) => Math.round(Number.parseFloat(call)));
const cancelled = (path = ['ordered']) => [...path, 'cancelled'];

describe('an order', () => {
  test('is announced with each phase, its result, its correction and its end', async () => {
    const order = await life(['ordered']);
    for (let day = 1; day < happyPath.length; day += 1) {
      await order.until(24 * day);
      await order.report(happyPath.slice(0, day + 1), { interpretation: 'normal' });
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
    expect(order.announced[5]).not.toHaveProperty('portalLink');
    const about = { orderId, rootOrderId: orderId, reference: 'ref-1', userId: 'user-1' };
    expect(order.announced.at(-1)).toEqual({
      ...{ id: `${orderId}/10/phase_changed`, at: '2024-03-10T10:00:00.000Z', type: 'order.phase_changed' },
      ...{ source: `kit-order/${orderId}`, subject: orderId },
      data: { ...about, phase: 'completed', status: 'completed.testkit.completed' },
    });
    expect(order.calls).toEqual([]);
  });

  test.each(['A*', 'Above  normal', 'other'])(
    'whose results mean %j needs a person, once, and the product gets the word as it is',
    async (interpretation) => {
      const order = await life(atLab);
      for (const low of ['partial_results', 'completed'])
        await order.report([...atLab, `completed.testkit.${low}`], { interpretation });
      expect(order.announced.filter(({ type }) => type === 'order.result')).toMatchObject([
        { data: { interpretation } },
      ]);
      const questions = order.events.filter((event) => event.includes('attention'));
      expect(questions).toEqual(['0h order.attention_raised unknown_interpretation']);
    },
  );

  test('whose results mean something unknown needs nobody once that is answered, or a known word takes its place', async () => {
    const order = await life(atLab);
    const partial = [...atLab, 'sample_with_lab.testkit.partial_results'];
    await order.report(partial, { interpretation: 'A*' });
    expect(attentionIn(await order.update('resolveProblem', wait))).toEqual([]);
    await order.report(partial, { interpretation: 'A*', sampleId: 'SAMPLE-1' });
    await order.report(partial, { interpretation: '>>', updatedAt: '2024-03-10T11:00:00.000Z' });
    expect((await order.state()).attention).toMatchObject([{ reason: 'unknown_interpretation', orderId }]);
    await order.report(partial, { interpretation: 'panic low', updatedAt: '2024-03-10T12:00:00.000Z' });
    expect(await order.reasons()).toEqual(['critical_result']);
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
    const [, asked, ended] = order.announced;
    expect(ended).toMatchObject({ id: `${orderId}/1.unresolved/ended`, at: '2024-03-11T10:00:00.000Z' });
    expect(asked?.id).toBe(`${orderId}/shipping_overdue.shipping_overdue/attention_raised`);
    expect(asked?.data).toMatchObject({ orderId, reason: 'shipping_overdue', since: '2024-03-06T10:00:00.000Z' });
  });

  test('that the service does not show for a day needs a person, and nothing is concluded from the silence', async () => {
    const order = await (await life(['ordered'], { giveUpAfter: '5d' }, { readOrder: unavailable })).until(24 * 15);
    expect(order.events.slice(1)).toEqual(['144h order.attention_raised order_unreadable']);
    const reads = readsOf(order);
    expect(reads.slice(0, 9)).toEqual([120, 120, 120, 121, 122, 125, 130, 136, 141]);
    expect(reads.filter((hours) => hours === 144)).toHaveLength(1);
    await order.given({ readOrder: shownAt(shipped) }, 24 * 16);
    expect(order.happened(2)).toEqual([
      'attention_cleared order_unreadable',
      'attention_raised delivery_overdue',
      'registration_reminder 1',
      'phase_changed in_transit_to_customer',
    ]);
  });

  test('that is overdue is read no more often than the service asks for', async () => {
    const details = { fields: [], retryAfterMs: 12 * 3_600_000 };
    const readOrder = { failure: { type: 'TooManyRequests', isFinal: false, details } };
    const order = await (await life(['ordered'], {}, { readOrder })).until(191);
    expect(readsOf(order)).toEqual([120, 132, 144, 156, 168, 180]);
  });
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

  test('of which several reminders came due while no worker was there is asked for once, with the last', async () => {
    const order = await life(pathTo('with_customer'));
    order.run.now += 40 * 24 * 3_600_000;
    await order.until(24 * 41);
    expect(order.happened()).toEqual(['phase_changed awaiting_registration', 'registration_reminder 3']);
    expect(order.run.shown.details).toContain('registration reminder 3 is due');
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
    const snapshot = newKit([], { events, createdAt: '2024-03-02T10:00:00.000Z' });
    const order = await life(lost, { onLost: 'replace' }, { replaceKitOrder: { snapshot } });
    expect(order.argumentsOf('replaceKitOrder')).toMatchObject([{ decidedOn: { eventId: 4 } }]);
    expect(order.happened()).toEqual(['phase_changed failed', 'phase_changed preparing', 'replacement']);
    expect(order.announced.at(-1)).toMatchObject({
      ...{ id: `${newId}/71/replacement`, at: '2024-03-01T10:00:00.000Z', subject: newId },
      data: { orderId: newId, rootOrderId: orderId, replaces: orderId },
    });
  });

  test('is followed by one that is announced once it is known, though it has no event yet, and not again by a later run', async () => {
    const order = await life(lost, {}, { replaceKitOrder: silent });
    await order.update('replaceKit', { orderId });
    const replacements = ({ announced }: Life) => announced.filter(({ type }) => type === 'order.replacement');
    await order.report(lost, { interpretation: 'critical' });
    expect(order.happened()).toContain('critical_result');
    expect(replacements(order)).toEqual([]);
    await order.given({ replaceKitOrder: { snapshot: newKit([]) } });
    expect(replacements(order)).toMatchObject([{ id: `${newId}/0/replacement` }]);
    order.run.suggestNewRun();
    await order.signal('orderChanged', newKit(['ordered']));
    expect(order.run.end).toMatchObject({ kind: 'continued' });
    expect(replacements(order)).toHaveLength(1);
    const next = await order.next();
    await next.signal('orderChanged', newKit(awaited));
    expect(next.events.at(-1)).toContain('awaiting_registration');
    expect(replacements(next)).toEqual([]);
  });
});

test('an order whose signal could not be decrypted is read until the service answers, with every other order of its chain', async () => {
  const order = await life(lost, {}, { replaceKitOrder: replaced });
  await order.update('replaceKit', { orderId });
  order.answers['readOrder'] = unavailable;
  await order.signal('unreadable');
  await order.given({ readOrder: showing(newKit(['ordered']), shownAt(lost, { interpretation: 'critical' })) }, 1);
  // The first one decided about the lost kit.
  expect(order.argumentsOf('readOrder')).toEqual([orderId, orderId, orderId, newId]);
  expect(await order.reasons()).toEqual(expect.arrayContaining(['critical_result', 'unreadable_signal']));
  await order.until(9);
  expect(order.callsOf('readOrder')).toHaveLength(4);
});

test('a critical result is announced, and repeated each hour until somebody has acknowledged it', async () => {
  const order = await life(atLab);
  await order.report(happyPath, { interpretation: 'critical' });
  await order.until(2);
  const reply = await order.update('acknowledgeCriticalResult', acknowledgement);
  expect(JSON.stringify(stateIn(reply).timeline)).toContain('critical_result_acknowledged');
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

describe('a command', () => {
  test('that registers the kit gives the service what it needs, and takes up the order that it answers', async () => {
    const order = await life(awaited, {}, { registerKit: shownAt(registered) }, { labAccountId: 'account-1' });
    const reply = await order.update('register', { registration });
    const sent = { orderId, registration, chain: [orderId], labAccountId: 'account-1' };
    expect(order.argumentsOf('registerKit')).toEqual([sent]);
    expect(stateIn(reply).chain).toMatchObject([{ orderId, status: 'received.testkit.testkit_registered' }]);
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
        await order.report([...registered, 'completed'], shown);
        for (const named of [again, { ...again, orderId }])
          expect(stateIn(await order.update('register', named))).toMatchObject({ outcome: 'completed' });
        const other = { registration: { sample_id: 'SAMPLE-2' } };
        expect(await order.update('register', other)).toEqual({ name: 'register', refused: 'OrderEnded' });
        expect(order.calls).toEqual(['0h registerKit']);
      }
    },
  );

  test('that changed the policy has the same answer again at the end, and another change is refused', async () => {
    const order = await life(awaited, {}, { resolvePolicy: resolvingPolicy });
    const policy = { shippingDeadline: '8d', onLost: 'fail' };
    await order.update('setPolicy', { policy });
    order.answers['notify'] = silent;
    await order.report([...registered, 'completed']);
    expect(stateIn(await order.update('setPolicy', { policy }))).toMatchObject({ outcome: 'completed' });
    const other = { policy: { ...policy, onLost: 'ask' } };
    expect(await order.update('setPolicy', other)).toEqual({ name: 'setPolicy', refused: 'OrderEnded' });
    expect(order.calls).toEqual(['0h resolvePolicy']);
  });

  test('that cancels ends the order as the service shows it, and is refused for good if the service refuses', async () => {
    const order = await life(['ordered'], {}, { cancelOrder: shownAt(cancelled()) });
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

  test('waits for the one before it on the same order, and is refused if that has ended it', async () => {
    const order = await life(awaited, {}, { cancelOrder: silent, notify: silent });
    await order.update('cancel');
    await order.update('register', { registration });
    expect(order.run.calls.map(({ call }) => call.name)).not.toContain('registerKit');
    await order.given({ cancelOrder: shownAt(cancelled(awaited)) });
    expect(order.run.replies).toMatchObject([{ name: 'cancel' }, { name: 'register', refused: 'OrderEnded' }]);
    // Sent again, a cancellation that happened has its answer.
    expect(stateIn(await order.update('cancel'))).toMatchObject({ phase: 'cancelled' });
    expect(order.callsOf('cancelOrder')).toHaveLength(1);
  });

  test('that does not hold up the main loop: reports are announced while the service is silent', async () => {
    const order = await life(awaited, {}, { registerKit: silent });
    await order.update('register', { registration });
    await order.report(shipped);
    expect(order.events.at(-1)).toBe('0h order.phase_changed in_transit_to_customer');
    // It does not end before its caller is answered.
    await order.report(cancelled(shipped));
    expect(order.run.end).toBeUndefined();
    await order.given({ registerKit: refusal('RegistrationRefused') });
    expect(order.run.replies).toEqual([{ name: 'register', refused: 'RegistrationRefused' }]);
    expect(order.run.end).toMatchObject({ kind: 'completed' });
  });

  const other = { orderId: newId };
  test.each<[string, unknown, string]>([
    ['register', { registration, ...other }, 'OrderNotInChain'],
    ['cancel', other, 'OrderNotInChain'],
    ['resolveProblem', { ...other, decision: 'wait' }, 'OrderNotInChain'],
    ['replaceKit', other, 'OrderNotInChain'],
    ['resolveProblem', { decision: 'wait' }, 'InvalidCommand'],
    ['resolveProblem', { orderId, decision: 'shrug' }, 'InvalidCommand'],
    ['resolveProblem', undefined, 'InvalidCommand'],
    ['replaceKit', {}, 'InvalidCommand'],
    ['replaceKit', undefined, 'InvalidCommand'],
    ['acknowledgeCriticalResult', {}, 'InvalidCommand'],
    ['setPolicy', {}, 'InvalidCommand'],
    ['register', {}, 'RegistrationRefused'],
    ['register', undefined, 'RegistrationRefused'],
  ])('is not accepted without what it needs, or for an order of another chain: %s %j', async (name, argument, type) => {
    const order = await life(['ordered']);
    expect(await order.update(name, argument)).toEqual({ name, refused: type });
    expect(order.run.accepted).toEqual([]);
    expect(order.calls).toEqual([]);
  });
});

describe('a problem', () => {
  test('that is left to wait has its time once more, from now', async () => {
    const order = await (await life(['ordered'])).until(24 * 6);
    expect(attentionIn(await order.update('resolveProblem', wait))).toEqual([]);
    expect(order.run.shown.details).toContain('**problem resolved: wait**');
    expect((await order.until(24 * 12)).events.slice(1)).toEqual([
      '120h order.attention_raised shipping_overdue',
      '144h order.attention_cleared shipping_overdue',
      '264h order.attention_raised shipping_overdue',
    ]);
    expect(await order.update('resolveProblem', wait)).toMatchObject({ value: {} });
  });

  test('that is given up ends the order, and nobody changes that decision', async () => {
    const order = await life(['ordered'], {}, { notify: silent });
    for (let times = 0; times < 2; times += 1) {
      const reply = await order.update('resolveProblem', { orderId, decision: 'abandon' });
      expect(stateIn(reply)).toMatchObject({ outcome: 'abandoned' });
    }
    expect(await order.update('resolveProblem', wait)).toMatchObject({ refused: 'OrderEnded' });
    delete order.answers['notify'];
    expect((await order.settle()).events.at(-1)).toBe('0h completed');
  });
});

describe('a decision about a problem', () => {
  const decide = (order: OrderLife, decision: string, more: object = {}) =>
    order.update('resolveProblem', { orderId, decision, ...more });
  const resolved = { name: 'resolveProblem', refused: 'AlreadyResolved' };

  test('stands: the same one is accepted again, and another one only if it says so', async () => {
    const order = await life(lost, {}, { replaceKitOrder: refusal('OrderRefused') });
    for (let times = 0; times < 2; times += 1) expect(await decide(order, 'wait')).toMatchObject({ value: {} });
    expect(await decide(order, 'abandon')).toEqual(resolved);
    expect(order.run.refusals.at(-1)).toMatchObject({ reason: 'wait' });
    // Another question of the order asks for no decision, and another command is not one.
    await order.signal(alarm.name, alarm.argument);
    expect(await decide(order, 'abandon')).toEqual(resolved);
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ refused: 'OrderRefused' });
    const instead = await decide(order, 'abandon', { insteadOf: 'wait' });
    expect(stateIn(instead)).toMatchObject({ outcome: 'abandoned' });
  });

  test('stands no longer once the order asks again, or has moved on', async () => {
    const order = await (await life(stuck, { giveUpAfter: '300d' })).until(24 * 10);
    expect(order.happened()).toContain('attention_raised problem_persists');
    await decide(order, 'wait');
    expect(await decide(order, 'abandon')).toEqual(resolved);
    expect(stateIn(await decide(await order.until(24 * 20), 'abandon'))).toMatchObject({ outcome: 'abandoned' });
    const moved = await life(lost);
    await decide(moved, 'wait');
    await moved.report([...lost, 'with_customer']);
    expect(stateIn(await decide(moved, 'abandon'))).toMatchObject({ outcome: 'abandoned' });
  });

  test('stands for its own order only, and to replace it for good once another kit was ordered', async () => {
    const chain = await redrawn(spoiled);
    await chain.update('resolveProblem', { ...wait, orderId: newId });
    expect(await decide(chain, 'abandon')).toMatchObject({ value: {} });
    const answered = await life(
      spoiled,
      {},
      { readOrder: showing(redraw(spoiled), shownAt(spoiled, { transaction })) },
    );
    await decide(answered, 'wait');
    await (await answered.signal('orderChanged', redraw(spoiled))).until(24 * 10);
    expect(await questionsOf(answered)).toEqual([['decision_needed', newId]]);
    expect(await decide(answered, 'abandon')).toEqual(resolved);
    const order = await life(lost, {}, { replaceKitOrder: replaced });
    await order.update('replaceKit', { orderId });
    expect(await decide(order, 'wait', { insteadOf: 'wait' })).toEqual(resolved);
    expect(order.run.refusals.at(-1)).toMatchObject({ reason: 'replace' });
  });
});

describe('an actor', () => {
  const by = 'nurse-7';
  const other = 'nurse-8';
  const replacing = { replaceKitOrder: replaced };
  const longer = { policy: { shippingDeadline: '8d' } };

  test.each<[name: string, statuses: readonly string[], answers: Answers, given: object, shown: string]>([
    ['register', awaited, { registerKit: shownAt(registered) }, { registration }, 'kit registered'],
    ['cancel', ['ordered'], { cancelOrder: shownAt(cancelled()) }, {}, 'order cancelled'],
    ['replaceKit', lost, replacing, { orderId }, 'kit replaced'],
    ['resolveProblem', lost, replacing, { orderId, decision: 'replace' }, 'problem resolved: replace'],
    ['setPolicy', ['ordered'], { resolvePolicy: resolvingPolicy }, longer, 'policy changed: shippingDeadline'],
  ])(
    'of %s is refused if it is not an id, and else in the timeline and the case file, not who repeats it, and nothing without one',
    async (name, statuses, answers, given, shown) => {
      const order = await life(statuses, {}, { notify: silent, ...answers });
      const refused = await order.update(name, { ...given, by: 'Invented Person' });
      expect(refused).toMatchObject({ refused: 'InvalidCommand' });
      expect(JSON.stringify(order.run.refusals)).toMatch(/^(?!.*Invented).*not a name/);
      expect(order.run.accepted).toEqual([]);
      const first = stateIn(await order.update(name, { ...given, by }));
      const [what = '', detail] = shown.split(': ');
      const decided = { by, status: what.replaceAll(' ', '_'), ...(detail !== undefined && { detail }) };
      expect(first.timeline).toContainEqual({ orderId, at: expect.any(String) as string, ...decided });
      expect(order.run.shown.details).toContain(`**${shown}**, by \`${by}\``);
      expect(stateIn(await order.update(name, { ...given, by: other })).timeline).toEqual(first.timeline);
      expect(order.run.shown.details).not.toContain(other);
      const without = await life(statuses, {}, answers);
      const { timeline } = stateIn(await without.update(name, { ...given, by: null }));
      expect(timeline.filter(({ eventId }) => eventId === undefined)).toEqual([]);
      expect(without.run.shown.details).toContain(`**${shown}**`);
    },
  );

  test('whose command has lost its answer is in the case file: it may have been carried out', async () => {
    const order = await life(['ordered'], {}, { cancelOrder: { failure: { type: 'AnswerLost' } }, notify: silent });
    expect(await order.update('cancel', { by })).toMatchObject({ refused: 'AnswerLost' });
    await order.report(cancelled());
    expect(stateIn(await order.update('cancel', { orderId, by: other }))).toMatchObject({ phase: 'cancelled' });
    expect(order.run.shown.details).toContain(`**order cancelled: failed with AnswerLost**, by \`${by}\``);
    expect(order.run.shown.details).not.toContain(other);
  });

  test('who cancelled the placing has cancelled the order', async () => {
    const handOver = { cancelRequested: true, cancelRequestedBy: by };
    const order = await life(['ordered'], {}, { cancelOrder: shownAt(cancelled()), notify: silent }, handOver);
    expect((await order.state()).timeline.at(-1)).toMatchObject({ status: 'order_cancelled', by });
  });
});

describe('an order whose placing was cancelled', () => {
  /** The hand-over says so. */
  const cancelling = (answers: Answers, statuses = ['ordered']) =>
    life(statuses, {}, answers, { cancelRequested: true });

  test('needs a person if that fails, once, and is left alone by that person’s decision or by a later cancellation', async () => {
    const order = await (await cancelling({ cancelOrder: refusal('CancelRefused') })).until(24);
    expect(order.calls).toEqual(['0h cancelOrder']);
    const asked = ['0h order.attention_raised cancellation_failed', '0h order.phase_changed preparing'];
    expect(order.events.toSorted()).toEqual(asked);
    const noted = 'the cancellation of its placing could not be carried out: CancelRefused';
    expect(order.run.shown.details).toContain(noted);
    expect(attentionIn(await order.update('resolveProblem', wait))).toEqual([]);
    const later = await cancelling({ cancelOrder: refusal('CancelRefused') });
    await claim(later);
    // The service takes its time to show it. Every other question stays open.
    later.answers['cancelOrder'] = shownAt(['ordered']);
    expect(attentionIn(await later.update('cancel'))).toEqual(['reference_conflict']);
    expect(later.events).toContain('0h order.attention_cleared cancellation_failed');
  });

  test.each([[cancelled()], [happyPath]])('is not cancelled if it has ended by itself', async (statuses) => {
    const order = await cancelling({}, statuses);
    expect(order.calls).toEqual([]);
    expect(order.events.at(-1)).toBe('0h completed');
    expect(order.run.shown.details).not.toContain('could not be carried out');
  });

  test('that ended while the cancellation was refused needs nobody', async () => {
    const order = await cancelling({ cancelOrder: silent });
    await order.report(cancelled());
    await order.given({ cancelOrder: refusal('CancelRefused') });
    expect(order.happened(1)).toEqual(['phase_changed cancelled', 'completed']);
  });
});

describe('an order whose transaction names another', () => {
  test.each([
    ['does not answer', unavailable, true],
    ['does not know it', refusal('ServiceRefused', notFound), true],
    ['refuses to show it', hidden, false],
    ['refuses it without a status', refusal('ServiceRefused', { fields: [] }), false],
    ['refuses it without a word', refusal('ServiceRefused', null), false],
  ])('reads it again later unless the service refuses it: if it %s', async (_how, readOrder, isReadAgain) => {
    const order = await life(pathTo('with_customer'), {}, { readOrder });
    await order.signal('orderChanged', shownAt(pathTo('with_customer'), { transaction }));
    await order.signal('orderChanged', shownAt(pathTo('transit_lab'), { transaction }));
    expect(order.calls).toEqual(['0h readOrder']);
    expect(order.run.summaries).toContain('read order 00000000');
    await order.given({ readOrder: redraw(['ordered']) }, 2);
    expect((await order.state()).chain).toHaveLength(isReadAgain ? 2 : 1);
  });

  test.each([
    ['is read', shownAt(spoiled, { transaction }), 'failed.testkit.sample_error'],
    ['is not answered', unavailable, 'sample_with_lab.testkit.delivered_to_lab'],
    ['is not known', null, 'sample_with_lab.testkit.delivered_to_lab'],
  ])('that follows it before its own end was reported is read once for that, and %s', async (_how, read, status) => {
    const order = await life(atLab, {}, { readOrder: read });
    await order.signal('orderChanged', redraw(['ordered']));
    expect(order.calls).toEqual(['0h readOrder']);
    const problems = order.run.logged.filter((line) => line.includes('could not be read'));
    expect(problems).toEqual(read === unavailable ? ['warn: order could not be read'] : []);
    await order.signal('orderChanged', redraw(awaited));
    expect(order.calls).toHaveLength(1);
    expect((await order.state()).chain[0]?.status).toBe(status);
  });
});

/*
 * Chains: what is about one of two orders is not about the other, what was asked before an answer counts for what came, and of several
 * things that are due at once each has its turn.
 */

/** The first sample cannot be used; the second order is its redraw. The service shows both unless it is said otherwise. */
async function redrawn(statuses: readonly string[], answers: Answers = {}): Promise<OrderLife> {
  const readOrder = showing(redraw(statuses), shownAt(spoiled, { transaction }));
  const order = await life(spoiled, {}, { readOrder, ...answers });
  return order.signal('orderChanged', redraw(statuses));
}

const questionsOf = async (of: OrderLife) =>
  (await of.state()).attention.map(({ reason, orderId: of }) => [reason, of]);
/** Another reference claims the order. */
const claim = (of: OrderLife) => of.signal('orderPlaced', { ...conflict, snapshot: shownAt(awaited) });
/** The service does not find the order that it should cancel. */
const unknown = refusal('OrderRefused', notFound);

describe('an order that the service does not know', () => {
  test('has been shown meanwhile: the time until that is believed begins again', async () => {
    const order = await (await life(['ordered'], {}, { readOrder: null })).until(120.1);
    await order.given({ readOrder: shownAt(['ordered']) }, 121);
    expect(order.events.slice(1)).toEqual(['120.167h order.attention_raised shipping_overdue']);
    await order.given({ readOrder: null }, 143);
    expect(order.calls).toEqual(['120h readOrder', '120.167h readOrder', '142.926h readOrder']);
    expect(order.run.end).toBeUndefined();
    const ended = ['143.093h order.ended order_gone', '143.093h completed'];
    expect((await order.until(144)).events.slice(-2)).toEqual(ended);
  });

  test('but that has brought its results meanwhile has ended with them', async () => {
    const order = await (await life(['ordered'], {}, { readOrder: null })).until(120);
    await order.given({ readOrder: silent }, 121);
    await order.signal('orderChanged', shownAt(happyPath));
    await order.given({ readOrder: null });
    expect(order.result).toMatchObject({ outcome: 'completed' });
    expect(order.events.join()).not.toContain('ended');
  });

  test('is not the one that a redraw follows: that one may be gone, and the redraw is not asked for', async () => {
    const order = await redrawn(['ordered'], { cancelOrder: unknown, readOrder: null });
    await order.update('cancel', { orderId });
    await order.until(1);
    await order.update('cancel', { orderId });
    expect(order.calls).toEqual(['0h cancelOrder', '0h readOrder', '1h cancelOrder', '1h readOrder']);
    expect(await order.state()).not.toHaveProperty('outcome');
  });

  test('is missed for as long as it is missing itself, whatever is read of another', async () => {
    const order = await redrawn(['ordered'], { cancelOrder: unknown, readOrder: null });
    await order.update('cancel', { orderId });
    await order.until(1);
    await order.update('cancel', { orderId: newId });
    await order.until(1.1);
    await order.update('cancel', { orderId });
    expect(await order.state()).not.toHaveProperty('outcome');
    expect(order.calls).toHaveLength(6);
    await order.until(2);
    expect(order.calls.slice(6)).toEqual(['1.167h readOrder']);
    expect(order.events.slice(-2)).toEqual(['1.167h order.ended order_gone', '1.167h completed']);
  });
});

describe('an order that cannot be read', () => {
  test('because the service refuses to show it needs a person at once, and is read again a day later', async () => {
    const order = await (await life(['ordered'], {}, { readOrder: hidden })).until(140);
    expect(order.events.slice(1)).toEqual(['120h order.attention_raised order_unreadable']);
    await order.given({ readOrder: shownAt(['ordered']) }, 145);
    expect(order.calls).toEqual(['120h readOrder', '144h readOrder']);
    expect(order.events.slice(2)).toEqual([
      '144h order.attention_cleared order_unreadable',
      '144h order.attention_raised shipping_overdue',
    ]);
  });

  test('has its own time: what could not be read of another does not count', async () => {
    const order = await (await redrawn(['ordered'], { cancelOrder: unknown, readOrder: unavailable })).until(145);
    expect(await questionsOf(order)).toEqual([['order_unreadable', newId]]);
    await order.update('cancel', { orderId });
    expect(await questionsOf(order)).toEqual([['order_unreadable', newId]]);
  });

  test('is not read at once because another was read', async () => {
    const order = await redrawn(['ordered'], { cancelOrder: unknown });
    await order.given({ readOrder: showing(unavailable, shownAt(spoiled)) }, 120);
    expect(order.calls).toEqual(['120h readOrder']);
    await order.update('cancel', { orderId });
    expect(order.calls.slice(1)).toEqual(['120h cancelOrder', '120h readOrder']);
  });

  test.each([
    ['resolveProblem', wait],
    ['setPolicy', { policy: { shippingDeadline: '8d' } }],
  ])('waits no longer if a person gives it more time: %s', async (name, command) => {
    const order = await life(['ordered'], {}, { readOrder: unavailable, resolvePolicy: resolvingPolicy });
    await order.until(145);
    expect(await questionsOf(order)).toEqual([['order_unreadable', orderId]]);
    expect(attentionIn(await order.update(name, command))).toEqual([]);
  });

  test('gets more time as soon as its limit is reached, also while it is being read', async () => {
    const order = await (await life(['ordered'], {}, { readOrder: silent })).until(120);
    await order.update('resolveProblem', wait);
    await order.given({ readOrder: shownAt(['ordered']) });
    expect((await order.until(239)).events).toHaveLength(1);
  });
});

describe('a command on a chain', () => {
  const other = { failure: { type: 'RegisteredAnotherOrder' } };

  test('answers the question of its own order only: another kit that was registered in place of another', async () => {
    const order = await redrawn(awaited, { registerKit: other });
    for (const of of [orderId, newId]) await order.update('register', { orderId: of, registration });
    order.answers['registerKit'] = redraw(registered);
    await order.update('register', { orderId: newId, registration });
    expect(await questionsOf(order)).toEqual([['registered_another_order', orderId]]);
  });

  test('that registers an earlier kit of the chain, whose sample it names, is noted at that kit', async () => {
    const order = await redrawn(awaited, { registerKit: shownAt(registered) });
    const state = stateIn(await order.update('register', { registration, by: 'staff-1' }));
    expect(state.chain).toMatchObject([{ orderId, sampleId: 'SAMPLE-1' }, { orderId: newId }]);
    expect(state.chain[1]).not.toHaveProperty('sampleId');
    expect(state.timeline).toContainEqual(expect.objectContaining({ orderId, status: 'kit_registered' }));
    const calls = order.calls.length;
    expect(await order.update('register', { orderId: newId, registration })).toMatchObject({ value: {} });
    expect(order.calls).toHaveLength(calls);
  });

  test('that registers the right kit leaves every other question open', async () => {
    const order = await life(awaited, {}, { registerKit: other, notify: unavailable });
    await claim(order);
    await order.update('register', { registration });
    const open = attentionIn(await order.update('resolveProblem', wait)).toSorted();
    expect(open).toEqual(['notifications_undelivered', 'registered_another_order']);
    await order.signal('orderPlaced', { ...conflict, reference: 'ref-3', snapshot: shownAt(awaited) });
    order.answers['registerKit'] = shownAt(registered);
    const left = attentionIn(await order.update('register', { registration })).toSorted();
    expect(left).toEqual(['notifications_undelivered', 'reference_conflict']);
  });

  test('to wait is about its own order: one that asks nothing, or asked before, is refused', async () => {
    const waiting = (order: OrderLife, of: string) => order.update('resolveProblem', { ...wait, orderId: of });
    const order = await (await redrawn(['ordered'])).until(121);
    expect(await questionsOf(order)).toEqual([['shipping_overdue', newId]]);
    expect(await waiting(order, orderId)).toMatchObject({ refused: 'NothingToResolve' });
    expect(attentionIn(await waiting(order, newId))).toEqual([]);
    const claimed = await redrawn(['ordered']);
    await claim(claimed);
    expect(await waiting(claimed, newId)).toMatchObject({ refused: 'NothingToResolve' });
    expect(attentionIn(await waiting(claimed, orderId))).toEqual([]);
  });

  test('to give up learns of every kit first, and is refused if the order has got its results meanwhile', async () => {
    const order = await redrawn(awaited, { replaceKitOrder: silent });
    await order.update('replaceKit', { orderId });
    await order.update('resolveProblem', { orderId: newId, decision: 'abandon' });
    expect(order.run.replies).toEqual([]);
    await order.signal('orderChanged', redraw(happyPath));
    await order.given({ replaceKitOrder: refusal('OrderRefused') });
    expect(order.run.replies).toMatchObject([
      { name: 'replaceKit', refused: 'OrderRefused' },
      { name: 'resolveProblem', refused: 'OrderEnded' },
    ]);
    expect(order.result).toMatchObject({ outcome: 'completed' });
  });
});

test('an order whose end was not reported is read before its chain ends with the redraw', async () => {
  const order = await life(atLab);
  await order.report(atLab, { transaction });
  await order.signal('orderChanged', redraw(['ordered']));
  order.answers['readOrder'] = silent;
  await order.signal('orderChanged', redraw(happyPath));
  expect(order.run.end).toBeUndefined();
  await order.given({ readOrder: shownAt(spoiled, { transaction }) });
  expect(order.result).toMatchObject({ outcome: 'completed', chain: [{ phase: 'failed' }, { phase: 'completed' }] });
});

describe('an order that names one that cannot be read', () => {
  const shown = shownAt(['ordered'], { transaction });

  async function naming(second: unknown, policy: OrderPolicy = {}): Promise<OrderLife> {
    const order = await life(['ordered'], policy, { readOrder: showing(second, shown) });
    return order.signal('orderChanged', shown);
  }

  test('is not decided on before that one was read', async () => {
    const order = await (await naming(unavailable)).until(130);
    expect(order.happened()).toEqual(['phase_changed preparing', 'attention_raised order_unreadable']);
    const count = order.calls.length;
    await order.signal('orderPlaced', { ...conflict, snapshot: shown });
    await order.update('resolveProblem', wait);
    expect(order.calls).toHaveLength(count);
    await order.given({ readOrder: showing(redraw(['ordered']), shown) }, 140);
    expect(await order.state()).toMatchObject({ orderId: newId, attention: [{ reason: 'shipping_overdue' }] });
  });

  test('looks for it again when it would have been read again, though it has moved on', async () => {
    const order = await (await naming(hidden)).until(130);
    await order.report(shipped, { transaction });
    await order.given({ readOrder: showing(hidden, shownAt(shipped, { transaction })) }, 200);
    expect(order.calls).toEqual(['0h readOrder', '120h readOrder', '142.759h readOrder']);
  });

  test('does not look for it when it is given up', async () => {
    const order = await (await naming(hidden, { giveUpAfter: '5d' })).until(121);
    order.run.now += 30 * day;
    await order.until(24 * 40);
    expect(order.calls).toEqual(['0h readOrder', '120h readOrder', '841h readOrder']);
    expect(order.happened().slice(-2)).toEqual(['ended unresolved', 'completed']);
  });

  test('goes on waiting for it though it has got its results, if a critical one keeps it open', async () => {
    const order = await life(atLab, {}, { readOrder: unavailable });
    const critical = { interpretation: 'critical', transaction };
    await order.signal('orderChanged', shownAt(happyPath, critical));
    await order.signal('orderChanged', shownAt(happyPath, { ...critical, sampleId: 'SAMPLE-1' }));
    expect(order.calls).toEqual(['0h readOrder']);
  });

  test('is not decided on if that one is reported while the first is read', async () => {
    const order = await (await life(['ordered'], {}, { readOrder: silent })).until(120);
    await order.signal('orderChanged', redraw(['ordered']));
    await order.given({ readOrder: showing(redraw(['ordered']), shown) });
    expect(order.calls.slice(0, 2)).toEqual(['120h readOrder', '120h readOrder']);
    expect(await questionsOf(order)).toEqual([['shipping_overdue', newId]]);
  });

  test('only as it is read for a decision is not decided on before', async () => {
    const order = await (await life(['ordered'], {}, { readOrder: showing(redraw(awaited), shown) })).until(120);
    expect(order.calls.slice(0, 2)).toEqual(['120h readOrder', '120h readOrder']);
    expect((await order.state()).attention).toMatchObject([{ orderId: newId }]);
    expect(order.happened().filter((event) => event.includes('raised'))).toHaveLength(1);
  });
});

test('an order that only an open critical result keeps open is not looked for any more', async () => {
  const order = await life(['ordered'], {}, { cancelOrder: unknown, readOrder: null });
  await order.update('cancel');
  await order.signal('orderChanged', shownAt(happyPath, { interpretation: 'critical' }));
  await order.until(1.5);
  expect(order.calls).toEqual(['0h cancelOrder', '0h readOrder']);
  expect(order.run.end).toBeUndefined();
});

describe('after a long time without a worker', () => {
  /** No worker was there for so many days. */
  async function after(days: number, statuses: readonly string[], policy: OrderPolicy, answers: Answers = {}) {
    const order = await life(statuses, policy, { replaceKitOrder: replaced, ...answers });
    order.run.now += days * day;
    return order.until(24 * days + 1);
  }

  test('a kit that failed by the policy is not given up or asked about, too', async () => {
    const order = await after(100, stuck, { onProblem: 'fail' });
    expect(order.happened()).toEqual(['phase_changed in_transit_to_customer', 'ended failed', 'completed']);
  });

  test('a kit that is replaced is not asked about, nor given up while its replacement is ordered', async () => {
    const order = await after(100, stuck, { onProblem: 'replace', giveUpAfter: '300d' });
    expect(order.happened()).toContain('replacement');
    expect(order.happened()).not.toContain('attention_raised delivery_overdue');
    const waiting = await after(100, stuck, { onProblem: 'replace' }, { replaceKitOrder: silent });
    expect(waiting.happened()).toEqual(['phase_changed in_transit_to_customer']);
    expect(await waiting.state()).not.toHaveProperty('outcome');
  });
});
