import { WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startAttempt } from '../../../../activities/attempt.js';
import { placedBefore, type OrderCriteria } from '../../../../activities/order/earlier-orders.js';
import type { ActivityDependencies } from '../../../../activities/dependencies.js';
import { sandboxControl, type SandboxControl } from '../../../../sandbox/control.js';
import { startLabService, type LabService as StandIn } from '../../../../sandbox/lab-service/server.js';
import { ServiceError } from '../../../../service/errors.js';
import { createLabService, type LabService } from '../../../../service/lab-service.js';

const apiKey = 'sk_test_invented';
/** Two full pages, and a third. */
const orderCount = 101;

let standIn: StandIn;
let service: LabService;
let sandbox: SandboxControl;
let userId: string;

beforeAll(async () => {
  standIn = await startLabService({ port: 0, apiKey });
  service = createLabService({ baseUrl: standIn.url, apiKey });
  sandbox = sandboxControl(standIn.url);
  userId = (await sandbox.createUser()).user.user_id;
  await sandbox.setClock(new Date('2026-01-01T00:00:00Z'));
  for (let count = 0; count < orderCount; count += 1) await sandbox.createOrder({ user_id: userId });
  await sandbox.setClock(new Date('2026-03-01T00:00:00Z'));
});
beforeEach(() => sandbox.clearRequests());
afterAll(async () => {
  await service.close();
  await standIn.close();
});

const hour = 3_600_000;
const times = () => ({ scheduledTimestampMs: Date.now(), startToCloseTimeoutMs: hour, scheduleToCloseTimeoutMs: hour });
const sentBefore = (triedBefore: boolean) => ({ triedBefore, mayHaveBeenSent: triedBefore });
const criteria = (more: Partial<OrderCriteria>): OrderCriteria => ({
  kind: 'unregistered',
  passthrough: 'labops:-:invented-1:1',
  reference: 'invented-1',
  userId,
  ...sentBefore(false),
  address: { zip: '00000' },
  since: '2026-03-01T00:00:00.000Z',
  ...more,
});

/** One attempt to find an order that does not exist, placed on 1 March; returns its last heartbeat. */
async function search(
  attempt: number,
  { heartbeatDetails, echoesPassthrough = true, fails = false, ...wants }: Looking = {},
): Promise<unknown> {
  const environment = new MockActivityEnvironment({ attempt, heartbeatDetails, ...times() });
  let last: unknown = heartbeatDetails;
  environment.on('heartbeat', (details: unknown) => (last = details));
  const dependencies = { service, echoesPassthrough } as ActivityDependencies;
  const searching = environment.run(() =>
    placedBefore(dependencies, criteria({ ...sentBefore(attempt > 1), ...wants }), startAttempt(30_000)),
  );
  const outcome = await searching.catch((error: unknown) => error);
  const hasFailed = outcome instanceof ServiceError || outcome instanceof ApplicationFailure;
  expect(hasFailed ? 'failed' : outcome).toBe(fails ? 'failed' : undefined);
  return last;
}

interface Looking extends Pick<Partial<OrderCriteria>, 'since' | 'triedBefore' | 'mayHaveBeenSent'> {
  heartbeatDetails?: unknown;
  echoesPassthrough?: boolean;
  fails?: boolean;
}

/** The pages that were read, `recent` for those of the last days only. */
async function pagesRead(): Promise<string[]> {
  const requests = await sandbox.requests({ path: '/orders' });
  return requests.map(({ query }) => {
    const asked = new URLSearchParams(query);
    return asked.has('start_date') ? `recent ${asked.get('page')}` : `${asked.get('page')}`;
  });
}

