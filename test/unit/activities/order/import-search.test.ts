import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../../activities/dependencies.js';
import { startAttempt } from '../../../../activities/attempt.js';
import { importedBefore } from '../../../../activities/order/import-search.js';
import { importFor } from '../../../rig/cast.js';
import { answering, serviceAt } from '../../service/recording-server.js';

const placedAt = '2026-03-01T00:00:00.000Z';
const event = { id: 1, created_at: placedAt, status: 'received.testkit.requisition_bypassed' };
const silent = { id: 'order-1', created_at: placedAt, sample_id: null, events: [event] };

interface Looking {
  triedBefore?: boolean;
  /** The reference that has claimed the order. */
  claim?: string;
  /** What the attempt before said last. */
  heartbeatDetails?: unknown;
}

/** One attempt to find the order of an import; an earlier one has seen an order without a sample id, if nothing else is said. */
async function search(order: object, { triedBefore = true, claim, ...given }: Looking = {}): Promise<unknown> {
  const { baseUrl } = await answering(() => ({ body: { orders: [order], total: 1, page: 1, size: 50 } }));
  const times = { scheduledTimestampMs: Date.now(), startToCloseTimeoutMs: 60_000, scheduleToCloseTimeoutMs: 60_000 };
  const sent = { since: placedAt, triedBefore, mayHaveBeenSent: triedBefore };
  const criteria = { order: importFor('user-1', 'SAMPLE-1'), reference: 'invented-1', ...sent };
  const describe = async () => ({ typedSearchAttributes: { get: () => claim } });
  const temporal = { workflow: { getHandle: () => ({ describe }) } };
  const dependencies = { service: serviceAt(baseUrl), temporal } as unknown as ActivityDependencies;
  const heartbeatDetails = { all: true, inDoubt: true };
  const searching = new MockActivityEnvironment({ attempt: 1, heartbeatDetails, ...times, ...given }).run(() =>
    importedBefore(dependencies, criteria, startAttempt(30_000)),
  );
  return searching.catch((error: unknown) => error);
}

describe('an import that does not show the sample id that was sent', () => {
  test.each<[string, object]>([
    ['as an import does', silent],
    ['with another first event', { ...silent, events: [{ ...event, status: 'received.testkit.ordered' }] }],
    ['with no event', { ...silent, events: [] }],
    ['with no time', { ...silent, created_at: undefined }],
    ['with its user', { ...silent, user_id: 'user-1' }],
    ['with a blank sample id', { ...silent, sample_id: ' ' }],
    ['with its sample id in another form', { ...silent, sample_id: 'sample 1' }],
    ['with another word for the way of collection', { ...silent, details: { type: 'invented_collection' } }],
    ['with a local time that is hours behind', { ...silent, created_at: '2026-02-28T13:00:05' }],
  ])('may be the one that a lost answer created, %s: a person decides, and nothing is created', async (_how, order) => {
    expect(await search(order)).toMatchObject({ type: 'AmbiguousOrder', details: [{ orderIds: ['order-1'] }] });
  });

  test('may show it later: the next attempt looks again', async () => {
    const first = await search(silent, { heartbeatDetails: undefined });
    expect(first).toMatchObject({ type: 'OrderUnclaimed', nonRetryable: false });
  });

  test('is not named in a message if its id may be anything, a name too', async () => {
    for (const heartbeatDetails of [undefined, { all: true, inDoubt: true }]) {
      const failure = await search({ ...silent, id: 'Testperson, Invented' }, { heartbeatDetails });
      expect(String(failure)).toContain('an id of 20 characters');
      expect(String(failure)).not.toContain('Testperson');
    }
  });

  test('is the import if its reference has claimed it', async () => {
    expect(await search(silent, { claim: 'invented-1' })).toMatchObject({ id: 'order-1' });
  });

  test.each<[string, object, Looking?]>([
    ['if nothing was sent', silent, { triedBefore: false, heartbeatDetails: undefined }],
    ['if another reference has claimed it', silent, { claim: 'invented-2' }],
    ['if it is older', { ...silent, created_at: '2026-02-01T00:00:00.000Z' }],
    ['if it carries a passthrough of ours', { ...silent, passthrough: 'labops/default:-:invented-2:1' }],
    ['if it was cancelled', { ...silent, events: [event, { ...event, id: 2, status: 'cancelled.testkit.cancelled' }] }],
    ['if it is of another user', { ...silent, user_id: 'user-2' }],
    ['if it has another sample', { ...silent, sample_id: 'SAMPLE-2' }],
  ])('is another order %s', async (_when, order, looking) => {
    expect(await search(order, looking)).toBeUndefined();
  });
});

test('another user’s order is not the import, though it has the same sample id', async () => {
  expect(await search({ ...silent, sample_id: 'SAMPLE-1', user_id: 'user-2' })).toBeUndefined();
});

test('a sample id is the same in lower case', async () => {
  expect(await search({ ...silent, sample_id: ' sample-1 ' })).toMatchObject({ id: 'order-1' });
});

describe('an order that has the sample of an import', () => {
  const same = { ...silent, sample_id: 'SAMPLE-1' };
  const cancelled = { ...same, events: [event, { ...event, id: 2, status: 'cancelled.testkit.cancelled' }] };

  test('is the import if nobody else has claimed it, once a second attempt sees that', async () => {
    const first = await search(same, { triedBefore: false, heartbeatDetails: undefined });
    expect(first).toMatchObject({ type: 'OrderUnclaimed', nonRetryable: false });
    expect(await search(same)).toMatchObject({ id: 'order-1' });
  });

  test('and another reference refuses the import, unless it is cancelled', async () => {
    expect(await search(same, { claim: 'invented-2' })).toMatchObject({
      type: 'OrderRefused',
      details: [{ fields: [{ field: 'sample_id', message: 'belongs to order order-1, which has another reference' }] }],
    });
    expect(await search(cancelled, { claim: 'invented-2' })).toBeUndefined();
    expect(await search(cancelled, { claim: 'invented-1' })).toMatchObject({ id: 'order-1' });
  });
});
