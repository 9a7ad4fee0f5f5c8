import { expect, test } from 'vitest';
import { UserLink } from './user-link.js';
import { createNotificationHandler } from '../../client/notifications/index.js';
import { deliverNotificationsId, kitOrderId } from '../../protocol/ids.js';
import { eventsOf, textOf } from './recorded.js';
import { eventually } from '../rig/eventually.js';
import { secret } from '../unit/webhooks/sending.js';
import { setStage } from './story.js';

const stage = setStage();

test("a product's typed functions receive what the worker sends, again where they fail, the rest is counted, and the link of a reminder is in no history", async () => {
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
  const history = textOf(await eventsOf(stage, kitOrderId(kit.rootOrderId)));
  expect(history).toContain('registration_reminder');
  expect(history, 'the link is for the person alone').not.toContain(made[0]);
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

/** A link that has ended with a connection, and whose product knows it. */
async function connected(): Promise<UserLink> {
  const link = await UserLink.start(stage);
  await link.enterPassword('ok');
  await link.expectNotifications('ended connected');
  await stage.finish(link.workflowId);
  return link;
}

test('the product is notified once of a connection that breaks long after its link, whatever happens to the webhook and the endpoint', async () => {
  const link = await connected();
  const { userId, provider } = link.handle;
  stage.receiver.isDown = true;
  await stage.sandbox.breakConnection(userId, { provider, error_type: 'provider_password_expired' });
  await stage.sandbox.settleWebhooks();
  const workflow = stage.temporal.workflow.getHandle(deliverNotificationsId(link.workflowId));
  await eventually(async () => expect((await workflow.describe()).status.name).toBe('RUNNING'));
  stage.receiver.isDown = false;
  await link.expectNotifications('ended connected', 'connection_error');
  await workflow.result();
  expect(link.notifications[1]).toMatchObject({
    id: expect.stringMatching(new RegExp(`^${userId}/${provider}/[\\w-]+/connection_error$`)) as string,
    source: expect.stringContaining(link.workflowId) as string,
    data: { user_id: userId, provider, error_type: 'provider_password_expired' },
  });
  expect(textOf(await eventsOf(stage, workflow.workflowId))).not.toMatch(/testperson|refreshed/);
});

test('a connection that broke is not announced once the user has linked the provider again', async () => {
  const link = await connected();
  const { userId, provider } = link.handle;
  stage.receiver.isDown = true;
  const attempts = stage.receiver.attempts;
  await stage.sandbox.breakConnection(userId, { provider });
  await eventually(() => expect(stage.receiver.attempts).toBeGreaterThan(attempts));
  await stage.sandbox.connect(userId, { provider, webhook: false });
  stage.receiver.isDown = false;
  expect(await stage.finish(deliverNotificationsId(link.workflowId))).toMatchObject({ delivered: 1, givenUp: [] });
  await link.expectNotifications('ended connected');
});
