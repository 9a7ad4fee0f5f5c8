import { describe, expect, test } from 'vitest';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import type { OrderState } from '../../../protocol/order/state.js';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { day, eventsOf as datedEvents, happyPath, kitOf, pathTo, start, transactionOf } from './histories.js';
import {
  attentionIn,
  awaited,
  lateLife,
  life,
  lost,
  newId,
  opening,
  orderId,
  refusal,
  report,
  shipped,
  shownAt,
  stateIn,
} from './lives.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The lives of kits that are replaced: by the policy or by a command, and what comes of an answer that is lost. */

const passthrough = `labops:${orderId}:ref-1:2`;
const newKit = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}): OrderSnapshot =>
  kitOf(newId, statuses, { userId: 'user-1', passthrough, ...more });
const replaced = { snapshot: newKit(['ordered']) };

/** Notes what is asked, and answers. */
function asking(answer: unknown): { asked: unknown[]; replaceKitOrder: unknown } {
  const asked: unknown[] = [];
  const replaceKitOrder = (now: number, argument: unknown) => {
    asked.push(argument);
    return typeof answer === 'function' ? (answer as (now: number) => unknown)(now) : answer;
  };
  return { asked, replaceKitOrder };
}

const stateOf = async ({ run }: Life) => (await run.query('state')) as OrderState;
const eventsOf = ({ events }: Life, from = 0) => events.slice(from).map((event) => event.replace(/^\S+ order\./, ''));
const replacing = (of: Life) => of.calls.filter((call) => call.includes('replaceKitOrder'));
const thirdId = '00000000-0000-4000-8000-00000000000c';
const spoiled = [...pathTo('delivered_to_lab'), 'sample_error'];
const stuck = [...shipped, 'problem_in_transit_customer'];

