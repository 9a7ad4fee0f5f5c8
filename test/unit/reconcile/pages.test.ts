import { WorkflowNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { beforeEach, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../activities/dependencies.js';
import { NotFound } from '../../../service/errors.js';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { reconcileActivities, type PageReconciled } from '../../../activities/reconcile/reconcile.js';

const notFound = new NotFound({ method: 'GET', path: '/v3/orders', status: 404 }, { fields: [] });
const range = { from: '2026-03-10T11:00:00.000Z', to: '2026-03-10T12:00:00.000Z' };
const event = { id: 7, created_at: '2026-03-09T12:00:00.000Z', status: 'completed.testkit.completed' };
const order = { id: 'order-1', interpretation: 'critical', status: 'completed', events: [event] };

let listed: object;
/** Orders beside that one; the service's page has as many more that cannot be read. */
let others: object[];
/** The orders that are listed as not critical; a 404 without. */
let notCritical: object[] | undefined;
let calls: string[];
let warnings: string[];
let signalled: object | undefined;
let results: Record<string, object>;
beforeEach(() => {
  listed = order;
  others = [];
  warnings = [];
  notCritical = [];
  const timeline = [{ orderId: 'order-1', eventId: 7, at: event.created_at, status: event.status }];
  results = { 'kit-order/order-1': { outcome: 'completed', timeline, criticalResults: [{ orderId: 'order-1' }] } };
  calls = [];
});

/** A deletion that is final and still deletes histories. */
const erasing = {};

/** A worker of a service that lists the order, and of a Temporal where its workflow has ended and knew what the first list shows. */
function startWorker() {
  const closeTime = new Date(event.created_at);
  const workflow = (workflowId: string, runId?: string) => ({
    async signal() {
      calls.push('signal');
      throw new WorkflowNotFoundError('ended', workflowId, undefined);
    },
    async describe() {
      calls.push('describe');
      if (!results[workflowId]) throw new WorkflowNotFoundError('none', workflowId, undefined);
      const run = { workflowId, runId: 'run-1' };
      if (results[workflowId] !== erasing) return { ...run, status: { name: 'COMPLETED' }, closeTime };
      return { ...run, status: { name: 'RUNNING' }, typedSearchAttributes: { get: () => 'deleted' } };
    },
    async result() {
      calls.push('result');
      return results[runId ?? workflowId] ?? results[workflowId];
    },
  });
  /** The latest run, and the one before it if there is a result of `run-0`. */
  async function* list({ query }: { query: string }) {
    calls.push('list');
    const workflowId = Object.keys(results).find((id) => query.includes(id));
    yield { workflowId, runId: 'run-1', status: { name: 'COMPLETED' }, closeTime };
    if (results['run-0']) yield { workflowId, runId: 'run-0', status: { name: 'COMPLETED' }, closeTime: new Date(0) };
  }
  const workflowService = { describeWorkflowExecution: async () => ({}) };
  const signalWithStart = async (_name: string, { signalArgs: [snapshot] }: { signalArgs: object[] }) => {
    signalled = snapshot;
    calls.push('start');
  };
  const client = { options: { namespace: 'default' }, workflowService, list, getHandle: workflow, signalWithStart };
  const page = async ({ isCritical }: { isCritical?: boolean }) => {
    const orders = isCritical === false ? notCritical : [listed, ...others];
    if (!orders) throw notFound;
    return { orders, unreadable: others.length, size: 50, total: orders.length };
  };
  const dependencies = { service: { orders: { page } }, temporal: { workflow: client }, taskQueue: 'invented-queue' };
  const activities = reconcileActivities(dependencies as unknown as ActivityDependencies);
  return async (critical: 'interpretation' | 'is_critical' | undefined, to = range.to) => {
    calls = [];
    const silent = () => undefined;
    const warn = (message: string, fields?: object) => void warnings.push(message + JSON.stringify(fields));
    const logger = { log: silent, trace: silent, debug: silent, info: silent, warn, error: silent };
    const environment = new MockActivityEnvironment({}, { logger });
    const given = { ...range, to, ...(critical && { critical }) };
    const { counts }: PageReconciled = await environment.run(() => activities.reconcilePage(given));
    return { counts, calls };
  };
}

test('a critical result whose ended workflow knew it costs calls of Temporal once for each worker, not at every pass', async () => {
  const pass = startWorker();
  expect(await pass('interpretation')).toMatchObject({ calls: ['describe', 'result'], counts: { critical: 1 } });
  expect(await pass('interpretation')).toMatchObject({ calls: [], counts: { critical: 1 } });
  expect(await startWorker()('interpretation')).toMatchObject({ calls: ['describe', 'result'] });
});

test('an order that shows more than its workflow knew is asked about again', async () => {
  const pass = startWorker();
  await pass('interpretation');
  listed = { ...order, events: [event, { ...event, id: 8, status: 'completed.testkit.corrected' }] };
  const calls = ['describe', 'result', 'signal', 'start'];
  expect(await pass('interpretation')).toMatchObject({ calls, counts: { reopened: 1 } });
});

test('an order that both filters list is notified once in a pass, and again in the next', async () => {
  results = {};
  const pass = startWorker();
  const notified = { calls: ['describe', 'signal', 'start'], counts: { critical: 1, reopened: 1 } };
  expect(await pass('interpretation')).toMatchObject(notified);
  expect(await pass('is_critical')).toMatchObject({ calls: [], counts: { critical: 1, reopened: 0 } });
  expect(await pass('interpretation', '2026-03-10T13:00:00.000Z')).toMatchObject(notified);
});

test('an order that was forwarded to a chain is asked about at every pass: the workflow of the chain may end otherwise', async () => {
  const known = results['kit-order/order-1'];
  results = {
    'kit-order/order-1': { ...known, outcome: 'forwarded', rootOrderId: 'root-1' },
    'kit-order/root-1': known ?? {},
  };
  const pass = startWorker();
  const calls = ['describe', 'result', 'describe', 'result'];
  expect(await pass('interpretation')).toMatchObject({ calls, counts: { critical: 1 } });
  expect(await pass('interpretation')).toMatchObject({ calls, counts: { critical: 1 } });
});

test.each([{ interpretation: 'normal' }, { interpretation: null }, {}])(
  'an order that the service flags is critical, whatever its word: %j; unless it is listed as not critical, too',
  async (word) => {
    listed = { ...order, interpretation: undefined, ...word };
    results = {};
    const pass = startWorker();
    notCritical = [listed];
    expect(await pass('is_critical')).toMatchObject({ calls: [], counts: { critical: 0 } });
    notCritical = [];
    expect(await pass('is_critical')).toMatchObject({
      calls: ['describe', 'signal', 'start'],
      counts: { critical: 1 },
    });
    expect(signalled).toMatchObject({ orderId: 'order-1', flaggedCritical: true });
    expect((signalled as OrderSnapshot).interpretation).toBe(word.interpretation ?? undefined);
  },
);

test.each([
  ['has fewer pages of others', () => undefined],
  ['lists twice as many if they need not be critical', () => [listed, { ...order, id: 'order-2' }]],
])('an order that the service flags is critical if the service %s', async (_what, others) => {
  listed = { ...order, interpretation: 'normal' };
  notCritical = others();
  expect(await startWorker()('is_critical')).toMatchObject({ counts: { critical: 1 } });
});

test('a range of updated orders is asked about in full, whatever a pass knew of critical ones', async () => {
  const pass = startWorker();
  await pass('interpretation');
  expect(await pass(undefined)).toMatchObject({ calls: ['describe', 'result'], counts: { finished: 1 } });
});

test('an order that cannot be read, or whose id cannot be part of a workflow ID, is skipped, and that id is not logged', async () => {
  listed = { id: 'order-1', events: [{ ...event, status: 'received.testkit.ordered' }] };
  others = [{ ...listed, id: "Testperson's order" }];
  results = {};
  expect(await startWorker()(undefined)).toMatchObject({
    ...{ calls: ['signal', 'start'], counts: { listed: 3, notified: 1, passedOver: 2 } },
  });
  expect(warnings.join()).toContain('its id cannot be part of a workflow ID');
  expect(warnings.join()).not.toContain('Testperson');
});

const asked = ['describe', 'describe', 'list', 'result'];

test.each([
  ['is known to a run that ended later', '2026-03-10T12:00:00.000Z', asked],
  ['is news if it comes after the run’s', '2026-03-09T11:00:00.000Z', [...asked, 'signal', 'start']],
  ['is news if an operator ended the run', undefined, [...asked, 'signal', 'start']],
])('the end of an order whose run a final deletion has erased %s', async (_what, completedAt, calls) => {
  listed = { ...order, user_id: 'user-1' };
  const erased = [{ workflowId: 'kit-order/order-1', completedAt }];
  results = { 'delete-user/user-1': { histories: { erased, left: [] } } };
  expect(await startWorker()('interpretation')).toMatchObject({ calls });
});

test('the end of an order whose run was erased is known also if the deletion was requested again, and while it still erases', async () => {
  listed = { ...order, user_id: 'user-1' };
  const erased = [{ workflowId: 'kit-order/order-1', completedAt: '2026-03-10T12:00:00.000Z' }];
  results = { 'delete-user/user-1': { outcome: 'deleted' }, 'run-0': { histories: { erased, left: [] } } };
  expect(await startWorker()('interpretation')).toMatchObject({ calls: [...asked, 'result'] });
  results = { 'delete-user/user-1': erasing };
  expect(await startWorker()('interpretation')).toMatchObject({ calls: ['describe', 'describe'] });
});

/** What comes of a day that a service without a Temporal beside it lists in these pages. */
async function reconciledFrom(page: (filter: object, number: number) => Promise<object>): Promise<PageReconciled> {
  const activities = reconcileActivities({ service: { orders: { page } } } as unknown as ActivityDependencies);
  const day = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
  return new MockActivityEnvironment().run(() => activities.reconcilePage(day));
}

/** The pages that a pass reads to find the last one of a service without a total, which answers as `answers` says from `count` pages on. */
async function lastOf(count: number, missing: (page: number, reads: number) => boolean = (page) => page > count) {
  const pages: number[] = [];
  const page = async (_filter: object, number: number) => {
    pages.push(number);
    if (missing(number, pages.length)) throw notFound;
    const orders = number > count ? [] : [{ id: `order-${number}`, updated_at: '2020-01-01T00:00:00Z', events: [] }];
    return { orders, unreadable: 0, size: 1 };
  };
  const found = await reconciledFrom(page).then(
    ({ nextPage = 0 }) => nextPage + 1,
    (error: unknown) => error,
  );
  return { found, pages };
}

test.each([1, 2, 3, 4, 7, 8])('the last page of orders not counted is found by a 404 beyond it: %i', async (count) => {
  expect(await lastOf(count)).toMatchObject({ found: count });
});

test('the last page of orders that are not counted costs no further read if the service answers with an empty page', async () => {
  expect(await lastOf(2, () => false)).toEqual({ found: 2, pages: [1, 2, 4, 3] });
});

test('the last page of orders that are not counted is not the one before a page that a proxy did not find once', async () => {
  expect(await lastOf(3, (page, reads) => page > 3 || (page === 2 && reads === 2))).toMatchObject({ found: 3 });
});

test('the last page of orders that are not counted is not taken for certain while nothing is found', async () => {
  const { found } = await lastOf(3, (page, reads) => reads > 1 || page > 3);
  expect(found).toMatchObject({ type: 'ServiceRefused' });
});

test.each([
  ['2026-01-01T12:00:00Z', 0],
  ['2025-12-31T19:00:00', 0],
  ['2025-12-30T12:00:00Z', 1],
  ['2026-01-02T14:00:00', 0],
  ['2026-01-03T12:00:00Z', 1],
  ['2062-12-06T10:00:00Z', 0],
  ['9999-12-31T23:59:59Z', 0],
])(
  'an order that was updated %s is out of the range in %i cases: it may be a local time, and the future says nothing',
  async (at, outside) => {
    const orders = [{ id: 'no id', updated_at: at, events: [] }];
    const reconciled = await reconciledFrom(async () => ({ orders, unreadable: 0, size: 1, total: 1 }));
    expect(reconciled).toMatchObject({ outside, counts: { listed: 1 - outside } });
  },
);
