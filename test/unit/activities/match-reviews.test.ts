import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { ValueError } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { matchReviewReconcileActivities } from '../../../activities/reconcile/match-reviews.js';
import { matchReviewActivities } from '../../../activities/match-review.js';
import { matchReviewId } from '../../../protocol/ids.js';
import { answering, serviceAt, type Answer, type RecordedRequest } from '../service/recording-server.js';

const open = (id: string) => ({ id, status: 'pending_customer_review', allowed_actions: ['accept'] });
const page = (...data: object[]): Answer => ({ body: { data, next_cursor: null, total: data.length } });

/** A pass over the open reviews: the service answers so, and Temporal has these runs. */
async function passOver(answer: (index: number) => Answer, runOf: (workflowId: string) => object): Promise<unknown> {
  const { baseUrl } = await answering((_request, index) => answer(index));
  const temporal = { workflow: { getHandle: runOf } };
  const activities = matchReviewReconcileActivities({ temporal, service: serviceAt(baseUrl), taskQueue: 'q' } as never);
  const environment = new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: Date.now() });
  return environment.run(() => activities.reconcileMatchReviews());
}

/** The activities of one review, of which Temporal has this earlier run. */
async function reviewing(answer: (request: RecordedRequest) => Answer, earlier: object = {}) {
  const { baseUrl } = await answering(answer);
  const temporal = {
    workflow: { getHandle: () => ({ describe: async () => ({ status: { name: 'COMPLETED' } }), ...earlier }) },
  };
  return matchReviewActivities({ temporal, service: serviceAt(baseUrl), target: 'off' } as never);
}

const throws = (error: Error) => async () => {
  throw error;
};

test('a review whose last result cannot be decoded does not end the pass before the reviews after it', async () => {
  const reported: string[] = [];
  const pass = await passOver(
    () => page(open('result-1'), open('result-2')),
    (workflowId) => ({
      describe: async () => {
        if (workflowId !== matchReviewId('result-1')) throw new WorkflowNotFoundError('no', workflowId, undefined);
        return { status: { name: 'COMPLETED' }, closeTime: new Date(), runId: 'run-1' };
      },
      result: throws(new ValueError('unknown key')),
      signal: async () => reported.push(workflowId),
    }),
  );
  expect(pass).toEqual({ started: 1 });
  expect(reported).toEqual([matchReviewId('result-2')]);
});

test('a review that is over is not followed, however its status is written', async () => {
  const describe = throws(new WorkflowNotFoundError('no', 'review', undefined));
  const unknown = () => ({ describe, signal: async () => undefined });
  const over = ['Resolved', 'MATCHED'].map((status) => ({ ...open('result-1'), status }));
  expect(await passOver(() => page(...over), unknown)).toEqual({ started: 0 });
});

test.each([
  ['before', '2026-03-10T11:00:00Z', 0],
  ['after', '2026-03-10T13:00:00Z', 1],
  ['in the future, by a wrong clock,', '2062-01-01T00:00:00Z', 0],
])('a review that changed %s (%s) an operator ended its workflow starts %i', async (_when, updated_at, started) => {
  const ended = { status: { name: 'TERMINATED' }, closeTime: new Date('2026-03-10T12:00:00Z'), runId: 'run-1' };
  const run = () => ({ describe: async () => ended, signal: async () => undefined });
  expect(await passOver(() => page({ ...open('result-1'), updated_at }), run)).toEqual({ started });
});

const expired = [{ loc: ['query', 'next_cursor'], msg: 'expired', type: 'value_error' }];

test.each([
  [400, 'Cursor expired'],
  [404, 'Cursor expired'],
  [403, 'Forbidden'],
  [400, expired],
  [422, expired],
])('a list whose later page is refused (%i) is read again: the team has match review', async (status, detail) => {
  const first = { body: { data: [open('result-1')], next_cursor: 'expired', total: 2 } };
  const running = () => ({ describe: async () => ({ status: { name: 'RUNNING' } }) });
  const pass = passOver((index) => (index === 0 ? first : { status, body: { detail } }), running);
  await expect(pass).rejects.toMatchObject({ type: 'AnswerUnreadable', nonRetryable: false });
});

