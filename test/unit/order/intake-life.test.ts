import { describe, expect, test } from 'vitest';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import { silent } from '../life.js';
import { day, daysAfterStart, happyPath, kitOf, pathTo, start } from './histories.js';
import {
  acknowledgement,
  alarm,
  atLab,
  attentionIn,
  awaited,
  begun,
  lateLife,
  life,
  lost,
  newId,
  orderId,
  ours,
  type OrderLife,
  placed,
  policy,
  reading,
  redraw,
  resolvingPolicy,
  shipped,
  shownAt,
  stateIn,
  stuck,
} from './lives.js';

/* The lives of orders of which something unusual is reported, whose service has a wrong clock, or whose policy changes. */

const problemsOf = ({ run }: OrderLife) => run.logged.filter((line) => !line.startsWith('debug'));
const cancelled = [...awaited, 'cancelled'];

describe('a report', () => {
  const noSnapshot = 'a signal was dropped: it has no order snapshot';
  const noHandOver = 'a hand-over was dropped: it lacks reference, policy or order';
  const noRoot = 'a replacement was dropped: it does not name the root of its chain';

  test.each([
    ['orderChanged', null, noSnapshot],
    ['orderChanged', { orderId }, noSnapshot],
    ['criticalResultReported', {}, 'a critical result was dropped: it names no order'],
    ['orderPlaced', null, noHandOver],
    ['orderPlaced', { reference: 'a b', policy }, noHandOver],
    ['orderPlaced', { reference: 'ref-2' }, noHandOver],
    ['replacementPlaced', null, noRoot],
    ['replacementPlaced', { rootOrderId: orderId, snapshot: shownAt(awaited) }, noRoot],
    ['replacementPlaced', { rootOrderId: newId }, noRoot],
  ])('that cannot be used is logged and changes nothing: %s %j', async (name, argument, problem) => {
    const order = await lateLife(awaited);
    const before = await order.state();
    await order.signal(name, argument);
    expect(problemsOf(order)).toEqual([`error: ${problem}`]);
    expect(await order.state()).toEqual(before);
    expect(order.events).toHaveLength(1);
  });

  test('that hands an order over without showing it is dropped while nobody has shown it', async () => {
    const signal = { name: 'orderPlaced', argument: placed };
    const order = await begun(undefined, { readChain: silent, signal });
    expect(problemsOf(order)).toEqual([`error: ${noHandOver}`]);
    await order.signal('orderChanged', shownAt(awaited));
    await order.signal('orderPlaced', { ...placed, reference: 'ref-2' });
    expect(await order.state()).toMatchObject({ reference: 'ref-2' });
  });

  test('of a critical result stands for its order until that is read', async () => {
    const about = { userId: 'user-2', sampleId: 'SAMPLE-2' };
    const signal = { ...alarm, argument: { ...alarm.argument, ...about } };
    expect(await (await begun(undefined, { readChain: silent, signal })).state()).toMatchObject(about);
    const shown = await life(awaited);
    await shown.signal(alarm.name, { ...alarm.argument, order: shownAt(happyPath) });
    expect(await shown.state()).toMatchObject({ phase: 'completed' });
  });
});

const hour = 3_600_000;
const inHours = (hours: number) => new Date(start + hours * hour).toISOString();
const isSaid = ({ run }: OrderLife) =>
  run.logged.filter((line) => line === 'warn: the service reports times in the future: they count as received now');

const dated = (at: string, statuses: readonly string[], more: object = {}) => {
  const events = kitOf(orderId, statuses).events.map((event) => ({ ...event, at }));
  return shownAt(statuses, { events, createdAt: at, updatedAt: at, ...more });
};

