import { WorkflowNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { type Attempt, startAttempt } from '../../../../activities/attempt.js';
import { placedBefore, type OrderCriteria } from '../../../../activities/order/earlier-orders.js';
import { importedBefore } from '../../../../activities/order/import-search.js';
import type { ActivityDependencies } from '../../../../activities/dependencies.js';
import { importFor } from '../../../rig/cast.js';
import { answering, serviceAt, type Answer, type RecordedRequest } from '../../service/recording-server.js';

const userId = 'user-1';
const since = '2026-03-01T00:00:00.000Z';

interface Looking {
  attempt?: number;
  /** What the attempt before said last. */
  heartbeatDetails?: unknown;
  /** The reference that has claimed every order; null: each has a workflow, and none a reference. */
  claim?: string | null | undefined;
  echoesPassthrough?: boolean;
}

const listing = (...orders: object[]): Answer => ({ body: { orders, total: orders.length, page: 1, size: 50 } });

/** One attempt at a service whose list is answered so: what it finds or why it fails, its last heartbeat, and its requests. */
async function looking(
  list: (request: RecordedRequest, index: number) => Answer,
  search: (dependencies: ActivityDependencies, attempt: Attempt) => Promise<unknown>,
  { claim, echoesPassthrough = false, attempt = 1, heartbeatDetails }: Looking,
) {
  const { baseUrl, requests } = await answering(list);
  const describe = async () => {
    if (claim !== undefined) return { typedSearchAttributes: { get: () => claim ?? undefined } };
    throw new WorkflowNotFoundError('none', 'kit-order/order-1', undefined);
  };
  const temporal = { workflow: { getHandle: () => ({ describe }) } };
  const dependencies = { service: serviceAt(baseUrl), temporal, echoesPassthrough } as unknown as ActivityDependencies;
  const times = {
    scheduledTimestampMs: Date.now(),
    startToCloseTimeoutMs: 3_600_000,
    scheduleToCloseTimeoutMs: 3_600_000,
  };
  const environment = new MockActivityEnvironment({ attempt, heartbeatDetails, ...times });
  let heartbeat: unknown = heartbeatDetails;
  environment.on('heartbeat', (details: unknown) => (heartbeat = details));
  const searching = environment.run(() => search(dependencies, startAttempt(30_000)));
  const found: unknown = await searching.catch((error: unknown) => error);
  const queries = requests.map(({ url = '' }) => new URL(url, 'http://service').searchParams);
  return { found, heartbeat, queries };
}

const sentBefore = (triedBefore: boolean) => ({ triedBefore, mayHaveBeenSent: triedBefore });

/** The order of a placement of 1 March. */
function placing({ attempt = 1, ...more }: Partial<OrderCriteria> & Looking) {
  const criteria: OrderCriteria = {
    ...{ kind: 'unregistered', passthrough: 'labops:-:invented-1:1', reference: 'invented-1', userId, since },
    ...{ labTestId: 'invented-test', address: { zip: '12345', first_line: '1 Example Street' } },
    ...sentBefore(attempt > 1),
    ...more,
  };
  return (dependencies: ActivityDependencies, of: Attempt) => placedBefore(dependencies, criteria, of);
}

describe('a user with many orders', () => {
  /** They are months old: two full pages, and a third. */
  function oldOrders({ url = '' }: RecordedRequest): Answer {
    const asked = new URL(url, 'http://service').searchParams;
    const old = { user_id: userId, created_at: '2026-01-01T00:00:00Z' };
    const all = Array.from({ length: asked.has('start_date') ? 0 : 101 }, (_, n) => ({ id: `old-${n}`, ...old }));
    const page = Number(asked.get('page'));
    return { body: { orders: all.slice((page - 1) * 50, page * 50), total: all.length, page, size: 50 } };
  }

  /** The result or the error, the last heartbeat, and the pages that were read, `recent` for those of the last days only. */
  async function searched(given: Looking, list = oldOrders) {
    const looked = { echoesPassthrough: true, ...given };
    const { queries, ...outcome } = await looking(list, placing(looked), looked);
    const pages = queries.map((asked) => `${asked.has('start_date') ? 'recent ' : ''}${asked.get('page')}`);
    return { ...outcome, pages };
  }

  test('is searched once: later attempts read what is as young as the placement', async () => {
    const first = await searched({});
    expect(first.pages).toEqual(['1', '2', '3']);
    const later = await searched({ attempt: 2, heartbeatDetails: first.heartbeat });
    expect(later).toEqual({ found: undefined, heartbeat: first.heartbeat, pages: ['recent 1'] });
  });

  test('is searched by several attempts if one cannot read all of them', async () => {
    const failing = (request: RecordedRequest, index = 0) => (index < 2 ? oldOrders(request) : { status: 503 });
    const { found: failure, heartbeat } = await searched({}, failing);
    expect(failure).toMatchObject({ name: 'ServiceUnavailable' });
    const { found, pages } = await searched({ attempt: 2, heartbeatDetails: heartbeat });
    expect(found).toBeUndefined();
    // It did not count the pages before: only an empty one shows the end.
    expect(pages).toEqual(['recent 1', '2', '3', '4']);
  });

  test('is never searched if the service shows no passthrough: an old order cannot be recognised by it', async () => {
    expect(await searched({ echoesPassthrough: false })).toMatchObject({ found: undefined, pages: ['recent 1'] });
  });
});

describe('an order in the list that cannot be read', () => {
  const search = (given: Partial<OrderCriteria> & Looking) => {
    const looked = { echoesPassthrough: true, ...given };
    return looking(() => listing({ status: 'received' }), placing(looked), looked);
  };

  test('is skipped if nothing can have been sent before', async () => {
    expect(await search({})).toMatchObject({ found: undefined, heartbeat: { all: true } });
  });

  test.each<[string, Partial<OrderCriteria> & Looking]>([
    ['the first attempt of a later round', sentBefore(true)],
    ['the first attempt of a later run', { since: '2026-02-01T00:00:00.000Z', mayHaveBeenSent: true }],
    ['an attempt that lost its heartbeats', { attempt: 2 }],
    ['an attempt after one that looked at everything', { attempt: 2, heartbeatDetails: { all: true } }],
  ])('may be the one that an earlier attempt created: %s refuses it', async (_, given) => {
    expect((await search(given)).found).toMatchObject({ type: 'AnswerUnreadable', nonRetryable: false });
  });
});

test('a search for what an earlier run may have created starts at that run’s beginning', async () => {
  const given = { since: '2026-02-10T00:00:00.000Z', mayHaveBeenSent: true };
  const { queries } = await looking(() => listing(), placing(given), {});
  expect(queries.map((asked) => asked.get('start_date'))).toContain('2026-02-09T00:00:00.000Z');
});

/** What an attempt takes for the order that a lost answer created, if the list consists of these orders. */
async function foundAmong(
  written: readonly object[],
  { attempt = 2, ...more }: Partial<OrderCriteria> & Looking = {},
): Promise<unknown> {
  const usual = {
    ...{ user_id: userId, lab_test: { id: 'invented-test' }, created_at: '2026-03-01T00:00:05+00:00' },
    shipping_details: { zip: '12345', first_line: '1 Example Street' },
    events: [event(1, 'ordered')],
  };
  const orders = written.map((order, index) => ({ id: `order-${index + 1}`, ...usual, ...order }));
  const looked = { attempt, ...more };
  return (await looking(() => listing(...orders), placing(looked), looked)).found;
}

const foundIn = (written: object, kind: OrderCriteria['kind'] = 'unregistered') => foundAmong([written], { kind });

function event(id: number, status: string) {
  return { id, created_at: '2026-03-01T00:00:05+00:00', status: `received.testkit.${status}` };
}

test.each([
  ['a test in another letter case', { lab_test: { id: 'INVENTED-TEST' } }],
  ['its punctuation left out', { shipping_details: { zip: '12345', first_line: '1, EXAMPLE STREET.' } }],
  ['a zip with its extension', { shipping_details: { zip: '12345-6789', first_line: '1 Example Street' } }],
  ['a short zone', { created_at: '2026-03-01T00:00:05+00' }],
  ['no time', { created_at: null }],
  ['the time of a clock that was never set', { created_at: '1970-01-01T00:00:00Z' }],
  ['no user', { user_id: null }],
])('an order that a lost answer created is found, though the service writes it with %s', async (_, written) => {
  expect(await foundIn(written)).toMatchObject({ id: 'order-1' });
});

const otherwise = { zip: '12345', first_line: '1 EXMPL ST' };

describe('an order whose creation may have got no answer, and which the service writes its own way', () => {
  test.each<[string, object]>([
    ['another first line', { shipping_details: otherwise }],
    ['another zip', { shipping_details: { zip: 'invented', first_line: '1 Example Street' } }],
    ['no address', { shipping_details: null }],
    ['a local time that is hours behind', { created_at: '2026-02-28T13:00:05' }],
    ['a local time that is hours ahead', { shipping_details: otherwise, created_at: '2026-03-01T13:00:05' }],
    ['the date of a place west of Greenwich', { created_at: '2026-02-28' }],
  ])('stops the creation, with %s: a person decides', async (_, written) => {
    expect(await foundIn(written)).toMatchObject({ type: 'AmbiguousOrder', details: [{ orderIds: ['order-1'] }] });
  });

  test('is distinguished from others by its address', async () => {
    expect(await foundAmong([{ shipping_details: otherwise }, {}])).toMatchObject({ id: 'order-2' });
    const both = await foundAmong([{ shipping_details: otherwise }, { shipping_details: otherwise }]);
    expect(both).toMatchObject({ type: 'AmbiguousOrder', details: [{ orderIds: ['order-1', 'order-2'] }] });
  });

  test('is another one if another reference has claimed it, and ours if ours has or none', async () => {
    expect(await foundAmong([{}], { claim: 'invented-2' })).toBeUndefined();
    expect(await foundAmong([{}], { claim: null })).toMatchObject({ id: 'order-1' });
    expect(await foundAmong([{}, {}], { claim: 'invented-1', attempt: 1 })).toMatchObject({ id: 'order-1' });
    expect(await foundAmong([{}], { attempt: 1 })).toMatchObject({ type: 'OrderUnclaimed', nonRetryable: false });
  });

  test('is another one if nothing was sent yet, or if it has another test or is days older', async () => {
    expect(await foundAmong([{ shipping_details: otherwise }], { attempt: 1 })).toBeUndefined();
    expect(await foundIn({ lab_test: { id: 'another-test' } })).toBeUndefined();
    // A set of tests may become any test.
    const ofSet = await foundAmong([{ lab_test: { id: 'another-test' } }], { labTestId: undefined as never });
    expect(ofSet).toMatchObject({ id: 'order-1' });
    expect(await foundIn({ created_at: '2026-02-27T00:00:05+00:00' })).toBeUndefined();
  });
});

describe('an order of another user, in a list that is not filtered by user', () => {
  const another = { user_id: '00000000-0000-4000-8000-00000000beef' };
  const registered = { ...another, events: [event(1, 'ordered'), event(2, 'registered')] };

  test('is not the one that a lost answer created, though both live at one address', async () => {
    expect(await foundIn(another)).toBeUndefined();
    expect(await foundIn(registered, 'with_patient')).toBeUndefined();
  });

  test('is not it though it carries the same passthrough', async () => {
    expect(await foundIn({ ...another, passthrough: 'labops/default:-:invented-1:1' })).toBeUndefined();
  });

  test('may be it if it was registered, which gives a kit to another user', async () => {
    expect(await foundIn(registered)).toMatchObject({ id: 'order-1' });
  });
});

const bypassed = { id: 1, created_at: since, status: 'received.testkit.requisition_bypassed' };
const cancelled = [bypassed, { ...bypassed, id: 2, status: 'cancelled.testkit.cancelled' }];
const imported = { id: 'order-1', created_at: since, sample_id: null, events: [bypassed] };

/** What an attempt takes for the order of an import; an earlier one has seen an order without a sample id, if nothing else is said. */
async function importAmong(order: object, { triedBefore = true, ...given }: { triedBefore?: boolean } & Looking = {}) {
  const criteria = { order: importFor(userId, 'SAMPLE-1'), reference: 'invented-1', since, ...sentBefore(triedBefore) };
  const search = (dependencies: ActivityDependencies, of: Attempt) => importedBefore(dependencies, criteria, of);
  const seen = { heartbeatDetails: { all: true, inDoubt: true } };
  return (await looking(() => listing(order), search, { ...seen, ...given })).found;
}

describe('an import that does not show the sample id that was sent', () => {
  test.each<[string, object]>([
    ['as an import does', imported],
    ['with another first event', { ...imported, events: [{ ...bypassed, status: 'received.testkit.ordered' }] }],
    ['with no event', { ...imported, events: [] }],
    ['with no time', { ...imported, created_at: undefined }],
    ['with its user', { ...imported, user_id: 'user-1' }],
    ['with a blank sample id', { ...imported, sample_id: ' ' }],
    ['with its sample id in another form', { ...imported, sample_id: 'sample 1' }],
    ['with another word for the way of collection', { ...imported, details: { type: 'invented_collection' } }],
    ['with a local time that is hours behind', { ...imported, created_at: '2026-02-28T13:00:05' }],
  ])('may be the one that a lost answer created, %s: a person decides, and nothing is created', async (_how, order) => {
    for (const claim of [undefined, null] as const)
      expect(await importAmong(order, { claim })).toMatchObject({
        type: 'AmbiguousOrder',
        details: [{ orderIds: ['order-1'] }],
      });
  });

  test('may show it later: the next attempt looks again', async () => {
    const first = await importAmong(imported, { heartbeatDetails: undefined });
    expect(first).toMatchObject({ type: 'OrderUnclaimed', nonRetryable: false });
  });

  test('is not named in a message if its id may be anything, a name too', async () => {
    for (const heartbeatDetails of [undefined, { all: true, inDoubt: true }]) {
      const failure = await importAmong({ ...imported, id: 'Testperson, Invented' }, { heartbeatDetails });
      expect(String(failure)).toContain('an id of 20 characters');
      expect(String(failure)).not.toContain('Testperson');
    }
  });

  test('is the import if its reference has claimed it', async () => {
    expect(await importAmong(imported, { claim: 'invented-1' })).toMatchObject({ id: 'order-1' });
  });

  test.each<[string, object, Parameters<typeof importAmong>[1]?]>([
    ['if nothing was sent', imported, { triedBefore: false, heartbeatDetails: undefined }],
    ['if another reference has claimed it', imported, { claim: 'invented-2' }],
    ['if it is older', { ...imported, created_at: '2026-02-01T00:00:00.000Z' }],
    ['if it carries a passthrough of ours', { ...imported, passthrough: 'labops/default:-:invented-2:1' }],
    ['if it was cancelled', { ...imported, events: cancelled }],
    ['if it is of another user', { ...imported, user_id: 'user-2' }],
    ['if it has another sample', { ...imported, sample_id: 'SAMPLE-2' }],
  ])('is another order %s', async (_when, order, more) => {
    expect(await importAmong(order, more)).toBeUndefined();
  });
});

test('another user’s order is not the import, though it has the same sample id', async () => {
  expect(await importAmong({ ...imported, sample_id: 'SAMPLE-1', user_id: 'user-2' })).toBeUndefined();
});

test('a sample id is the same in lower case', async () => {
  expect(await importAmong({ ...imported, sample_id: ' sample-1 ' })).toMatchObject({ id: 'order-1' });
});

describe('an order that has the sample of an import', () => {
  const same = { ...imported, sample_id: 'SAMPLE-1' };

  test('is the import if nobody else has claimed it, once a second attempt sees that', async () => {
    const first = await importAmong(same, { triedBefore: false, heartbeatDetails: undefined });
    expect(first).toMatchObject({ type: 'OrderUnclaimed', nonRetryable: false });
    expect(await importAmong(same)).toMatchObject({ id: 'order-1' });
  });

  test('and another reference refuses the import, unless it is cancelled', async () => {
    expect(await importAmong(same, { claim: 'invented-2' })).toMatchObject({
      type: 'OrderRefused',
      details: [{ fields: [{ field: 'sample_id', message: 'belongs to order order-1, which has another reference' }] }],
    });
    expect(await importAmong({ ...same, events: cancelled }, { claim: 'invented-2' })).toBeUndefined();
    expect(await importAmong({ ...same, events: cancelled }, { claim: 'invented-1' })).toMatchObject({ id: 'order-1' });
  });
});
