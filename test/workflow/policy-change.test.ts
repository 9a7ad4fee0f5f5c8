import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { OrderEnded, OrderInvalid } from '../../client/orders/errors.js';
import { orderPlacedSignal, setPolicyUpdate } from '../../protocol/order/messages.js';
import { resolvePolicy } from '../../protocol/order/policy.js';
import { kitOrderId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

const stage = setStage();

test('a longer limit clears the attention of an order that had missed it, and counts again', async () => {
  const kit = await stage.place();
  await stage.skip('6 days');
  await kit.expectAttention('shipping_overdue');
  const state = await kit.handle.setPolicy({ shippingDeadline: '8d' });
  expect(state.attention).toEqual([]);
  expect(state.waiting.for).toBe('the kit to be shipped and registered');
  await stage.skip('1 day');
  await kit.expectAttention();
  await stage.skip('1 day');
  await kit.expectAttention('shipping_overdue');
});

test('a shorter limit that is over is due at once', async () => {
  const kit = await stage.place();
  await stage.skip('2 days');
  await kit.expectAttention();
  const { after } = await kit.handle.previewPolicy({ shippingDeadline: '1d' });
  await kit.expectAttention();
  const state = await kit.handle.setPolicy({ shippingDeadline: '1d' });
  expect(state.waiting).toEqual(after);
  await kit.expectAttention('shipping_overdue');
});

test('the settings that are not given stay', async () => {
  const kit = await stage.place({ policy: { onLost: 'fail', shippingDeadline: '9d' } });
  await kit.handle.setPolicy({ deliveryDeadline: '2d' });
  await kit.move('transit_customer', 'problem_in_transit_customer', 'lost');
  expect(await kit.result()).toMatchObject({
    outcome: 'failed',
    policy: { onLost: 'fail', shippingDeadline: 777_600_000, deliveryDeadline: 172_800_000 },
  });
  await expect(kit.handle.setPolicy({ onLost: 'ask' })).rejects.toThrow(OrderEnded);
});

test('an invalid setting is refused with its rule, by the client and by the worker, and changes nothing', async () => {
  const kit = await stage.place();
  const before = await kit.handle.state();
  const wrong = { shippingDeadline: 'soon', unknown: 1 } as never;
  await expect(kit.handle.setPolicy(wrong)).rejects.toThrow(OrderInvalid);
  await expect(kit.handle.setPolicy({})).rejects.toThrow('at least one setting');
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  await expect(workflow.executeUpdate(setPolicyUpdate, { args: [{ policy: wrong }] })).rejects.toMatchObject({
    cause: { type: 'PolicyInvalid', message: expect.stringContaining('unknown is not a policy setting') as string },
  });
  await expect(workflow.executeUpdate(setPolicyUpdate, { args: [{}] as never })).rejects.toMatchObject({
    cause: { type: 'InvalidCommand' },
  });
  expect(await kit.handle.state()).toEqual(before);
});

test('another interval between the reminders of a critical result counts from the last one, so that none is left out', async () => {
  const kit = await stage.place();
  await stage.syncClock();
  await stage.sandbox.reportCritical(kit.rootOrderId, {});
  await kit.expectAttention('critical_result');
  const expectReminders = (count: number) =>
    eventually(() =>
      expect(kit.notifications.filter(({ type }) => type === 'critical_result_reminder')).toHaveLength(count),
    );
  for (const count of [1, 2, 3]) {
    await stage.skip('1 hour');
    await expectReminders(count);
  }
  await kit.handle.setPolicy({ criticalResultReminder: '1d' });
  await stage.skip('1 day');
  await expectReminders(4);
  await kit.handle.setPolicy({ criticalResultReminder: '10m' });
  await stage.skip('10 minutes');
  await expectReminders(5);
});

test('a change that comes before the hand-over stays', async () => {
  await stage.syncClock();
  const { order } = await stage.sandbox.createOrder();
  const kit = await eventually(() => stage.follow(order.id));
  await kit.expectState({ orderId: order.id });
  await kit.handle.setPolicy({ shippingDeadline: '9d' });
  const placed = {
    reference: `late-${randomUUID()}`,
    policy: resolvePolicy({ shippingDeadline: '1d', onLost: 'fail' }),
    snapshot: { orderId: order.id, events: [] },
    adopted: true,
    notifies: true,
  };
  await stage.temporal.workflow.getHandle(kitOrderId(order.id)).signal(orderPlacedSignal, placed);
  await kit.expectState({ reference: placed.reference });
  await stage.skip('2 days');
  await kit.expectAttention();
  await kit.move('transit_customer', 'problem_in_transit_customer', 'lost');
  expect(await kit.result()).toMatchObject({ outcome: 'failed', policy: { onLost: 'fail' } });
});
