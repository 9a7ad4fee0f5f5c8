import { describe, expect, test } from 'vitest';
import type { DeliveryResult } from '../../protocol/notifications/delivery.js';
import type { Kit } from './kit.js';
import { deliverNotificationsId, kitOrderId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { labAttentionKey, labAttentionSinceKey, labOrderIdKey } from '../../protocol/search-attributes.js';
import { setStage } from './story.js';

const toResults = ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed'];

const notifications = [
  ...['awaiting_registration', 'in_transit_to_customer', 'awaiting_registration', 'in_transit_to_lab', 'at_lab'].map(
    (phase) => `phase_changed ${phase}`,
  ),
  'result',
  'phase_changed completed',
];

describe('an order whose product cannot be notified', () => {
  // A receiver that is down is called every hour, so the usual thirty days would be 700 calls.
  const stage = setStage({ retryDays: 3 });
  const deliveryOf = (kit: Kit) =>
    stage.temporal.workflow.getHandle<() => Promise<DeliveryResult>>(
      deliverNotificationsId(kitOrderId(kit.rootOrderId)),
    );

  async function endedUnnotified(): Promise<Kit> {
    const kit = await stage.place();
    await kit.expectNotifications('phase_changed awaiting_registration');
    stage.receiver.isDown = true;
    const [first = '', ...rest] = toResults;
    await kit.move(first);
    // The attempts begin 30, 62 and 126 seconds after the first; the minute that the end waits must not be over just then (see `untilNoActivityRuns`).
    await stage.skip('20 seconds');
    await kit.move(...rest);
    await stage.skip('3 minutes');
    expect(await kit.result()).toMatchObject({ outcome: 'completed' });
    return kit;
  }

  test('closes, and everything arrives in order once the endpoint is back, what a later run announces last', async () => {
    const kit = await endedUnnotified();
    const attributes = (await deliveryOf(kit).describe()).typedSearchAttributes;
    expect(attributes.get(labAttentionKey)).toEqual(['notifications_undelivered']);
    expect(attributes.get(labAttentionSinceKey)).toBeInstanceOf(Date);
    expect(attributes.get(labOrderIdKey)).toEqual([kit.rootOrderId]);
    await kit.moveOrder(kit.rootOrderId, { status: 'corrected', interpretation: 'abnormal' });
    await eventually(async () => {
      const { undelivered } = await stage.product.notifications.state(kitOrderId(kit.rootOrderId));
      expect(undelivered.map(({ type }) => type)).toContain('labops.order.correction');
    });
    stage.receiver.isDown = false;
    await stage.skip('1 hour');
    await eventually(() => expect(kit.notified).toContain('correction'));
    expect(kit.notifiedOnce.slice(0, notifications.length)).toEqual(notifications);
    expect(kit.notifiedOnce.slice(notifications.length)).toContain('correction');
    expect(await deliveryOf(kit).result()).toMatchObject({ givenUp: [], discarded: 0 });
    const { typedSearchAttributes: after } = await deliveryOf(kit).describe();
    expect(after.get(labAttentionKey) ?? []).toEqual([]);
    expect(after.get(labAttentionSinceKey)).toBeUndefined();
  });
});
