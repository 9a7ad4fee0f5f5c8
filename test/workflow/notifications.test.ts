import { expect, test } from 'vitest';
import { CancelRefused } from '../../client/orders/errors.js';
import { createNotificationHandler } from '../../client/index.js';
import { eventually } from '../rig/eventually.js';
import { secret } from '../unit/webhooks/sending.js';
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
