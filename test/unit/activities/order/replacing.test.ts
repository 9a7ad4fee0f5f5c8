import { WorkflowNotFoundError } from '@temporalio/client';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../../activities/dependencies.js';
import type { RequireNotStopped } from '../../../../activities/placing-stop.js';
import { placingActivities, type PlacedOrder } from '../../../../activities/order/placing.js';
import { shippingDetails } from '../../../rig/cast.js';
import { answering, serviceAt, type Answer } from '../../service/recording-server.js';
import { resolvePolicy } from '../../../../protocol/policy/policies.js';

const created = '2026-03-01T00:00:00Z';
const event = { id: 1, created_at: created, status: 'failed.testkit.lost' };
const proxy: Answer = { status: 404, body: '404 page not found' };

const failed = {
  ...{ user_id: 'user-1', lab_test: { id: 'invented-test' }, shipping_details: shippingDetails, created_at: created },
  ...{ id: 'failed', events: [event] },
};

interface Circumstances {
  /** What the service answers about an order, by default the failed one. */
  read?: Answer | ((url: string) => Answer);
  requireNotStopped?: RequireNotStopped;
  /** Runs that Temporal lists. */
  runs?: readonly object[];
}

/** One attempt to replace a failed order that has had one event, at a service whose list of orders answers so. */
async function replacing(
  list: Answer,
  more: object = {},
  { read = { body: failed }, requireNotStopped = () => Promise.resolve(), runs = [] }: Circumstances = {},
) {
  const creations: string[] = [];
  const { baseUrl, requests } = await answering(({ method, url = '' }) => {
    if (method === 'POST') creations.push(url);
    if (method === 'POST') return { body: { order: { ...failed, id: 'new-kit' }, status: 'success', message: 'made' } };
    if (url.startsWith('/orders')) return list;
    return typeof read === 'function' ? read(url) : read;
  });
  const workflow = {
    async *list() {
      yield* runs;
    },
    getHandle: (workflowId: string) => ({
      describe: () => Promise.reject(new WorkflowNotFoundError('none', workflowId, undefined)),
    }),
  };
  const service = serviceAt(baseUrl);
  const dependencies = { service, temporal: { workflow }, requireNotStopped, echoesPassthrough: true };
  const { replaceKitOrder } = placingActivities(dependencies as unknown as ActivityDependencies);
  const { creationTimeout, creationSettling } = resolvePolicy('order');
  const input = {
    ...{ failedOrderId: 'failed', decidedOn: { eventId: 1 }, rootOrderId: 'failed', reference: 'invented-1', n: 2 },
    ...{ chain: ['failed'], claimedAt: created, triedBefore: false, creationTimeout, creationSettling, ...more },
  };
  const hour = 3_600_000;
  const now = Date.now();
  const times = { scheduledTimestampMs: now, startToCloseTimeoutMs: hour, scheduleToCloseTimeoutMs: hour };
  const info = { ...times, currentAttemptScheduledTimestampMs: now };
  const placed: Promise<PlacedOrder> = new MockActivityEnvironment(info).run(() => replaceKitOrder(input));
  return { placed, outcome: placed.catch((error: unknown) => error), creations, requests };
}

const listed = (...orders: object[]): Answer => ({ body: { orders, total: orders.length, page: 1, size: 50 } });
const mine = { ...failed, id: 'mine', passthrough: 'labops/default:failed:invented-1:2' };
const renamed = { ...mine, events: [], passthrough: 'labops/default:failed:failed:2' };

test.each([
  ['our passthrough', [mine]],
  [
    'its root and its number, though the chain has got another reference since',
    [{ ...renamed, id: 'first', passthrough: 'labops/default:failed:failed:1' }, renamed],
  ],
])('a replacement whose creation was not answered is found by %s', async (_what, orders) => {
  const { outcome, creations } = await replacing(listed(...orders), { triedBefore: true });
  expect(await outcome).toMatchObject({ adopted: true, snapshot: { orderId: 'mine' } });
  expect(creations).toEqual([]);
});