describe('a replacement', () => {
  test('is asked for with all that the service has to know', async () => {
    const { asked, replaceKitOrder } = asking(replaced);
    const more = { labTestId: 'test-1', labAccountId: 'account-1' };
    const order = await life(lost, { creationTimeout: '20s' }, { replaceKitOrder }, more);
    await order.update('replaceKit', { orderId });
    expect(asked).toEqual([
      {
        ...{ failedOrderId: orderId, decidedOn: { eventId: 4 }, rootOrderId: orderId, reference: 'ref-1', n: 2 },
        ...{ chain: [orderId], claimedAt: '2024-03-01T10:00:00.000Z', triedBefore: false, ...more },
        ...{ creationTimeout: 20_000, creationSettling: 30_000 },
      },
    ]);
    expect(order.run.summaries).toContain('replacement 1');
    expect(replacing(order)).toEqual(['0h replaceKitOrder']);
    expect(await stateOf(order)).toMatchObject({ orderId: newId });
    // Sent again, it has its answer.
    expect(stateIn(await order.update('replaceKit', { orderId }))).toMatchObject({ orderId: newId });
    expect(replacing(order)).toHaveLength(1);
  });

  test('whose webhooks would not lead to the chain is led there', async () => {
    const joined: unknown[] = [];
    const joinChain = (_now: number, argument: unknown) => void joined.push(argument);
    const snapshot = kitOf(newId, ['ordered']);
    const order = await life(lost, {}, { replaceKitOrder: { snapshot }, joinChain: silent });
    await order.update('replaceKit', { orderId });
    expect(order.run.replies).toEqual([]);
    order.answers['joinChain'] = joinChain;
    await order.settle();
    expect(order.run.replies).toMatchObject([{ value: { orderId: newId } }]);
    expect(joined).toEqual([{ rootOrderId: orderId, snapshot, reference: 'ref-1' }]);
    expect(order.run.summaries).toContain('00000000 joins the chain');
  });

  test('that the service made a redraw of itself is none of ours', async () => {
    const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
    const order = await life(
      shipped,
      {},
      {
        replaceKitOrder: { snapshot: newKit(['ordered'], { transaction, origin: 'redraw', parentId: orderId }) },
      },
    );
    await report(order, lost, { transaction: transactionOf({ id: orderId, origin: 'initial' }) });
    const { chain } = stateIn(await order.update('replaceKit', { orderId }));
    expect(chain).toMatchObject([{ orderId }, { orderId: newId, origin: 'redraw' }]);
    expect(order.calls.filter((call) => call.includes('join'))).toEqual([]);
    await order.signal('orderChanged', newKit(lost, { transaction, origin: 'redraw', parentId: orderId }));
    order.answers['readOrder'] = newKit(lost, { transaction });
    // The policy's one replacement is left.
    order.answers['replaceKitOrder'] = { snapshot: kitOf(thirdId, awaited) };
    expect(await order.update('replaceKit', { orderId: newId })).toMatchObject({ value: { chain: [{}, {}, {}] } });
    const twice = await life(lost, { replacementLimit: 2 }, { replaceKitOrder: replaced });
    await twice.update('replaceKit', { orderId });
    await twice.signal(
      'orderChanged',
      newKit(spoiled, { transaction: transactionOf({ id: newId, origin: 'initial' }) }),
    );
    const redrawn = { origin: 'redraw', parentId: newId, transaction: transactionOf({ id: newId, origin: 'initial' }) };
    twice.answers['replaceKitOrder'] = { snapshot: kitOf(thirdId, awaited, redrawn) };
    const reply = await twice.update('replaceKit', { orderId: newId });
    expect(stateIn(reply).chain).toMatchObject([{ orderId }, { replaces: orderId }, { origin: 'redraw' }]);
  });

  test.each([
    ['preparing', ['ordered'], false],
    ['not delivered', awaited, false],
    ['on its way to the customer', shipped, true],
    ['delivered, and not registered', pathTo('with_customer'), true],
    ['with the customer', pathTo('testkit_registered'), true],
    ['on its way to the lab', pathTo('transit_lab'), true],
    ['at the lab', pathTo('delivered_to_lab'), false],
    ['somewhere', ['ordered', 'collecting_sample.testkit.on_a_ship'], true],
    ['lost', lost, true],
    ['spoiled', spoiled, true],
  ])('of a kit that is %s', async (_where, statuses, isPossible) => {
    const order = await life(statuses, {}, { replaceKitOrder: replaced });
    const reply = await order.update('replaceKit', { orderId });
    expect(reply).toMatchObject(isPossible ? { value: {} } : { refused: 'NotReplaceable' });
    expect(order.run.refusals.map((details) => Object.hasOwn(details as object, 'reason'))).toEqual(
      isPossible ? [] : [true],
    );
  });

  test.each([
    [{ method: 'walk_in_test' }],
    [{ events: [{ id: 1, at: '2024-03-01T10:00:00.000Z', status: 'received.testkit.sample_imported' }] }],
  ])('of what is not a kit is refused', async (more) => {
    const snapshot: OrderSnapshot = { ...shownAt(lost), ...more };
    const order = await life(['ordered'], {}, { replaceKitOrder: replaced, readOrder: snapshot }, { snapshot });
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ refused: 'NotReplaceable' });
    expect(replacing(order)).toEqual([]);
  });

  test('is one of as many as the policy allows', async () => {
    const order = await life(lost, {}, { replaceKitOrder: replaced });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', newKit(lost));
    expect(await order.update('replaceKit', { orderId: newId })).toMatchObject({ refused: 'ReplacementLimitReached' });
    const more = await life(lost, { replacementLimit: 2 }, { replaceKitOrder: replaced });
    await more.update('replaceKit', { orderId });
    await more.signal('orderChanged', newKit(lost));
    more.answers['replaceKitOrder'] = refusal('OrderMovedOn', null);
    await more.update('replaceKit', { orderId: newId });
    expect((await stateOf(more)).chain).toMatchObject([{ orderId }, { orderId: newId, replaces: orderId }]);
    const own = { id: 'transaction-2', orders: [{ id: thirdId, origin: 'initial' }] };
    const { asked, replaceKitOrder } = asking({ snapshot: kitOf(thirdId, awaited, { transaction: own }) });
    more.answers['replaceKitOrder'] = replaceKitOrder;
    await more.update('replaceKit', { orderId: newId });
    expect(asked).toMatchObject([{ failedOrderId: newId, n: 3, chain: [orderId, newId] }]);
    expect((await stateOf(more)).chain.at(-1)).toMatchObject({
      orderId: thirdId,
      origin: 'replacement',
      replaces: newId,
    });
  });

  test('whose answer was lost goes on as the same, once what was sent has settled', async () => {
    const { asked, replaceKitOrder } = asking(unavailable);
    const order = await life(lost, {}, { replaceKitOrder });
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ refused: 'ServiceUnavailable' });
    await order.update('replaceKit', { orderId });
    expect(asked).toHaveLength(1);
    await order.until(0.02);
    expect(replacing(order)).toEqual(['0h replaceKitOrder', '0.013h replaceKitOrder']);
    expect(order.run.summaries).toContain('before the next attempt');
    expect(asked).toMatchObject([
      { n: 2, claimedAt: '2024-03-01T10:00:00.000Z', triedBefore: false },
      { n: 2, claimedAt: '2024-03-01T10:00:00.000Z', triedBefore: true },
    ]);
    await order.until(1);
    order.answers['replaceKitOrder'] = replaced;
    expect(stateIn(await order.update('replaceKit', { orderId }))).toMatchObject({ orderId: newId });
    expect(order.calls.at(-1)).toBe('1h replaceKitOrder');
  });

  test('that the service knew better of is not made, and takes none of the number', async () => {
    const details = { fields: [], snapshot: shownAt([...lost, 'with_customer']) };
    const order = await life(lost, {}, { replaceKitOrder: refusal('OrderMovedOn', details) });
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ refused: 'OrderMovedOn' });
    expect(order.run.refusals.at(-1)).toMatchObject({ reason: 'awaiting_registration' });
    expect(await stateOf(order)).toMatchObject({ phase: 'awaiting_registration' });
    order.answers['replaceKitOrder'] = replaced;
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ value: { orderId: newId } });
    const silentOn = await life(lost, {}, { replaceKitOrder: refusal('OrderMovedOn', null) });
    expect(await silentOn.update('replaceKit', { orderId })).toMatchObject({ refused: 'OrderMovedOn' });
  });

  test('that an earlier run has lost is known by its number', async () => {
    const third = { passthrough: `labops:${orderId}:ref-1:3` };
    const order = await life(lost, { replacementLimit: 3 }, { replaceKitOrder: replaced });
    await order.signal('orderChanged', kitOf(thirdId, lost, third));
    await order.signal('orderChanged', newKit(lost, { createdAt: '2024-03-02T10:00:00.000Z' }));
    const { chain } = stateIn(await order.update('replaceKit', { orderId }));
    expect(replacing(order)).toEqual([]);
    expect(chain.find((each) => each.orderId === newId)).toMatchObject({ origin: 'replacement', replaces: orderId });
    const next = await life(lost, { replacementLimit: 3 }, { replaceKitOrder: replaced });
    await next.signal('orderChanged', newKit(lost));
    await next.signal('orderChanged', kitOf(thirdId, lost, { ...third, createdAt: '2024-03-02T10:00:00.000Z' }));
    await next.update('replaceKit', { orderId });
    await next.update('replaceKit', { orderId: newId });
    expect(replacing(next)).toEqual([]);
    expect((await stateOf(next)).chain.at(-1)).toMatchObject({ orderId: thirdId, replaces: newId });
  });

  test('that has been asked for, or is another kit’s, is not taken for a lost one', async () => {
    const order = await life(lost, { replacementLimit: 3 }, { replaceKitOrder: unavailable });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', kitOf(thirdId, lost, { passthrough: `labops:${orderId}:ref-1:3` }));
    await order.until(1);
    order.answers['replaceKitOrder'] = replaced;
    expect(
      stateIn(await order.update('replaceKit', { orderId })).chain.find((each) => each.orderId === newId),
    ).toMatchObject({ replaces: orderId });
    expect((await stateOf(order)).chain.find((each) => each.orderId === thirdId)).not.toHaveProperty('replaces');
    const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: thirdId, origin: 'redraw' });
    const redraw = kitOf(thirdId, lost, { origin: 'redraw', parentId: orderId, transaction });
    const createdAt = '2024-03-02T10:00:00.000Z';
    const second = { snapshot: newKit(lost, { createdAt }) };
    const both = await life(spoiled, { replacementLimit: 3 }, { replaceKitOrder: second });
    await both.signal('orderChanged', redraw);
    await both.update('replaceKit', { orderId });
    const { asked, replaceKitOrder } = asking({ snapshot: kitOf('00000000-0000-4000-8000-00000000000d', awaited) });
    both.answers['replaceKitOrder'] = replaceKitOrder;
    await both.update('replaceKit', { orderId: thirdId });
    expect(asked).toMatchObject([{ failedOrderId: thirdId, n: 3 }]);
  });

  test('gets a number that no order has', async () => {
    const { asked, replaceKitOrder } = asking({ snapshot: kitOf(thirdId, awaited) });
    const order = await life(lost, { replacementLimit: 3 }, { replaceKitOrder });
    await order.signal('orderChanged', newKit(lost, { passthrough: `labops:${orderId}:ref-1:5` }));
    await order.update('replaceKit', { orderId: newId });
    expect(asked).toMatchObject([{ n: 6 }]);
  });
});

