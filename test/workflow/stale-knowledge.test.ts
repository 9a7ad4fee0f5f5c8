import { describe, expect, test } from 'vitest';
import { OrderMovedOn } from '../../client/orders/errors.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import { eventually } from '../rig/eventually.js';
import type { Kit } from './kit.js';
import { setStage } from './story.js';

/*
 * Webhooks come late or never, and reads fail, so the workflow's knowledge may be old. Nothing that cannot be undone is
 * decided before the service has answered.
 */

const stage = setStage();
const createPath = '/v3/order/testkit';
const listPath = '/orders';
const anyOrder = { method: 'GET', path: '/v3/order/*' } as const;
const refused = { kind: 'refuse' } as const;
const withoutWebhook = (status: string) => ({ status, webhook: false });

/** As many attempts as one read makes in its two minutes. */
const oneRead = 7;

const kitsCreated = async () => (await stage.sandbox.orders()).length;

async function kitWithProblem(policy: OrderPolicy) {
  const kit = await stage.place({ policy });
  await kit.move('transit_customer', 'problem_in_transit_customer');
  return kit;
}

/** A webhook reports the order as lost, but comes only when the service knows better already. */
async function isReportedLostLate(kit: Kit): Promise<void> {
  const held = await stage.sandbox.addWebhookFault({ status: 'lost', action: { kind: 'hold' } });
  await stage.syncClock();
  await stage.sandbox.move(kit.rootOrderId, 'lost');
  await stage.sandbox.removeWebhookFaults(held);
  await stage.sandbox.move(kit.rootOrderId, withoutWebhook('delivered_to_lab'));
  await stage.sandbox.releaseWebhooks();
}

/** Outlasts the day after which a person is asked. It counts from the first read, to which a busy worker may come late. */
async function cannotBeRead(kit: Kit): Promise<void> {
  const path = `/v3/order/${kit.rootOrderId}`;
  const before = await stage.countRequests('GET', path);
  await stage.sandbox.addFault({ ...anyOrder, action: refused });
  await stage.skip('5 days');
  await stage.expectRequests('GET', path, before + 1);
  await stage.skip('2 days');
  await kit.expectAttention('order_unreadable');
}

describe('a kit is not replaced', () => {
  test('a kit is not replaced when the report of its loss comes after it has reached the lab', async () => {
    const kit = await stage.place({ policy: { onLost: 'replace' } });
    await kit.move('transit_customer', 'with_customer', 'transit_lab');
    await isReportedLostLate(kit);
    await kit.expectState({ phase: 'at_lab', attention: [], chain: [{}] as never });
    expect(await kitsCreated()).toBe(1);
  });

  test('a kit is not replaced if the service is out of reach at the limit, and the problem was solved without a webhook', async () => {
    const kit = await kitWithProblem({ onProblem: 'replace' });
    await kit.move(withoutWebhook('with_customer'));
    await stage.sandbox.addFault({ ...anyOrder, times: oneRead, action: refused });
    await stage.skip('170 hours');
    await kit.expectState({ phase: 'awaiting_registration', attention: [], chain: [{}] as never });
    expect(await kitsCreated()).toBe(1);
  });

  test('a kit is not replaced by the daily retry of a refused replacement, if it arrived meanwhile without a webhook', async () => {
    const kit = await kitWithProblem({ onProblem: 'replace' });
    const outOfStock = { kind: 'answer', status: 400, body: { detail: 'Out of stock' } } as const;
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: outOfStock });
    await stage.skip('170 hours');
    await kit.expectAttention('replacement_failed');
    await kit.move(withoutWebhook('with_customer'));
    await stage.skip('25 hours');
    await kit.expectState({ phase: 'awaiting_registration', attention: [], chain: [{}] as never });
    expect(await kitsCreated()).toBe(1);
  });

  test('a kit is not replaced when it moves on between the decision and the creation', async () => {
    const kit = await stage.place({ policy: { onLost: 'replace' } });
    await kit.move('transit_customer', 'with_customer', 'transit_lab');
    // The first attempt breaks off after its decision was taken, before anything is created.
    await stage.sandbox.addFault({ method: 'GET', path: listPath, times: 1, action: { kind: 'drop_response' } });
    const before = await stage.countRequests('GET', listPath);
    await kit.move('lost');
    await stage.expectRequests('GET', listPath, before + 1);
    await kit.move(withoutWebhook('delivered_to_lab'));
    await stage.skip('2 minutes');
    await kit.expectState({ phase: 'at_lab', attention: [], chain: [{}] as never });
    expect(await kitsCreated()).toBe(1);
  });

  test('a kit that has moved on without a webhook is not replaced by a command: the caller learns so', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'with_customer', 'transit_lab', 'lost');
    await kit.expectAttention('decision_needed');
    await kit.move(withoutWebhook('delivered_to_lab'));
    await expect(kit.handle.replaceKit({ orderId: kit.rootOrderId })).rejects.toThrow(OrderMovedOn);
    await kit.expectState({ phase: 'at_lab', attention: [], chain: [{}] as never });
    expect(await kitsCreated()).toBe(1);
  });
});

