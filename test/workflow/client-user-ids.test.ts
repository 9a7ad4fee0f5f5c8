import { expect, test } from 'vitest';
import { createNotificationHandler } from '../../client/notifications/index.js';
import { eventsOf, textOf } from './recorded.js';
import { kitOrderId } from '../../protocol/ids.js';
import { secret } from '../unit/webhooks/sending.js';
import { setStage } from './story.js';

/** The worker has NOTIFY_CLIENT_USER_ID=true. */
const stage = setStage({ namesClientUser: true });

test("every notification of an order carries the user's client_user_id, which is read once and is in no history", async () => {
  const { user_id: userId, client_user_id: clientUserId } = (await stage.sandbox.createUser()).user;
  const received: (string | undefined)[] = [];
  stage.receiver.product = createNotificationHandler({
    secrets: [secret],
    on: {
      'labops.order.phase_changed': ({ data }) => void received.push(data.client_user_id),
      'labops.order.result': ({ data }) => void received.push(data.client_user_id),
    },
  });
  const kit = await stage.place({ userId });
  await kit.register();
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed' });
  expect(kit.notifications.map(({ data }) => data['client_user_id'])).toEqual(kit.notified.map(() => clientUserId));
  expect(received).toEqual(kit.notified.map(() => clientUserId));
  expect(await stage.countRequests('GET', `/v2/user/${userId}`)).toBe(1);
  expect(textOf(await eventsOf(stage, kitOrderId(kit.rootOrderId)))).not.toContain(clientUserId);
});
