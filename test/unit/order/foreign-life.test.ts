import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { silent, type Answers } from '../life.js';
import { happyPath, kitOf } from './histories.js';
import {
  asking,
  awaited,
  begun,
  life,
  lost,
  newId,
  newKit,
  numbered,
  orderId,
  type OrderLife,
  reading,
  redraw,
  registered,
  stateIn,
  thirdId,
  wait,
} from './lives.js';

/* The lives of chains that an order names in its passthrough, though it may be another user's. */

const naming = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
  newKit(statuses, { userId: 'user-2', ...more });
const critical = { orderId: newId, interpretation: 'critical' };
const idsOf = async (order: OrderLife) => (await order.state()).chain.map((link) => link.orderId);

/** A chain that passes orders on, and notes which. */
async function chainOf(statuses: readonly string[], more: Answers = {}) {
  const { asked: passedOn, answers: keep } = asking(null);
  const passing = { forwardOrder: keep, forwardCriticalResult: keep };
  return { order: await life(statuses, {}, { ...passing, ...more }), passedOn };
}

describe('an order of another user that names a chain', () => {
  test('does not join it: it is followed by itself, and a person is asked once', async () => {
    const { order, passedOn } = await chainOf(awaited);
    for (const statuses of [awaited, happyPath]) await order.signal('orderChanged', naming(statuses));
    expect(await idsOf(order)).toEqual([orderId]);
    expect((await order.state()).attention).toMatchObject([{ reason: 'foreign_order', orderId }]);
    expect(order.run.shown.details).toContain(newId);
    // Without the passthrough: its own workflow takes neither reference nor chain from it.
    const passed = (statuses: readonly string[]) => kitOf(newId, statuses, { userId: 'user-2' });
    expect(passedOn).toEqual([
      { snapshot: passed(awaited), rootOrderId: newId },
      { snapshot: passed(happyPath), rootOrderId: newId },
    ]);
    expect(order.happened().filter((event) => event.startsWith('attention_raised'))).toHaveLength(1);
    expect(stateIn(await order.update('resolveProblem', wait)).attention).toEqual([]);
    await order.signal('orderChanged', naming([...happyPath, 'corrected']));
    expect(await order.reasons()).toEqual([]);
  });

  test('does not join it by what is reported later without its user, or without the order', async () => {
    const { order, passedOn } = await chainOf(awaited);
    await order.signal('orderChanged', naming(awaited));
    const { userId: _userId, ...unnamed } = naming(happyPath);
    await order.signal('orderChanged', unnamed);
    await order.signal('criticalResultReported', critical);
    const passed = [{ snapshot: { orderId: newId } }, { report: critical, rootOrderId: newId }];
    expect(passedOn.slice(1)).toMatchObject(passed);
    expect(await idsOf(order)).toEqual([orderId]);
    expect(await order.state()).not.toHaveProperty('criticalResult');
  });

  test('has its alarm raised here if that comes back from where it was passed on: nobody else raises it', async () => {
    const { order, passedOn } = await chainOf(awaited);
    await order.signal('orderChanged', naming(awaited));
    for (let times = 0; times < 3; times += 1) await order.signal('criticalResultReported', critical);
    expect(passedOn.slice(1)).toHaveLength(1);
    expect(await idsOf(order)).toEqual([orderId]);
    expect((await order.state()).criticalResult).toMatchObject({ orderId: newId, isOpen: true });
    expect(order.announced.filter(({ type }) => type === 'order.critical_result')).toMatchObject([{ subject: newId }]);
    // The service repeats its own webhook, which names the order: that is passed on as before.
    await order.signal('criticalResultReported', { ...critical, order: naming(awaited) });
    expect(passedOn.at(-1)).toMatchObject({ report: critical, rootOrderId: newId });
  });

  test('has its alarm passed on though an operator cancels the chain’s workflow, whenever it comes', async () => {
    const { order, passedOn } = await chainOf(awaited, { forwardOrder: silent, notify: silent });
    await order.signal('criticalResultReported', { ...critical, order: naming(awaited) });
    await order.run.cancel();
    order.answers['forwardOrder'] = null;
    await order.settle();
    expect(passedOn).toMatchObject([{ report: critical, rootOrderId: newId }]);
    expect(order.run.end).toBeUndefined();
    await order.signal('criticalResultReported', { ...critical, status: 'final', order: naming(awaited) });
    order.answers['handOverNotifications'] = null;
    await order.until(1);
    expect(passedOn).toMatchObject([{}, { report: { status: 'final' }, rootOrderId: newId }]);
    expect(order.run.end).toEqual({ kind: 'failed', type: 'cancelled' });
  });

  test('does not join it if its webhook starts the run', async () => {
    const { asked: passedOn, answers: keep } = asking(null);
    const answers = { readChain: reading(), forwardOrder: keep, forwardCriticalResult: keep };
    const signal = { name: 'criticalResultReported', argument: { ...critical, order: naming(awaited) } };
    const order = await begun(undefined, { ...answers, signal });
    expect(await idsOf(order)).toEqual([orderId]);
    expect(await order.state()).not.toHaveProperty('criticalResult');
    expect(passedOn).toMatchObject([{ rootOrderId: newId }, { report: { orderId: newId }, rootOrderId: newId }]);
  });

  test('does not join it in place of the replacement that has the same number', async () => {
    const snapshot = kitOf(thirdId, ['ordered'], { userId: 'user-1', ...numbered(2) });
    const { order } = await chainOf(lost, { replaceKitOrder: { snapshot } });
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
