import { describe, expect, test } from 'vitest';
import type { OrderState } from '../../../protocol/order/state.js';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { day, happyPath, kitOf, pathTo, start, transactionOf } from './histories.js';
import { awaited, life, lost, newId, opening, orderId, refusal, report, shipped, shownAt, stateIn } from './lives.js';
import { resolvePolicy as policyOf } from '../../../protocol/policies.js';

/* The lives of runs that have to find out what they are for: started by a webhook, again after an end, or for an order of another chain. */

const policy = policyOf('order');
const longer = { policy: { shippingDeadline: '8d' } } as const;
const resolvePolicy = policyOf('order', longer.policy);
const ours = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
  shownAt(statuses, { passthrough: 'labops:-:ref-9:1', ...more });

const reading = (more: object = {}) => ({
  snapshots: [shownAt(awaited)],
  gone: false,
  rootOrderId: orderId,
  notifies: true,
  ...more,
});

interface Beginning extends Answers {
  /** Hours after the order. */
  after?: number;
  /** Another message than the webhook of the order. */
  signal?: { name: string; argument: unknown };
}

/** Begun by a webhook that shows the order so. */
async function begun(snapshot: OrderSnapshot | undefined, { after = 0, signal, ...answers }: Beginning): Promise<Life> {
  const run = new Life({ ...opening, now: start + after * 3_600_000 }, { readChain: reading(), ...answers });
  const webhook = snapshot === undefined ? [] : [{ name: 'orderChanged', argument: snapshot }];
  return run.start({ rootOrderId: orderId, policy }, ...webhook, ...(signal ? [signal] : []));
}

const stateOf = async ({ run }: Life) => (await run.query('state')) as OrderState;
const alarm = { name: 'criticalResultReported', argument: { orderId, interpretation: 'critical' } };
const eventsOf = ({ events }: Life) => events.map((event) => event.replace(/^\S+ /, ''));

describe('a run', () => {
  test('that somebody started without a report waits ten seconds for one, then reads what it is for', async () => {
    const order = await begun(undefined, {});
    expect(order.calls).toEqual([]);
    await order.until(0.1);
    expect(order.calls).toEqual(['0.003h readChain']);
    expect(order.run.summaries).toEqual(expect.arrayContaining(['first report', 'whose order is this']));
  });

  test('for an order that the service does not know fails', async () => {
    const order = await begun(undefined, { readChain: reading({ snapshots: [], gone: true }) });
    await order.until(0.1);
    expect(order.run.end).toMatchObject({ kind: 'failed', type: 'OrderNotFound' });
  });

  test.each([
    ['the kit moves', ours([...awaited, 'testkit_registered', 'transit_customer'])],
    ['a cancellation is reported', ours([...awaited, 'testkit_registered', 'cancelled'])],
  ])('for an order of ours waits for its hand-over until %s', async (_until, next) => {
    const order = await begun(ours(awaited), {});
    await order.until(0.05);
    await order.signal('orderChanged', ours([...awaited, 'testkit_registered']));
    expect(order.calls).toEqual([]);
    await order.signal('orderChanged', next);
    expect(order.calls).toEqual(['0.05h readChain']);
  });

  test('for an order of ours waits for its hand-over until the first limit, or until it is known to be of another chain', async () => {
    const late = await begun(ours(awaited), {});
    await late.until(119);
    expect(late.calls).toEqual([]);
    await late.until(119.9);
    expect((await late.until(120)).calls).toEqual(['120h readChain', '120h readOrder']);
    const other = await begun(ours(awaited), {});
    await other.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(awaited) });
    expect(other.calls).toEqual(['0h forwardOrder']);
  });

  test.each([
    ['is older than ten minutes', ours(awaited), { after: 1 }],
    ['is ten minutes old', ours(awaited), { after: 1 / 6 }],
    ['is older by its first event', ours(awaited, { createdAt: '' }), { after: 1 }],
    ['has been sent', ours(shipped), {}],
    ['has ended', ours([...awaited, 'cancelled']), {}],
    ['is a replacement', ours(awaited, { passthrough: `labops:${orderId}:ref-9:2` }), {}],
    ['is not of ours', shownAt(awaited, { passthrough: 'another' }), {}],
    ['has a critical result', ours(awaited), { signal: alarm }],
  ])('waits for no hand-over if the order %s', async (_what, snapshot, more) => {
    expect((await begun(snapshot, more)).calls).toEqual(['0h readChain']);
  });

  test('that goes on where another stopped reads nothing again', async () => {
    const order = await begun(shownAt(awaited), {});
    order.run.suggestNewRun();
    await report(order, shipped);
    const { input } = order.run.end as unknown as { input: unknown };
    expect((await new Life(opening, order.answers).start(input)).calls).toEqual([]);
  });

  test('takes the reference from the order, unless that is the order’s own id', async () => {
    expect(await stateOf(await begun(ours(shipped), {}))).toMatchObject({ reference: 'ref-9' });
    const read = await begun(shownAt(shipped), { readChain: reading({ snapshots: [ours(shipped)] }) });
    expect(await stateOf(read)).toMatchObject({ reference: 'ref-9' });
    const own = await begun(ours(shipped, { passthrough: `labops:-:${orderId}:1` }), {});
    expect(await stateOf(own)).not.toHaveProperty('reference');
    const other = kitOf(newId, shipped, { passthrough: `labops:${orderId}:ref-8:2` });
    const later = await begun(other, { readChain: reading({ snapshots: [shownAt(lost), other] }) });
    expect(await stateOf(later)).not.toHaveProperty('reference');
  });

  test('announces nothing if the deployment notifies nobody', async () => {
    const order = await begun(shownAt(awaited), { readChain: reading({ notifies: false }) });
    await report(order, shipped);
    expect(order.events).toEqual([]);
  });
});

