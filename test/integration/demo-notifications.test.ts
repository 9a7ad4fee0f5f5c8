import { fetch } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { signWebhook } from '../../client/webhooks/sign.js';
import { NotificationReceiver } from '../../sandbox/demo/notification-receiver.js';
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
async function tell(type: string, data: Record<string, string>): Promise<number> {
  const event = { id: `${type}/invented`, type: `labops.${type}`, time: '2026-01-01T00:00:00Z', data };
  const { headers, body } = signWebhook({ body: event, secret });
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

const areas = {
  order: { type: 'order.result', data: { order_id: 'invented', root_order_id: 'invented' }, of: () => receiver.orders },
  report: { type: 'report.review_needed', data: { job_id: 'invented' }, of: () => receiver.reports },
  link: { type: 'link.ended', data: { user_id: 'invented' }, of: () => receiver.links },
  appointment: { type: 'appointment.ended', data: { order_id: 'invented' }, of: () => receiver.appointments },
  user: { type: 'user.deletion_final', data: { user_id: 'invented' }, of: () => receiver.users },
};

describe.each(Object.entries(areas))('a notification about a(n) %s', (_area, { type, data, of }) => {
  test('is known to later listeners, and once however often it comes', async () => {
    expect(await tell(type, data)).toBe(204);
    expect(await tell(type, data)).toBe(204);
    const received: unknown[] = [];
    of().each((notification: { data: object }) => received.push(notification.data));
    expect(received).toEqual([data]);
  });
});

test('a notification that is signed with another secret, or about an unknown area, is refused', async () => {
  expect(await tell('weather.changed', {})).toBe(400);
  const { headers, body } = signWebhook({ body: {}, secret: 'whsec_aW52ZW50ZWQ=' });
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(401);
});