test('a kit whose order the service has cancelled only by its status is not replaced', async () => {
  const kit = await stage.place();
  await kit.move('transit_customer', 'problem_in_transit_customer');
  await stage.showStatus(kit.rootOrderId, 'cancelled');
  await expect(kit.handle.replaceKit({ orderId: kit.rootOrderId })).rejects.toThrow(OrderMovedOn);
  await kit.expectState({ phase: 'cancelled', chain: [{}] as never });
  expect(await kitsCreated()).toBe(1);
});

test('a refusal because the kit has moved on does not use up its replacement', async () => {
  const kit = await stage.place();
  await kit.move('transit_customer');
  await kit.move(withoutWebhook('problem_in_transit_customer'));
  const { rootOrderId: orderId } = kit;
  await expect(kit.handle.replaceKit({ orderId })).rejects.toThrow(OrderMovedOn);
  expect(await kit.handle.replaceKit({ orderId })).toMatchObject({ phase: 'awaiting_registration', chain: [{}, {}] });
  expect(await kitsCreated()).toBe(2);
});

describe('while the service cannot be read', () => {
  test('nobody is asked about an overdue order, but after a day about the outage; then both are settled', async () => {
    const kit = await stage.place();
    await stage.sandbox.addFault({ ...anyOrder, action: refused });
    await stage.skip('132 hours');
    await kit.expectAttention();
    await stage.skip('1 day');
    await kit.expectAttention('order_unreadable');
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    await kit.expectAttention('shipping_overdue');
    await kit.expectNotifications(
      'phase_changed awaiting_registration',
      'attention_raised order_unreadable',
      'attention_cleared order_unreadable',
      'attention_raised shipping_overdue',
    );
  });

  test('no order is given up, and one that has moved without a webhook goes on when the service is back', async () => {
    const kit = await stage.place({ kind: 'with_patient', policy: { giveUpAfter: '10 days' } });
    await stage.skip('14 days');
    await kit.expectAttention('shipping_overdue');
    await kit.move(withoutWebhook('transit_customer'));
    await stage.sandbox.addFault({ ...anyOrder, action: refused });
    await stage.skip('3 days');
    expect((await kit.handle.state()).outcome).toBeUndefined();
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    await kit.expectState({ phase: 'in_transit_to_customer', attention: [] });
  });

  test('a missing decision ends nothing, and a lost kit that has arrived goes on when the service is back', async () => {
    // Eleven days in the dark would be more than the service's own date for the results allows.
    await stage.sandbox.changeSettings({ resultDates: false });
    const kit = await stage.place({ policy: { decisionWait: '10 days' } });
    await kit.move('transit_customer', 'with_customer', 'transit_lab', 'lost');
    await kit.expectAttention('decision_needed');
    await stage.sandbox.addFault({ ...anyOrder, action: refused });
    await kit.move(withoutWebhook('delivered_to_lab'));
    await stage.skip('11 days');
    expect((await kit.handle.state()).outcome).toBeUndefined();
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    await kit.expectState({ phase: 'at_lab', attention: [] });
  });

  test('a lost kit is not replaced by the policy, but within hours of the service’s return', async () => {
    const kit = await stage.place({ policy: { onLost: 'replace' } });
    await kit.move('transit_customer');
    await stage.sandbox.addFault({ ...anyOrder, action: refused });
    await kit.move('lost');
    await stage.skip('12 hours');
    expect(await kitsCreated()).toBe(1);
    await stage.sandbox.removeFaults();
    await stage.skip('6 hours');
    await kit.expectState({ phase: 'awaiting_registration', attention: [] });
    expect(await kitsCreated()).toBe(2);
  });

  test('a person who is asked to look may stop following the order', async () => {
    const kit = await stage.place();
    await cannotBeRead(kit);
    await kit.handle.resolveProblem('abandon', { orderId: kit.rootOrderId });
    expect(await kit.result()).toMatchObject({ outcome: 'abandoned' });
  });
});