describe('a run that cannot find out what it is for', () => {
  test('asks again every ten minutes, needs a person, and refuses commands meanwhile', async () => {
    const order = await begun(shownAt(awaited), { readChain: unavailable });
    const asked = { LabAttention: ['order_unreadable'], LabAttentionSince: new Date(start) };
    expect(order.run.shown.attributes).toMatchObject(asked);
    await order.update('cancel');
    await order.until(0.4);
    expect(order.calls).toEqual(['0h readChain', '0.167h readChain', '0.333h readChain']);
    expect(order.run.replies).toEqual([{ name: 'cancel', refused: 'ServiceUnavailable' }]);
    expect(order.run.summaries).toContain('until the order is read again');
    order.answers['readChain'] = reading();
    await order.until(1);
    expect(eventsOf(order)).toEqual([
      'order.attention_raised order_unreadable',
      'order.attention_cleared order_unreadable',
      'order.phase_changed awaiting_registration',
    ]);
  });

  test('keeps an alarm that came with the first report to be seen', async () => {
    const reported = await begun(shownAt(awaited), { readChain: unavailable, signal: alarm });
    expect(reported.run.shown.attributes).toMatchObject({ LabAttention: ['critical_result', 'order_unreadable'] });
    const shown = await begun(shownAt(happyPath, { interpretation: 'critical' }), { readChain: unavailable });
    expect(shown.run.shown.attributes).toMatchObject({ LabAttention: ['critical_result', 'order_unreadable'] });
    await shown.signal('orderChanged', kitOf(newId, awaited));
    await shown.until(0.2);
    expect(shown.run.shown.attributes).toMatchObject({ LabAttention: ['critical_result', 'order_unreadable'] });
  });

  test('and that an operator cancels ends at once, but with an alarm only when that was announced', async () => {
    const calm = await begun(shownAt(awaited), { readChain: silent });
    await calm.run.cancel();
    expect(calm.run.end).toEqual({ kind: 'failed', type: 'cancelled' });

    const alarmed = await begun(shownAt(awaited), { readChain: unavailable, signal: alarm });
    await alarmed.run.cancel();
    await alarmed.settle();
    await alarmed.until(1);
    expect(alarmed.run.end).toBeUndefined();
    alarmed.answers['readChain'] = reading();
    await alarmed.until(1.2);
    expect(alarmed.announced.map(({ type }) => type)).toContain('order.critical_result');
    expect(alarmed.run.end).toEqual({ kind: 'failed', type: 'cancelled' });
  });

  test('shows nothing of an order that it does not know yet', async () => {
    const order = await begun(undefined, { readChain: unavailable });
    await order.until(0.1);
    expect(order.calls).toEqual(['0.003h readChain']);
    expect(order.run.end).toBeUndefined();
    expect(order.run.shown.attributes).toEqual({});
  });
});

