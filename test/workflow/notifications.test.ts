import { expect, test } from 'vitest';
import { CancelRefused } from '../../client/orders/errors.js';
import { kitOrderId } from '../../workflows/order/address.js';
import { labAttentionKey } from '../../workflows/search-attributes.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

const stage = setStage();

test("while the product's endpoint is down for a day everything else goes on, and then all is told in order", async () => {
  const kit = await stage.place();
  await kit.tells('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.register();
  await kit.goes('transit_customer');
  await stage.skip('12 hours');
  await kit.goes('with_customer');
  await kit.shows({ phase: 'with_customer' });
  await expect(kit.handle.cancel()).rejects.toThrow(CancelRefused);
  await stage.skip('12 hours');
  await kit.goes('transit_lab', 'delivered_to_lab');
  expect(stage.receiver.attempts).toBeGreaterThan(50);
  expect(kit.notifications).toHaveLength(1);
  await kit.shows({ attention: [] });

  stage.receiver.isDown = false;
  await stage.skip('15 minutes');
  await kit.tells(
    'phase_changed awaiting_registration',
    'phase_changed preparing',
    'phase_changed in_transit_to_customer',
    'phase_changed with_customer',
    'phase_changed in_transit_to_lab',
    'phase_changed at_lab',
  );
});

test('an endpoint that is down for longer than the policy allows asks a person, until it is back', async () => {
  const kit = await stage.place({ policy: { notificationDeadline: '1 day' } });
  await kit.tells('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.register();
  await stage.skip('25 hours');
  await kit.asksFor('notifications_undelivered');
  stage.receiver.isDown = false;
  await stage.skip('15 minutes');
  await kit.asksFor();
  await kit.tells(
    'phase_changed awaiting_registration',
    'phase_changed preparing',
    'attention_raised notifications_undelivered',
    'attention_cleared notifications_undelivered',
  );
});

test('an endpoint that is down is tried every few minutes, however short the deadline, and the history stays small', async () => {
  const kit = await stage.place({ policy: { notificationDeadline: '5s' } });
  await kit.tells('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.register();
  await kit.asksFor('notifications_undelivered');
  const order = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  const { historyLength: before } = await order.describe();
  await stage.skip('2 hours');
  const { historyLength: after } = await order.describe();
  expect(after - before).toBeLessThan(13 * 15);
  stage.receiver.isDown = false;
  await stage.skip('15 minutes');
  await kit.asksFor();
});

test('an order that has ended does not wait for ever for an endpoint that never comes back', async () => {
  const kit = await stage.place({ policy: { notificationDeadline: '1 day' } });
  await kit.tells('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.goes('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
  await stage.skip('20 hours');
  await kit.shows({ outcome: 'completed' });
  await stage.skip('3 days');
  expect(await kit.ends()).toMatchObject({ outcome: 'completed' });
  const { typedSearchAttributes } = await stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId)).describe();
  expect(typedSearchAttributes.get(labAttentionKey)).toEqual(['notifications_undelivered']);
});

test('an endpoint that is back before the order ends gets everything, however short the deadline', async () => {
  const kit = await stage.place({ policy: { notificationDeadline: '5 minutes' } });
  await kit.tells('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.register();
  await stage.skip('6 minutes');
  await kit.asksFor('notifications_undelivered');
  stage.receiver.isDown = false;
  await kit.goes('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
  await kit.ends();
  await eventually(() => expect(kit.told).toContain('phase_changed completed'));
  expect(kit.told).toContain('phase_changed preparing');
});

test('an order that was given up, and moves before the product could be told so, is followed again', async () => {
  const kit = await stage.place({ policy: { decisionWait: '5 days' } });
  await kit.goes('transit_customer', 'with_customer', 'transit_lab', 'lost');
  await kit.asksFor('decision_needed');
  stage.receiver.isDown = true;
  await stage.skip('6 days');
  await kit.shows({ outcome: 'failed' });
  await kit.goes('delivered_to_lab');
  const { outcome } = await kit.shows({ phase: 'at_lab', attention: [] });
  expect(outcome).toBeUndefined();
  stage.receiver.isDown = false;
  await kit.goes('completed');
  await stage.skip('15 minutes');
  expect(await kit.ends()).toMatchObject({ outcome: 'completed' });
});

test('what was delivered is not sent again when a later notification fails', async () => {
  const kit = await stage.place();
  await kit.tells('phase_changed awaiting_registration');
  await kit.register();
  await kit.goes('transit_customer', 'with_customer');
  await kit.tells(
    'phase_changed awaiting_registration',
    'phase_changed preparing',
    'phase_changed in_transit_to_customer',
    'phase_changed with_customer',
  );
  expect(stage.receiver.attempts).toBe(4);
  expect(new Set(kit.notifications.map(({ id }) => id)).size).toBe(4);
});
