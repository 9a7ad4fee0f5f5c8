import { describe, expect, test } from 'vitest';
import { RecentMessages } from '../../../client/webhooks/repeats.js';
import { signWebhook } from '../../../client/webhooks/sign.js';
import type { TakenMessages } from '../../../client/webhooks/destinations.js';
import { createWebhookHandler, type WebhookHandlerOptions } from '../../../client/webhooks/handler.js';
import { clientAnsweredWith } from '../../rig/grpc-answers.js';
import { handlerWithoutTemporal, orderEvent, secret } from './sending.js';

const minute = 60_000;

/** One message, as sent by its sender or by somebody who captured it; each attempt is signed at its own time. */
function message(id: string, body: string | Record<string, unknown>, now = Date.now()) {
  const signed = signWebhook({ body, secret, id, now });
  return { headers: signed.headers, body: Buffer.from(signed.body) };
}

const healthData = { event_type: 'daily.data.steps.created', user_id: 'user-1', data: {} };

/** A handler with a sink that counts what it gets, and fails as long as the test says. */
async function handlerWithSink(options: Partial<WebhookHandlerOptions> = {}) {
  const seen = { taken: 0, isDown: false };
  const healthData = () => {
    seen.taken += 1;
    return seen.isDown ? Promise.reject(new Error('down')) : Promise.resolve();
  };
  return { seen, handler: await handlerWithoutTemporal({ healthData, ...options }) };
}

describe('a message that comes again', () => {
  test('is answered 204 and goes nowhere, whenever it was signed', async () => {
    const { seen, handler } = await handlerWithSink();
    for (const ago of [0, minute, 0]) {
      expect((await handler.handle(message('msg_1', healthData, Date.now() - ago))).status).toBe(204);
    }
    expect(seen.taken).toBe(1);
    expect(handler.counts().answers).toMatchObject({ health_data_accepted: 1, repeated: 2 });
  });

  test('is repeated only if its bytes are the same and its signature is right', async () => {
    const { seen, handler } = await handlerWithSink();
    await handler.handle(message('msg_1', healthData));
    expect((await handler.handle(message('msg_1', { ...healthData, data: { steps: 1 } }))).status).toBe(204);
    expect(seen.taken).toBe(2);
    const forged = message('msg_1', healthData);
    const headers = { ...forged.headers, 'webhook-signature': 'v1,AAAA' };
    expect((await handler.handle({ ...forged, headers })).status).toBe(401);
  });

  test('is accepted again if it was not made durable: Temporal or a sink was down', async () => {
    const { seen, handler } = await handlerWithSink();
    seen.isDown = true;
    expect((await handler.handle(message('msg_1', healthData))).status).toBe(503);
    seen.isDown = false;
    expect((await handler.handle(message('msg_1', healthData))).status).toBe(204);
    expect(seen.taken).toBe(2);
    const order = message('msg_2', { event_type: 'labtest.order.updated', data: { id: 'order-1', events: [] } });
    for (let n = 0; n < 2; n++) expect((await handler.handle(order)).status).toBe(503);
    expect(handler.counts().answers).toMatchObject({ temporal_unavailable: 2, repeated: 0 });
  });

  test('is accepted again if it is a connection that reached no link: a link may wait for it by then', async () => {
    const { seen, handler } = await handlerWithSink();
    const connection = message('msg_1', { event_type: 'provider.connection.created', data: {} });
    for (let n = 0; n < 2; n++) expect((await handler.handle(connection)).status).toBe(204);
    expect(seen.taken).toBe(2);
  });

  test('is known for as long as its signature may be valid, and forgotten some time after that', async () => {
    let now = Date.now();
    const { seen, handler } = await handlerWithSink({ now: () => now });
    // Signed by a clock that runs five minutes ahead: the last moment at which it is accepted is ten minutes away.
    const early = message('msg_1', healthData, now + 5 * minute - 1000);
    await handler.handle(early);
    now += 10 * minute - 2000;
    await handler.handle(early);
    expect(handler.counts().answers).toMatchObject({ health_data_accepted: 1, repeated: 1 });
    now += 20 * minute;
    await handler.handle(message('msg_1', healthData, now));
    expect(seen.taken).toBe(2);
  });
});

describe('a memory that processes share', () => {
  const order = { event_type: 'labtest.order.updated', data: { id: 'order-1', events: [] } };

  test.each<[string, TakenMessages['has']]>([
    ['does not know the message', () => Promise.resolve(false)],
    ['fails', () => Promise.reject(new Error('down'))],
    ['never answers', () => new Promise(() => {})],
  ])('a shared memory that %s keeps no order from Temporal', async (_how, has) => {
    const handler = await handlerWithoutTemporal({ taken: { has, add: () => Promise.resolve() } });
    expect((await handler.handle(message('msg_1', order))).status).toBe(503);
    expect(handler.counts().answers).toMatchObject({ temporal_unavailable: 1, repeated: 0 });
  });

  test('a shared memory that knows the message gets it answered 204, and is asked about the last ten minutes', async () => {
    const asked: unknown[] = [];
    const has = (...given: unknown[]) => Promise.resolve(asked.push(given) > 0);
    const handler = await handlerWithoutTemporal({ taken: { has, add: () => expect.unreachable() } });
    expect((await handler.handle(message('msg_1', order))).status).toBe(204);
    expect(asked).toEqual([[expect.stringMatching(/^default\/lab-operations\/msg_1\/./), 600]]);
    expect(handler.counts().answers).toMatchObject({ repeated: 1 });
  });
});

test('a message is known to the shared memory for its namespace and task queue only', async () => {
  const known = new Set<string>();
  const taken: TakenMessages = {
    has: (id) => Promise.resolve(known.has(id)),
    add: (id) => Promise.resolve(known.add(id)).then(() => undefined),
  };
  const sentTo = async (namespace: string, taskQueue: string): Promise<string[]> => {
    const { client, close } = await clientAnsweredWith(() => undefined, { namespace });
    try {
      const handler = createWebhookHandler({ temporal: client, secrets: [secret], taskQueue, taken });
      await handler.handle(message('msg_1', orderEvent('order-1')));
      return Object.entries(handler.counts().answers).flatMap(([name, times]) => (times > 0 ? [name] : []));
    } finally {
      await close();
    }
  };
  expect(await sentTo('one', 'queue-1')).toEqual(['delivered']);
  expect(await sentTo('one', 'queue-2')).toEqual(['delivered']);
  expect(await sentTo('two', 'queue-1')).toEqual(['delivered']);
  expect(await sentTo('one', 'queue-1')).toEqual(['repeated']);
});

describe('the memory of recent messages', () => {
  test('keeps a full generation, and never more than two', () => {
    const recent = new RecentMessages(() => 0, 3);
    for (let n = 0; n < 7; n++) recent.add(`msg_${n}`, 'digest');
    const known = Array.from({ length: 7 }, (_, n) => recent.has(`msg_${n}`, 'digest'));
    expect(known).toEqual([false, false, false, true, true, true, true]);
  });

  test('keeps a message for the whole time though others turn the generations', () => {
    let now = 0;
    const recent = new RecentMessages(() => now);
    now = 9 * minute;
    recent.add('msg_1', 'digest');
    now = 18 * minute;
    recent.add('msg_2', 'digest');
    expect(recent.has('msg_1', 'digest')).toBe(true);
    now = 40 * minute;
    expect(recent.has('msg_1', 'digest')).toBe(false);
  });
});
