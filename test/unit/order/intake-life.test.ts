import { describe, expect, test } from 'vitest';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import type { OrderState } from '../../../protocol/order/state.js';
import { Life, silent } from '../life.js';
import { happyPath, kitOf, pathTo, transactionOf } from './histories.js';
import {
  attentionIn,
  awaited,
  lateLife,
  life,
  lost,
  newId,
  opening,
  orderId,
  report,
  shipped,
  shownAt,
  stateIn,
} from './lives.js';
import { resolvePolicy as policyOf } from '../../../protocol/policies.js';

/* The lives of orders of which something unusual is reported, or whose policy changes. */

const policy = policyOf('order');
const stateOf = async ({ run }: Life) => (await run.query('state')) as OrderState;
const problemsOf = ({ run }: Life) => run.logged.filter((line) => !line.startsWith('debug'));
const resultOf = ({ run }: Life) => (run.end as unknown as { result: object }).result;

describe('a report', () => {
  test.each([
    ['orderChanged', null, 'a signal was dropped: it has no order snapshot'],
    ['orderChanged', { orderId }, 'a signal was dropped: it has no order snapshot'],
    ['criticalResultReported', {}, 'a critical result was dropped: it names no order'],
    ['orderPlaced', null, 'a hand-over was dropped: it lacks reference, policy or order'],
    ['orderPlaced', { reference: 'a b', policy }, 'a hand-over was dropped: it lacks reference, policy or order'],
    ['orderPlaced', { reference: 'ref-2' }, 'a hand-over was dropped: it lacks reference, policy or order'],
    ['replacementPlaced', null, 'a replacement was dropped: it does not name the root of its chain'],
    [
      'replacementPlaced',
      { rootOrderId: orderId, snapshot: shownAt(awaited) },
      'a replacement was dropped: it does not name the root of its chain',
    ],
    ['replacementPlaced', { rootOrderId: newId }, 'a replacement was dropped: it does not name the root of its chain'],
  ])('that cannot be used is logged and changes nothing: %s %j', async (name, argument, problem) => {
    const order = await lateLife(awaited);
    const before = await stateOf(order);
    await order.signal(name, argument);
    expect(problemsOf(order)).toEqual([`error: ${problem}`]);
    expect(await stateOf(order)).toEqual(before);
    expect(order.events).toHaveLength(1);
  });

  test('that hands an order over without showing it is dropped while nobody has shown it', async () => {
    const placed = { reference: 'ref-1', policy, adopted: false, notifies: true };
    const order = new Life(opening, { readChain: silent });
    await order.start({ rootOrderId: orderId, policy }, { name: 'orderPlaced', argument: placed });
    expect(problemsOf(order)).toEqual(['error: a hand-over was dropped: it lacks reference, policy or order']);
    await order.signal('orderChanged', shownAt(awaited));
    await order.signal('orderPlaced', { ...placed, reference: 'ref-2' });
    expect(await stateOf(order)).toMatchObject({ reference: 'ref-2' });
  });

  test('that was taken in before costs nothing', async () => {
    const order = await life(awaited);
    const count = order.run.summaries.length;
    await order.signal('orderChanged', shownAt(awaited));
    expect(order.run.summaries).toHaveLength(count);
  });

  test('of a critical result stands for its order until that is read', async () => {
    const order = new Life(opening, { readChain: silent });
    const argument = { orderId, interpretation: 'critical', userId: 'user-2', sampleId: 'SAMPLE-2' };
    await order.start({ rootOrderId: orderId, policy }, { name: 'criticalResultReported', argument });
    expect(await stateOf(order)).toMatchObject({ userId: 'user-2', sampleId: 'SAMPLE-2' });
    const shown = await life(awaited);
    await shown.signal('criticalResultReported', { orderId, interpretation: 'critical', order: shownAt(happyPath) });
    expect(await stateOf(shown)).toMatchObject({ phase: 'completed' });
  });
});

