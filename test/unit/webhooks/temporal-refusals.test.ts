import { describe, expect, test } from 'vitest';
import type { AnswerName } from '../../../client/webhooks/answers.js';
import { createWebhookHandler, type WebhookHandlerOptions } from '../../../client/webhooks/handler.js';
import { clientAnsweredWith } from '../../rig/grpc-answers.js';
import { keeping, orderEvent, remembering, secret, signed } from './sending.js';

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
