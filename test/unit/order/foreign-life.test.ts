import { describe, expect, test } from 'vitest';
import type { OrderState } from '../../../protocol/order/state.js';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { Life, silent } from '../life.js';
import { happyPath, kitOf, start, transactionOf } from './histories.js';
import { awaited, life, lost, newId, opening, orderId, shownAt, stateIn } from './lives.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The lives of chains that an order names in its passthrough, though it may be another user's. */

const naming = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}): OrderSnapshot =>
  kitOf(newId, statuses, { userId: 'user-2', passthrough: `labops:${orderId}:ref-1:2`, ...more });
const idsIn = ({ chain }: OrderState) => chain.map((link) => link.orderId);
const stateOf = async ({ run }: Life) => (await run.query('state')) as OrderState;

/** A chain that passes orders on, and notes which. */
async function chainOf(statuses: readonly string[], answers: object = {}) {
  const passedOn: unknown[] = [];
  const keep = (_now: unknown, given: unknown) => {
    passedOn.push(given);
    return null;
  };
  const forwarding = { forwardOrder: keep, forwardCriticalResult: keep };
  return { order: await life(statuses, {}, { ...forwarding, ...answers }), passedOn };
}

describe('an order of another user that names a chain', () => {
  test('does not join it: it is followed by itself, and a person is asked once', async () => {
    const { order, passedOn } = await chainOf(awaited);
    for (const statuses of [awaited, happyPath]) await order.signal('orderChanged', naming(statuses));
    const state = await stateOf(order);
    expect(idsIn(state)).toEqual([orderId]);
    expect(state.attention).toMatchObject([{ reason: 'foreign_order', orderId }]);
    expect(order.run.shown.details).toContain(newId);
    // Without the passthrough: its own workflow takes neither reference nor chain from it.
    const { passthrough: _passthrough, ...first } = naming(awaited);
    expect(passedOn).toEqual([
      { snapshot: first, rootOrderId: newId },
      { snapshot: { ...first, ...kitOf(newId, happyPath, { userId: 'user-2' }) }, rootOrderId: newId },
    ]);
    expect(order.events.filter((event) => event.includes('attention_raised'))).toHaveLength(1);
    const answered = await order.update('resolveProblem', { orderId, decision: 'wait' });
    expect(stateIn(answered).attention).toEqual([]);
    await order.signal('orderChanged', naming([...happyPath, 'corrected']));
    expect((await stateOf(order)).attention).toEqual([]);
  });

  test('does not join it as its critical result: the alarm goes to its own workflow', async () => {
    const { order, passedOn } = await chainOf(awaited);
    const critical = { orderId: newId, interpretation: 'critical' };
    await order.signal('criticalResultReported', { ...critical, order: naming(awaited) });
    expect(passedOn).toMatchObject([{ rootOrderId: newId }, { report: critical, rootOrderId: newId }]);
    expect(await stateOf(order)).not.toHaveProperty('criticalResult');
  });

  test('does not join it by what is reported later without its user, or without the order', async () => {
    const { order, passedOn } = await chainOf(awaited);
    const { userId: _userId, ...unnamed } = naming(happyPath);
    await order.signal('orderChanged', naming(awaited));
    await order.signal('orderChanged', unnamed);
    const critical = { orderId: newId, interpretation: 'critical' };
    await order.signal('criticalResultReported', critical);
    expect(passedOn.slice(1)).toMatchObject([
      { snapshot: { orderId: newId } },
      { report: critical, rootOrderId: newId },
    ]);
    const state = await stateOf(order);
    expect(idsIn(state)).toEqual([orderId]);
    expect(state).not.toHaveProperty('criticalResult');
  });

  test('has its alarm raised here if that comes back from where it was passed on: nobody else raises it', async () => {
    const { order, passedOn } = await chainOf(awaited);
    await order.signal('orderChanged', naming(awaited));
    const critical = { orderId: newId, interpretation: 'critical' };
    for (let times = 0; times < 3; times += 1) await order.signal('criticalResultReported', critical);
    expect(passedOn.slice(1)).toHaveLength(1);
    const state = await stateOf(order);
    expect(idsIn(state)).toEqual([orderId]);
    expect(state.criticalResult).toMatchObject({ orderId: newId, isOpen: true });
    expect(order.announced.filter(({ type }) => type === 'order.critical_result')).toMatchObject([{ subject: newId }]);
    // The service repeats its own webhook, which names the order: that is passed on as before.
    await order.signal('criticalResultReported', { ...critical, order: naming(awaited) });
    expect(passedOn.at(-1)).toMatchObject({ report: critical, rootOrderId: newId });
  });

  test('has its alarm passed on though an operator cancels the chain’s workflow, whenever it comes', async () => {
    const { order, passedOn } = await chainOf(awaited, { forwardOrder: silent, notify: silent });
    const critical = { orderId: newId, interpretation: 'critical' };
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
    const passedOn: unknown[] = [];
    const keep = (_now: unknown, given: unknown) => passedOn.push(given);
    const readChain = {
      snapshots: [shownAt(awaited, { userId: 'user-1' })],
      gone: false,
      rootOrderId: orderId,
      notifies: true,
    };
    const order = new Life({ ...opening, now: start }, { readChain, forwardOrder: keep, forwardCriticalResult: keep });
    const policy = resolvePolicy('order');
    const alarm = { orderId: newId, interpretation: 'critical', order: naming(awaited) };
    await order.start({ rootOrderId: orderId, policy }, { name: 'criticalResultReported', argument: alarm });
    const state = await stateOf(order);
    expect(idsIn(state)).toEqual([orderId]);
    expect(state).not.toHaveProperty('criticalResult');
    expect(passedOn).toMatchObject([{ rootOrderId: newId }, { report: { orderId: newId }, rootOrderId: newId }]);
  });

  test('does not join it in place of the replacement that has the same number', async () => {
    const replacement = kitOf('00000000-0000-4000-8000-00000000000c', ['ordered'], {
      ...{ userId: 'user-1', passthrough: `labops:${orderId}:ref-1:2` },
    });
    const { order } = await chainOf(lost, { replaceKitOrder: { snapshot: replacement } });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', naming(awaited));
    expect(idsIn(await stateOf(order))).toEqual([orderId, replacement.orderId]);
  });
});

describe('an order joins the chain that it names', () => {
  test('if it is of the same user', async () => {
    const { order } = await chainOf(lost);
    await order.signal('orderChanged', naming(awaited, { userId: 'user-1' }));
    expect(idsIn(await stateOf(order))).toEqual([orderId, newId]);
    // A registration may give it to another user.
    await order.signal('orderChanged', naming([...awaited, 'testkit_registered']));
    expect(await stateOf(order)).toMatchObject({ userId: 'user-2', attention: [] });
  });

  test('if its number was reserved, though a registration has given it to another user', async () => {
    const { order } = await chainOf(lost, { replaceKitOrder: silent });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', naming([...awaited, 'testkit_registered']));
    expect(idsIn(await stateOf(order))).toEqual([orderId, newId]);
  });

  test('if the service itself says that it follows one of the chain’s', async () => {
    const { order } = await chainOf([...awaited, 'testkit_registered']);
    const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
    await order.signal('orderChanged', naming(awaited, { transaction, origin: 'redraw', parentId: orderId }));
    expect(idsIn(await stateOf(order))).toEqual([orderId, newId]);
  });
});