describe('an order that was given up', () => {
  const givenUp = async (given: OrderPolicy, statuses: readonly string[] = ['ordered']): Promise<Life> => {
    const order = await life(statuses, given, {});
    await order.until(239);
    order.answers['notify'] = silent;
    return order.until(240);
  };

  test('is followed again if it moves before everybody is notified', async () => {
    const order = await givenUp({ giveUpAfter: '5d' });
    expect(await stateOf(order)).toMatchObject({ outcome: 'unresolved' });
    await report(order, shipped);
    expect(await stateOf(order)).not.toHaveProperty('outcome');
    delete order.answers['notify'];
    await order.settle();
    expect(order.run.end).toBeUndefined();
    await report(order, [...shipped, 'lost']);
    await order.update('resolveProblem', { orderId, decision: 'abandon' });
    expect(order.events.at(-2)).toBe('240h order.ended abandoned');
  });

  test('is followed again with the redraw that is reported, and not for a report without an event', async () => {
    const order = await givenUp({ giveUpAfter: '5d' });
    const count = order.calls.length;
    await report(order, ['ordered'], { sampleId: 'SAMPLE-1' });
    expect(order.calls).toHaveLength(count);
    expect(await stateOf(order)).toMatchObject({ outcome: 'unresolved' });
    const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
    const createdAt = '2024-03-11T10:00:00.000Z';
    const events = [{ id: 1, at: createdAt, status: 'received.testkit.ordered' }];
    const redraw = kitOf(newId, [], { origin: 'redraw', parentId: orderId, transaction, createdAt, events });
    await order.signal('orderChanged', redraw);
    expect(await stateOf(order)).not.toHaveProperty('outcome');
  });

  test('is not followed again if it only fails, or has a problem', async () => {
    for (const status of ['lost', 'problem_in_transit_customer']) {
      const order = await givenUp({ giveUpAfter: '5d' });
      await report(order, [...shipped, status]);
      expect(await stateOf(order)).toMatchObject({ outcome: 'unresolved' });
    }
  });

  test('by a person is left alone, until the service ends it', async () => {
    const order = await life(['ordered'], {}, { notify: silent });
    await order.update('resolveProblem', { orderId, decision: 'abandon' });
    await report(order, shipped);
    expect(await stateOf(order)).toMatchObject({ outcome: 'abandoned' });
    await report(order, [...shipped, 'cancelled']);
    expect(await stateOf(order)).toMatchObject({ outcome: 'cancelled' });
  });

  test('because it was gone is followed again as soon as it is reported, also with a problem', async () => {
    const order = await life(['ordered'], {}, { readOrder: null });
    await order.until(120);
    order.answers['notify'] = silent;
    await order.until(120.17);
    expect(await stateOf(order)).toMatchObject({ outcome: 'order_gone' });
    await report(order, [...shipped, 'problem_in_transit_customer']);
    expect(await stateOf(order)).not.toHaveProperty('outcome');
  });
});

