import { describe, expect, test } from 'vitest';
import type { OrderState } from '../../../protocol/order/state.js';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { day, happyPath, kitOf, pathTo, start, transactionOf } from './histories.js';
import {
  attentionIn,
  awaited,
  life,
  newId,
  notFound,
  opening,
  orderId,
  refusal,
  report,
  shownAt,
  stateIn,
} from './lives.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The lives of chains: what is about one of two orders is not about the other, and what was asked before an answer counts for what came. */

const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
const spoiled = [...pathTo('delivered_to_lab'), 'sample_error'];

const redraw = (statuses: readonly string[]): OrderSnapshot =>
  kitOf(newId, statuses, { userId: 'user-1', origin: 'redraw', parentId: orderId, transaction });

/** The first sample cannot be used; the second order is its redraw. The service shows both unless it is said otherwise. */
async function redrawn(statuses: readonly string[], answers: Answers = {}): Promise<Life> {
  const readOrder = (_now: number, id: string) => (id === newId ? redraw(statuses) : shownAt(spoiled, { transaction }));
  const order = await life(spoiled, {}, { readOrder, ...answers });
  return order.signal('orderChanged', redraw(statuses));
}

const stateOf = async ({ run }: Life) => (await run.query('state')) as OrderState;
const questionsOf = async (of: Life) => (await stateOf(of)).attention.map(({ reason, orderId: of }) => [reason, of]);
const since = ({ events }: Life, count: number) => events.slice(count);
const resultOf = ({ run }: Life) => (run.end as unknown as { result: OrderState }).result;

/** Another reference claims the order. */
const conflict = { reference: 'ref-2', policy: resolvePolicy('order'), adopted: true, notifies: true };
const claim = (of: Life) => of.signal('orderPlaced', { ...conflict, snapshot: shownAt(awaited) });

describe('an order that the service does not know', () => {
  test('has been shown meanwhile: the time until that is believed begins again', async () => {
    const order = await life(['ordered'], {}, { readOrder: null });
    await order.until(120.1);
    order.answers['readOrder'] = shownAt(['ordered']);
    await order.until(121);
    expect(since(order, 1)).toEqual(['120.167h order.attention_raised shipping_overdue']);
    order.answers['readOrder'] = null;
    await order.until(143);
    expect(order.calls).toEqual(['120h readOrder', '120.167h readOrder', '142.926h readOrder']);
    expect(order.run.end).toBeUndefined();
    expect((await order.until(144)).events.slice(-2)).toEqual([
      '143.093h order.ended order_gone',
      '143.093h completed',
    ]);
  });

  test('but that has brought its results meanwhile has ended with them', async () => {
    const order = await life(['ordered'], {}, { readOrder: null });
    await order.until(120);
    order.answers['readOrder'] = silent;
    await order.until(121);
    await order.signal('orderChanged', shownAt(happyPath));
    order.answers['readOrder'] = null;
    await order.settle();
    expect(resultOf(order)).toMatchObject({ outcome: 'completed' });
    expect(order.events.join()).not.toContain('ended');
  });

  test('is not the one that a redraw follows: that one may be gone, and the redraw is not asked for', async () => {
    const order = await redrawn(['ordered'], { cancelOrder: refusal('OrderRefused', notFound), readOrder: null });
    await order.update('cancel', { orderId });
    await order.until(1);
    await order.update('cancel', { orderId });
    expect(order.calls).toEqual(['0h cancelOrder', '0h readOrder', '1h cancelOrder', '1h readOrder']);
    expect(await stateOf(order)).not.toHaveProperty('outcome');
  });

  test('is missed for as long as it is missing itself, whatever is read of another', async () => {
    const order = await redrawn(['ordered'], { cancelOrder: refusal('OrderRefused', notFound), readOrder: null });
    await order.update('cancel', { orderId });
    await order.until(1);
    await order.update('cancel', { orderId: newId });
    await order.until(1.1);
    await order.update('cancel', { orderId });
    expect(await stateOf(order)).not.toHaveProperty('outcome');
    expect(order.calls).toHaveLength(6);
    await order.until(2);
    expect(order.calls.slice(6)).toEqual(['1.167h readOrder']);
    expect(order.events.slice(-2)).toEqual(['1.167h order.ended order_gone', '1.167h completed']);
  });
});

