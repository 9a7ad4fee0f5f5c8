import { expect, test } from 'vitest';
import { kitOrderId } from '../../protocol/ids.js';
import { labAccountIds, labTestIds } from '../../sandbox/lab-service/seed.js';
import { eventually } from '../rig/eventually.js';
import { followed } from '../rig/followed.js';
import { eventsOf, textOf } from './recorded.js';
import { setStage, type KitOptions } from './story.js';

/* An order that has ended changes again: the next run continues with the attention of the one before. */

/* The full server: it lists workflows, and its time is the real one. */
const stage = setStage({ eventsPerRun: 10_000 });

async function unresolved(options: KitOptions = {}) {
  const kit = await stage.place({ kind: 'with_patient', ...options });
  await kit.move('transit_customer');
  // Only then: a webhook that took longer than the deadline would be announced after the question.
  await kit.expectNotifications('phase_changed preparing', 'phase_changed in_transit_to_customer');
  await kit.handle.setPolicy({ deliveryDeadline: '1s', giveUpAfter: '2s' });
  expect(await kit.result()).toMatchObject({ outcome: 'unresolved' });
  const { attention } = await followed(kit.handle);
  expect(attention).toMatchObject([{ reason: 'delivery_overdue' }]);
  return { kit, attention };
}

test('attention that was open at the end is withdrawn once the order moves again', async () => {
  const { kit } = await unresolved();
  await kit.move('with_customer');
  await kit.expectState({ phase: 'with_customer', attention: [] });
  await kit.expectNotifications(
    'phase_changed preparing',
    'phase_changed in_transit_to_customer',
    'attention_raised delivery_overdue',
    'ended unresolved',
    'attention_cleared delivery_overdue',
    'phase_changed with_customer',
  );
});

test('attention that was open at the end and stays open is not raised twice', async () => {
  const { kit, attention } = await unresolved();
  await kit.move('out_for_delivery');
  await kit.expectState({ attention });
  expect(await kit.result()).toMatchObject({ outcome: 'unresolved' });
  expect(kit.notified.filter((what) => what === 'attention_raised delivery_overdue')).toHaveLength(1);
});

test('attention that is raised again in a later run is another notification', async () => {
  const kit = await stage.place({ policy: { onLost: 'replace' } });
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'lost');
  const { orderId: replacement } = await kit.expectState({ phase: 'awaiting_registration' });
  await kit.moveOrder(kit.rootOrderId, 'delivered_to_lab');
  await kit.expectAttention('late_arrival');
  await kit.moveOrder(kit.rootOrderId, 'completed');
  await kit.handle.cancel({ orderId: replacement });
  expect(await kit.result()).toMatchObject({ outcome: 'completed', orderId: kit.rootOrderId });

  // The service sends the cancelled kit nevertheless.
  await kit.moveOrder(replacement, 'transit_customer');
  await kit.expectAttention('late_arrival');
  const raised = () => kit.notifications.filter(({ type }) => type === 'attention_raised');
  await eventually(() => expect(raised()).toHaveLength(2));
  expect(raised().map(({ data }) => data['reason'])).toEqual(['late_arrival', 'late_arrival']);
  expect(new Set(raised().map(({ id }) => id)).size).toBe(2);
});

test('a kit is replaced in a later run with the lab test and account of its placing, which the service need not show', async () => {
  const labAccountId = labAccountIds.notDelegated;
  const { kit } = await unresolved({ labAccountId });
  await kit.move('lost');
  await kit.handle.replaceKit({ orderId: kit.rootOrderId });
  const events = await eventsOf(stage, kitOrderId(kit.rootOrderId));
  const replacing = events.filter(
    ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name === 'replaceKitOrder',
  );
  expect(textOf(replacing)).toContain(labTestIds.kit);
  expect(textOf(replacing)).toContain(labAccountId);
});
