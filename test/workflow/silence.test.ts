import { describe, expect, test } from 'vitest';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import { Kit } from './kit.js';
import { setStage } from './story.js';

const stage = setStage();
const withoutWebhook = (status: string) => ({ status, webhook: false });

test('a lost webhook only delays: at the deadline the order is read, and nobody is asked', async () => {
  const kit = await stage.place();
  await kit.move(withoutWebhook('transit_customer'));
  await kit.expectState({ phase: 'awaiting_registration' });
  await stage.skip('6 days');
  await kit.expectState({ phase: 'in_transit_to_customer', attention: [] });
  await kit.expectNotifications('phase_changed awaiting_registration', 'phase_changed in_transit_to_customer');
});

test('an order that the service cancels only by its status ends, and is notified of once, though its event comes later', async () => {
  const kit = await stage.place();
  const shown = await stage.showStatus(kit.rootOrderId, 'cancelled');
  await stage.skip('6 days');
  expect(await kit.result()).toMatchObject({ outcome: 'cancelled', chain: [{ status: 'cancelled' }] });
  const notified = ['phase_changed awaiting_registration', 'cancellation', 'phase_changed cancelled'];
  await kit.expectNotifications(...notified);
  await stage.sandbox.removeFaults(shown);
  await kit.move('cancelled');
  // Another run has followed the event.
  const { timeline } = await kit.result();
  expect(timeline.at(-1)).toMatchObject({ status: 'cancelled.testkit.cancelled' });
  await kit.expectNotifications(...notified);
});