describe('a user with many orders', () => {
  test('is searched once: later attempts read what is as young as the placement', async () => {
    const first = await search(1);
    expect(await pagesRead()).toEqual(['1', '2', '3']);
    await sandbox.clearRequests();
    expect(await search(2, { heartbeatDetails: first })).toEqual(first);
    expect(await pagesRead()).toEqual(['recent 1']);
  });

  test('a user with more orders than one attempt can read is searched by several', async () => {
    const refused = await sandbox.addFault({ path: '/orders', skip: 2, action: { kind: 'refuse' } });
    const first = await search(1, { fails: true });
    await sandbox.removeFaults(refused);
    await sandbox.clearRequests();
    await search(2, { heartbeatDetails: first });
    // It did not count the pages before: only an empty one shows the end.
    expect(await pagesRead()).toEqual(['recent 1', '2', '3', '4']);
  });

  test('is never searched if the service shows no passthrough: an old order cannot be recognised by it', async () => {
    await search(1, { echoesPassthrough: false });
    expect(await pagesRead()).toEqual(['recent 1']);
  });
});

describe('an order in the list that cannot be read', () => {
  const body = { orders: [{ status: 'received' }], total: 1, page: 1, size: 50 };
  const unreadable = { path: '/orders', action: { kind: 'answer', status: 200, body } } as const;
  afterEach(() => sandbox.removeFaults());

  test('is skipped if nothing can have been sent before', async () => {
    await sandbox.addFault(unreadable);
    expect(await search(1)).toEqual({ all: true });
  });

  test.each<[string, number, Looking]>([
    ['the first attempt of a later round', 1, sentBefore(true)],
    ['the first attempt of a later run', 1, { since: '2026-02-01T00:00:00.000Z', mayHaveBeenSent: true }],
    ['an attempt that lost its heartbeats', 2, {}],
    ['an attempt after one that looked at everything', 2, { heartbeatDetails: { all: true } }],
  ])('may be the one that an earlier attempt created: %s refuses it', async (_, attempt, looking) => {
    await sandbox.addFault(unreadable);
    await search(attempt, { ...looking, fails: true });
  });
});

test('a search for what an earlier run may have created starts at that run’s beginning', async () => {
  await search(1, { since: '2026-02-10T00:00:00.000Z', mayHaveBeenSent: true });
  const requests = await sandbox.requests({ path: '/orders' });
  const startDates = requests.map(({ query }) => new URLSearchParams(query).get('start_date'));
  expect(startDates).toContain('2026-02-09T00:00:00.000Z');
});

/** What an attempt takes for the order that a lost answer created, if the list consists of these orders. */
async function foundAmong(
  written: readonly object[],
  { attempt = 2, claim, ...wants }: Partial<OrderCriteria> & { attempt?: number; claim?: string } = {},
): Promise<unknown> {
  const usual = {
    ...{ user_id: userId, lab_test: { id: 'invented-test' }, created_at: '2026-03-01T00:00:05+00:00' },
    shipping_details: { zip: '12345', first_line: '1 Example Street' },
    events: [event(1, 'ordered')],
  };
  const orders = written.map((order, index) => ({ id: `order-${index + 1}`, ...usual, ...order }));
  const body = { orders, total: orders.length, page: 1, size: 50 };
  await sandbox.addFault({ path: '/orders', action: { kind: 'answer', status: 200, body } });
  const address = { zip: '12345', first_line: '1 Example Street' };
  const wanted = criteria({ labTestId: 'invented-test', address, ...sentBefore(attempt > 1), ...wants });
  const describe = async () => {
    if (claim !== undefined) return { typedSearchAttributes: { get: () => claim } };
    throw new WorkflowNotFoundError('none', 'kit-order/order-1', undefined);
  };
  const temporal = { workflow: { getHandle: () => ({ describe }) } };
  const dependencies = { service, temporal, echoesPassthrough: false } as unknown as ActivityDependencies;
  const searching = new MockActivityEnvironment({ attempt, ...times() }).run(() =>
    placedBefore(dependencies, wanted, startAttempt(30_000)),
  );
  const found: unknown = await searching.catch((error: unknown) => error);
  await sandbox.removeFaults();
  return found;
}

async function foundIn(written: object, kind: OrderCriteria['kind'] = 'unregistered') {
  return foundAmong([written], { kind });
}

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

  test('is another one if another reference has claimed it, and ours if ours has', async () => {
    expect(await foundAmong([{}], { claim: 'invented-2' })).toBeUndefined();
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
