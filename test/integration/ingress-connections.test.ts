import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { createWebhookHandler, type WebhookHandlerOptions } from '../../client/webhooks/handler.js';
import type { NotificationsLeft } from '../../protocol/delivery.js';
import { deliverNotificationsId, linkProviderId } from '../../protocol/ids.js';
import { linkProviderName } from '../../protocol/link/messages.js';
import { devServer } from '../rig/environments.js';
import { secret, signed } from '../unit/webhooks/sending.js';

/* Connections and a Temporal that holds them. No worker: what reached a link is in its history. */

const rig = devServer();
const provider = 'invented_watch';

const handlerWith = (options: Partial<WebhookHandlerOptions> = {}) =>
  createWebhookHandler({
    temporal: rig.client,
    secrets: [secret],
    taskQueue: rig.taskQueue,
    deadlineMs: 60_000,
    ...options,
  });

const connected = (userId: string, slug = provider) =>
  signed({ event_type: 'provider.connection.created', user_id: userId, data: { source: { slug } } });

async function startLink(userId: string) {
  const workflowId = linkProviderId(userId, provider);
  return rig.client.workflow.start(linkProviderName, {
    workflowId,
    taskQueue: rig.taskQueue,
    args: [{ userId, provider }],
  });
}

async function signalsOf(userId: string): Promise<(string | null | undefined)[]> {
  const { events } = await rig.client.workflow.getHandle(linkProviderId(userId, provider)).fetchHistory();
  return (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? []);
}

/** A sink that accepts everything, or fails. */
function sink(fails = false) {
  const taken: unknown[] = [];
  const healthData = (received: unknown) => {
    taken.push(received);
    return fails ? Promise.reject(new Error('no room')) : Promise.resolve();
  };
  return { taken, healthData };
}

test('a running link is woken by a plain signal, however its provider is spelt, and only the one of that user', async () => {
  const [userId, other] = [randomUUID(), randomUUID()];
  await startLink(userId);
  await startLink(other);
  const handler = handlerWith();
  expect((await handler.handle(connected(userId))).status).toBe(204);
  expect((await handler.handle(connected(userId, 'Invented-Watch'))).status).toBe(204);
  expect(await signalsOf(userId)).toEqual(['connectionReported', 'connectionReported']);
  expect(await signalsOf(other)).toEqual([]);
  expect(handler.counts().answers).toMatchObject({ delivered: 2, link_not_running: 0 });
});

test('a webhook without a running link is answered 204, counted, and starts nothing', async () => {
  const [nobody, ended] = [randomUUID(), randomUUID()];
  await (await startLink(ended)).terminate();
  const handler = handlerWith();
  for (const userId of [nobody, ended]) expect((await handler.handle(connected(userId))).status).toBe(204);
  expect(handler.counts()).toMatchObject({
    answers: { link_not_running: 2, delivered: 0 },
    passedOver: { 'provider.connection.created': 2 },
  });
  await expect(rig.client.workflow.getHandle(linkProviderId(nobody, provider)).describe()).rejects.toThrow(
    WorkflowNotFoundError,
  );
});

test('the sink gets the webhook too, whether a link is running or not', async () => {
  const userId = randomUUID();
  await startLink(userId);
  const { taken, healthData } = sink();
  const handler = handlerWith({ healthData });
  expect((await handler.handle(connected(userId))).status).toBe(204);
  expect((await handler.handle(connected(randomUUID()))).status).toBe(204);
  expect(taken).toMatchObject([{ kind: 'connection', userId, sourceSlug: provider }, { kind: 'connection' }]);
  expect(await signalsOf(userId)).toHaveLength(1);
  expect(handler.counts().answers).toMatchObject({ delivered: 1, health_data_accepted: 1 });
});

test('a connection that broke is handed to the delivery of notifications, the same one however often the webhook comes', async () => {
  const userId = randomUUID();
  const { taken, healthData } = sink();
  const handler = handlerWith({ healthData });
  const broken = (data: object) => signed({ event_type: 'provider.connection.error', user_id: userId, data });
  const texts = { message: 'of testperson@example.com', error_details: 'of testperson@example.com' };
  const details = { ...texts, error_details: { errored_at: '2026-01-02T03:04:05Z' } };
  const message = broken({ provider, error_type: 'token_refresh_failed', ...details });
  for (const each of [message, message, broken({ source: { slug: 'Invented-Watch' }, ...texts })]) {
    expect((await handler.handle(each)).status).toBe(204);
  }
  expect((await handler.handle(broken({ message: 'names no provider' }))).status).toBe(204);
  expect(handler.counts().answers).toMatchObject({ delivered: 2, repeated: 1, unreadable: 1 });
  expect(taken).toHaveLength(3);
  const workflow = rig.client.workflow.getHandle(deliverNotificationsId(linkProviderId(userId, provider)));
  const { events } = await workflow.fetchHistory();
  const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal?.input ?? []);
  const sent = signals.map(({ payloads }) =>
    defaultPayloadConverter.fromPayload<NotificationsLeft>(payloads?.[0] as never),
  );
  expect(sent.flatMap(({ notifications }) => notifications)).toMatchObject([
    {
      type: 'link.connection_error',
      at: '2026-01-02T03:04:05.000Z',
      data: { userId, provider, errorType: 'token_refresh_failed' },
      dropIfOff: true,
    },
    { type: 'link.connection_error', data: { userId, provider: 'Invented-Watch' } },
  ]);
  expect(JSON.stringify(sent)).not.toContain('testperson');
});

test('a sink that fails has the webhook sent again, though the link was woken: being woken twice does no harm', async () => {
  const userId = randomUUID();
  await startLink(userId);
  const { healthData } = sink(true);
  const handler = handlerWith({ healthData });
  expect((await handler.handle(connected(userId))).status).toBe(503);
  expect(handler.counts().answers).toMatchObject({ health_data_failed: 1 });
  expect(await signalsOf(userId)).toHaveLength(1);
});
