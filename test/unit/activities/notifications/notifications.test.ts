import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import { expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../../activities/dependencies.js';
import { notificationActivities, type NotifyOutcome } from '../../../../activities/notifications/notifications.js';
import type { Notification } from '../../../../protocol/notifications/delivery.js';
import { answering } from '../../service/recording-server.js';

const notification = {
  id: 'order-1/7/phase_changed',
  at: '2026-03-10T12:00:00.000Z',
  source: 'kit-order/order-1',
  type: 'order.phase_changed',
  subject: 'order-1',
  data: { orderId: 'order-1', note: 'Testperson' },
};

const secret = `whsec_${Buffer.from('an-invented-secret-32-bytes-long').toString('base64')}`;

/** Temporal, in which the delivery of the workflow's earlier notifications has this status. */
function temporalWith(delivery: 'RUNNING' | 'COMPLETED') {
  const handed: unknown[] = [];
  const workflow = {
    getHandle: () => ({ describe: async () => ({ status: { name: delivery } }) }),
    signalWithStart: async (_name: string, { signalArgs }: { signalArgs: unknown[] }) =>
      void handed.push(...signalArgs),
  };
  return { handed, temporal: { workflow } };
}

/** Sends notifications to a receiver at this address, in one attempt. */
function notifying(url: string | undefined, dependencies: object = {}) {
  const target = url === undefined ? 'off' : { url, secret };
  const { temporal } = temporalWith('COMPLETED');
  const activities = notificationActivities({ target, temporal, ...dependencies } as unknown as ActivityDependencies);
  return (notifications: Notification[], environment = new MockActivityEnvironment()): Promise<NotifyOutcome> =>
    environment.run(() => activities.notify({ notifications }));
}

test('a notification that its receiver refuses for good is logged by its ids, its type and the status', async () => {
  const { baseUrl } = await answering(() => ({ status: 422, body: 'Testperson' }));
  const lines: LogEntry[] = [];
  const logger = new DefaultLogger('WARN', (line) => void lines.push(line));
  const outcome = await notifying(baseUrl)([notification], new MockActivityEnvironment({}, { logger }));
  expect(outcome).toEqual({ delivered: [], refused: [{ notification, status: 422 }], handedOver: false });
  const { id, source } = notification;
  const fields = { notification: id, type: 'labops.order.phase_changed', source, status: 422 };
  expect(lines).toMatchObject([{ level: 'WARN', meta: fields }]);
  expect(lines[0]?.message).toMatch(/^notification refused by the receiver/);
  expect(JSON.stringify(lines.map(({ message, meta }) => [message, meta]))).not.toContain('Testperson');
});

test('a notification goes behind those of its workflow that are still being delivered, except in their own delivery', async () => {
  const sent: unknown[] = [];
  const { baseUrl } = await answering(({ headers }) => {
    sent.push(headers['webhook-id']);
    return { status: 204 };
  });
  const { handed, temporal } = temporalWith('RUNNING');
  const notify = notifying(baseUrl, { temporal });
  expect(await notify([notification])).toEqual({ delivered: [], refused: [], handedOver: true });
  expect([sent, handed]).toEqual([[], [{ notifications: [notification], refused: [] }]]);
  const workflowExecution = { workflowId: `deliver-notifications/${notification.source}`, runId: 'run-1' };
  const { delivered } = await notify([notification], new MockActivityEnvironment({ workflowExecution }));
  expect([sent, handed.length]).toEqual([delivered, 1]);
});

test('a deployment without a receiver drops what was made without knowing that, and nothing else', async () => {
  const notify = notifying(undefined);
  const dropped = { ...notification, id: 'user-1/invented_watch/msg-1/connection_error', dropIfOff: true as const };
  expect(await notify([dropped])).toEqual({ delivered: [dropped.id], refused: [], handedOver: false });
  await expect(notify([dropped, notification])).rejects.toMatchObject({ type: 'NotificationsNotConfigured' });
});

test('an alarm and its reminder do not wait behind a notification that the receiver has failed to take three times', async () => {
  const taken: string[] = [];
  const { baseUrl } = await answering(({ body }) => {
    const { type } = (typeof body === 'string' ? JSON.parse(body) : body) as { type: string };
    if (type === 'labops.order.phase_changed') return { status: 500 };
    taken.push(type);
    return { status: 204 };
  });
  const alarm = { ...notification, id: 'order-1/8/critical_result', type: 'order.critical_result' };
  const reminder = { ...alarm, id: 'order-1/8/critical_result_reminder', type: 'order.critical_result_reminder' };
  const notify = (attempt: number) =>
    notifying(baseUrl)([notification, alarm, reminder], new MockActivityEnvironment({ attempt }));
  await expect(notify(3)).rejects.toMatchObject({ type: 'NotificationRefused' });
  expect(taken).toEqual([]);
  expect(await notify(4)).toEqual({ delivered: [alarm.id, reminder.id], refused: [], handedOver: false });
});

test('a reminder that the receiver fails to take keeps its portal link for later attempts, until it has arrived', async () => {
  const sent: unknown[] = [];
  const { baseUrl } = await answering(({ body }) => {
    sent.push((body as { data: { portal_url: string } }).data.portal_url);
    return { status: sent.length < 3 ? 500 : 204 };
  });
  let made = 0;
  const service = {
    portal: { createUrl: async () => ({ url: `https://portal.example/${(made += 1)}`, expires_in: 600 }) },
  };
  const reminder = { ...notification, portalLink: { userId: 'user-1', orderId: 'order-1' } };
  const send = notifying(baseUrl, { service });
  const notify = () => send([reminder]);
  for (let attempts = 0; attempts < 2; attempts += 1)
    await expect(notify()).rejects.toMatchObject({ type: 'NotificationRefused' });
  for (let deliveries = 0; deliveries < 2; deliveries += 1) await notify();
  expect(sent).toEqual([1, 1, 1, 2].map((n) => `https://portal.example/${n}`));
});