test('an earlier result that no worker can decode is unknown after half a minute, and is logged without its content', async () => {
  const undecodable = { result: throws(new ValueError('cannot decode testperson@example.com')) };
  const activities = await reviewing(() => ({ body: open('result-1') }), undecodable);
  const logged: unknown[] = [];
  const logger = new DefaultLogger('ERROR', ({ message, meta }) => void logged.push([message, meta]));
  const identify = (attempt: number) =>
    new MockActivityEnvironment({ attempt }, { logger }).run(() =>
      activities.identifyMatchReview('result-1', { runId: 'run-1' }),
    );
  await expect(identify(5)).rejects.toThrow(ValueError);
  const found = await identify(6);
  expect(found).toMatchObject({ notifies: false, reading: { item: { rawResultId: 'result-1' } } });
  expect(found).not.toHaveProperty('previous');
  expect(logged).toMatchObject([[expect.anything(), { runId: 'run-1', name: 'ValueError' }]]);
  expect(JSON.stringify(logged)).not.toContain('testperson');
});

test('while Temporal is away, the earlier result of a review is not taken for unknown', async () => {
  const activities = await reviewing(() => ({ status: 500 }), { result: throws(new ServiceError('away')) });
  const identified = new MockActivityEnvironment({ attempt: 100 }).run(() =>
    activities.identifyMatchReview('result-1', { runId: 'run-1' }),
  );
  await expect(identified).rejects.toThrow('away');
});

/** What an acceptance comes to. */
async function accepted(
  answer: (request: RecordedRequest) => Answer,
  more: object = {},
  attempt = 1,
): Promise<unknown> {
  const activities = await reviewing(answer);
  const decision = { rawResultId: 'result-1', action: 'accept', ...more } as const;
  return new MockActivityEnvironment({ attempt }).run(() => activities.decideMatchReview(decision));
}

test.each([
  ['an earlier activity may have sent', true, { mayBeOurs: true }],
  ['no earlier activity may have sent', false, { mayBeOurs: false }],
  ['may have been sent for that order', true, { orderId: 'order-1', mayBeOurs: true }],
  ['may have been sent for its parent', true, { orderId: 'order-0', mayBeOurs: true }],
  ['may have been sent for another patient’s order', true, { orderId: 'order-0', mayBeOurs: true }, ['order-1']],
  ['may have been sent for another order', false, { orderId: 'order-2', mayBeOurs: true }],
])('an acceptance that %s is ours: %s', async (_what, isOurs, more, listed = ['order-0', 'order-1']) => {
  const review = { id: 'result-1', status: 'resolved', resolution_action: 'accept', resolved_order_id: 'order-1' };
  const order_transaction = { id: 't', orders: listed.map((id) => ({ id })) };
  const order = { id: 'order-1', parent_id: 'order-0', origin: 'recreation', events: [], order_transaction };
  const decided = await accepted(({ url }) => ({ body: url?.includes('/order/') ? order : review }), more);
  expect(decided).toMatchObject({ item: { resolvedOrderId: 'order-1' }, isOurs });
});

test('a decision that is refused because an earlier attempt was carried out is ours', async () => {
  const matched = { ...open('result-1'), status: 'matched', resolved_order_id: 'o' };
  const decide = (attempt: number) => {
    let reads = 0;
    const answer = ({ method }: RecordedRequest): Answer => {
      if (method !== 'GET') return { status: 400, body: { detail: 'The result needs no review any more' } };
      reads += 1;
      return { body: reads === 1 ? open('result-1') : matched };
    };
    return accepted(answer, {}, attempt);
  };
  expect(await decide(2)).toMatchObject({ isOurs: true, item: { status: 'matched' } });
  await expect(decide(1)).rejects.toMatchObject({ type: 'DecisionRefused' });
});
