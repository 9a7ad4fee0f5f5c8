import { expect, test } from 'vitest';
import { createNotificationHandler } from '../../client/index.js';
import { CancelRefused } from '../../client/orders/errors.js';
import { kitOrderId } from '../../protocol/ids.js';
import { eventually } from '../rig/eventually.js';
import { followed } from '../rig/followed.js';
import { secret } from '../unit/webhooks/sending.js';
import { batchSize } from '../../workflows/entity/outbox.js';
import { setStage } from './story.js';

const stage = setStage();

test("while the product's endpoint is down for a day everything else goes on, and then all is delivered in order", async () => {
  const kit = await stage.place();
  await kit.expectNotifications('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.register();
  await kit.move('transit_customer');
  await stage.skip('12 hours');
  await kit.move('with_customer');
  await kit.expectState({ phase: 'with_customer' });
  await expect(kit.handle.cancel()).rejects.toThrow(CancelRefused);
  await stage.skip('12 hours');
  await kit.move('transit_lab', 'delivered_to_lab');
  expect(stage.receiver.attempts).toBeGreaterThan(50);
  expect(kit.notifications).toHaveLength(1);
  await kit.expectState({ attention: [] });

  stage.receiver.isDown = false;
  await stage.skip('15 minutes');
  await kit.expectNotifications(
    'phase_changed awaiting_registration',
    'phase_changed preparing',
    'phase_changed in_transit_to_customer',
    'phase_changed with_customer',
    'phase_changed in_transit_to_lab',
    'phase_changed at_lab',
  );
});

test('an endpoint that is down for longer than the policy allows needs attention until it is back', async () => {
  const kit = await stage.place({ policy: { notificationDeadline: '1 day' } });
  await kit.expectNotifications('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.register();
  await stage.skip('25 hours');
  await kit.expectAttention('notifications_undelivered');
  stage.receiver.isDown = false;
  await stage.skip('15 minutes');
  await kit.expectAttention();
  await kit.expectNotifications(
    'phase_changed awaiting_registration',
    'phase_changed preparing',
    'attention_raised notifications_undelivered',
    'attention_cleared notifications_undelivered',
  );
});

test('an endpoint that is down is tried every few minutes, however short the deadline, and the history stays small', async () => {
  const kit = await stage.place();
  await kit.expectNotifications('phase_changed awaiting_registration');
  await kit.handle.setPolicy({ notificationDeadline: '5s' });
  stage.receiver.isDown = true;
  await kit.register();
  await kit.expectAttention('notifications_undelivered');
  const order = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  const { historyLength: before } = await order.describe();
  await stage.skip('2 hours');
  const { historyLength: after } = await order.describe();
  expect(after - before).toBeLessThan(13 * 15);
  stage.receiver.isDown = false;
  await stage.skip('15 minutes');
  await kit.expectAttention();
});

test('an endpoint that is back before the order ends gets everything, however short the deadline', async () => {
  const kit = await stage.place({ policy: { notificationDeadline: '5 minutes' } });
  await kit.expectNotifications('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.register();
  await stage.skip('6 minutes');
  await kit.expectAttention('notifications_undelivered');
  stage.receiver.isDown = false;
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
  await kit.result();
  await eventually(() => expect(kit.notified).toContain('phase_changed completed'));
  expect(kit.notified).toContain('phase_changed preparing');
});

test('an order that was given up, and moves before the product could be notified, is followed again', async () => {
  const kit = await stage.place({ policy: { decisionWait: '5 days' } });
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'lost');
  await eventually(() => expect(kit.notified).toContain('attention_raised decision_needed'));
  stage.receiver.isDown = true;
  await stage.skip('6 days');
  await kit.expectState({ outcome: 'failed' });
  await kit.move('delivered_to_lab');
  const { outcome, attention } = await kit.expectState({ phase: 'at_lab' });
  expect(outcome).toBeUndefined();
  // Whether the undelivered notifications have raised attention by now depends on the clock.
  expect(attention.map(({ reason }) => reason)).not.toContain('decision_needed');
  stage.receiver.isDown = false;
  await kit.move('completed');
  await stage.skip('15 minutes');
  expect(await kit.result()).toMatchObject({ outcome: 'completed' });
});

test('what was delivered is not sent again when a later notification fails', async () => {
  const kit = await stage.place();
  await kit.expectNotifications('phase_changed awaiting_registration');
  stage.receiver.isDown = true;
  await kit.register();
  // These two wait behind the first, and so go out together.
  await kit.move('transit_customer', 'with_customer');
  stage.receiver.refusal = 503;
  stage.receiver.refuses = ({ data }) => data['phase'] === 'with_customer';
  stage.receiver.isDown = false;
  await stage.skip('1 hour');
  await eventually(() => expect(stage.receiver.refused.length).toBeGreaterThan(1));
  const before = ['awaiting_registration', 'preparing', 'in_transit_to_customer'].map((to) => `phase_changed ${to}`);
  expect(kit.notified).toEqual(before);
  stage.receiver.refuses = () => false;
  await stage.skip('15 minutes');
  await kit.expectNotifications(...before, 'phase_changed with_customer');
});

test("a product's typed functions receive what the worker sends, again where they fail, and the rest is counted", async () => {
  const phases: string[] = [];
  const links: (string | null | undefined)[] = [];
  let failures = 1;
  const product = createNotificationHandler({
    secrets: [secret],
    on: {
      'labops.order.phase_changed': ({ data: { root_order_id: rootOrderId, reference, phase } }) => {
        phases.push([rootOrderId, reference, phase].join(' '));
      },
      'labops.order.registration_reminder': async ({ data: { portal_url: portalUrl } }) => {
        await Promise.resolve();
        if (failures-- > 0) throw new Error('The database is away');
        links.push(portalUrl);
      },
    },
  });
  stage.receiver.product = product;
  const kit = await stage.place({ policy: { registrationReminders: ['3 days'] } });
  await kit.move('transit_customer', 'with_customer');
  await stage.skip('4 days');
  const made = (await stage.sandbox.portalLinks()).map(({ url }) => url);
  expect(made).toHaveLength(1);
  await eventually(() => expect(links).toEqual(made));
  const about = `${kit.rootOrderId} ${kit.handle.reference}`;
  const passed = ['awaiting_registration', 'in_transit_to_customer', 'awaiting_registration'];
  expect(phases).toEqual(passed.map((phase) => `${about} ${phase}`));

  await kit.register();
  await kit.move('transit_lab', 'delivered_to_lab', 'completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed' });
  const { answers, passedOver } = product.counts();
  expect(answers).toMatchObject({ handled: phases.length + links.length, handler_failed: 1, unknown_type: 0 });
  expect(passedOver).toEqual({ 'labops.order.result': 1 });
});

test('an alarm does not wait behind a notification that the receiver fails to take, though the order goes on', async () => {
  const kit = await stage.place();
  await kit.expectNotifications('phase_changed awaiting_registration');
  stage.receiver.refuses = ({ data }) => data['phase'] === 'in_transit_to_customer';
  stage.receiver.refusal = 500;
  await kit.move('transit_customer');
  await eventually(() => expect(stage.receiver.refused).not.toEqual([]));
  await stage.sandbox.interpret(kit.rootOrderId, { interpretation: 'critical' });
  await stage.skip('5 minutes');
  await eventually(() => expect(kit.notified).toContain('critical_result'));
  expect(kit.notified).not.toContain('phase_changed in_transit_to_customer');
});

test('two alarms behind more notifications than a batch has do not wait for one that the receiver fails to take', async () => {
  const kit = await stage.place();
  await kit.expectNotifications('phase_changed awaiting_registration');
  await kit.register();
  await kit.expectNotifications('phase_changed awaiting_registration', 'phase_changed preparing');
  stage.receiver.refuses = ({ data }) => data['phase'] === 'in_transit_to_customer';
  stage.receiver.refusal = 503;
  await kit.move('transit_customer');
  for (let n = 0; n < batchSize / 2; n += 1) await kit.move('problem_in_transit_customer', 'out_for_delivery');
  await kit.move('with_customer', 'transit_lab', 'delivered_to_lab');
  await stage.sandbox.reportCritical(kit.rootOrderId, { status: 'partial' });
  await kit.expectAttention('critical_result');
  await stage.sandbox.reportCritical(kit.rootOrderId, { status: 'final' });
  await eventually(async () => expect((await followed(kit.handle)).criticalResult).toMatchObject({ status: 'final' }));
  await stage.skip('5 minutes');
  await eventually(() => expect(kit.notified.filter((each) => each === 'critical_result')).toHaveLength(2));
  const { historyLength } = await stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId)).describe();
  expect(historyLength).toBeLessThan(600);
});
