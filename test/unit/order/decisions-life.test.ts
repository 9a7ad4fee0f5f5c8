import { describe, expect, test } from 'vitest';
import type { OrderState } from '../../../protocol/order/state.js';
import { silent, unavailable, type Answers, type Life } from '../life.js';
import { day, happyPath, kitOf, pathTo, transactionOf } from './histories.js';
import { awaited, lateLife, life, lost, newId, notFound, orderId, refusal, report, shipped, shownAt } from './lives.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The lives of orders about which several things are due at once, or that are decided on while something else is open. */

const transaction = transactionOf({ id: orderId, origin: 'initial' }, { id: newId, origin: 'redraw' });
const shown = shownAt(['ordered'], { transaction });
const redraw = (statuses: readonly string[]) =>
  kitOf(newId, statuses, { origin: 'redraw', parentId: orderId, transaction });
const replaced = { snapshot: kitOf(newId, ['ordered'], { passthrough: `labops:${orderId}:ref-1:2` }) };
const stuck = [...shipped, 'problem_in_transit_customer'];

const stateOf = async ({ run }: Life) => (await run.query('state')) as OrderState;
const eventsOf = ({ events }: Life) => events.map((event) => event.replace(/^\S+ (order\.)?/, ''));
const callsOf = ({ calls }: Life, name: string) => calls.filter((call) => call.endsWith(name));

/** Answers a read of the first order with this, and of the second with that. */
const reading = (first: unknown, second: unknown) => (_now: number, id: string) => (id === newId ? second : first);

/** An order whose transaction names one that cannot be read. */
async function naming(second: unknown, policy = {}): Promise<Life> {
  const order = await life(['ordered'], policy, { readOrder: reading(shown, second) });
  return order.signal('orderChanged', shown);
}

const refused = refusal('ServiceRefused', { fields: [], status: 400 });

describe('an order that names one that cannot be read', () => {
  test('is not decided on before that one was read', async () => {
    const order = await naming(unavailable);
    await order.until(130);
    expect(eventsOf(order)).toEqual(['phase_changed preparing', 'attention_raised order_unreadable']);
    const count = order.calls.length;
    const conflict = { reference: 'ref-2', policy: resolvePolicy('order'), adopted: true, notifies: true };
    await order.signal('orderPlaced', { ...conflict, snapshot: shown });
    await order.update('resolveProblem', { orderId, decision: 'wait' });
    expect(order.calls).toHaveLength(count);
    order.answers['readOrder'] = reading(shown, redraw(['ordered']));
    await order.until(140);
    expect(await stateOf(order)).toMatchObject({ orderId: newId, attention: [{ reason: 'shipping_overdue' }] });
  });

  test('looks for it again when it would have been read again, though it has moved on', async () => {
    const order = await naming(refused);
    await order.until(130);
    await report(order, shipped, { transaction });
    order.answers['readOrder'] = reading(shownAt(shipped, { transaction }), refused);
    await order.until(200);
    expect(order.calls).toEqual(['0h readOrder', '120h readOrder', '142.759h readOrder']);
  });

  test('does not look for it when it is given up', async () => {
    const order = await naming(refused, { giveUpAfter: '5d' });
    await order.until(121);
    order.run.now += 30 * day;
    await order.until(24 * 40);
    expect(order.calls).toEqual(['0h readOrder', '120h readOrder', '841h readOrder']);
    expect(eventsOf(order).slice(-2)).toEqual(['ended unresolved', 'completed']);
  });

  test('goes on waiting for it though it has got its results, if a critical one keeps it open', async () => {
    const order = await life(pathTo('delivered_to_lab'), {}, { readOrder: unavailable });
    const critical = { interpretation: 'critical', transaction };
    await order.signal('orderChanged', shownAt(happyPath, critical));
    await order.signal('orderChanged', shownAt(happyPath, { ...critical, sampleId: 'SAMPLE-1' }));
    expect(order.calls).toEqual(['0h readOrder']);
  });

  test('is not decided on if that one is reported while the first is read', async () => {
    const order = await life(['ordered'], {}, { readOrder: silent });
    await order.until(120);
    await order.signal('orderChanged', redraw(['ordered']));
    order.answers['readOrder'] = reading(shown, redraw(['ordered']));
    await order.settle();
    expect(order.calls.slice(0, 2)).toEqual(['120h readOrder', '120h readOrder']);
    expect((await stateOf(order)).attention).toMatchObject([{ reason: 'shipping_overdue', orderId: newId }]);
  });

  test('only as it is read for a decision is not decided on before', async () => {
    const order = await life(['ordered'], {}, { readOrder: reading(shown, redraw(awaited)) });
    await order.until(120);
    expect(order.calls.slice(0, 2)).toEqual(['120h readOrder', '120h readOrder']);
    expect((await stateOf(order)).attention).toMatchObject([{ orderId: newId }]);
    expect(eventsOf(order).filter((event) => event.includes('raised'))).toHaveLength(1);
  });
});