describe.each([inHours(1), daysAfterStart(30), '2062-12-06T10:00:00.000Z', '9999-12-31T23:59:59.999Z'])(
  'a service that writes %s',
  (at) => {
    test('does not put off the deadlines of an order, and that is said once', async () => {
      const snapshot = dated(at, shipped);
      const order = await life(shipped, {}, { readOrder: snapshot }, { snapshot });
      const { waiting, timeline } = await order.state();
      expect(waiting.until).toBe(daysAfterStart(10));
      expect(timeline.map((event) => event.at)).toEqual(shipped.map(() => daysAfterStart(0)));
      await order.until(0.5);
      const summaries = order.run.summaries.length;
      await order.signal('orderChanged', snapshot);
      expect(order.run.summaries).toHaveLength(summaries);
      expect((await order.state()).timeline).toEqual(timeline);
      expect(isSaid(order)).toHaveLength(1);
      expect(order.run.shown.details.match(/a time in the future/g)).toHaveLength(1);
      // Then the order is read, and what it says may be true by now.
      const isBelievedLater = Date.parse(at) <= start + 10 * day;
      await order.until(24 * 10 + 0.5);
      expect(order.happened().includes('attention_raised delivery_overdue')).toBe(!isBelievedLater);
      await order.until(24 * 11);
      expect(order.happened()).toContain('attention_raised delivery_overdue');
    });

    test('does not hide what it reports later', async () => {
      const order = await life(['ordered']);
      await order.signal('orderChanged', dated(at, ['ordered'], { interpretation: 'normal' }));
      await order.until(2);
      await order.signal('orderChanged', dated(inHours(2), ['ordered'], { interpretation: 'abnormal' }));
      expect(await order.state()).toMatchObject({ interpretation: 'abnormal' });
    });

    test('does not hide a critical result after the acknowledgement of one', async () => {
      for (const second of [{ updatedAt: inHours(-24) }, { updatedAt: inHours(0) }, { updatedAt: at }, {}]) {
        const order = await life(['ordered']);
        await order.signal('criticalResultReported', { orderId, status: 'final', updatedAt: at });
        await order.update('acknowledgeCriticalResult', acknowledgement);
        expect(await order.reasons()).toEqual([]);
        await order.signal('criticalResultReported', { orderId, status: 'final', ...second });
        expect(await order.reasons()).toEqual(['critical_result']);
        expect(isSaid(order)).toHaveLength(1);
      }
    });
  },
);

test('a time that is ahead by no more than clocks differ is believed', async () => {
  const at = inHours(4 / 60);
  const order = await life(['ordered']);
  await order.signal('orderChanged', dated(at, shipped));
  expect((await order.state()).timeline.at(-1)).toMatchObject({ at });
  expect(isSaid(order)).toEqual([]);
});

describe('an order that was given up', () => {
  /** Nobody has been notified of it yet. */
  const givenUp = async (): Promise<OrderLife> => {
    const order = await (await life(['ordered'], { giveUpAfter: '5d' })).until(239);
    await order.given({ notify: silent }, 240);
    expect(await order.state()).toMatchObject({ outcome: 'unresolved' });
    return order;
  };

  test('is followed again if it moves before everybody is notified', async () => {
    const order = await givenUp();
    await order.report(shipped);
    expect(await order.state()).not.toHaveProperty('outcome');
    delete order.answers['notify'];
    await order.settle();
    expect(order.run.end).toBeUndefined();
    await order.report(lost);
    await order.update('resolveProblem', { orderId, decision: 'abandon' });
    expect(order.events.at(-2)).toBe('240h order.ended abandoned');
  });

  test('is followed again with the redraw that is reported, and not for a report without an event', async () => {
    const order = await givenUp();
    const count = order.calls.length;
    await order.report(['ordered'], { sampleId: 'SAMPLE-1' });
    expect(order.calls).toHaveLength(count);
    expect(await order.state()).toMatchObject({ outcome: 'unresolved' });
    const createdAt = '2024-03-11T10:00:00.000Z';
    const events = [{ id: 1, at: createdAt, status: 'received.testkit.ordered' }];
    await order.signal('orderChanged', redraw([], { createdAt, events }));
    expect(await order.state()).not.toHaveProperty('outcome');
  });

  test.each([
    ['fails', lost],
    ['has a problem', stuck],
  ])('is not followed again if it only %s', async (_how, statuses) => {
    const order = await givenUp();
    await order.report(statuses);
    expect(await order.state()).toMatchObject({ outcome: 'unresolved' });
  });

  test('by a person is left alone, until the service ends it', async () => {
    const order = await life(['ordered'], {}, { notify: silent });
    await order.update('resolveProblem', { orderId, decision: 'abandon' });
    await order.report(shipped);
    expect(await order.state()).toMatchObject({ outcome: 'abandoned' });
    await order.report([...shipped, 'cancelled']);
    expect(await order.state()).toMatchObject({ outcome: 'cancelled' });
  });

  test('because it was gone is followed again as soon as it is reported, also with a problem', async () => {
    const order = await (await life(['ordered'], {}, { readOrder: null })).until(120);
    await order.given({ notify: silent }, 120.17);
    expect(await order.state()).toMatchObject({ outcome: 'order_gone' });
    await order.report(stuck);
    expect(await order.state()).not.toHaveProperty('outcome');
  });
});