test('an order that could not be read at its limit gets its limit again from a person', async () => {
  const kit = await stage.place();
  await cannotBeRead(kit);
  expect(await kit.handle.resolveProblem('wait', { orderId: kit.rootOrderId })).toMatchObject({
    waiting: { for: 'the kit to be shipped and registered' },
  });
  await kit.expectAttention();
  await stage.sandbox.removeFaults();
  await stage.skip('4 days');
  await kit.expectAttention();
  await stage.skip('2 days');
  await kit.expectAttention('shipping_overdue');
});

describe('an order that is not found', () => {
  const unknown = { kind: 'answer', status: 404, body: { detail: 'Order not found' } } as const;
  const proxy = { kind: 'answer', status: 404, body: '<html>no such upstream</html>' } as const;

  test('an order that is not found once, by the service’s own answer, goes on: ten minutes later it is there', async () => {
    const kit = await stage.place();
    await stage.sandbox.addFault({ ...anyOrder, times: 1, action: unknown });
    await stage.skip('6 days');
    await kit.expectAttention('shipping_overdue');
  });

  test('an order that is not found according to a proxy, however often, goes on', async () => {
    const kit = await stage.place();
    await stage.sandbox.addFault({ ...anyOrder, action: proxy });
    await stage.skip('7 days');
    await kit.expectAttention('order_unreadable');
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    await kit.expectAttention('shipping_overdue');
  });

  test('an order that is not found at its first webhook, because the service’s reads lag, is adopted all the same', async () => {
    await stage.sandbox.addFault({ ...anyOrder, times: 1, action: unknown });
    await stage.syncClock();
    const { order } = await stage.sandbox.createOrder();
    const kit = await eventually(() => stage.follow(order.id));
    await stage.expectRequests('GET', `/v3/order/${order.id}`);
    await stage.skip('15 minutes');
    await kit.move('transit_customer');
    const { outcome } = await kit.expectState({ phase: 'in_transit_to_customer' });
    expect(outcome).toBeUndefined();
    expect(kit.notified.filter((what) => what.startsWith('ended'))).toEqual([]);
  });

  test('an order that is not found from its first webhook on ends as gone after ten minutes', async () => {
    await stage.sandbox.addFault({ ...anyOrder, action: unknown });
    await stage.syncClock();
    const { order } = await stage.sandbox.createOrder();
    const kit = await eventually(() => stage.follow(order.id));
    await stage.expectRequests('GET', `/v3/order/${order.id}`);
    expect((await kit.handle.state()).outcome).toBeUndefined();
    await stage.skip('15 minutes');
    expect(await kit.result()).toMatchObject({ outcome: 'order_gone' });
  });
});
