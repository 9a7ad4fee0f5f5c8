import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../activities/activities.js';
import { startAttempt } from '../../../activities/attempt.js';
import { importedBefore } from '../../../activities/import-search.js';
import { importFor } from '../../rig/cast.js';
import { answering, serviceAt } from '../service/recording-server.js';

const placedAt = '2026-03-01T00:00:00.000Z';
const event = { id: 1, created_at: placedAt, status: 'received.testkit.requisition_bypassed' };
const silent = { id: 'order-1', created_at: placedAt, sample_id: null, events: [event] };

/** One attempt to find the order of an import whose earlier attempt may have created one; no order here has its sample id. */
async function search(order: object, triedBefore = true): Promise<unknown> {
  const { baseUrl } = await answering(() => ({ body: { orders: [order], total: 1, page: 1, size: 50 } }));
  const times = { scheduledTimestampMs: Date.now(), startToCloseTimeoutMs: 60_000, scheduleToCloseTimeoutMs: 60_000 };
  const criteria = { order: importFor('user-1', 'SAMPLE-1'), reference: 'invented-1', since: placedAt, triedBefore };
  const dependencies = { service: serviceAt(baseUrl) } as ActivityDependencies;
  const searching = new MockActivityEnvironment({ attempt: 1, ...times }).run(() =>
    importedBefore(dependencies, criteria, startAttempt(30_000)),
  );
  return searching.catch((error: unknown) => error);
}

describe('an import that shows no sample id', () => {
  test('may be the one that a lost answer created: a person decides, and nothing is created', async () => {
    expect(await search(silent)).toMatchObject({ type: 'AmbiguousOrder', details: [{ orderIds: ['order-1'] }] });
  });

  test.each<[string, object, boolean?]>([
    ['if nothing was sent', silent, false],
    ['if it is older', { ...silent, created_at: '2026-02-01T00:00:00.000Z' }],
    ['if it is not an import', { ...silent, events: [{ ...event, status: 'received.testkit.ordered' }] }],
    ['if it was cancelled', { ...silent, events: [event, { ...event, id: 2, status: 'cancelled.testkit.cancelled' }] }],
    ['if it has another sample', { ...silent, sample_id: 'SAMPLE-2' }],
  ])('is another order %s', async (_when, order, triedBefore) => {
    expect(await search(order, triedBefore)).toBeUndefined();
  });
});