describe('an order that the service does not know any more when a webhook brings it', () => {
  const gone = reading({ snapshots: [], gone: true });

  test('has ended once the service says so for ten minutes', async () => {
    const order = await begun(shownAt(awaited), { readChain: gone, readOrder: null });
    await order.until(1);
    expect(order.calls).toEqual(['0h readChain', '0.167h readOrder']);
    expect(eventsOf(order).slice(-2)).toEqual(['order.ended order_gone', 'completed']);
  });

  test.each([
    ['if a later order of its chain lives', [shownAt([...pathTo('delivered_to_lab'), 'sample_error'])], true],
    ['if its own end is known', [], false],
  ])('has not %s', async (_why, snapshots, lives) => {
    const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
    const redraw = kitOf(newId, awaited, { origin: 'redraw', parentId: orderId, transaction });
    const first = lives ? shownAt(awaited) : shownAt([...awaited, 'cancelled']);
    const readChain = reading({ snapshots: lives ? [...snapshots, redraw] : snapshots, gone: true });
    const order = await begun(first, { readChain, readOrder: null });
    await order.until(1);
    expect(order.calls).toEqual(['0h readChain']);
    expect(order.run.end === undefined).toBe(lives);
  });
});

describe('an order that had ended', () => {
  /** What its last run came to. */
  async function ended(of: Life): Promise<object> {
    const { result } = of.run.end as unknown as { result: object };
    return result;
  }

  const again = async (previous: object, snapshot: OrderSnapshot, more: Answers = {}) =>
    begun(snapshot, { readChain: reading({ snapshots: [snapshot], previous }), readOrder: snapshot, ...more });

  test('and moves again goes on where it was: with its reference and policy, and without announcing anything again', async () => {
    const given = { labTestId: 'test-1', labAccountId: 'account-1' };
    const before = await life(['ordered'], { giveUpAfter: '5d', shippingDeadline: '6d' }, {}, given);
    await before.until(1000);
    const previous = await ended(before);
    expect(previous).toMatchObject({ outcome: 'unresolved', ...given });
    const order = await again(previous, shownAt(shipped));
    expect(eventsOf(order)).toEqual([
      'order.attention_cleared shipping_overdue',
      'order.phase_changed in_transit_to_customer',
    ]);
    expect(await stateOf(order)).toMatchObject({ reference: 'ref-1' });
    await report(order, happyPath);
    expect(await ended(order)).toMatchObject({ ...given, policy: { giveUpAfter: 5 * day, shippingDeadline: 6 * day } });
  });

  test('and is shown again as it was is not announced again', async () => {
    const before = await life(['ordered'], { giveUpAfter: '5d' });
    await before.until(1000);
    const order = await again(await ended(before), shownAt(['ordered'], { sampleId: 'SAMPLE-1' }));
    expect(eventsOf(order).join()).not.toContain('phase_changed');
  });

  test('as failed needs a person again if its redraw fails, too', async () => {
    const before = await life(lost);
    await before.until(24 * 100);
    const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
    const redraw = kitOf(newId, ['lost'], { origin: 'redraw', parentId: orderId, transaction });
    const readChain = reading({ snapshots: [shownAt(lost), redraw], previous: await ended(before) });
    const order = new Life(opening, { readChain, readOrder: redraw });
    await order.start({ rootOrderId: orderId, policy }, { name: 'orderChanged', argument: redraw });
    expect(await stateOf(order)).toMatchObject({ attention: [{ reason: 'decision_needed', orderId: newId }] });
  });

  test('because a person stopped following it stays ended, unless the service ends it', async () => {
    const before = await life(['ordered']);
    await before.update('resolveProblem', { orderId, decision: 'abandon' });
    const previous = await ended(before);
    const order = await again(previous, shownAt(shipped));
    expect(eventsOf(order)).toEqual(['order.phase_changed in_transit_to_customer', 'completed']);
    expect(await ended(order)).toMatchObject({ outcome: 'abandoned' });
    const cancelled = await again(previous, shownAt(['ordered', 'cancelled']));
    expect(eventsOf(cancelled)).toEqual(['order.cancellation', 'order.phase_changed cancelled', 'completed']);
    expect(await ended(cancelled)).toMatchObject({ outcome: 'cancelled' });
  });

  test('is replaced by the policy only if it was handed over once', async () => {
    const onLost = policyOf('order', { onLost: 'replace', giveUpAfter: '5d' });
    const replaceKitOrder = { snapshot: kitOf(newId, ['ordered'], { passthrough: `labops:${orderId}:ref-1:2` }) };
    const placed = await life(['ordered'], { onLost: 'replace', giveUpAfter: '5d' });
    await placed.until(1000);
    expect((await again(await ended(placed), shownAt(lost), { replaceKitOrder })).calls).toContain(
      '0h replaceKitOrder',
    );
    const answers = { readChain: reading({ snapshots: [shownAt(['ordered'])] }), readOrder: shownAt(['ordered']) };
    const found = new Life(opening, answers);
    const webhook = { name: 'orderChanged', argument: shownAt(['ordered']) };
    await found.start({ rootOrderId: orderId, policy: onLost }, webhook);
    await found.until(1000);
    const order = await again(await ended(found), shownAt(lost), { replaceKitOrder });
    expect(order.calls).not.toContain('0h replaceKitOrder');
    expect(await stateOf(order)).toMatchObject({ attention: [{ reason: 'decision_needed' }] });
  });

  test('and is handed over again follows the policy of that', async () => {
    const before = await life(['ordered'], { giveUpAfter: '5d' });
    await before.until(1000);
    const previous = await ended(before);
    const order = new Life(opening, { readChain: reading({ snapshots: [shownAt(shipped)], previous }) });
    const handOver = { reference: 'ref-1', adopted: true, notifies: true, snapshot: shownAt(shipped) };
    const argument = { ...handOver, policy: policyOf('order', { giveUpAfter: '9d' }) };
    await order.start({ rootOrderId: orderId }, { name: 'orderPlaced', argument });
    await report(order, happyPath);
    expect(await ended(order)).toMatchObject({ policy: { giveUpAfter: 9 * day } });
  });

  test('with a kit and its replacement goes on with both, and each has its own events', async () => {
    const passthrough = `labops:${orderId}:ref-1:2`;
    const second = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
      kitOf(newId, statuses, { passthrough, userId: 'user-1', ...more });
    const spoiled = [...pathTo('delivered_to_lab'), 'sample_error'];
    const answers = { replaceKitOrder: { snapshot: second(['ordered']) }, readOrder: second(lost) };
    const before = await life(spoiled, { onLost: 'fail' }, answers);
    await before.update('replaceKit', { orderId });
    await before.signal('orderChanged', second(lost, { interpretation: 'abnormal' }));
    const previous = await ended(before);
    expect(previous).toMatchObject({ outcome: 'failed' });
    const next = second([...lost, 'problem_in_transit_customer', 'lost'], { interpretation: 'abnormal' });
    const readChain = reading({ snapshots: [next], previous });
    const order = new Life(opening, { readChain, readOrder: next });
    await order.start({ rootOrderId: orderId, policy }, { name: 'orderChanged', argument: next });
    expect(eventsOf(order)).toEqual(['order.ended failed', 'completed']);
    expect(order.run.end).toMatchObject({
      result: {
        chain: [
          { orderId, replacedBy: newId },
          { orderId: newId, replaces: orderId, origin: 'replacement' },
        ],
      },
    });
  });

  test('as failed stays failed, until it moves', async () => {
    const before = await life(lost, { onLost: 'fail' });
    const previous = await ended(before);
    const order = await again(previous, shownAt(lost, { sampleId: 'SAMPLE-1' }));
    expect(eventsOf(order)).toEqual(['completed']);
    expect(await ended(order)).toMatchObject({ outcome: 'failed' });
    const moved = await again(previous, shownAt([...lost, 'with_customer']));
    expect(moved.run.end).toBeUndefined();
    const lostAgain = await again(previous, shownAt([...lost, 'with_customer', 'lost']));
    expect(eventsOf(lostAgain).at(-2)).toBe('order.ended failed');
  });

  test('by its status alone is not announced again', async () => {
    const before = await life(shipped);
    await report(before, shipped, { status: 'failed' });
    await before.until(24 * 100);
    const previous = await ended(before);
    expect(previous).toMatchObject({ outcome: 'failed' });
    const order = await again(previous, shownAt(shipped, { status: 'failed' }));
    expect(eventsOf(order)).toEqual(['completed']);
  });

  test('is reminded of what is still due only', async () => {
    const before = await life(pathTo('with_customer'), { giveUpAfter: '1d' });
    await before.until(24 * 100);
    const order = await again(await ended(before), shownAt([...pathTo('with_customer'), 'with_customer']));
    await order.until(24 * 60);
    expect(eventsOf(order).filter((event) => event.includes('reminder'))).toEqual([]);
  });

  test('keeps its critical result', async () => {
    const before = await life(pathTo('delivered_to_lab'), { criticalResultReminder: '2h' });
    await report(before, happyPath, { interpretation: 'critical' });
    await before.update('acknowledgeCriticalResult', { orderId, by: 'nurse-17', outcome: 'confirmed' });
    const order = await again(
      await ended(before),
      shownAt(happyPath, { interpretation: 'critical', sampleId: 'SAMPLE-1' }),
    );
    expect(eventsOf(order)).toEqual(['completed']);
    expect(await ended(order)).toMatchObject({ criticalResults: [{ isOpen: false, status: 'final' }] });
  });
});