describe('an order that cannot be read', () => {
  test('because the service refuses to show it needs a person at once, and is read again a day later', async () => {
    const refused = refusal('ServiceRefused', { fields: [], status: 400 });
    const order = await life(['ordered'], {}, { readOrder: refused });
    await order.until(140);
    expect(since(order, 1)).toEqual(['120h order.attention_raised order_unreadable']);
    order.answers['readOrder'] = shownAt(['ordered']);
    await order.until(145);
    expect(order.calls).toEqual(['120h readOrder', '144h readOrder']);
    expect(since(order, 2)).toEqual([
      '144h order.attention_cleared order_unreadable',
      '144h order.attention_raised shipping_overdue',
    ]);
  });

  test('has its own time: what could not be read of another does not count', async () => {
    const order = await redrawn(['ordered'], {
      cancelOrder: refusal('OrderRefused', notFound),
      readOrder: unavailable,
    });
    await order.until(145);
    expect(await questionsOf(order)).toEqual([['order_unreadable', newId]]);
    await order.update('cancel', { orderId });
    expect(await questionsOf(order)).toEqual([['order_unreadable', newId]]);
  });

  test('is not read at once because another was read', async () => {
    const order = await redrawn(['ordered'], { cancelOrder: refusal('OrderRefused', notFound) });
    order.answers['readOrder'] = (_now: number, id: string) => (id === newId ? unavailable : shownAt(spoiled));
    await order.until(120);
    expect(order.calls).toEqual(['120h readOrder']);
    await order.update('cancel', { orderId });
    expect(order.calls.slice(1)).toEqual(['120h cancelOrder', '120h readOrder']);
  });

  test('waits no longer if a person gives it more time', async () => {
    const order = await life(['ordered'], {}, { readOrder: unavailable });
    await order.until(145);
    expect(await questionsOf(order)).toEqual([['order_unreadable', orderId]]);
    expect(attentionIn(await order.update('resolveProblem', { orderId, decision: 'wait' }))).toEqual([]);
  });

  test('gets more time as soon as its limit is reached, also while it is being read', async () => {
    const order = await life(['ordered'], {}, { readOrder: silent });
    await order.until(120);
    await order.update('resolveProblem', { orderId, decision: 'wait' });
    order.answers['readOrder'] = shownAt(['ordered']);
    await order.settle();
    expect(since(await order.until(239), 1)).toEqual([]);
  });
});

describe('a command', () => {
  test('answers the question of its own order only: another kit that was registered in place of another', async () => {
    const order = await redrawn(awaited, { registerKit: refusal('RegisteredAnotherOrder') });
    const registration = { sample_id: 'SAMPLE-1' };
    for (const of of [orderId, newId]) await order.update('register', { orderId: of, registration });
    order.answers['registerKit'] = redraw([...awaited, 'testkit_registered']);
    await order.update('register', { orderId: newId, registration });
    expect(await questionsOf(order)).toEqual([['registered_another_order', orderId]]);
  });

  test('that registers the right kit leaves every other question open', async () => {
    const order = await life(awaited, {}, { registerKit: refusal('RegisteredAnotherOrder'), notify: unavailable });
    await claim(order);
    const registration = { sample_id: 'SAMPLE-1' };
    await order.update('register', { registration });
    const others = ['notifications_undelivered', 'reference_conflict'];
    expect(attentionIn(await order.update('resolveProblem', { orderId, decision: 'wait' })).toSorted()).toEqual([
      'notifications_undelivered',
      'registered_another_order',
    ]);
    await order.signal('orderPlaced', { ...conflict, reference: 'ref-3', snapshot: shownAt(awaited) });
    order.answers['registerKit'] = shownAt([...awaited, 'testkit_registered']);
    expect(attentionIn(await order.update('register', { registration })).toSorted()).toEqual(others);
  });

  test('that cancels at last leaves every other question open', async () => {
    const order = await life(['ordered'], {}, { cancelOrder: refusal('CancelRefused') }, { cancelRequested: true });
    await claim(order);
    expect((await questionsOf(order)).map(([reason]) => reason)).toEqual(['cancellation_failed', 'reference_conflict']);
    // The service takes its time to show it.
    order.answers['cancelOrder'] = shownAt(['ordered']);
    expect(attentionIn(await order.update('cancel'))).toEqual(['reference_conflict']);
  });

  test('to wait is about its own order: one that asks nothing, or asked before, is refused', async () => {
    const order = await redrawn(['ordered']);
    await order.until(121);
    expect(await questionsOf(order)).toEqual([['shipping_overdue', newId]]);
    const wait = (of: string) => order.update('resolveProblem', { orderId: of, decision: 'wait' });
    expect(await wait(orderId)).toMatchObject({ refused: 'NothingToResolve' });
    expect(attentionIn(await wait(newId))).toEqual([]);
    const claimed = await redrawn(['ordered']);
    await claim(claimed);
    const answer = (of: string) => claimed.update('resolveProblem', { orderId: of, decision: 'wait' });
    expect(await answer(newId)).toMatchObject({ refused: 'NothingToResolve' });
    expect(attentionIn(await answer(orderId))).toEqual([]);
  });

  test('to give up learns of every kit first, and is refused if the order has got its results meanwhile', async () => {
    const order = await redrawn(awaited, { replaceKitOrder: silent });
    await order.update('replaceKit', { orderId });
    await order.update('resolveProblem', { orderId: newId, decision: 'abandon' });
    expect(order.run.replies).toEqual([]);
    await order.signal('orderChanged', redraw(happyPath));
    order.answers['replaceKitOrder'] = refusal('OrderRefused');
    await order.settle();
    expect(order.run.replies).toMatchObject([
      { name: 'replaceKit', refused: 'OrderRefused' },
      { name: 'resolveProblem', refused: 'OrderEnded' },
    ]);
    expect(resultOf(order)).toMatchObject({ outcome: 'completed' });
  });

  test('that is still being carried out when the order turns out to be of another chain is answered, and shows nothing', async () => {
    const order = await life(awaited, {}, { registerKit: silent });
    await order.update('register', { registration: { sample_id: 'SAMPLE-1' } });
    await order.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(awaited) });
    order.answers['registerKit'] = shownAt([...awaited, 'testkit_registered']);
    await order.settle();
    expect(stateIn(order.run.replies[0])).toMatchObject({ registered: true });
    expect(order.run.shown.details).toMatch(/^Passes on what it receives/);
  });
});

