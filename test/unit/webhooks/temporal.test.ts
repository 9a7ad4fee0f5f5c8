import { describe, expect, test } from 'vitest';
import proto from '@temporalio/proto';
import { Client, Connection, makeGrpcRetryInterceptor, type ConnectionOptions } from '@temporalio/client';
import type { AnswerName } from '../../../client/webhooks/answers.js';
import { createWebhookHandler, type WebhookHandlerOptions } from '../../../client/webhooks/handler.js';
import { clientAnsweredWith, type GrpcStatus } from '../../rig/grpc-answers.js';
import {
  keeping,
  orderEvent,
  remembering,
  secret,
  signed,
  closedPort,
  countedBy,
  handlerWithoutTemporal,
} from './sending.js';
import { workerIdentity } from '../../../client/encryption/key-requirement.js';
import { signWebhook } from '../../../client/testing.js';
import type { DeliveredMessages } from '../../../client/webhooks/sinks.js';

const orderId = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';

/** A handler whose Temporal answers every signal, or only every start, with one status of gRPC. */
async function handlerRefusedWith(
  code: number,
  details: string,
  { to = 'signals', ...options }: Partial<WebhookHandlerOptions> & { to?: 'signals' | 'starts' } = {},
) {
  const client = await clientAnsweredWith((method) => {
    if (method === 'SignalWithStartWorkflowExecution') return { code, details };
    if (method !== 'SignalWorkflowExecution') return undefined;
    return to === 'signals' ? { code, details } : { code: 5, details: 'workflow not found' };
  });
  return createWebhookHandler({ temporal: client, secrets: [secret], ...options });
}

describe.each(['signals', 'starts'] as const)('an event that Temporal does not take, of all %s', (to) => {
  test.each<[string, number, string, AnswerName]>([
    ['CANCELLED', 1, 'cancelled', 'temporal_unavailable'],
    ['DEADLINE_EXCEEDED', 4, 'too late', 'temporal_unavailable'],
    ['INTERNAL', 13, 'a moment of weakness', 'temporal_unavailable'],
    ['UNAVAILABLE', 14, 'starting', 'temporal_unavailable'],
    ['RESOURCE_EXHAUSTED', 8, 'namespace rate limit exceeded', 'temporal_unavailable'],
    ['PERMISSION_DENIED', 7, 'no', 'temporal_refused'],
    ['NOT_FOUND', 5, 'Namespace not-there is not found.', 'temporal_refused'],
    ['INVALID_ARGUMENT', 3, 'exceeded workflow execution limit for signal events', 'temporal_unavailable'],
    ['INVALID_ARGUMENT', 3, 'Namespace default has no mapping defined for search attribute A', 'temporal_refused'],
  ])('an event that Temporal refuses with %s is sent again (%i, %s)', async (_name, code, details, answer) => {
    const rejected = () => expect.unreachable('it is set aside');
    const handler = await handlerRefusedWith(code, details, { to, rejected });
    expect((await handler.handle(signed(orderEvent(orderId)))).status).toBe(503);
    expect(handler.counts().answers).toMatchObject({ [answer]: 1 });
  });

  test.each([
    ['INVALID_ARGUMENT', 3, 'Blob data size exceeds limit.'],
    ['RESOURCE_EXHAUSTED', 8, 'grpc: received message larger than max (5000000 vs. 4194304)'],
  ])(
    'an event that Temporal refuses with %s for its own content is set aside with 204',
    async (_name, code, details) => {
      const { taken, sink: rejected } = keeping();
      const { lines, logger } = remembering();
      const handler = await handlerRefusedWith(code, details, { to, rejected, logger });
      const event = signed(orderEvent(orderId));
      expect((await handler.handle(event)).status).toBe(204);
      const known = { eventType: 'labtest.order.updated', body: event.body.toString() };
      expect(taken).toMatchObject([[{ reason: 'refused_by_temporal', ...known }, expect.any(String)]]);
      expect(lines).toMatchObject([{ level: 'error', fields: { answer: 'event_set_aside', orderId } }]);
    },
  );

  test('a permanent refusal is answered 503 while the sink for rejected events fails', async () => {
    const handler = await handlerRefusedWith(3, 'too large', { to, rejected: () => Promise.reject(new Error('down')) });
    expect((await handler.handle(signed(orderEvent(orderId)))).status).toBe(503);
  });

  test('a permanent refusal is counted, logged as an error and dropped if there is no sink', async () => {
    const { lines, logger } = remembering();
    const handler = await handlerRefusedWith(3, 'too large', { to, logger });
    expect((await handler.handle(signed(orderEvent(orderId)))).status).toBe(204);
    expect(lines).toMatchObject([{ level: 'error', fields: { answer: 'event_refused', orderId } }]);
    expect(handler.counts().answers.event_refused).toBe(1);
  });
});