describe('a hand-over', () => {
  const handOver = { reference: 'ref-1', policy, adopted: false, notifies: true, snapshot: shownAt(awaited) };

  test('that comes again changes nothing, and one of another reference needs a person and cancels nothing', async () => {
    const order = await life(awaited, { shippingDeadline: '8d' }, { cancelOrder: shownAt([...awaited, 'cancelled']) });
    await order.signal('orderPlaced', handOver);
    expect(await order.run.query('state')).toMatchObject({ waiting: { until: '2024-03-09T10:00:00.000Z' } });
    await order.signal('orderPlaced', { ...handOver, reference: 'ref-2', cancelRequested: true });
    expect(order.calls).toEqual([]);
    expect(await stateOf(order)).toMatchObject({
      reference: 'ref-1',
      attention: [{ reason: 'reference_conflict', orderId }],
    });
    await order.signal('orderPlaced', { ...handOver, cancelRequested: true });
    expect(order.calls).toEqual(['0h cancelOrder']);
    await order.signal('orderPlaced', { ...handOver, cancelRequested: true });
    expect(order.calls).toEqual(['0h cancelOrder']);
  });

  test('keeps the settings that were changed before it came', async () => {
    const ours = shownAt(awaited, { passthrough: 'labops:-:ref-1:1' });
    const resolvePolicy = (_now: number, { policy: given, base }: { policy: object; base: object }) => ({
      ...base,
      ...given,
    });
    const readChain = { snapshots: [ours], gone: false, rootOrderId: orderId, notifies: true };
    const order = await new Life(opening, { resolvePolicy, readChain, readOrder: ours }).start(
      { rootOrderId: orderId, policy },
      { name: 'orderChanged', argument: ours },
    );
    await order.update('setPolicy', { policy: { shippingDeadline: 8 * 86_400_000 } });
    const given = policyOf('order', { shippingDeadline: '6d', giveUpAfter: '5d' });
    await order.signal('orderPlaced', { ...handOver, snapshot: ours, policy: given });
    expect((await order.until(24 * 14)).events.slice(1)).toEqual([
      '192h order.attention_raised shipping_overdue',
      '240h order.registration_reminder 1',
      '312h order.ended unresolved',
      '312h completed',
    ]);
  });

  test('with another time between reminders counts that from the reminder before', async () => {
    const readChain = { snapshots: [shownAt(awaited)], gone: false, rootOrderId: orderId, notifies: true };
    const order = new Life(opening, { readChain });
    const alarm = { name: 'criticalResultReported', argument: { orderId, interpretation: 'critical' } };
    await order.start({ rootOrderId: orderId, policy }, { name: 'orderChanged', argument: shownAt(awaited) }, alarm);
    await order.until(1.5);
    await order.signal('orderPlaced', {
      ...handOver,
      policy: policyOf('order', { criticalResultReminder: '2h' }),
    });
    await order.until(6);
    expect(order.events.filter((event) => event.includes('reminder'))).toEqual([
      '1h order.critical_result_reminder 1',
      '3h order.critical_result_reminder 2',
      '5h order.critical_result_reminder 3',
    ]);
  });

  test('that is later than a run of its order does not believe the answer of its creation', async () => {
    const earlierRun = { runId: '0c9a0000-0000-4000-8000-0000000000a1' };
    const ended = [...awaited, 'cancelled'];
    const readChain = { snapshots: [shownAt(ended)], gone: false, rootOrderId: orderId, notifies: true };
    const order = new Life(opening, { readChain });
    const argument = { ...handOver, snapshot: shownAt(['ordered']) };
    await order.start({ rootOrderId: orderId, policy, earlierRun }, { name: 'orderPlaced', argument });
    expect(order.calls).toEqual(['0h readChain']);
    expect(order.events).toContain('0h order.phase_changed cancelled');
    expect(order.events.join()).not.toContain('preparing');
  });

  test('that only takes over reads what came before it', async () => {
    const readChain = { snapshots: [shownAt(shipped)], gone: false, rootOrderId: orderId, notifies: true };
    const order = new Life(opening, { readChain });
    const argument = { ...handOver, adopted: true };
    await order.start({ rootOrderId: orderId, policy }, { name: 'orderPlaced', argument });
    expect(order.calls).toEqual(['0h readChain']);
    expect(await stateOf(order)).toMatchObject({ phase: 'in_transit_to_customer' });
  });

  test('of a deployment that notifies nobody announces nothing', async () => {
    const order = await life(awaited, {}, {}, { notifies: false });
    await report(order, shipped);
    expect(order.events).toEqual([]);
  });

  test('is followed by one for another chain, whose reference counts from then on, if it has one', async () => {
    for (const [reference, expected] of [
      ['ref-7', 'ref-7'],
      ['a b', 'ref-1'],
      [undefined, 'ref-1'],
    ]) {
      const order = await life(awaited);
      await order.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(shipped), reference });
      expect(await stateOf(order)).toMatchObject({ reference: expected, phase: 'in_transit_to_customer' });
    }
  });
});

