import { fetch } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { signWebhook } from '../../client/webhooks/sign.js';
import { type EventOf, NotificationReceiver, Notifications } from '../../sandbox/demo/notifications.js';
import { secret } from '../unit/webhooks/sending.js';

/* The notifications of the demo's product. A story learns what it is about only after it began. */

let receiver: NotificationReceiver;
let url: string;
beforeEach(async () => {
  receiver = new NotificationReceiver(secret);
  url = await receiver.start();
});
afterEach(() => receiver.close());

/** @returns the answer's HTTP status */
async function notify(type: string, data: Record<string, string>, signedWith = secret): Promise<number> {
  const id = `${type}/invented`;
  const context = { specversion: '1.0', source: 'invented', subject: 'invented', datacontenttype: 'application/json' };
  const event = { ...context, id, type: `labops.${type}`, time: '2026-01-01T00:00:00Z', data };
  const { headers, body } = signWebhook({ body: event, secret: signedWith, id });
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

const order = { order_id: 'invented', root_order_id: 'invented' };

test('a notification is known to a story that begins later, and once however often it comes', async () => {
  expect(await notify('order.result', order)).toBe(204);
  expect(await notify('order.result', order)).toBe(204);
  expect(await notify('order.cancellation', { ...order, root_order_id: 'another' })).toBe(204);
  expect(await notify('link.ended', { user_id: 'invented' })).toBe(204);
  const shown: EventOf<'order'>[] = [];
  const notifications = new Notifications(
    receiver,
    'order',
    ({ data }) => data.root_order_id === 'invented',
    (event) => void shown.push(event),
  );
  expect((await notifications.first('result')).data).toEqual(order);
  await notifications.settled();
  expect(shown.map(({ type }) => type)).toEqual(['labops.order.result']);
  expect(notifications.has('cancellation')).toBe(false);
});

test('a notification that is signed with another secret is refused', async () => {
  expect(await notify('order.result', order, 'whsec_aW52ZW50ZWQtc2VjcmV0LXR3bw==')).toBe(401);
});