const { DescribeTaskQueueResponse } = proto.temporal.api.workflowservice.v1;

/** Temporal's description of a task queue that these workers poll, each with keys or without. */
function polledBy(...encrypting: boolean[]): Uint8Array {
  const pollers = encrypting.map((encrypts) => ({ identity: workerIdentity(encrypts) }));
  return DescribeTaskQueueResponse.encode({ pollers }).finish();
}

/** A handler without keys, and all calls that reached its Temporal, which describes the task queue like this in turn. */
async function handlerWhoseQueueIs(looks: (GrpcStatus | Uint8Array)[], options: Partial<WebhookHandlerOptions> = {}) {
  const calls: string[] = [];
  const client = await clientAnsweredWith((method) => {
    calls.push(method);
    return method === 'DescribeTaskQueue' ? (looks.length > 1 ? looks.shift() : looks[0]) : undefined;
  });
  const handler = createWebhookHandler({ temporal: client, secrets: [secret], logger: false, ...options });
  const sent = () => calls.filter((method) => method.startsWith('Signal')).length;
  return { handler, calls, sent, receive: () => handler.handle(signed(orderEvent(orderId))) };
}

test('a handler without keys answers 503 if a worker encrypts, sends nothing and remembers nothing', async () => {
  const { lines, logger } = remembering();
  const { handler, sent, receive } = await handlerWhoseQueueIs([polledBy(false, true)], { logger });
  for (const attempt of [1, 2]) {
    const answer = await receive();
    expect(answer.status, `attempt ${attempt}`).toBe(503);
    expect(answer.body).toMatch(/"encryption_keys_missing".*LABOPS_ENCRYPTION_KEYS/);
  }
  expect(sent()).toBe(0);
  expect(handler.counts().answers).toMatchObject({ encryption_keys_missing: 2, delivered: 0, repeated: 0 });
  const fields = { answer: 'encryption_keys_missing', orderId };
  expect(lines).toMatchObject([{ level: 'error', fields }, { level: 'error' }]);
});

test('the handler goes on refusing after the last worker has left', async () => {
  const { receive, sent } = await handlerWhoseQueueIs([polledBy(true), polledBy()]);
  for (const _attempt of [1, 2]) expect((await receive()).status).toBe(503);
  expect(sent()).toBe(0);
});

test('the handler sends if encryption is optional, and does not ask', async () => {
  const { receive, calls } = await handlerWhoseQueueIs([polledBy(true)], { encryption: 'optional' });
  expect((await receive()).status).toBe(204);
  expect(calls).toEqual(['SignalWorkflowExecution']);
});

test('the handler asks once for all events of a minute if no worker encrypts', async () => {
  const { receive, calls, sent } = await handlerWhoseQueueIs([polledBy(false)]);
  for (const _event of [1, 2, 3]) expect((await receive()).status).toBe(204);
  expect(sent()).toBe(3);
  expect(calls.filter((method) => method === 'DescribeTaskQueue')).toHaveLength(1);
});

test.each([
  ['shows no worker', polledBy()],
  ['does not answer', { code: 14, details: 'starting' }],
])('the handler asks again at the next event if Temporal %s', async (_what, first) => {
  const { receive, sent } = await handlerWhoseQueueIs([first, polledBy(true)]);
  expect((await receive()).status).toBe(204);
  expect((await receive()).status).toBe(503);
  expect(sent()).toBe(1);
});

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/** A client whose second attempt at a call, the last, comes long after the deadline of a webhook. */
async function clientWithTwoAttempts(): Promise<{ temporal: Client; attempts: () => number }> {
  let attempts = 0;
  const count: Interceptor = (options, nextCall) => {
    attempts += 1;
    return nextCall(options) as ReturnType<Interceptor>;
  };
  const again = makeGrpcRetryInterceptor({ delayFunction: () => 700, retryableDecider: (attempt) => attempt < 2 });
  const address = `127.0.0.1:${await closedPort()}`;
  const connection = Connection.lazy({ address, interceptors: [again, count] });
  return { temporal: new Client({ connection }), attempts: () => attempts };
}

const data = { user_id: '6f0c0a49-2f0a-4b5e-8d6f-000000000001', source: { slug: 'invented_watch' } };

test.each([
  ['an event of an order', orderEvent(orderId)],
  ['a connection that was made', { event_type: 'provider.connection.created', data }],
])('a handler settles only after the last attempt for %s, though it was answered 503 before', async (_what, body) => {
  const { temporal, attempts } = await clientWithTwoAttempts();
  const handler = createWebhookHandler({ temporal, secrets: [secret], deadlineMs: 100, logger: false });
  expect((await handler.handle(signed(body))).status).toBe(503);
  const before = attempts();
  await handler.settled();
  expect(attempts()).toBeGreaterThan(before);
  await temporal.connection.close();
});

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