describe('the policy', () => {
  const dayMs = 86_400_000;
  const resolvePolicy = (_now: number, { policy: given, base }: { policy: object; base: typeof policy }) =>
    policyOf('order', given, base);

  test('of an order is changed at once: what was overdue and is not any more needs nobody, until it is again', async () => {
    const order = await life(['ordered'], {}, { resolvePolicy });
    await order.until(121);
    expect(order.events.at(-1)).toBe('120h order.attention_raised shipping_overdue');
    const changes = { shippingDeadline: '8d', giveUpAfter: '1d', onLost: null };
    const reply = await order.update('setPolicy', { policy: changes });
    expect(attentionIn(reply)).toEqual([]);
    expect(stateIn(reply)).toMatchObject({ waiting: { until: '2024-03-09T10:00:00.000Z' } });
    expect(order.run.shown.details).toContain('the product changed the policy: giveUpAfter, shippingDeadline');
    await order.update('setPolicy', { policy: { shippingDeadline: '8d' } });
    expect(order.run.shown.details.match(/changed the policy/g)).toHaveLength(1);
    expect((await order.until(24 * 10)).events.slice(-4)).toEqual([
      '121h order.attention_cleared shipping_overdue',
      '192h order.attention_raised shipping_overdue',
      '216h order.ended unresolved',
      '216h completed',
    ]);
    expect(resultOf(order)).toMatchObject({ policy: { onLost: 'ask', giveUpAfter: dayMs } });
  });

  test('leaves alone what it does not move: a question that stands, and reminders that were sent', async () => {
    const overdue = await life(['ordered'], {}, { resolvePolicy });
    await overdue.until(121);
    await overdue.update('setPolicy', { policy: { giveUpAfter: '90d' } });
    expect(overdue.events.slice(1)).toEqual(['120h order.attention_raised shipping_overdue']);
    const reminded = await lateLife(pathTo('with_customer'), {}, { resolvePolicy });
    await reminded.until(24 * 8);
    await reminded.update('setPolicy', { policy: { giveUpAfter: '90d' } });
    expect(reminded.events.slice(1)).toEqual(['168h order.registration_reminder 1']);
  });

  test('is not changed before it is known whose order it is, and not asked for if it is another’s or has ended', async () => {
    const early = await new Life(opening, { readChain: silent, resolvePolicy }).start({ rootOrderId: orderId, policy });
    const change = { policy: { shippingDeadline: '8d' } };
    await early.update('setPolicy', change);
    expect(early.run.accepted).toEqual(['setPolicy']);
    await early.signal('orderChanged', shownAt(awaited));
    const ended = shownAt([...awaited, 'cancelled']);
    early.answers['readChain'] = { snapshots: [ended], gone: false, rootOrderId: orderId, notifies: true };
    await early.settle();
    expect(early.run.replies).toEqual([{ name: 'setPolicy', refused: 'OrderEnded' }]);
    expect(early.calls.join()).not.toContain('resolvePolicy');
    const other = await new Life(opening, { readChain: silent }).start({ rootOrderId: orderId, policy });
    await other.signal('orderChanged', shownAt(awaited));
    await other.update('cancel');
    await other.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(awaited) });
    expect(other.run.replies).toEqual([{ name: 'cancel', refused: 'OrderForwarded' }]);
    expect(await other.update('setPolicy', change)).toEqual({ name: 'setPolicy', refused: 'OrderForwarded' });
    expect(other.run.accepted).toEqual(['cancel']);
  });

  test('asks at once about what it makes overdue', async () => {
    const order = await life(['ordered'], {}, { resolvePolicy });
    await order.until(30);
    await order.update('setPolicy', { policy: { shippingDeadline: '1d' } });
    await order.until(30.0001);
    expect(order.calls).toEqual(['30h resolvePolicy', '30h readOrder']);
    expect(order.events.at(-1)).toBe('30h order.attention_raised shipping_overdue');
  });

  test('that no longer waits for a read ends that waiting', async () => {
    const order = await life(
      ['ordered'],
      {},
      { resolvePolicy, readOrder: { failure: { type: 'ServiceUnavailable' } } },
    );
    await order.until(145);
    expect((await stateOf(order)).attention).toMatchObject([{ reason: 'order_unreadable' }]);
    expect(attentionIn(await order.update('setPolicy', { policy: { shippingDeadline: '8d' } }))).toEqual([]);
  });

  test('is worked out again if another change came meanwhile', async () => {
    const order = await life(['ordered'], {}, { resolvePolicy: silent });
    await order.update('setPolicy', { policy: { shippingDeadline: '8d' } });
    await order.update('setPolicy', { policy: { giveUpAfter: '3d' } });
    order.answers['resolvePolicy'] = resolvePolicy;
    await order.settle();
    expect(order.calls).toEqual(['0h resolvePolicy', '0h resolvePolicy', '0h resolvePolicy']);
    await order.until(24 * 20);
    expect(resultOf(order)).toMatchObject({ policy: { shippingDeadline: 8 * dayMs, giveUpAfter: 3 * dayMs } });
    expect(order.events.slice(1)).toEqual([
      '192h order.attention_raised shipping_overdue',
      '264h order.ended unresolved',
      '264h completed',
    ]);
  });

  test.each([[undefined], [{}], [{ policy: 7 }], [{ policy: { onLost: null } }], [{ policy: { version: 2 } }]])(
    'is not changed by %j',
    async (command) => {
      const order = await life(['ordered'], {}, { resolvePolicy });
      expect(await order.update('setPolicy', command)).toEqual({ name: 'setPolicy', refused: 'InvalidCommand' });
      expect(order.run.refusals.at(-1)).toMatchObject({ fields: [{ field: 'policy' }] });
      expect(order.run.accepted).toEqual([]);
      expect(order.calls).toEqual([]);
    },
  );

  test('of an order that has ended is not changed, also if it ends while the change is worked out', async () => {
    const order = await life(['ordered'], {}, { notify: silent, resolvePolicy: silent });
    const change = { policy: { shippingDeadline: '8d' } };
    await order.update('setPolicy', change);
    await report(order, ['ordered', 'cancelled']);
    order.answers['resolvePolicy'] = resolvePolicy;
    await order.settle();
    expect(order.run.replies).toEqual([{ name: 'setPolicy', refused: 'OrderEnded' }]);
    expect(await order.update('setPolicy', change)).toEqual({ name: 'setPolicy', refused: 'OrderEnded' });
    const last = { policy: { notificationDeadline: '1d' } };
    expect(await order.update('setPolicy', last)).toEqual({ name: 'setPolicy', refused: 'OrderEnded' });
    expect(order.run.accepted).toEqual(['setPolicy']);
    expect(await order.run.query('policyPreview', change.policy)).toMatchObject({ refused: { type: 'OrderEnded' } });
  });

  test('of an order of another chain is not changed', async () => {
    const order = await life(awaited, {}, { resolvePolicy });
    await order.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(awaited) });
    const reply = await order.update('setPolicy', { policy: { shippingDeadline: '8d' } });
    expect(reply).toEqual({ name: 'setPolicy', refused: 'OrderForwarded' });
  });

  test('of an order with an open critical result is changed as far as it still counts', async () => {
    const order = await life(pathTo('delivered_to_lab'), {}, { resolvePolicy });
    const open = await order.signal('criticalResultReported', { orderId, interpretation: 'critical' });
    await open.update('setPolicy', { policy: { resultsDeadline: '20d' } });
    expect(order.run.replies.at(-1)).toMatchObject({ name: 'setPolicy', value: {} });
    await report(order, happyPath, { interpretation: 'critical' });
    expect(await order.update('setPolicy', { policy: { resultsDeadline: '1d' } })).toEqual({
      ...{ name: 'setPolicy', refused: 'OrderEnded' },
    });
    expect(order.run.refusals.at(-1)).toMatchObject({ reason: 'completed' });
    const count = order.events.length;
    await order.until(1.5);
    const more = { notificationDeadline: '1d', criticalResultReminder: '2h', resultsDeadline: '1d' };
    expect(stateIn(await order.update('setPolicy', { policy: more }))).toMatchObject({ outcome: 'completed' });
    await order.until(6);
    expect(order.events.slice(count)).toEqual([
      '1h order.critical_result_reminder 1',
      '3h order.critical_result_reminder 2',
      '5h order.critical_result_reminder 3',
    ]);
  });

  test('is previewed with all that would come at another time, or not at all any more, and nothing is changed', async () => {
    const order = await life(['ordered'], {}, { resolvePolicy });
    await order.until(121);
    const before = await stateOf(order);
    expect(await order.run.query('policyPreview', { shippingDeadline: '8d' })).toEqual({
      before: before.waiting,
      after: expect.objectContaining({ until: '2024-03-09T10:00:00.000Z' }) as unknown,
      moved: [
        { name: 'shipping_overdue', after: '2024-03-09T10:00:00.000Z' },
        { name: 'give_up', before: '2024-05-05T10:00:00.000Z' },
      ],
    });
    expect(await order.run.query('policyPreview', { giveUpAfter: '1d' })).toMatchObject({
      moved: [{ name: 'give_up', before: '2024-05-05T10:00:00.000Z', after: '2024-03-07T10:00:00.000Z' }],
    });
    expect(await stateOf(order)).toEqual(before);
    for (const unclear of [8, '8', 691_200_000, '691200000', '999ms']) {
      const given = { shippingDeadline: unclear };
      expect(await order.run.query('policyPreview', given)).toMatchObject({ refused: { type: 'InvalidCommand' } });
    }
    const wrong = await order.run.query('policyPreview', { shippingDeadline: -1, unknown: 2 });
    expect(wrong).toMatchObject({ refused: { type: 'InvalidCommand', details: { fields: [{ field: 'policy' }] } } });
    expect(JSON.stringify(wrong)).toMatch(/shippingDeadline must be .+; unknown is not a policy setting/);
  });

  test('is not previewed before an order was reported', async () => {
    const order = await new Life(opening, { readChain: silent }).start({ rootOrderId: orderId, policy });
    const preview = await order.run.query('policyPreview', { shippingDeadline: '8d' });
    expect(preview).toMatchObject({ refused: { type: 'OrderNotFound' } });
  });

  test('with another reminder of a critical result moves it in the preview, and only there', async () => {
    const order = await life(pathTo('delivered_to_lab'), {}, { resolvePolicy });
    await order.signal('criticalResultReported', { orderId, interpretation: 'critical' });
    await order.until(1.5);
    expect(await order.run.query('policyPreview', { criticalResultReminder: '4h' })).toMatchObject({
      moved: [
        { name: 'critical_result_reminder', before: '2024-03-01T12:00:00.000Z', after: '2024-03-01T15:00:00.000Z' },
      ],
    });
    await order.until(2);
    expect(order.events.at(-1)).toBe('2h order.critical_result_reminder 2');
  });
});

test('a replacement whose webhook comes before its answer is known by its number, whatever the answer is', async () => {
  const order = await lateLife(lost, {}, { replaceKitOrder: silent });
  await order.update('replaceKit', { orderId });
  const passthrough = `labops:${orderId}:ref-1:2`;
  await order.signal(
    'orderChanged',
    kitOf('00000000-0000-4000-8000-00000000000c', awaited, { passthrough: `labops:${orderId}:ref-1:3` }),
  );
  await order.signal(
    'orderChanged',
    kitOf('00000000-0000-4000-8000-00000000000d', awaited, { passthrough: `labops:${newId}:ref-1:2` }),
  );
  await order.signal('orderChanged', kitOf(newId, awaited, { passthrough }));
  order.answers['replaceKitOrder'] = { failure: { type: 'ServiceUnavailable', isFinal: false } };
  await order.settle();
  const { chain } = stateIn(order.run.replies[0]);
  expect(chain.find((each) => each.orderId === newId)).toMatchObject({ origin: 'replacement', replaces: orderId });
  expect(chain.filter(({ origin }) => origin === 'replacement')).toHaveLength(1);
  expect(problemsOf(order)).toEqual([]);
});