describe('a replacement', () => {
  const conflict = { reference: 'ref-2', policy: resolvePolicy('order'), adopted: true, notifies: true };

  test('that failed once replaces the kit as it is by then, and answers no other question', async () => {
    const order = await life(stuck, { onProblem: 'replace' }, { replaceKitOrder: refusal('OrderRefused') });
    await order.until(241);
    await order.signal('orderPlaced', { ...conflict, snapshot: shownAt(stuck) });
    await report(order, [...stuck, 'out_for_delivery']);
    order.answers['replaceKitOrder'] = replaced;
    const reply = await order.update('replaceKit', { orderId });
    expect(stateIn(reply)).toMatchObject({ orderId: newId, attention: [{ reason: 'reference_conflict' }] });
  });

  test('that waited for another one is refused if the order has got its results meanwhile', async () => {
    const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
    const redraw = (statuses: readonly string[]) => kitOf(newId, statuses, { origin: 'redraw', transaction });
    const order = await life(spoiled, { replacementLimit: 2 }, { replaceKitOrder: silent });
    await order.signal('orderChanged', redraw(shipped));
    await order.update('replaceKit', { orderId });
    await order.update('replaceKit', { orderId: newId });
    expect(order.run.calls.filter(({ call }) => call.name === 'replaceKitOrder')).toHaveLength(1);
    await order.signal('orderChanged', redraw(happyPath));
    order.answers['replaceKitOrder'] = refusal('OrderRefused');
    await order.settle();
    expect(order.run.replies).toMatchObject([{ refused: 'OrderRefused' }, { refused: 'OrderEnded' }]);
  });

  test('by the policy lets every other command on the order wait', async () => {
    const answers = { replaceKitOrder: silent, cancelOrder: refusal('CancelRefused') };
    const order = await life(shipped, { onLost: 'replace' }, answers);
    await report(order, lost);
    await order.update('cancel', { orderId });
    expect(order.calls.filter((call) => call.includes('cancel'))).toEqual([]);
    order.answers['replaceKitOrder'] = replaced;
    await order.settle();
    expect(order.run.replies).toEqual([{ name: 'cancel', refused: 'CancelRefused' }]);
  });

  test('is asked about whatever else is asked, and though more time was given before', async () => {
    const order = await life(shipped);
    await order.signal('orderPlaced', { ...conflict, snapshot: shownAt(shipped) });
    await report(order, lost);
    expect((await stateOf(order)).attention).toMatchObject([
      { reason: 'reference_conflict' },
      { reason: 'decision_needed' },
    ]);
    const waiting = await life(shipped);
    await waiting.until(24 * 12);
    await waiting.update('resolveProblem', { orderId, decision: 'wait' });
    await report(waiting, lost);
    expect((await stateOf(waiting)).attention).toMatchObject([{ reason: 'decision_needed' }]);
  });

  test('is never ordered by the policy for a visit, nor for what ended before its events came', async () => {
    const visit = { ...shownAt(['failed.walk_in_test.lost']), method: 'walk_in_test' };
    const empty = { ...shownAt([]), status: 'failed' };
    const early = { ...shownAt([...shipped, 'collecting_sample.testkit.lost']), status: 'failed' };
    for (const snapshot of [visit, empty, early]) {
      const answers = { replaceKitOrder: replaced, readOrder: snapshot };
      const order = await life([], { onLost: 'replace' }, answers, { snapshot });
      expect(replacing(order)).toEqual([]);
      expect((await stateOf(order)).attention).toMatchObject([{ reason: 'decision_needed' }]);
    }
  });
});