describe('an order that stands still', () => {
  const inTransit = ['transit_customer'];
  const delivered = [...inTransit, 'with_customer'];
  const sentBack = [...delivered, 'transit_lab'];
  test.each([
    ['shipping_overdue', [], '6 days'],
    ['delivery_overdue', inTransit, '11 days'],
    ['return_overdue', delivered, '15 days'],
    ['transit_to_lab_overdue', sentBack, '11 days'],
    ['results_overdue', [...sentBack, 'delivered_to_lab'], '15 days'],
  ] as const)('needs attention: %s', async (reason, moves, wait) => {
    const kit = await stage.place({ kind: 'with_patient' });
    await kit.move(...moves);
    await stage.skip(wait);
    await kit.expectAttention(reason);
    expect(kit.notifications.at(-1)).toMatchObject({ type: 'attention_raised', data: { reason } });
  });

  test('is read no more often than the service asks for', async () => {
    const kit = await stage.place({ kind: 'with_patient' });
    const path = `/v3/order/${kit.rootOrderId}`;
    const before = await stage.countRequests('GET', path);
    const action = { kind: 'answer', status: 429, headers: { 'retry-after': '86400' } } as const;
    await stage.sandbox.addFault({ method: 'GET', path, action });
    await stage.skip('10 days');
    await kit.expectAttention('order_unreadable');
    expect((await stage.countRequests('GET', path)) - before).toBeLessThan(7);
  });

  test('is not asked about before the date that it is scheduled for', async () => {
    const input = await stage.input({ kind: 'with_patient' });
    const inAMonth = new Date((await stage.now()) + 30 * 86_400_000).toISOString().slice(0, 10);
    const scheduled = { ...input, order: { ...input.order, activate_by: inAMonth } } as PlaceKitOrderInput;
    const handle = await stage.product.orders.place(scheduled);
    const kit = new Kit(stage, handle, await handle.orderId());
    await kit.expectState({ phase: 'preparing', timeline: [{ status: 'received.testkit.ordered' }] as never });
    await stage.skip('31 days');
    await kit.expectState({
      attention: [],
      timeline: [{}, { status: 'received.testkit.requisition_created' }] as never,
    });
    await stage.skip('7 days');
    await kit.expectAttention('shipping_overdue');
    await kit.move('transit_customer');
    await kit.expectState({ attention: [] });
  });

  test('is asked about once the service’s own date for its results is over, and no more if that date moves', async () => {
    const kit = await stage.place({ kind: 'with_patient' });
    // The sandbox names the seventh day for this test.
    await kit.move(...sentBack, 'delivered_to_lab');
    await stage.skip('7 days');
    await kit.expectState({ attention: [] });
    await stage.skip('2 days');
    await kit.expectAttention('results_overdue');
    await stage.sandbox.changeSettings({ resultDatesLate: 5 });
    await stage.skip('1 day');
    await kit.expectState({ attention: [] });
    await stage.skip('5 days');
    await kit.expectAttention('results_overdue');
  });

  test('is read again every day, and its attention is withdrawn once it moved', async () => {
    const kit = await stage.place();
    await stage.skip('6 days');
    await kit.expectAttention('shipping_overdue');
    await kit.move(withoutWebhook('transit_customer'));
    await stage.skip('2 days');
    await kit.expectState({ phase: 'in_transit_to_customer', attention: [] });
    await kit.expectNotifications(
      'phase_changed awaiting_registration',
      'attention_raised shipping_overdue',
      'attention_cleared shipping_overdue',
      'phase_changed in_transit_to_customer',
    );
  });

  test('is given up after another sixty days, and says so', async () => {
    const kit = await stage.place({ kind: 'with_patient' });
    await stage.skip('64 days');
    await kit.expectAttention('shipping_overdue');
    await stage.skip('2 days');
    expect(await kit.result()).toMatchObject({ outcome: 'unresolved', orderId: kit.rootOrderId });
    await kit.expectNotifications('phase_changed preparing', 'attention_raised shipping_overdue', 'ended unresolved');
  });

  test('is left alone once it was given up, though a critical result keeps it open', async () => {
    // Reminded every hour, as usual, the story would consist of two thousand reminders.
    const kit = await stage.place({ kind: 'with_patient', policy: { criticalResultReminder: '1 day' } });
    await stage.sandbox.interpret(kit.rootOrderId, { interpretation: 'critical' });
    await kit.expectAttention('critical_result');
    await stage.skip('66 days');
    await kit.expectState({ outcome: 'unresolved' });
    await kit.expectAttention('critical_result', 'shipping_overdue');
    const reads = () => stage.countRequests('GET', `/v3/order/${kit.rootOrderId}`);
    const before = await reads();
    await stage.skip('20 days');
    expect(await reads()).toBe(before);
  });

  describe('and whose transaction names an order that the service does not show', () => {
    const unknown = { status: 404, body: { detail: 'Order not found' } };
    const forbidden = { status: 422, body: { detail: 'Not to be shown' } };

    async function kitWithSibling(answer: typeof unknown, policy: OrderPolicy = {}) {
      const kit = await stage.place({ kind: 'with_patient', policy });
      const { order } = await stage.sandbox.redraw(kit.rootOrderId, { webhook: false });
      const path = `/v3/order/${order.id}`;
      await stage.sandbox.addFault({ method: 'GET', path, action: { kind: 'answer', ...answer } });
      await kit.move('transit_customer');
      return { kit, reads: () => stage.countRequests('GET', path) };
    }

    test.each([
      ['refuses', forbidden],
      ['does not know', unknown],
    ])('is given up all the same, with a few reads a day, when the service %s it', async (_what, answer) => {
      const { kit, reads } = await kitWithSibling(answer);
      await stage.skip('69 days');
      const ownReads = await stage.countRequests('GET', `/v3/order/${kit.rootOrderId}`);
      expect(ownReads, 'it is read again every day').toBeGreaterThan(50);
      expect(ownReads).toBeLessThan(80);
      await stage.skip('2 days');
      expect(await kit.result()).toMatchObject({ outcome: 'unresolved', orderId: kit.rootOrderId });
      expect(await reads(), 'and so is the other').toBeGreaterThan(50);
      expect(await reads()).toBeLessThan(160);
    });
  });

  test('is not called overdue while the service cannot be reached: it may have moved', async () => {
    const kit = await stage.place();
    await stage.sandbox.addFault({ method: 'GET', path: '/v3/order/*', action: { kind: 'refuse' } });
    await stage.skip('7 days');
    await kit.expectAttention('order_unreadable');
  });
});

test('an order that the service no longer knows ends as gone, and says so', async () => {
  const kit = await stage.place();
  await stage.sandbox.deleteOrder(kit.rootOrderId);
  await stage.skip('6 days');
  expect(await kit.result()).toMatchObject({ outcome: 'order_gone', orderId: kit.rootOrderId });
  await kit.expectNotifications('phase_changed awaiting_registration', 'ended order_gone');
});

test('an order that cannot be read when its run begins asks for attention after a day, and is read when the service asked for it', async () => {
  const kit = await stage.place();
  await kit.handle.cancel();
  await kit.result();
  const path = `/v3/order/${kit.rootOrderId}`;
  const headers = { 'retry-after': '21600' };
  await stage.sandbox.addFault({ method: 'GET', path, action: { kind: 'answer', status: 503, headers } });
  const before = await stage.countRequests('GET', path);
  // The service sends the kit that was cancelled all the same.
  await kit.move('transit_customer');
  await stage.expectRequests('GET', path, before + 1);
  await stage.skip('25 hours');
  await kit.expectAttention('order_unreadable');
  expect(await stage.countRequests('GET', path)).toBeLessThan(before + 9);
  await stage.sandbox.removeFaults();
  await stage.skip('7 hours');
  await kit.expectState({ phase: 'in_transit_to_customer', attention: [] });
});