describe('an order that only an open critical result keeps open', () => {
  const critical = { interpretation: 'critical' };

  test('is not looked for any more', async () => {
    const order = await life(['ordered'], {}, { cancelOrder: refusal('OrderRefused', notFound), readOrder: null });
    await order.update('cancel');
    await order.signal('orderChanged', shownAt(happyPath, critical));
    await order.until(1.5);
    expect(order.calls).toEqual(['0h cancelOrder', '0h readOrder']);
    expect(order.run.end).toBeUndefined();
  });

  test('needs nobody any more because it could not be read', async () => {
    const order = await life(['ordered'], {}, { readOrder: unavailable });
    await order.until(145);
    await order.signal('orderChanged', shownAt(happyPath, critical));
    expect((await stateOf(order)).attention).toMatchObject([{ reason: 'critical_result' }]);
  });
});

/** No worker was there for so many days. */
async function after(days: number, statuses: readonly string[], policy: object, answers: Answers = {}): Promise<Life> {
  const order = await life(statuses, policy, { replaceKitOrder: replaced, ...answers });
  order.run.now += days * day;
  return order.until(24 * days + 1);
}

describe('after a long time without a worker', () => {
  test('a kit that failed by the policy is not given up or asked about, too', async () => {
    const order = await after(100, stuck, { onProblem: 'fail' });
    expect(eventsOf(order)).toEqual(['phase_changed in_transit_to_customer', 'ended failed', 'completed']);
  });

  test('a kit that is replaced is not asked about, nor given up while its replacement is ordered', async () => {
    const policy = { onProblem: 'replace', giveUpAfter: '300d' };
    const order = await after(100, stuck, policy);
    expect(eventsOf(order)).not.toContain('attention_raised delivery_overdue');
    const waiting = await after(100, stuck, { onProblem: 'replace' }, { replaceKitOrder: silent });
    expect(eventsOf(waiting)).toEqual(['phase_changed in_transit_to_customer']);
    expect(await stateOf(waiting)).not.toHaveProperty('outcome');
  });

  test('nobody is reminded of an order that is given up', async () => {
    const order = await after(1, pathTo('with_customer'), { giveUpAfter: '1d' });
    order.run.now += 200 * day;
    await order.until(24 * 202);
    expect(eventsOf(order).slice(1)).toEqual([
      'attention_raised registration_overdue',
      'ended unresolved',
      'completed',
    ]);
  });
});

describe('a replacement that failed', () => {
  const failing = { replaceKitOrder: refusal('OrderRefused') };

  test('is tried again each day, not when something else is due', async () => {
    const order = await life(stuck, { onProblem: 'replace' }, failing);
    await order.until(24 * 12.2);
    expect(callsOf(order, 'replaceKitOrder')).toEqual([
      '240h replaceKitOrder',
      '262.759h replaceKitOrder',
      '285.518h replaceKitOrder',
    ]);
    expect(eventsOf(order)).toContain('attention_raised delivery_overdue');
  });

  test('may succeed at last before the order is given up', async () => {
    const order = await life(stuck, { onProblem: 'replace', giveUpAfter: '5d' }, failing);
    await order.until(24 * 15 - 1);
    order.answers['replaceKitOrder'] = silent;
    await order.until(24 * 15);
    expect(await stateOf(order)).not.toHaveProperty('outcome');
    const createdAt = '2024-03-16T10:00:00.000Z';
    const events = [{ id: 1, at: createdAt, status: 'received.testkit.ordered' }];
    order.answers['replaceKitOrder'] = { snapshot: { ...replaced.snapshot, createdAt, events } };
    await order.settle();
    expect(eventsOf(order)).not.toContain('ended unresolved');
  });
});

test('an order that moved on is not read again for what it had missed', async () => {
  const order = await life(['ordered']);
  await order.until(130);
  await report(order, shipped);
  await order.until(200);
  expect(order.calls).toEqual(['120h readOrder']);
});

test('a kit about which a person has to decide is left alone until then', async () => {
  const order = await lateLife(lost);
  await order.until(24 * 30);
  expect(order.calls).toEqual(['72h readOrder']);
  expect(order.run.summaries).not.toContain('read again');
});