describe('the policy', () => {
  test('that has replaced a kit at last leaves no question to answer: a decision that waited for it is refused', async () => {
    const readOrder = (_now: number, id: string) => (id === newId ? newKit(['ordered']) : shownAt(lost));
    const order = await life(lost, { onLost: 'replace' }, { replaceKitOrder: refusal('OrderRefused'), readOrder });
    order.answers['replaceKitOrder'] = silent;
    await order.until(23);
    await order.update('resolveProblem', { orderId, decision: 'abandon' });
    order.answers['replaceKitOrder'] = replaced;
    await order.settle();
    expect(order.run.replies.at(-1)).toMatchObject({ refused: 'AlreadyResolved' });
    expect(order.run.end).toBeUndefined();
  });

  const lives = (statuses: readonly string[], policy: OrderPolicy, answers: Answers = {}, more: object = {}) =>
    life(statuses, policy, { replaceKitOrder: replaced, ...answers }, more);

  test.each(['lost', 'failure_to_deliver_to_customer', 'failure_to_deliver_to_lab'])(
    'replaces a kit that is reported as %s; if it reaches the lab after all, a person is asked until one of both has ended',
    async (low) => {
      const order = await lives([...shipped, low], { onLost: 'replace' });
      expect(await stateOf(order)).toMatchObject({ orderId: newId, attention: [] });
      await report(order, [...shipped, low, 'delivered_to_lab']);
      expect(await stateOf(order)).toMatchObject({ orderId: newId, attention: [{ reason: 'late_arrival', orderId }] });
      await order.signal('orderChanged', newKit(['ordered', 'cancelled']));
      expect(await stateOf(order)).toMatchObject({ orderId, phase: 'at_lab', attention: [] });
    },
  );

  test('that fails at replacing a kit asks a person and tries again each day', async () => {
    const order = await lives(lost, { onLost: 'replace' }, { replaceKitOrder: refusal('OrderRefused') });
    expect(eventsOf(order)).toEqual(['attention_raised replacement_failed', 'phase_changed failed']);
    expect(order.run.logged).toContain('warn: replacement failed');
    await order.until(23);
    expect(replacing(order)).toEqual(['0h replaceKitOrder', '22.759h replaceKitOrder']);
    order.answers['replaceKitOrder'] = replaced;
    await order.until(46);
    expect(replacing(order)).toHaveLength(3);
    expect(eventsOf(order, 2)).toEqual([
      'attention_cleared replacement_failed',
      'phase_changed preparing',
      'replacement',
    ]);
  });

  test('goes on with the replacement that failed if the kit is lost again', async () => {
    const order = await lives(lost, { onLost: 'replace' }, { replaceKitOrder: refusal('OrderRefused') });
    await report(order, [...lost, 'with_customer']);
    order.answers['replaceKitOrder'] = replaced;
    await order.until(1);
    await report(order, [...lost, 'with_customer', 'lost']);
    expect(await stateOf(order)).toMatchObject({ orderId: newId });
  });

  test('asks nobody if the order has been given up while the replacement failed', async () => {
    const order = await lives(shipped, { onLost: 'replace' }, { replaceKitOrder: silent });
    await report(order, lost);
    await report(order, [...lost, 'cancelled']);
    order.answers['replaceKitOrder'] = refusal('OrderRefused');
    await order.settle();
    expect(eventsOf(order).join()).not.toContain('attention');
  });

  test('asks nobody if the order is shown as cancelled while the replacement failed, without an event that says so', async () => {
    const order = await lives(stuck, { onProblem: 'replace' }, { replaceKitOrder: silent });
    await order.until(241);
    await report(order, stuck, { status: 'cancelled' });
    order.answers['replaceKitOrder'] = refusal('OrderRefused');
    await order.settle();
    expect(eventsOf(order).join()).not.toContain('attention');
  });

  test('asks nobody if the kit has moved on while its replacement failed', async () => {
    const order = await lives(shipped, { onLost: 'replace' }, { replaceKitOrder: silent });
    await report(order, lost);
    await report(order, [...lost, 'with_customer']);
    order.answers['replaceKitOrder'] = refusal('OrderRefused');
    await order.settle();
    expect(eventsOf(order).join()).not.toContain('attention');
  });

  test('decides again if the service shows that the kit has moved on', async () => {
    const moved = shownAt([...lost, 'with_customer']);
    const replaceKitOrder = refusal('OrderMovedOn', { fields: [], snapshot: moved });
    const order = await lives(shipped, { onLost: 'replace' }, { replaceKitOrder });
    order.answers['readOrder'] = () => (replacing(order).length > 0 ? moved : shownAt(lost));
    await order.signal('orderChanged', shownAt(lost));
    expect(replacing(order)).toHaveLength(1);
    expect(eventsOf(order, 1).filter((event) => event.includes('attention'))).toEqual([]);
    expect(await stateOf(order)).toMatchObject({ phase: 'awaiting_registration', attention: [] });
    const same = refusal('OrderMovedOn', { fields: [], snapshot: shownAt(lost) });
    const stands = await lives(lost, { onLost: 'replace' }, { replaceKitOrder: same });
    expect(await stateOf(stands)).toMatchObject({ attention: [{ reason: 'replacement_failed', orderId }] });
  });

  test('asks about an order that nobody handed over', async () => {
    const readChain = { snapshots: [shownAt(lost)], gone: false, rootOrderId: orderId, notifies: true };
    const order = new Life(opening, { readChain, readOrder: shownAt(lost), replaceKitOrder: replaced });
    const policy = resolvePolicy('order', { onLost: 'replace' });
    await order.start({ rootOrderId: orderId, policy }, { name: 'orderChanged', argument: shownAt(lost) });
    expect(replacing(order)).toEqual([]);
    expect(await stateOf(order)).toMatchObject({ attention: [{ reason: 'decision_needed', orderId }] });
    const failing = new Life(opening, { readChain, readOrder: shownAt(lost) });
    const giveUp = { rootOrderId: orderId, policy: resolvePolicy('order', { onLost: 'fail' }) };
    await failing.start(giveUp, { name: 'orderChanged', argument: shownAt(lost) });
    expect(eventsOf(failing)).toContain('ended failed');
    // A person may.
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ value: { orderId: newId } });
  });

  test('asks if the last allowed replacement is lost, too', async () => {
    const order = await lives(lost, { onLost: 'replace' });
    order.answers['readOrder'] = newKit(lost);
    await order.signal('orderChanged', newKit(lost));
    expect(replacing(order)).toHaveLength(1);
    expect(await stateOf(order)).toMatchObject({ attention: [{ reason: 'decision_needed', orderId: newId }] });
  });

  test('asks about a failure that it does not know, or whose event is still to come, in place of replacing the kit', async () => {
    const unknown = await lives([...shipped, 'failed.testkit.eaten'], { onLost: 'replace' });
    expect(attentionIn({ value: await stateOf(unknown) })).toEqual(['decision_needed']);
    const byStatus = await lives(shipped, { onLost: 'replace' });
    await report(byStatus, shipped, { status: 'failed' });
    expect(attentionIn({ value: await stateOf(byStatus) })).toEqual(['decision_needed']);
    const failing = await lives([...shipped, 'failed.testkit.eaten'], { onLost: 'fail' });
    expect(eventsOf(failing).at(-2)).toBe('ended failed');
  });

  test('decides about a spoiled sample after its redraw was waited for', async () => {
    const spoilt = await lateLife(spoiled, { onSampleError: 'replace', onLost: 'fail' }, { replaceKitOrder: replaced });
    await spoilt.until(24 * 9);
    expect(replacing(spoilt)).toEqual([]);
    await spoilt.until(24 * 10);
    expect(replacing(spoilt)).toEqual(['240h replaceKitOrder']);
    const announced = await lives([...pathTo('delivered_to_lab'), 'failed.testkit.redraw_available'], {
      onSampleError: 'fail',
    });
    await announced.until(24 * 10);
    expect(attentionIn({ value: await stateOf(announced) })).toEqual(['decision_needed']);
  });

  test('decides about a problem that persists: it replaces the kit, gives up, or asks', async () => {
    const limit = 24 * 10;
    const replacingIt = await lives(stuck, { onProblem: 'replace' });
    await replacingIt.until(limit);
    expect(replacing(replacingIt)).toEqual(['240h replaceKitOrder']);
    const giving = await lives(stuck, { onProblem: 'fail' });
    expect(eventsOf(await giving.until(limit)).at(-2)).toBe('ended failed');
    const asking = await lives(stuck, { onProblem: 'ask' });
    expect(eventsOf(await asking.until(limit)).at(-1)).toBe('attention_raised problem_persists');
    const blocked = await lives([...pathTo('delivered_to_lab'), 'lab_processing_blocked'], { onProblem: 'fail' });
    await blocked.until(24 * 16);
    expect((await stateOf(blocked)).attention).toContainEqual(expect.objectContaining({ reason: 'problem_persists' }));
  });

  test('that cannot replace a kit that is stuck tries again, until the kit moves', async () => {
    const order = await lives(stuck, { onProblem: 'replace' }, { replaceKitOrder: refusal('OrderRefused') });
    await order.until(241);
    expect(eventsOf(order).at(-1)).toBe('attention_raised replacement_failed');
    await order.until(24 * 11);
    expect(replacing(order)).toHaveLength(2);
    await report(order, [...stuck, 'out_for_delivery']);
    expect(eventsOf(order).slice(-2)).toEqual([
      'attention_cleared replacement_failed',
      'phase_changed in_transit_to_customer',
    ]);
    await order.until(24 * 13);
    expect(replacing(order)).toHaveLength(2);
  });
});

