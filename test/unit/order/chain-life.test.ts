import { describe, expect, test } from 'vitest';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { silent, unavailable, type Answers } from '../life.js';
import { day, happyPath, kitOf } from './histories.js';
import {
  atLab,
  attentionIn,
  awaited,
  begun,
  conflict,
  hidden,
  life,
  lost,
  newId,
  newKit,
  notFound,
  numbered,
  orderId,
  type OrderLife,
  reading,
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
  thirdId,
  transaction,
  wait,
} from './lives.js';

/*
 * The lives of chains: what is about one of two orders is not about the other, what was asked before an answer counts for what came,
 * of several things that are due at once each has its turn, and which orders that name a chain join it.
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

describe('a command', () => {
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

  test('that cancels at last leaves every other question open', async () => {
    const order = await life(['ordered'], {}, { cancelOrder: refusal('CancelRefused') }, { cancelRequested: true });
    await claim(order);
    expect(await order.reasons()).toEqual(['cancellation_failed', 'reference_conflict']);
    // The service takes its time to show it.
    order.answers['cancelOrder'] = shownAt(['ordered']);
    expect(attentionIn(await order.update('cancel'))).toEqual(['reference_conflict']);
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
    expect(order.happened()).not.toContain('attention_raised delivery_overdue');
    const waiting = await after(100, stuck, { onProblem: 'replace' }, { replaceKitOrder: silent });
    expect(waiting.happened()).toEqual(['phase_changed in_transit_to_customer']);
    expect(await waiting.state()).not.toHaveProperty('outcome');
  });
});

/** An order that names the chain in its passthrough, though it is another user's. */
const naming = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
  newKit(statuses, { userId: 'user-2', ...more });
const criticalResult = { orderId: newId, interpretation: 'critical' };
const idsOf = async (order: OrderLife) => (await order.state()).chain.map((link) => link.orderId);

describe('an order of another user that names a chain', () => {
  test('does not join it: it is followed by itself, and a person is asked once', async () => {
    const order = await life(awaited);
    for (const statuses of [awaited, happyPath]) await order.signal('orderChanged', naming(statuses));
    expect(await idsOf(order)).toEqual([orderId]);
    expect((await order.state()).attention).toMatchObject([{ reason: 'foreign_order', orderId }]);
    expect(order.run.shown.details).toContain(newId);
    // Without the passthrough: its own workflow takes neither reference nor chain from it.
    const passed = (statuses: readonly string[]) => kitOf(newId, statuses, { userId: 'user-2' });
    expect(order.passedOn).toEqual([
      { snapshot: passed(awaited), rootOrderId: newId },
      { snapshot: passed(happyPath), rootOrderId: newId },
    ]);
    expect(order.happened().filter((event) => event.startsWith('attention_raised'))).toHaveLength(1);
    expect(stateIn(await order.update('resolveProblem', wait)).attention).toEqual([]);
    await order.signal('orderChanged', naming([...happyPath, 'corrected']));
    expect(await order.reasons()).toEqual([]);
  });

  test('does not join it by what is reported later without its user, or without the order', async () => {
    const order = await life(awaited);
    await order.signal('orderChanged', naming(awaited));
    const { userId: _userId, ...unnamed } = naming(happyPath);
    await order.signal('orderChanged', unnamed);
    await order.signal('criticalResultReported', criticalResult);
    const passed = [{ snapshot: { orderId: newId } }, { report: criticalResult, rootOrderId: newId }];
    expect(order.passedOn.slice(1)).toMatchObject(passed);
    expect(await idsOf(order)).toEqual([orderId]);
    expect(await order.state()).not.toHaveProperty('criticalResult');
  });

  test('has its alarm raised here if that comes back from where it was passed on: nobody else raises it', async () => {
    const order = await life(awaited);
    await order.signal('orderChanged', naming(awaited));
    for (let times = 0; times < 3; times += 1) await order.signal('criticalResultReported', criticalResult);
    expect(order.passedOn.slice(1)).toHaveLength(1);
    expect(await idsOf(order)).toEqual([orderId]);
    expect((await order.state()).criticalResult).toMatchObject({ orderId: newId, isOpen: true });
    expect(order.announced.filter(({ type }) => type === 'order.critical_result')).toMatchObject([{ subject: newId }]);
    // The service repeats its own webhook, which names the order: that is passed on as before.
    await order.signal('criticalResultReported', { ...criticalResult, order: naming(awaited) });
    expect(order.passedOn.at(-1)).toMatchObject({ report: criticalResult, rootOrderId: newId });
  });

  test('has its alarm passed on though an operator cancels the chain’s workflow, whenever it comes', async () => {
    const order = await life(awaited, {}, { forwardOrder: silent, notify: silent });
    await order.signal('criticalResultReported', { ...criticalResult, order: naming(awaited) });
    await order.run.cancel();
    await order.given({ forwardOrder: null });
    const passedOn = () => order.argumentsOf('forwardCriticalResult');
    expect(passedOn()).toMatchObject([{ report: criticalResult, rootOrderId: newId }]);
    expect(order.run.end).toBeUndefined();
    await order.signal('criticalResultReported', { ...criticalResult, status: 'final', order: naming(awaited) });
    await order.given({ handOverNotifications: null }, 1);
    expect(passedOn()).toMatchObject([{}, { report: { status: 'final' }, rootOrderId: newId }]);
    expect(order.run.end).toEqual({ kind: 'failed', type: 'cancelled' });
  });

  test('does not join it if its webhook starts the run', async () => {
    const signal = { name: 'criticalResultReported', argument: { ...criticalResult, order: naming(awaited) } };
    const order = await begun(undefined, { readChain: reading(), signal });
    expect(await idsOf(order)).toEqual([orderId]);
    expect(await order.state()).not.toHaveProperty('criticalResult');
    expect(order.passedOn).toMatchObject([{ rootOrderId: newId }, { report: { orderId: newId }, rootOrderId: newId }]);
  });

  test('does not join it in place of the replacement that has the same number', async () => {
    const snapshot = kitOf(thirdId, ['ordered'], { userId: 'user-1', ...numbered(2) });
    const order = await life(lost, {}, { replaceKitOrder: { snapshot } });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', naming(awaited));
    expect(await idsOf(order)).toEqual([orderId, thirdId]);
  });
});

describe('an order joins the chain that it names', () => {
  test('if it is of the same user', async () => {
    const order = await life(lost);
    await order.signal('orderChanged', naming(awaited, { userId: 'user-1' }));
    expect(await idsOf(order)).toEqual([orderId, newId]);
    // A registration may give it to another user.
    await order.signal('orderChanged', naming(registered));
    expect(await order.state()).toMatchObject({ userId: 'user-2', attention: [] });
  });

  test('if its number was reserved, though a registration has given it to another user', async () => {
    const order = await life(lost, {}, { replaceKitOrder: silent });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', naming(registered));
    expect(await idsOf(order)).toEqual([orderId, newId]);
  });

  test('if the service itself says that it follows one of the chain’s', async () => {
    const order = await life(registered);
    await order.signal('orderChanged', redraw(awaited, { userId: 'user-2', ...numbered(2) }));
    expect(await idsOf(order)).toEqual([orderId, newId]);
  });
});
