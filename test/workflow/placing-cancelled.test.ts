import { describe, expect, test } from 'vitest';
import { PlacingCancelled, TimedOut, type KitOrderHandle, type OrderFilter } from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { orderPlacedSignal } from '../../protocol/order/messages.js';
import {
  cancelUpdate as cancelPlacingUpdate,
  placeKitOrderName,
  type PlaceKitOrderInput,
} from '../../protocol/order/placing-messages.js';
import { resolveOrderPolicy } from '../../protocol/order/policy.js';
import { labPhaseKey, labReferenceKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/** The full server lists workflows; time is real. */
const stage = setStage({ fullServer: true });
const createPath = '/v3/order/testkit';
/** A creation in doubt has settled after 5 seconds; each call of an attempt has as long, in real time. */
const quick = { creationTimeout: '5s', creationSettling: '5s' } as const;
const down = { kind: 'refuse' } as const;
/** The user's list has one order, without an id. */
const unreadable = {
  ...{ method: 'GET', path: '/orders' },
  action: { kind: 'answer', status: 200, body: { orders: [{ status: 'received' }], total: 1, page: 1, size: 50 } },
} as const;

async function references(filter: OrderFilter): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for await (const { reference } of stage.product.orders.list(filter)) found.push(reference);
  return found;
}

async function activitiesOf(workflowId: string): Promise<unknown[]> {
  const { events } = await stage.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
}

/** Waits until the first attempt has failed. */
async function failsOnce({ reference }: PlaceKitOrderInput): Promise<void> {
  await eventually(async () => {
    const { raw } = await stage.temporal.workflow.getHandle(placeKitOrderId(reference)).describe();
    expect(raw.pendingActivities?.[0]?.lastFailure).toBeTruthy();
  });
}

/** The next creation succeeds, but neither its answer nor its webhooks arrive: only the service's list shows the order. */
async function hideCreation(): Promise<void> {
  await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
  await stage.sandbox.addWebhookFault({ times: 2, action: { kind: 'lose' } });
}

/** Waits until the creation was sent, and its attempt has failed. */
async function losesAnswer(input: PlaceKitOrderInput): Promise<void> {
  await stage.expectRequests('POST', createPath);
  await failsOnce(input);
}

test('an order that the service does not take is shown and listed as being placed, and cancelled at once', async () => {
  await stage.sandbox.addFault({ path: '/**', action: down });
  const input = await stage.input();
  const handle = await stage.product.orders.place(input);
  await failsOnce(input);
  const { reference } = input;
  const placing = { phase: 'placing', reference, userId: input.order.user_id, attention: [] };
  expect(await (await stage.product.orders.get({ reference })).state()).toMatchObject(placing);
  await eventually(async () => expect(await references({ phase: 'placing' })).toEqual([reference]));
  expect(await references({ userId: input.order.user_id })).toEqual([reference]);

  expect(await handle.cancel()).toEqual({ outcome: 'cancelled', reference });
  await expect(handle.orderId()).rejects.toThrow(PlacingCancelled);
  expect(await handle.cancel(), 'again').toEqual({ outcome: 'cancelled', reference });
  await eventually(async () => expect(await references({ phase: 'placing' })).toEqual([]));
  expect(await activitiesOf(placeKitOrderId(reference)), 'nothing had to be found out').toEqual(['createKitOrder']);
  await stage.sandbox.removeFaults();
  expect(await stage.sandbox.orders()).toEqual([]);

  const again = await stage.product.orders.place(input);
  const orderId = await again.orderId();
  expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
});

test('a creation whose answer was lost is settled before its cancellation is answered: its order is cancelled', async () => {
  await hideCreation();
  const unread = await stage.sandbox.addFault({ method: 'GET', path: '/orders', skip: 1, action: down });
  const input = await stage.input({ policy: quick });
  const handle = await stage.product.orders.place(input);
  await losesAnswer(input);
  const cancelling = handle.cancel();
  await stage.expectRequests('GET', '/orders', 2);
  expect(await handle.state()).toMatchObject({ phase: 'placing' });
  await stage.sandbox.removeFaults(unread);
  expect(await cancelling).toMatchObject({ phase: 'cancelled', reference: input.reference });
  expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: await handle.orderId() } }]);
});

test('a creation whose answer was lost is found by its webhook, though the list cannot be read', async () => {
  await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
  await stage.sandbox.addFault({ method: 'GET', path: '/orders', skip: 1, action: down });
  const input = await stage.input({ policy: quick });
  const handle = await stage.product.orders.place(input);
  await losesAnswer(input);
  expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: await handle.orderId() } }]);
  expect(await handle.cancel()).toMatchObject({ phase: 'cancelled', reference: input.reference });
});

test('a cancellation does not answer while an unreadable order in the list may be the one', async () => {
  await hideCreation();
  const unread = await stage.sandbox.addFault(unreadable);
  const input = await stage.input({ policy: quick });
  const handle = await stage.product.orders.place(input);
  await losesAnswer(input);
  const cancelling = handle.cancel();
  await eventually(async () => {
    const { raw } = await stage.temporal.workflow.getHandle(placeKitOrderId(input.reference)).describe();
    const [finding] = raw.pendingActivities ?? [];
    expect(finding?.activityType?.name).toBe('findKitOrder');
    expect(finding?.lastFailure).toBeTruthy();
  });
  expect(await handle.state()).toMatchObject({ phase: 'placing' });
  await stage.sandbox.removeFaults(unread);
  expect(await cancelling).toMatchObject({ phase: 'cancelled', reference: input.reference });
  expect(await stage.sandbox.orders()).toHaveLength(1);
});