test('an order that had missed its limit, was replaced, and is the current one again is asked about again', async () => {
  const order = await life(pathTo('with_customer'), { giveUpAfter: '300d' }, { replaceKitOrder: replaced });
  await order.until(24 * 91);
  await order.update('replaceKit', { orderId });
  expect(await stateOf(order)).toMatchObject({ orderId: newId, attention: [{ reason: 'shipping_overdue' }] });
  const moved = {
    id: 6,
    at: new Date(start + 91 * day).toISOString(),
    status: 'collecting_sample.testkit.transit_lab',
  };
  await report(order, [], { events: [...datedEvents(...pathTo('with_customer')), moved] });
  await order.signal('orderChanged', newKit(lost));
  const asked = eventsOf(order).filter((event) => event.includes('registration_overdue'));
  expect(asked.map((event) => event.split(' ')[0])).toEqual([
    'attention_raised',
    'attention_cleared',
    'attention_raised',
  ]);
  expect((await stateOf(order)).attention).toContainEqual(
    expect.objectContaining({ reason: 'registration_overdue', orderId }),
  );
  await order.until(24 * 92);
  expect(order.calls.at(-1)).toMatch(/^220\d.* readOrder$/);
});

test('of reminders that came due while no worker was there, the last is sent', async () => {
  const order = await life(pathTo('with_customer'));
  order.run.now += 40 * day;
  await order.until(24 * 41);
  expect(eventsOf(order)).toEqual(['phase_changed awaiting_registration', 'registration_reminder 3']);
  expect(order.run.shown.details).toContain('registration reminder 3 is due');
});

test('an order that its transaction names and the service did not show is looked for again, each day while one is overdue', async () => {
  const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
  const order = await life(['ordered']);
  const shown = shownAt(['ordered'], { transaction });
  order.answers['readOrder'] = (_now: number, id: string) =>
    id === newId ? refusal('ServiceRefused', { fields: [], status: 400 }) : shown;
  await order.signal('orderChanged', shown);
  expect(order.calls).toEqual(['0h readOrder']);
  await order.until(24 * 6);
  expect(order.calls).toEqual(['0h readOrder', '120h readOrder', '142.759h readOrder', '142.759h readOrder']);
  const redraw = kitOf(newId, ['ordered'], { origin: 'redraw', parentId: orderId, transaction });
  order.answers['readOrder'] = (_now: number, id: string) => (id === newId ? redraw : shown);
  await order.until(24 * 7);
  expect(await stateOf(order)).toMatchObject({ orderId: newId });
});