describe('a hand-over', () => {
  const handOver = { ...placed, snapshot: shownAt(awaited) };

  test('that comes again changes nothing, and one of another reference needs a person and cancels nothing', async () => {
    const order = await life(awaited, { shippingDeadline: '8d' }, { cancelOrder: shownAt(cancelled) });
    await order.signal('orderPlaced', handOver);
    expect(await order.state()).toMatchObject({ waiting: { until: '2024-03-09T10:00:00.000Z' } });
    await order.signal('orderPlaced', { ...handOver, reference: 'ref-2', cancelRequested: true });
    expect(order.calls).toEqual([]);
    const asked = { reason: 'reference_conflict', orderId };
    expect(await order.state()).toMatchObject({ reference: 'ref-1', attention: [asked] });
    for (let times = 0; times < 2; times += 1) {
      await order.signal('orderPlaced', { ...handOver, cancelRequested: true });
      expect(order.calls).toEqual(['0h cancelOrder']);
    }
  });

  test('keeps the settings that were changed before it came', async () => {
    const shown = { readChain: reading({ snapshots: [ours(awaited)] }), readOrder: ours(awaited) };
    const order = await begun(ours(awaited), { ...shown, resolvePolicy: resolvingPolicy });
    await order.update('setPolicy', { policy: { shippingDeadline: '8d' } });
    const given = resolvePolicy('order', { shippingDeadline: '6d', giveUpAfter: '5d' });
    await order.signal('orderPlaced', { ...handOver, reference: 'ref-9', policy: given });
    expect((await order.until(24 * 14)).events.slice(1)).toEqual([
      '192h order.attention_raised shipping_overdue',
      '240h order.registration_reminder 1',
      '312h order.ended unresolved',
      '312h completed',
    ]);
  });

  test.each([
    ['is later than a run of its order', { earlierRun: { runId: '0c9a0000-0000-4000-8000-0000000000a1' } }, {}],
    ['only takes over', {}, { adopted: true }],
  ])('that %s reads what came before, and does not believe the answer of its creation', async (_what, input, more) => {
    const argument = { ...handOver, snapshot: shownAt(['ordered']), ...more };
    const readChain = reading({ snapshots: [shownAt(cancelled)] });
    const order = await begun(undefined, { readChain, signal: { name: 'orderPlaced', argument } }, input);
    expect(order.calls).toEqual(['0h readChain']);
    expect(order.happened()).toEqual(['cancellation', 'phase_changed cancelled', 'completed']);
  });

  test.each([
    ['ref-7', 'ref-7'],
    ['a b', 'ref-1'],
    [undefined, 'ref-1'],
  ])('is followed by one for another chain with the reference %j: from then on %s counts', async (given, counts) => {
    const order = await life(awaited);
    await order.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(shipped), reference: given });
    expect(await order.state()).toMatchObject({ reference: counts, phase: 'in_transit_to_customer' });
  });
});