describe('an order of another chain', () => {
  const elsewhere = (more: object = {}) => reading({ rootOrderId: newId, ...more });

  /** What is passed on, by the activity. */
  function passing(): { passed: unknown[]; answers: Answers } {
    const passed: unknown[] = [];
    const taking = (_now: number, argument: unknown) => void passed.push(argument);
    return { passed, answers: { forwardOrder: taking, forwardCriticalResult: taking } };
  }

  test('passes on each report once, and shows so', async () => {
    const { passed, answers } = passing();
    const other = kitOf(newId, awaited);
    const readChain = elsewhere({ snapshots: [shownAt(awaited), other] });
    const order = await begun(ours(awaited), { readChain, after: 1, ...answers });
    expect(passed).toEqual([{ rootOrderId: newId, snapshot: expect.objectContaining({ orderId }) as unknown }]);
    expect(order.run.shown).toEqual({
      details: `Passes on what it receives to \`kit-order/${newId}\`, the workflow of its chain.`,
      attributes: { LabAttention: [], LabPhase: 'forwarded', LabReference: 'ref-9' },
    });
    expect(order.run.summaries.at(-1)).toBe('silence');
    expect(order.run.summaries).toContain(`pass on to ${newId}`);
    await order.signal('orderChanged', ours(shipped));
    await order.signal('orderChanged', ours(shipped));
    expect(passed).toMatchObject([{}, { rootOrderId: newId, snapshot: { events: [{}, {}, {}] } }]);
    expect(order.events).toEqual([]);
    expect((await order.until(24 * 60 - 1)).run.end).toBeUndefined();
    expect((await order.until(24 * 60)).run.end).toMatchObject({ result: { outcome: 'forwarded', forwardsTo: newId } });
  });

  test('that has ended, or whose history grows long, is passed on, and that is all', async () => {
    const { passed, answers } = passing();
    const cancelled = [...awaited, 'cancelled'];
    const ended = await begun(shownAt(cancelled), { readChain: elsewhere({ snapshots: [] }), ...answers });
    expect(passed).toHaveLength(1);
    expect(ended.run.end).toMatchObject({ kind: 'completed', result: { rootOrderId: newId } });
    const long = new Life(opening, { readChain: elsewhere(), ...answers });
    long.run.suggestNewRun();
    await long.start({ rootOrderId: orderId, policy }, { name: 'orderChanged', argument: shownAt(awaited) });
    expect(long.run.end).toMatchObject({ kind: 'completed', result: { rootOrderId: newId } });
  });

  test('passes on what comes in while it does so before it ends', async () => {
    const { passed, answers } = passing();
    const order = await begun(shownAt(awaited), { readChain: elsewhere(), ...answers, forwardOrder: silent });
    await order.signal('orderChanged', shownAt([...awaited, 'cancelled']));
    order.answers['forwardOrder'] = answers['forwardOrder'];
    await order.settle();
    expect(passed).toMatchObject([{ snapshot: { events: [{}, {}] } }, { snapshot: { events: [{}, {}, {}] } }]);
    expect(order.run.end).toMatchObject({ kind: 'completed' });
  });

  test('passes its alarms on though an operator cancels it, whenever they come', async () => {
    const [before, meanwhile] = [passing(), passing()];
    const known = await begun(shownAt(awaited), { readChain: silent, signal: alarm, ...before.answers });
    await known.run.cancel();
    known.answers['readChain'] = elsewhere();
    await known.settle();
    expect(before.passed).toMatchObject([{ rootOrderId: newId }, { rootOrderId: newId, report: alarm.argument }]);

    const order = await begun(shownAt(awaited), { readChain: elsewhere(), ...meanwhile.answers, forwardOrder: silent });
    await order.run.cancel();
    await order.signal(alarm.name, alarm.argument);
    Object.assign(order.answers, meanwhile.answers);
    await order.settle();
    expect(meanwhile.passed).toMatchObject([{ rootOrderId: newId }, { rootOrderId: newId, report: alarm.argument }]);
    for (const { run } of [known, order]) expect(run.end).toEqual({ kind: 'failed', type: 'cancelled' });
  });

  test('passes on each alarm once, also one that a later report has overtaken', async () => {
    const { passed, answers } = passing();
    const order = await begun(shownAt(awaited), { readChain: elsewhere(), signal: alarm, ...answers });
    expect(passed.slice(1)).toEqual([{ rootOrderId: newId, report: { orderId, interpretation: 'critical' } }]);
    await order.signal('orderChanged', shownAt(shipped));
    expect(passed).toHaveLength(3);
    await order.signal(alarm.name, { ...alarm.argument, status: 'final' });
    expect(passed.slice(3)).toMatchObject([{ report: { orderId, status: 'final' } }]);
    expect(order.run.summaries).toContain(`pass a critical result on to ${newId}`);
    const overtaken = passing();
    const readChain = elsewhere({ snapshots: [shownAt(happyPath, { interpretation: 'normal' })] });
    const critical = shownAt(pathTo('delivered_to_lab'), { interpretation: 'critical' });
    await begun(critical, { readChain, ...overtaken.answers });
    expect(overtaken.passed).toMatchObject([{ snapshot: {} }, { report: { orderId, interpretation: 'critical' } }]);
    const plain = passing();
    await begun(critical, { readChain: elsewhere({ snapshots: [critical] }), ...plain.answers });
    expect(plain.passed).toMatchObject([{ snapshot: { interpretation: 'critical' } }]);
  });

  const transaction = transactionOf({ id: newId, origin: 'initial' }, { id: orderId, origin: 'redraw' });
  const firstOrder = (more: Partial<OrderSnapshot> = {}) =>
    kitOf(newId, lost, { transaction, userId: 'user-1', ...more });
  const named = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
    shownAt(statuses, { transaction, origin: 'redraw', ...more });

  test('that stays with its run although its chain is known takes no second kit from there', async () => {
    const { answers } = passing();
    const order = await begun(shownAt(awaited), { readOrder: shownAt(awaited), resolvePolicy, ...answers });
    await order.update('setPolicy', longer);
    order.answers['readOrder'] = firstOrder();
    await order.signal('orderChanged', named(lost));
    const elsewhere = { refused: 'OrderForwarded' };
    expect(await order.update('replaceKit', { orderId })).toMatchObject(elsewhere);
    expect(await order.update('resolveProblem', { orderId, decision: 'replace' })).toMatchObject(elsewhere);
  });

  test('is passed on whatever an earlier run of it came to', async () => {
    const before = await life(['ordered']);
    await before.update('resolveProblem', { orderId, decision: 'abandon' });
    const { result: previous } = before.run.end as unknown as { result: object };
    const order = await begun(shownAt(awaited), { readChain: elsewhere({ previous }) });
    expect(await stateOf(order)).not.toHaveProperty('outcome');
    expect(order.run.end).toBeUndefined();
  });

  test('passes on what it had raised itself, once', async () => {
    const { passed, answers } = passing();
    const order = await life(pathTo('delivered_to_lab'), {}, answers);
    await order.signal(alarm.name, alarm.argument);
    await order.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(pathTo('delivered_to_lab')) });
    expect(passed).toMatchObject([{ snapshot: {} }, { report: { orderId, interpretation: 'critical' } }]);
    await order.signal('orderChanged', shownAt(pathTo('delivered_to_lab'), { sampleId: 'SAMPLE-1' }));
    expect(passed.slice(2)).toMatchObject([{ snapshot: {} }]);
  });

  test('ends only when its alarm has been passed on', async () => {
    const readChain = elsewhere({ snapshots: [] });
    const order = await begun(shownAt([...awaited, 'cancelled']), {
      readChain,
      signal: alarm,
      forwardCriticalResult: silent,
    });
    expect(order.run.end).toBeUndefined();
    order.answers['forwardCriticalResult'] = null;
    expect((await order.settle()).run.end).toMatchObject({ kind: 'completed' });
  });

  test('ends only when every caller is answered', async () => {
    const order = await life(awaited, {}, { registerKit: silent });
    await order.update('register', { registration: { sample_id: 'SAMPLE-1' } });
    await order.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt([...awaited, 'cancelled']) });
    expect(order.run.end).toBeUndefined();
    order.answers['registerKit'] = refusal('RegistrationRefused');
    await order.settle();
    expect(order.run.replies).toEqual([{ name: 'register', refused: 'RegistrationRefused' }]);
    expect(order.run.end).toMatchObject({ kind: 'completed' });
  });
});

test('a command for an order that was not found out in time is refused, and answered when it is', async () => {
  const order = await begun(shownAt(awaited), { readChain: silent, cancelOrder: shownAt([...awaited, 'cancelled']) });
  await order.update('cancel');
  await order.until(0.049);
  expect(order.run.replies).toEqual([]);
  order.answers['readChain'] = reading();
  await order.settle();
  expect(stateIn(order.run.replies[0])).toMatchObject({ phase: 'cancelled' });
});
