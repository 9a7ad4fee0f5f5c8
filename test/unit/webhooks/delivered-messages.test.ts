import { describe, expect, test } from 'vitest';
import { signWebhook } from '../../../client/testing.js';
import type { DeliveredMessages } from '../../../client/webhooks/sinks.js';
import { createWebhookHandler } from '../../../client/webhooks/handler.js';
import { clientAnsweredWith } from '../../rig/grpc-answers.js';
import { countedBy, handlerWithoutTemporal, orderEvent, secret } from './sending.js';

function message(id: string, body: string | Record<string, unknown>) {
  const signed = signWebhook({ body, secret, id });
  return { headers: signed.headers, body: Buffer.from(signed.body) };
}

describe('a memory that processes share', () => {
  const order = { event_type: 'labtest.order.updated', data: { id: 'order-1', events: [] } };

  test.each<[string, DeliveredMessages['has']]>([
    ['does not know the message', () => Promise.resolve(false)],
    ['fails', () => Promise.reject(new Error('down'))],
    ['never answers', () => new Promise(() => {})],
  ])('a shared memory that %s keeps no order from Temporal', async (_how, has) => {
    const handler = await handlerWithoutTemporal({ deliveredMessages: { has, add: () => Promise.resolve() } });
    expect((await handler.handle(message('msg_1', order))).status).toBe(503);
    expect(handler.counts().answers).toMatchObject({ temporal_unavailable: 1, repeated: 0 });
  });

  test('a shared memory that knows the message gets it answered 204, and is asked about the last ten minutes', async () => {
    const asked: unknown[] = [];
    const has = (...given: unknown[]) => Promise.resolve(asked.push(given) > 0);
    const handler = await handlerWithoutTemporal({ deliveredMessages: { has, add: () => expect.unreachable() } });
    expect((await handler.handle(message('msg_1', order))).status).toBe(204);
    expect(asked).toEqual([[expect.stringMatching(/^default\/lab-operations\/msg_1\/./), 600]]);
    expect(handler.counts().answers).toMatchObject({ repeated: 1 });
  });
});

test('a message is known to the shared memory for its bytes, namespace and task queue only', async () => {
  const known = new Set<string>();
  const deliveredMessages: DeliveredMessages = {
    has: (id) => Promise.resolve(known.has(id)),
    add: (id) => Promise.resolve(known.add(id)).then(() => undefined),
  };
  const sentTo = async (namespace: string, taskQueue: string, orderId = 'order-1'): Promise<string[]> => {
    const client = await clientAnsweredWith(() => undefined, { namespace });
    const handler = createWebhookHandler({ temporal: client, secrets: [secret], taskQueue, deliveredMessages });
    await handler.handle(message('msg_1', orderEvent(orderId)));
    return countedBy(handler);
  };
  expect(await sentTo('one', 'queue-1')).toEqual(['delivered']);
  expect(await sentTo('one', 'queue-2')).toEqual(['delivered']);
  expect(await sentTo('two', 'queue-1')).toEqual(['delivered']);
  expect(await sentTo('one', 'queue-1')).toEqual(['repeated']);
  expect(await sentTo('one', 'queue-1', 'order-2')).toEqual(['delivered']);
});