describe('a run that a webhook starts', () => {
  const policy = resolvePolicy('order');
  const ours = shownAt(awaited, { passthrough: 'labops:-:ref-1:1' });
  const readChain = { snapshots: [ours], gone: false, rootOrderId: orderId, notifies: true };
  const cancelled = shownAt([...awaited, 'cancelled']);
  const placed = { reference: 'ref-1', policy, adopted: false, notifies: true, snapshot: ours };

  test('waits for the hand-over, unless somebody has a command for the order', async () => {
    const order = await new Life(opening, { readChain, cancelOrder: cancelled }).start(
      { rootOrderId: orderId, policy },
      { name: 'orderChanged', argument: ours },
    );
    await order.until(0.1);
    expect(order.calls).toEqual([]);
    expect(stateIn(await order.update('cancel'))).toMatchObject({ phase: 'cancelled' });
    expect(order.calls).toEqual(['0.1h readChain', '0.1h cancelOrder']);
  });

  test('goes on waiting for it if that command could not be answered in time', async () => {
    const order = await new Life(opening, { resolvePolicy: silent, readChain }).start(
      { rootOrderId: orderId },
      { name: 'orderChanged', argument: ours },
    );
    await order.update('cancel');
    await order.until(0.06);
    expect(order.run.replies).toEqual([{ name: 'cancel', refused: 'ServiceUnavailable' }]);
    order.answers['resolvePolicy'] = policy;
    await order.settle();
    await order.signal('orderPlaced', placed);
    expect(order.calls).toEqual(['0.06h resolvePolicy']);
    expect(await stateOf(order)).toMatchObject({ reference: 'ref-1' });
  });

  test('of another chain asks the service no more than that, however late the order is', async () => {
    const order = new Life({ ...opening, now: start + 10 * day }, { readChain: { ...readChain, rootOrderId: newId } });
    await order.start({ rootOrderId: orderId, policy }, { name: 'orderChanged', argument: shownAt(['ordered']) });
    expect(order.calls).toEqual(['0h readChain', '0h forwardOrder']);
  });

  test('of another chain acknowledges nothing: a caller who asks before that is known is answered then', async () => {
    const order = new Life(opening, { readChain: silent });
    await order.start(
      { rootOrderId: orderId, policy },
      { name: 'criticalResultReported', argument: { orderId, interpretation: 'critical' } },
    );
    await order.update('acknowledgeCriticalResult', { orderId, by: 'nurse-17', outcome: 'confirmed' });
    expect(order.run.replies).toEqual([]);
    order.answers['readChain'] = { ...readChain, rootOrderId: newId };
    await order.settle();
    expect(order.run.replies).toEqual([{ name: 'acknowledgeCriticalResult', refused: 'OrderForwarded' }]);
  });
});

test('an order whose end was not reported is read before its chain ends with the redraw', async () => {
  const order = await life(pathTo('delivered_to_lab'));
  await report(order, pathTo('delivered_to_lab'), { transaction });
  await order.signal('orderChanged', redraw(['ordered']));
  order.answers['readOrder'] = silent;
  await order.signal('orderChanged', redraw(happyPath));
  expect(order.run.end).toBeUndefined();
  order.answers['readOrder'] = shownAt(spoiled, { transaction });
  await order.settle();
  expect(resultOf(order)).toMatchObject({ outcome: 'completed', chain: [{ phase: 'failed' }, { phase: 'completed' }] });
});
