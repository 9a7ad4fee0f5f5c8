import { WorkflowNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import { reconcileActivities, type PageReconciled } from '../../../activities/reconcile/reconcile.js';
import type { ActivityDependencies } from '../../../activities/dependencies.js';
import { NotFound } from '../../../service/errors.js';

const notFound = new NotFound({ method: 'GET', path: '/orders', status: 404 }, { fields: [] });

const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };

/** The pages that a pass reads to find the last one of a service without a total, which answers as `answers` says from `count` pages on. */
async function lastOf(count: number, missing: (page: number, reads: number) => boolean = (page) => page > count) {
  const pages: number[] = [];
  const page = async (_filter: object, number: number) => {
    pages.push(number);
    if (missing(number, pages.length)) throw notFound;
    const orders = number > count ? [] : [{ id: `order-${number}`, updated_at: '2020-01-01T00:00:00Z', events: [] }];
    return { orders, unreadable: 0, size: 1 };
  };
  const activities = reconcileActivities({ service: { orders: { page } } } as unknown as ActivityDependencies);
  const reconciled: Promise<PageReconciled> = new MockActivityEnvironment().run(() => activities.reconcilePage(range));
  const found = await reconciled.then(
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
    const page = async () => ({ orders, unreadable: 0, size: 1, total: 1 });
    const activities = reconcileActivities({ service: { orders: { page } } } as unknown as ActivityDependencies);
    const reconciled = new MockActivityEnvironment().run(() => activities.reconcilePage(range));
    expect(await reconciled).toMatchObject({ outside, counts: { listed: 1 - outside } });
  },
);

test('an order that cannot be read, or whose id cannot be part of a workflow ID, is skipped, and that id is not logged', async () => {
  const lines: string[] = [];
  const silent = () => undefined;
  const warn = (message: string, fields?: object) => void lines.push(message + JSON.stringify(fields));
  const logger = { log: silent, trace: silent, debug: silent, info: silent, warn, error: silent };
  const notified: string[] = [];
  const signalWithStart = async (_name: string, { workflowId }: { workflowId: string }) => notified.push(workflowId);
  const events = [{ id: 1, status: 'received.testkit.ordered', created_at: '2026-01-01T00:00:00Z' }];
  const orders = [
    { id: 'order-1', events },
    { id: "Testperson's order", events },
  ];
  const service = { orders: { page: async () => ({ orders, unreadable: 1, size: 50, total: 3 }) } };
  const signal = async () => {
    throw new WorkflowNotFoundError('none', 'kit-order/order-1', undefined);
  };
  const workflowService = { describeWorkflowExecution: async () => ({}) };
  const options = { namespace: 'default' };
  const temporal = { workflow: { signalWithStart, getHandle: () => ({ signal }), workflowService, options } };
  const activities = reconcileActivities({ service, temporal, taskQueue: 'lab' } as unknown as ActivityDependencies);
  const environment = new MockActivityEnvironment({}, { logger });
  const { counts }: PageReconciled = await environment.run(() => activities.reconcilePage(range));
  expect(counts).toMatchObject({ listed: 3, notified: 1, passedOver: 2 });
  expect(notified).toEqual(['kit-order/order-1']);
  expect(lines.join()).toContain('its id cannot be part of a workflow ID');
  expect(lines.join()).not.toContain('Testperson');
});
