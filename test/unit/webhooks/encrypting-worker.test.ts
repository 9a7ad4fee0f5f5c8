import proto from '@temporalio/proto';
import { expect, test } from 'vitest';
import { workerIdentity } from '../../../client/encryption/key-requirement.js';
import { createWebhookHandler, type WebhookHandlerOptions } from '../../../client/webhooks/handler.js';
import { clientAnsweredWith, type GrpcStatus } from '../../rig/grpc-answers.js';
import { orderEvent, remembering, secret, signed } from './sending.js';

const orderId = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';
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