test('a placement after a terminated one orders nothing while an order in the list cannot be read', async () => {
  await hideCreation();
  const unread = await stage.sandbox.addFault(unreadable);
  const input = await stage.input({ policy: quick });
  await stage.product.orders.place(input);
  await losesAnswer(input);
  await stage.temporal.workflow.getHandle(placeKitOrderId(input.reference)).terminate();
  // The new run asks Temporal's list for the one before it, and that list lags.
  await eventually(async () => expect(await references({ phase: 'placing' })).toEqual([]));
  const again = await stage.product.orders.place(input);
  await failsOnce(input);
  await stage.expectRequests('GET', '/orders', 2);
  await stage.sandbox.removeFaults(unread);
  const orderId = await again.orderId();
  expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
  expect(await stage.countRequests('POST', createPath)).toBe(1);
});

test('a creation that is under way is answered first: its order is cancelled', async () => {
  const slow = { kind: 'delay', phase: 'before_work', delayMs: 2_000 } as const;
  await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: slow });
  const handle = await stage.product.orders.place(await stage.input());
  await stage.expectRequests('POST', createPath);
  expect(await handle.cancel()).toMatchObject({ phase: 'cancelled' });
  expect(await stage.sandbox.orders()).toHaveLength(1);
});

describe('a cancellation whose caller no longer waits when the order is found', () => {
  const cancelPathOf = (orderId: string) => `/v3/order/${orderId}/cancel`;

  async function cancelTooSoon(): Promise<{ handle: KitOrderHandle; input: PlaceKitOrderInput }> {
    await hideCreation();
    const unread = await stage.sandbox.addFault({ method: 'GET', path: '/orders', skip: 1, action: down });
    const input = await stage.input({ policy: quick });
    const handle = await stage.product.orders.place(input);
    await losesAnswer(input);
    // The client has two seconds to find out why there is no answer, and the deadline may pass before the cancellation is sent.
    await eventually(() => expect(handle.cancel({ deadline: '1s' })).rejects.toThrow(TimedOut));
    const placing = stage.temporal.workflow.getHandle(placeKitOrderId(input.reference));
    await placing.startUpdate(cancelPlacingUpdate, { waitForStage: 'ACCEPTED' });
    await stage.sandbox.removeFaults(unread);
    return { handle, input };
  }

  test('is carried out by the order itself', async () => {
    const { handle } = await cancelTooSoon();
    const orderId = await handle.orderId();
    expect(await stage.finish(kitOrderId(orderId))).toMatchObject({ outcome: 'cancelled' });
    expect(await stage.countRequests('POST', cancelPathOf(orderId))).toBe(1);
  });

  test('needs attention if the service refuses it, and is not retried', async () => {
    const action = { kind: 'answer', status: 400, body: { detail: 'Order has shipped' } } as const;
    const refusal = await stage.sandbox.addFault({ method: 'POST', path: cancelPathOf('*'), action });
    const { handle, input } = await cancelTooSoon();
    const kit = await stage.follow(await handle.orderId());
    await kit.expectAttention('cancellation_failed');
    const snapshot = { orderId: kit.rootOrderId, events: [] };
    const again = {
      reference: input.reference,
      policy: resolveOrderPolicy(input.policy),
      snapshot,
      cancelRequested: true,
    };
    await stage.temporal.workflow
      .getHandle(kitOrderId(kit.rootOrderId))
      .signal(orderPlacedSignal, { ...again, adopted: true, notifies: true });
    const { rootOrderId: orderId } = kit;
    expect(await kit.handle.resolveProblem('wait', { orderId })).toMatchObject({ attention: [] });
    expect(await stage.countRequests('POST', cancelPathOf(orderId))).toBe(1);
    await stage.sandbox.removeFaults(refusal);
    expect(await kit.handle.cancel()).toMatchObject({ phase: 'cancelled' });
  });
});

test('a placement that an operator cancels after a lost answer hands its order over', async () => {
  await hideCreation();
  const unread = await stage.sandbox.addFault({ method: 'GET', path: '/orders', skip: 1, action: down });
  const input = await stage.input({ policy: quick });
  await stage.product.orders.place(input);
  await losesAnswer(input);
  await stage.temporal.workflow.getHandle(placeKitOrderId(input.reference)).cancel();
  await stage.expectRequests('GET', '/orders', 2);
  await stage.sandbox.removeFaults(unread);
  const { orderId } = await stage.finish<{ orderId: string }>(placeKitOrderId(input.reference));
  const order = stage.temporal.workflow.getHandle(kitOrderId(orderId));
  expect((await order.describe()).typedSearchAttributes.get(labReferenceKey)).toBe(input.reference);
});

test('a placement that a backend starts without search attributes is found by its user, its reference and its phase', async () => {
  const input = await stage.input();
  const start = async (reference: string, userId: string) => {
    const workflowId = placeKitOrderId(reference);
    const order = { ...input.order, user_id: userId };
    await stage.temporal.workflow.start(placeKitOrderName, {
      workflowId,
      taskQueue,
      args: [{ ...input, reference, order } as PlaceKitOrderInput],
    });
    await stage.awaitEnd(workflowId);
    return (await stage.temporal.workflow.getHandle(workflowId).describe()).typedSearchAttributes;
  };
  const shown = await start(input.reference, input.order.user_id.toUpperCase());
  expect(shown.get(labUserIdKey)).toBe(input.order.user_id);
  expect(shown.get(labReferenceKey)).toBe(input.reference);
  expect(shown.get(labPhaseKey)).toBe('placing');
  const personal = await start(`${input.reference}-2`, 'Testperson Invented');
  expect(personal.get(labUserIdKey)).toBeUndefined();
});
