import { expect, test } from 'vitest';
import { kitOrderId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { followed } from '../rig/followed.js';
import type { Kit } from './kit.js';
import { setStage } from './story.js';

/* From the webhook to the acknowledgement. What is one and the same result, and when it is reminded of: test/unit/order/critical-results.test.ts. */

const stage = setStage();
const nurse = { by: 'nurse-17', outcome: 'confirmed' } as const;

/** The notifications about critical results. */
function alarms(kit: Kit) {
  return kit.notifications.filter(
    ({ type, data }) => type.startsWith('critical') || data['reason'] === 'critical_result',
  );
}

async function isAlarmed(kit: Kit, ...ids: string[]): Promise<void> {
  await eventually(() => expect(alarms(kit).map(({ id }) => id)).toEqual(ids));
}

/**
 * Waits until no delivery is under way: an alarm would call it back (test/unit/entity/outbox.test.ts), and the server that skips time loses
 * a workflow that cancels an activity as it ends (`Stage.skip`).
 */
async function reportPartial(kit: Kit, orderId: string, interpretation = 'critical'): Promise<void> {
  await kit.untilIdle();
  await stage.sandbox.reportCritical(orderId, { status: 'partial', interpretation });
}

test('a critical result is notified at once, even if the field says normal; only an acknowledgement ends it', async () => {
  const kit = await stage.place();
  const orderId = kit.rootOrderId;
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab');
  await reportPartial(kit, orderId, 'normal');
  await isAlarmed(kit, `${orderId}/partial/critical_result`, `${orderId}/partial.critical_result/attention_raised`);
  expect(alarms(kit)[0]?.data).toMatchObject({ order_id: orderId, status: 'partial', interpretation: 'normal' });
  await kit.expectAttention('critical_result');
  await kit.move({ status: 'completed', interpretation: 'normal' }, { status: 'corrected', interpretation: 'normal' });
  await eventually(() => expect(kit.notified).toContain('correction'));

  const acknowledgement = { ...nurse, orderId, note: 'Called the invented Dr. Testperson' };
  const { attention, timeline } = await kit.handle.acknowledgeCriticalResult(acknowledgement);
  expect(attention).toEqual([]);
  expect(timeline.at(-1)).toMatchObject({ status: 'critical_result_acknowledged', by: 'nurse-17' });
  expect(await kit.result()).toMatchObject({ outcome: 'completed', criticalResults: [{ orderId, isOpen: false }] });
  await eventually(() => expect(alarms(kit).at(-1)?.type).toBe('attention_cleared'));
  expect(JSON.stringify(kit.notifications)).not.toContain('Testperson');
  const { raw } = await stage.temporal.workflow.getHandle(kitOrderId(orderId)).describe();
  expect(JSON.stringify(raw.workflowExecutionInfo?.searchAttributes)).not.toContain('Testperson');

  // Sent again after the end, it counts once.
  const alarm = `${orderId}/partial/critical_result`;
  for (const again of [acknowledgement, { ...acknowledgement, alarm }])
    expect(await kit.handle.acknowledgeCriticalResult(again)).toMatchObject({ outcome: 'completed' });
  for (const other of [{ alarm: 'another' }, { by: 'nurse-18' }])
    await expect(kit.handle.acknowledgeCriticalResult({ ...acknowledgement, ...other })).rejects.toThrow('ended');
});

test('a critical result about an unknown order starts its workflow, though it comes as a whole order', async () => {
  await stage.sandbox.changeSettings({ criticalResultForm: 'order' });
  await stage.syncClock();
  const { order } = await stage.sandbox.createOrder({ webhook: false });
  await stage.sandbox.reportCritical(order.id);
  const kit = await eventually(() => stage.follow(order.id));
  await kit.expectAttention('critical_result');
  expect(await kit.expectState({ status: order.events.at(-1)?.status ?? '' })).toMatchObject({ userId: order.user_id });
});

test('a critical result about an order that even the service does not know is not lost', async () => {
  await stage.syncClock();
  const { order } = await stage.sandbox.createOrder({ webhook: false });
  await stage.sandbox.addWebhookFault({ action: { kind: 'hold' } });
  await stage.sandbox.reportCritical(order.id);
  await stage.sandbox.deleteOrder(order.id);
  await stage.sandbox.releaseWebhooks();
  const kit = await eventually(() => stage.follow(order.id));
  await kit.expectAttention('critical_result');
  expect(await kit.handle.acknowledgeCriticalResult({ ...nurse, orderId: order.id })).toMatchObject({ attention: [] });
  await stage.skip('15 minutes');
  expect(await kit.result()).toMatchObject({ outcome: 'order_gone' });
});

test('a critical result about a replacement is raised by the workflow of its chain, and acknowledged there', async () => {
  const kit = await stage.place();
  await kit.move('transit_customer', 'lost');
  const { orderId } = await kit.handle.replaceKit({ orderId: kit.rootOrderId });
  await reportPartial(kit, orderId);
  await kit.expectAttention('critical_result');
  await isAlarmed(kit, `${orderId}/partial/critical_result`, `${orderId}/partial.critical_result/attention_raised`);
  expect((await followed(kit.handle)).rootOrderId).toBe(kit.rootOrderId);
  const { handle } = await stage.follow(orderId);
  expect(await handle.acknowledgeCriticalResult({ ...nurse, orderId })).toMatchObject({ attention: [] });
});
