import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { ValueError } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { matchReviewReconcileActivities } from '../../../activities/match-review-reconcile.js';
import { matchReviewActivities } from '../../../activities/match-reviews.js';
import { matchReviewId } from '../../../protocol/ids.js';
import { answering, serviceAt } from '../service/recording-server.js';

const open = (id: string) => ({ id, status: 'pending_customer_review', allowed_actions: ['accept'] });

test('a review whose last result cannot be decoded does not end the pass before the reviews after it', async () => {
  const data = [open('result-1'), open('result-2')];
  const { baseUrl } = await answering(() => ({ body: { data, next_cursor: null, total: 2 } }));
  const reported: string[] = [];
  const getHandle = (workflowId: string) => ({
    describe: async () => {
      if (workflowId !== matchReviewId('result-1')) throw new WorkflowNotFoundError('not found', workflowId, undefined);
      return { status: { name: 'COMPLETED' }, closeTime: new Date(), runId: 'run-1' };
    },
    result: async () => {
      throw new ValueError('unknown key');
    },
    signal: async () => reported.push(workflowId),
  });
  const temporal = { workflow: { getHandle } };
  const activities = matchReviewReconcileActivities({ temporal, service: serviceAt(baseUrl), taskQueue: 'q' } as never);
  const pass = new MockActivityEnvironment().run(() => activities.reconcileMatchReviews());
  expect(await pass).toEqual({ started: 1 });
  expect(reported).toEqual([matchReviewId('result-2')]);
});

test.each([
  [0, 'before', '2026-03-10T11:00:00Z'],
  [1, 'after', '2026-03-10T13:00:00Z'],
  [0, 'in the future, by a wrong clock,', '2062-01-01T00:00:00Z'],
])(
  'starts %i workflows for a review that changed %s an operator ended its workflow',
  async (started, _, updated_at) => {
    const data = [{ ...open('result-1'), updated_at }];
    const { baseUrl } = await answering(() => ({ body: { data, next_cursor: null, total: 1 } }));
    const closeTime = new Date('2026-03-10T12:00:00Z');
    const getHandle = () => ({
      describe: async () => ({ status: { name: 'TERMINATED' }, closeTime, runId: 'run-1' }),
      signal: async () => undefined,
    });
    const temporal = { workflow: { getHandle } };
    const activities = matchReviewReconcileActivities({
      temporal,
      service: serviceAt(baseUrl),
      taskQueue: 'q',
    } as never);
    expect(
      await new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: Date.now() }).run(() =>
        activities.reconcileMatchReviews(),
      ),
    ).toEqual({ started });
  },
);

test.each([
  [400, 'Cursor expired'],
  [404, 'Cursor expired'],
  [403, 'Forbidden'],
  ...[400, 422].map(
    (status) => [status, [{ loc: ['query', 'next_cursor'], msg: 'expired', type: 'value_error' }]] as const,
  ),
] as const)(
  'a list of reviews that is refused on a later page (%i) is read again: the team has match review',
  async (status, detail) => {
    const first = { body: { data: [open('result-1')], next_cursor: 'expired', total: 2 } };
    const { baseUrl } = await answering((_request, index) => (index === 0 ? first : { status, body: { detail } }));
    const getHandle = () => ({ describe: async () => ({ status: { name: 'RUNNING' } }) });
    const temporal = { workflow: { getHandle } };
    const activities = matchReviewReconcileActivities({
      temporal,
      service: serviceAt(baseUrl),
      taskQueue: 'q',
    } as never);
    const pass = new MockActivityEnvironment().run(() => activities.reconcileMatchReviews());
    await expect(pass).rejects.toMatchObject({ type: 'AnswerUnreadable', nonRetryable: false });
  },
);

test('an earlier result that no worker can decode is unknown after half a minute, and is logged without its content', async () => {
  const { baseUrl } = await answering(() => ({ body: open('result-1') }));
  const getHandle = () => ({
    describe: async () => ({ status: { name: 'COMPLETED' } }),
    result: async () => {
      throw new ValueError('cannot decode testperson@example.com');
    },
  });
  const dependencies = { temporal: { workflow: { getHandle } }, service: serviceAt(baseUrl), target: 'off' };
  const activities = matchReviewActivities(dependencies as never);
  const logged: unknown[] = [];
  const silent = (): void => undefined;
  const error = (...line: unknown[]) => void logged.push(line);
  const logger = { log: silent, trace: silent, debug: silent, info: silent, warn: silent, error };
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
  const getHandle = () => ({
    describe: async () => ({ status: { name: 'COMPLETED' } }),
    result: async () => {
      throw new ServiceError('away');
    },
  });
  const activities = matchReviewActivities({ temporal: { workflow: { getHandle } }, target: 'off' } as never);
  const identified = new MockActivityEnvironment({ attempt: 100 }).run(() =>
    activities.identifyMatchReview('result-1', { runId: 'run-1' }),
  );
  await expect(identified).rejects.toThrow('away');
});

test.each([true, false])('a decision that an earlier activity may have sent counts as ours: %j', async (mayBeOurs) => {
  const body = { id: 'result-1', status: 'resolved', resolution_action: 'accept', resolved_order_id: 'order-1' };
  const { baseUrl } = await answering(() => ({ body }));
  const activities = matchReviewActivities({ service: serviceAt(baseUrl), target: 'off' } as never);
  const call = { rawResultId: 'result-1', action: 'accept', mayBeOurs } as const;
  const decided = new MockActivityEnvironment().run(() => activities.decideMatchReview(call));
  expect(await decided).toMatchObject({ item: { resolvedOrderId: 'order-1' }, isOurs: mayBeOurs });
});

test('a decision that is refused because an earlier attempt was carried out is ours', async () => {
  let reads = 0;
  const { baseUrl } = await answering(({ method }) => {
    if (method !== 'GET') return { status: 400, body: { detail: 'The result needs no review any more' } };
    reads += 1;
    return {
      body: reads === 1 ? open('result-1') : { ...open('result-1'), status: 'matched', resolved_order_id: 'o' },
    };
  });
  const activities = matchReviewActivities({ temporal: {}, service: serviceAt(baseUrl), target: 'off' } as never);
  const decide = (attempt: number) =>
    new MockActivityEnvironment({ attempt }).run(() =>
      activities.decideMatchReview({ rawResultId: 'result-1', action: 'accept' }),
    );
  expect(await decide(2)).toMatchObject({ isOurs: true, item: { status: 'matched' } });
  reads = 0;
  await expect(decide(1)).rejects.toMatchObject({ type: 'DecisionRefused' });
});

test.each([
  ['order-1', true],
  ['order-0', true],
  ['order-2', false],
])(
  'an acceptance for %s that an earlier attempt may have sent is ours, by the order or its parent: %j',
  async (orderId, isOurs) => {
    const review = { id: 'result-1', status: 'resolved', resolution_action: 'accept', resolved_order_id: 'order-1' };
    const order = { id: 'order-1', parent_id: 'order-0', origin: 'recreation', events: [] };
    const { baseUrl } = await answering(({ url }) => ({ body: url?.includes('/order/') ? order : review }));
    const activities = matchReviewActivities({ service: serviceAt(baseUrl), target: 'off' } as never);
    const call = { rawResultId: 'result-1', action: 'accept', orderId, mayBeOurs: true } as const;
    const decided = new MockActivityEnvironment().run(() => activities.decideMatchReview(call));
    expect(await decided).toMatchObject({ item: { resolvedOrderId: 'order-1' }, isOurs });
  },
);