describe('a replacement whose run was reset', () => {
  const run = (closeTime: Date, name = 'TERMINATED') => ({
    ...{ workflowId: 'kit-order/failed', runId: 'run-1', startTime: new Date(created), closeTime, status: { name } },
  });
  const unnamed = { ...failed, id: 'unnamed' };

  test('waits until what the run before may have sent has settled', async () => {
    const { outcome, creations } = await replacing(listed(), {}, { runs: [run(new Date())] });
    expect(await outcome).toMatchObject({ type: 'EarlierPlacingUnsettled', nonRetryable: false });
    expect(creations).toEqual([]);
  });

  test('is not created beside an order that may be it, however long ago that was made', async () => {
    const claimedAt = '2026-03-08T00:00:00Z';
    const { outcome, creations } = await replacing(listed(unnamed), { claimedAt }, { runs: [run(new Date(created))] });
    expect(await outcome).toMatchObject({ type: 'AmbiguousOrder', nonRetryable: true });
    expect(creations).toEqual([]);
  });

  test.each(['COMPLETED', 'CONTINUED_AS_NEW'])('is created at once if the run before ended as %s', async (status) => {
    const { outcome } = await replacing(listed(unnamed), {}, { runs: [run(new Date(), status)] });
    expect(await outcome).toMatchObject({ adopted: false });
  });
});

test('a replacement is not created while placing is stopped, which says if nothing was sent', async () => {
  const requireNotStopped: RequireNotStopped = (attempt) => Promise.reject(new Error(JSON.stringify(attempt)));
  for (const triedBefore of [false, true]) {
    const { outcome, creations } = await replacing(listed(), { triedBefore }, { requireNotStopped });
    expect(String(await outcome)).toBe(triedBefore ? 'Error: {}' : 'Error: {"nothingSent":true}');
    expect(creations).toEqual([]);
  }
});

test.each([
  ['an event more than was decided on', { decidedOn: { eventId: 0 } }, {}],
  ['an end by its status alone', {}, { events: [{ ...event, status: 'received.a.ordered' }], status: 'cancelled' }],
])('an order that the service shows with %s is not replaced', async (_what, more, shown) => {
  const { outcome, creations } = await replacing(listed(), more, { read: { body: { ...failed, ...shown } } });
  expect(await outcome).toMatchObject({ type: 'OrderMovedOn', nonRetryable: true });
  expect(creations).toEqual([]);
});

test.each([
  ['the search for a kit that exists already', proxy, {}],
  ['the read of the lost order', listed(), { read: proxy }],
])('a 404 of a proxy to %s refuses no replacement', async (_what, list, circumstances) => {
  const { outcome } = await replacing(list, {}, circumstances);
  expect(await outcome).toMatchObject({ type: 'AnswerUnreadable', nonRetryable: false });
});

/** Tries to replace a failed order whose transaction lists these orders, itself among them. */
async function replace(...orders: { id: string; origin?: string; created_at?: string }[]): Promise<PlacedOrder> {
  const common = { ...failed, order_transaction: { id: 'transaction-1', orders } };
  const read = (url: string): Answer => ({
    body: { ...common, id: new URL(url, 'http://service').pathname.split('/').at(-1) },
  });
  return (await replacing(listed(), {}, { read })).placed;
}

test.each<[string, object, object]>([
  ['a later time', { created_at: created }, { created_at: '2026-03-02T00:00:00Z' }],
  ['no time', { created_at: created }, {}],
  ['a time that cannot be read', { created_at: created }, { created_at: 'invented' }],
  ['a local time, as itself in the list', { created_at: '2026-02-28T19:00:00' }, { created_at: '2026-02-28T20:00:00' }],
])('a redraw that the service lists with %s wins over a replacement', async (_, own, redraw) => {
  const placed = await replace({ id: 'failed', ...own }, { id: 'redraw', origin: 'redraw', ...redraw });
  expect(placed).toMatchObject({ adopted: true, snapshot: { orderId: 'redraw' } });
});

test('a redraw before the failed order is not the one that follows it', async () => {
  const earlier = { id: 'redraw', origin: 'redraw' };
  const placed = await replace(earlier, { id: 'failed', origin: 'redraw' });
  expect(placed).toMatchObject({ adopted: false, snapshot: { orderId: 'new-kit' } });
});

test('a replacement carries its number in the chain, and goes to the failed order’s address, with the patient’s phone number if that has an empty one', async () => {
  const patient_details = { phone_number: '+12025550101' };
  const body = { ...failed, patient_details, shipping_details: { ...shippingDetails, phone_number: '' } };
  const { placed, requests } = await replacing(listed(), {}, { read: { body } });
  await placed;
  const sent = requests.find(({ method }) => method === 'POST')?.body;
  const passthrough = 'labops/default:failed:invented-1:2';
  expect(sent).toMatchObject({ passthrough, shipping_details: { ...shippingDetails, ...patient_details } });
});