describe('the policy', () => {
  const changing = { resolvePolicy: resolvingPolicy };
  const longer = { policy: { shippingDeadline: '8d' } };
  const change = (order: OrderLife, given: OrderPolicy) => order.update('setPolicy', { policy: given });

  test('of an order is changed at once: what was overdue and is not any more needs nobody, until it is again', async () => {
    const order = await (await life(['ordered'], {}, changing)).until(121);
    expect(order.events.at(-1)).toBe('120h order.attention_raised shipping_overdue');
    const changes = { shippingDeadline: '8d', giveUpAfter: '1d', onLost: null };
    const reply = await order.update('setPolicy', { policy: changes });
    expect(attentionIn(reply)).toEqual([]);
    expect(stateIn(reply)).toMatchObject({ waiting: { until: '2024-03-09T10:00:00.000Z' } });
    expect(order.run.shown.details).toContain('policy changed: giveUpAfter, shippingDeadline');
    await order.update('setPolicy', longer);
    expect(order.run.shown.details.match(/policy changed/g)).toHaveLength(1);
    expect((await order.until(24 * 10)).events.slice(-4)).toEqual([
      '121h order.attention_cleared shipping_overdue',
      '192h order.attention_raised shipping_overdue',
      '216h order.ended unresolved',
      '216h completed',
    ]);
    expect(order.result).toMatchObject({ policy: { onLost: 'ask', giveUpAfter: day } });
  });

  test('leaves alone what it does not move: a question that stands, and reminders that were sent', async () => {
    const overdue = await (await life(['ordered'], {}, changing)).until(121);
    await change(overdue, { giveUpAfter: '90d' });
    expect(overdue.events.slice(1)).toEqual(['120h order.attention_raised shipping_overdue']);
    const reminded = await (await lateLife(pathTo('with_customer'), {}, changing)).until(24 * 8);
    await change(reminded, { giveUpAfter: '90d' });
    expect(reminded.events.slice(1)).toEqual(['168h order.registration_reminder 1']);
  });

  test('is not changed before it is known whose order it is, and not asked for if it is another’s or has ended', async () => {
    const early = await begun(undefined, { readChain: silent, ...changing });
    await early.update('setPolicy', longer);
    expect(early.run.accepted).toEqual(['setPolicy']);
    await early.signal('orderChanged', shownAt(awaited));
    await early.given({ readChain: reading({ snapshots: [shownAt(cancelled)] }) });
    expect(early.run.replies).toEqual([{ name: 'setPolicy', refused: 'OrderEnded' }]);
    expect(early.callsOf('resolvePolicy')).toEqual([]);
    const other = await begun(shownAt(awaited), { readChain: silent });
    await other.update('cancel');
    await other.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(awaited) });
    expect(other.run.replies).toEqual([{ name: 'cancel', refused: 'OrderForwarded' }]);
    expect(await other.update('setPolicy', longer)).toEqual({ name: 'setPolicy', refused: 'OrderForwarded' });
    expect(other.run.accepted).toEqual(['cancel']);
  });

  test('asks at once about what it makes overdue', async () => {
    const order = await (await life(['ordered'], {}, changing)).until(30);
    await change(order, { shippingDeadline: '1d' });
    await order.until(30.0001);
    expect(order.calls).toEqual(['30h resolvePolicy', '30h readOrder']);
    expect(order.events.at(-1)).toBe('30h order.attention_raised shipping_overdue');
  });

  test('is worked out again if another change came meanwhile', async () => {
    const order = await life(['ordered'], {}, { resolvePolicy: silent });
    await order.update('setPolicy', longer);
    await change(order, { giveUpAfter: '3d' });
    await order.given({ resolvePolicy: resolvingPolicy });
    expect(order.calls).toEqual(['0h resolvePolicy', '0h resolvePolicy', '0h resolvePolicy']);
    await order.until(24 * 20);
    expect(order.result).toMatchObject({ policy: { shippingDeadline: 8 * day, giveUpAfter: 3 * day } });
    expect(order.events.slice(1)).toEqual([
      '192h order.attention_raised shipping_overdue',
      '264h order.ended unresolved',
      '264h completed',
    ]);
  });

  test.each([[undefined], [{}], [{ policy: 7 }], [{ policy: { onLost: null } }], [{ policy: { version: 2 } }]])(
    'is not changed by %j',
    async (command) => {
      const order = await life(['ordered'], {}, changing);
      expect(await order.update('setPolicy', command)).toEqual({ name: 'setPolicy', refused: 'InvalidCommand' });
      expect(order.run.refusals.at(-1)).toMatchObject({ fields: [{ field: 'policy' }] });
      expect(order.run.accepted).toEqual([]);
      expect(order.calls).toEqual([]);
    },
  );

  test('of an order that has ended is not changed, also if it ends while the change is worked out', async () => {
    const order = await life(['ordered'], {}, { notify: silent, resolvePolicy: silent });
    await order.update('setPolicy', longer);
    await order.report(['ordered', 'cancelled']);
    await order.given({ resolvePolicy: resolvingPolicy });
    const refused = { name: 'setPolicy', refused: 'OrderEnded' };
    expect(order.run.replies).toEqual([refused]);
    expect(await order.update('setPolicy', longer)).toEqual(refused);
    expect(await change(order, { notificationDeadline: '1d' })).toEqual(refused);
    expect(order.run.accepted).toEqual(['setPolicy']);
    expect(await order.run.query('policyPreview', longer.policy)).toMatchObject({ refused: { type: 'OrderEnded' } });
  });

  test('of an order with an open critical result is changed as far as it still counts', async () => {
    const order = await life(atLab, {}, changing);
    await order.signal(alarm.name, alarm.argument);
    expect(await change(order, { resultsDeadline: '20d' })).toMatchObject({ name: 'setPolicy', value: {} });
    await order.report(happyPath, { interpretation: 'critical' });
    expect(await change(order, { resultsDeadline: '1d' })).toEqual({ name: 'setPolicy', refused: 'OrderEnded' });
    expect(order.run.refusals.at(-1)).toMatchObject({ reason: 'completed' });
    const count = order.events.length;
    await order.until(1.5);
    const more = { notificationDeadline: '1d', criticalResultReminder: '2h', resultsDeadline: '1d' } as const;
    expect(stateIn(await change(order, more))).toMatchObject({ outcome: 'completed' });
    await order.until(6);
    expect(order.events.slice(count)).toEqual([
      '1h order.critical_result_reminder 1',
      '3h order.critical_result_reminder 2',
      '5h order.critical_result_reminder 3',
    ]);
  });

  test('is previewed with all that would come at another time, or not at all any more, and nothing is changed', async () => {
    const order = await (await life(['ordered'], {}, changing)).until(121);
    const before = await order.state();
    expect(await order.run.query('policyPreview', longer.policy)).toEqual({
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
    expect(await order.state()).toEqual(before);
    for (const shippingDeadline of [8, '8', 691_200_000, '691200000', '999ms'])
      expect(await order.run.query('policyPreview', { shippingDeadline })).toMatchObject({
        refused: { type: 'InvalidCommand' },
      });
    const wrong = await order.run.query('policyPreview', { shippingDeadline: -1, unknown: 2 });
    expect(wrong).toMatchObject({ refused: { type: 'InvalidCommand', details: { fields: [{ field: 'policy' }] } } });
    expect(JSON.stringify(wrong)).toMatch(/shippingDeadline must be .+; unknown is not a policy setting/);
  });

  test('is previewed also before it is resolved, but not before an order was reported', async () => {
    const order = await begun(undefined, { resolvePolicy: silent }, { policy: undefined });
    const refused = { refused: { type: 'OrderNotFound' } };
    expect(await order.run.query('policyPreview', longer.policy)).toMatchObject(refused);
    await order.signal('orderChanged', shownAt(['ordered']));
    const moved = { moved: [{ name: 'shipping_overdue' }] };
    expect(await order.run.query('policyPreview', longer.policy)).toMatchObject(moved);
  });
});
