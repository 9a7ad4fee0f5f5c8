import { Client, Connection, makeGrpcRetryInterceptor, type ConnectionOptions } from '@temporalio/client';
import { expect, test } from 'vitest';
import { createWebhookHandler } from '../../../client/webhooks/handler.js';
import { closedPort, orderEvent, secret, signed } from './sending.js';

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
  ['an event of an order', orderEvent('0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9')],
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
