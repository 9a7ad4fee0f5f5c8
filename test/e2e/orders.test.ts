import { expect, test } from 'vitest';
import {
  createNotificationHandler,
  ReferenceConflict,
  type OrderPolicy,
  type OrderState,
  type KitOrderHandle,
} from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { forwardedPhase, labPhaseKey } from '../../protocol/search-attributes.js';
import { kitFor, registration } from '../rig/cast.js';
import { followed } from '../rig/followed.js';
import { patience, stack } from './stack.js';

const lab = stack();

const toCustomer = ['transit_customer', 'out_for_delivery', 'with_customer'];
const toResults = ['transit_lab', 'delivered_to_lab', 'completed'];

async function move(orderId: string, statuses: readonly string[]): Promise<void> {
  for (const status of statuses) await lab.sandbox.move(orderId, status);
}

/** Waits until the order has received everything that the service reported about it. */
async function caughtUp(handle: KitOrderHandle, orderId: string): Promise<OrderState> {
  const { order } = await lab.sandbox.order(orderId);
  const received = async () => (await followed(handle)).timeline.filter((entry) => entry.orderId === orderId).length;
  await expect.poll(received, patience).toBe(order.events.length);
  return followed(handle);
}

/** The last status only when every webhook before it has come: one that comes after the end begins another run. */
async function moveToEnd(orderId: string, statuses: readonly string[]): Promise<void> {
  await move(orderId, statuses.slice(0, -1));
  await lab.sandbox.settleWebhooks();
  await move(orderId, statuses.slice(-1));
}

const typesNotifiedOf = (rootOrderId: string) => lab.receiver.about(rootOrderId).map(({ type }) => type);

// proves 8
test('a kit order is carried from placement to results, and the product is notified of each step', async () => {
  const { handle, orderId, reference } = await lab.place();
  const phases: string[] = [];
  const watching = (async () => {
    for await (const { phase } of handle.watch({ minInterval: '100ms', maxInterval: '100ms' })) phases.push(phase);
  })();
  const notifications = createNotificationHandler({ secrets: [lab.workerEnv['NOTIFY_SECRET'] ?? ''], on: {} });
  lab.receiver.product = notifications;
  const watchedByNotifications = (async () => {
    let last: string | undefined;
    for await (const { phase } of handle.watch({ notifications, minInterval: '100ms', maxInterval: '1h' }))
      last = phase;
    return last;
  })();
  await expect.poll(() => phases, patience).toEqual(['awaiting_registration']);
  await move(orderId, toCustomer);
  await caughtUp(handle, orderId);
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  const registered = await handle.register(registration(sampleId ?? ''));
  expect(registered).toMatchObject({ orderId, reference, phase: 'with_customer', registered: true });
  await move(orderId, toResults);

  expect(await handle.result()).toMatchObject({ outcome: 'completed', orderId, reference, interpretation: 'normal' });
  expect((await handle.results()).results).toHaveLength(3);
  await watching;
  expect(phases.at(-1)).toBe('completed');
  expect(await watchedByNotifications).toBe('completed');
  const notified = lab.receiver.about(orderId);
  expect(notified.map(({ type }) => type).filter((type) => type !== 'phase_changed')).toEqual(['result']);
  expect(notified.find(({ type }) => type === 'result')).toMatchObject({ subject: orderId, data: { reference } });
  expect(notified.at(-1)?.data).toMatchObject({ phase: 'completed' });
});

test('an order that nobody placed through the product is adopted by its first webhook', async () => {
  const { order } = await lab.sandbox.createOrder();
  await expect.poll(() => lab.labs.orders.get({ orderId: order.id }).catch(() => undefined), patience).toBeDefined();
  const handle = await lab.labs.orders.get({ orderId: order.id });
  await move(order.id, [...toCustomer, ...toResults]);
  const result = await handle.result();
  expect(result).toMatchObject({ outcome: 'completed', rootOrderId: order.id });
  expect(result).not.toHaveProperty('reference');
  expect(typesNotifiedOf(order.id)).toContain('result');
});

test('a webhook that comes before the hand-over waits for it, and there is one run', async () => {
  const slow = { kind: 'delay', delayMs: 25_000, phase: 'after_work' } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: slow });
  const userId = await lab.newUser();
  const reference = `early-${userId}`;
  const handle = await lab.labs.orders.place(kitFor(userId, reference));
  await expect.poll(async () => (await lab.ordersOf(userId)).length, patience).toBe(1);
  const [{ order } = { order: { id: '' } }] = await lab.ordersOf(userId);
  const workflow = lab.rig.client.workflow.getHandle(kitOrderId(order.id));
  await expect.poll(() => workflow.describe().catch(() => undefined), patience).toBeDefined();
  const placing = lab.rig.client.workflow.getHandle(placeKitOrderId(reference));
  expect((await placing.describe()).status.name, 'the webhook came first').toBe('RUNNING');

  expect(await handle.orderId()).toBe(order.id);
  await expect.poll(async () => (await handle.state()).reference, patience).toBe(reference);
  expect(await lab.activitiesOf(order.id)).not.toContain('readChain');
  expect(await lab.runsOf(order.id)).toHaveLength(1);
  expect(await lab.creations()).toBe(1);
});

test("a replacement's webhook that comes before its creation is answered joins the chain", async () => {
  const { handle, orderId, userId } = await lab.place({ onLost: 'replace' });
  const slow = { kind: 'delay', delayMs: 25_000, phase: 'after_work' } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: slow });
  await move(orderId, ['transit_customer', 'lost']);
  await expect.poll(async () => (await lab.ordersOf(userId)).length, patience).toBe(2);
  const replacement = (await lab.ordersOf(userId)).find(({ order }) => order.id !== orderId)?.order.id ?? '';
  await expect.poll(async () => (await handle.state()).orderId, patience).toBe(replacement);
  const links = [{ replacedBy: replacement }, { origin: 'replacement', replaces: orderId }];
  expect((await followed(handle)).chain).toMatchObject(links);
  const [creation] = (await lab.sandbox.requests({ method: 'POST', path: '/v3/order/testkit' })).slice(-1);
  expect(creation?.outcome, 'the webhook came first').toBe('pending');
  await move(replacement, [...toCustomer, ...toResults]);

  expect(await handle.result()).toMatchObject({
    outcome: 'completed',
    orderId: replacement,
    rootOrderId: orderId,
    chain: [
      { orderId, phase: 'failed', replacedBy: replacement },
      { orderId: replacement, origin: 'replacement', phase: 'completed', replaces: orderId },
    ],
  });
  expect(await lab.ordersOf(userId)).toHaveLength(2);
  expect(typesNotifiedOf(orderId).filter((type) => type === 'replacement')).toHaveLength(1);
  await expect(lab.labs.orders.get({ orderId: replacement })).resolves.toHaveProperty('reference', undefined);
  await expect(lab.rig.client.workflow.getHandle(kitOrderId(replacement)).describe()).rejects.toThrow('not found');
});

test('a redraw whose webhook names no transaction is forwarded to its chain', async () => {
  await lab.sandbox.changeSettings({ transactionInWebhooks: false });
  const { handle, orderId } = await lab.place();
  await move(orderId, [...toCustomer, 'transit_lab', 'delivered_to_lab', 'sample_error']);
  const { order: redraw } = await lab.sandbox.redraw(orderId);
  await expect.poll(async () => (await handle.state()).orderId, patience).toBe(redraw.id);
  const forwarder = lab.rig.client.workflow.getHandle(kitOrderId(redraw.id));
  const phase = async () => (await forwarder.describe()).typedSearchAttributes.get(labPhaseKey);
  await expect.poll(phase, patience).toBe(forwardedPhase);
  const byRedraw = await lab.labs.orders.get({ orderId: redraw.id });
  expect(await byRedraw.orderId()).toBe(orderId);
  await move(redraw.id, [...toCustomer, ...toResults]);

  const chain = [
    { orderId, origin: 'initial', phase: 'failed', replacedBy: redraw.id },
    { orderId: redraw.id, origin: 'redraw', phase: 'completed', replaces: orderId },
  ];
  expect(await handle.result()).toMatchObject({ outcome: 'completed', orderId: redraw.id, chain });
  expect(await byRedraw.result()).toMatchObject({ rootOrderId: orderId });
  expect(await forwarder.result()).toMatchObject({ outcome: 'forwarded', rootOrderId: orderId });
  expect(typesNotifiedOf(redraw.id), 'the forwarder announces nothing').toEqual([]);
  expect(typesNotifiedOf(orderId).filter((type) => type === 'result')).toHaveLength(1);
  await lab.sandbox.changeSettings({ transactionInWebhooks: true });
});

test('a reference that was used returns the same order again, and never another one', async () => {
  const { handle, orderId, userId, reference } = await lab.place();
  const again = await lab.labs.orders.place(kitFor(userId, reference));
  expect(await again.orderId()).toBe(orderId);
  await move(orderId, [...toCustomer, ...toResults]);
  await handle.result();

  const afterItsEnd = await lab.labs.orders.place(kitFor(userId, reference));
  expect(await afterItsEnd.orderId()).toBe(orderId);
  expect(await afterItsEnd.result()).toMatchObject({ outcome: 'completed' });
  const other = lab.labs.orders.place(kitFor(await lab.newUser(), reference));
  await expect(other).rejects.toThrow(ReferenceConflict);
  const otherPolicy = await lab.labs.orders.place(kitFor(userId, reference, { replacementLimit: 2 }));
  expect(await otherPolicy.orderId()).toBe(orderId);
  expect(await lab.creations()).toBe(1);
});

test('webhooks that come twice and in the wrong order change nothing', async () => {
  await lab.sandbox.addWebhookFault({ event_type: 'labtest.order.created', action: { kind: 'duplicate', copies: 3 } });
  await lab.sandbox.addWebhookFault({ status: 'with_customer', action: { kind: 'duplicate', sameId: false } });
  await lab.sandbox.addWebhookFault({ action: { kind: 'reorder', count: 3 } });
  const { handle, orderId } = await lab.place();
  await move(orderId, [...toCustomer, ...toResults.slice(0, -1)]);
  await lab.sandbox.releaseWebhooks('reversed');
  // What comes after the end is another story.
  await lab.sandbox.removeWebhookFaults();
  await lab.sandbox.settleWebhooks();
  await move(orderId, toResults.slice(-1));

  const { timeline, outcome } = await handle.result();
  expect(outcome).toBe('completed');
  const { order } = await lab.sandbox.order(orderId);
  expect(timeline.map(({ eventId }) => eventId)).toEqual(order.events.map(({ id }) => id));
  await lab.untilListedAsEnded(orderId);
  const ids = lab.receiver.about(orderId).map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
  expect(typesNotifiedOf(orderId).filter((type) => type === 'result')).toHaveLength(1);
});

/** Deadlines so short that silence is noticed at once. */
const impatient: OrderPolicy = {
  shippingDeadline: '1s',
  deliveryDeadline: '1s',
  returnDeadline: '1s',
  transitToLabDeadline: '1s',
  resultsDeadline: '1s',
  registrationDeadline: '1s',
  recheckEvery: '1s',
};

test('an order whose webhooks are all lost is completed all the same, by reads at its deadlines', async () => {
  await lab.sandbox.addWebhookFault({ action: { kind: 'lose' } });
  // The service's own date for the results would count, which is days away.
  await lab.sandbox.changeSettings({ resultDates: false });
  const { handle, orderId } = await lab.place(impatient);
  await move(orderId, ['transit_customer']);
  await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
  await move(orderId, ['out_for_delivery', 'with_customer', ...toResults]);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', orderId });
  const deliveries = await lab.sandbox.deliveries({ order_id: orderId });
  expect(new Set(deliveries.map(({ state }) => state))).toEqual(new Set(['lost']));
  expect(typesNotifiedOf(orderId)).toContain('result');
  await lab.sandbox.changeSettings({ resultDates: true });
});

test('a late webhook for a finished order announces nothing', async () => {
  await lab.sandbox.addWebhookFault({ status: 'with_customer', times: 1, action: { kind: 'hold' } });
  const { handle, orderId } = await lab.place();
  await moveToEnd(orderId, [...toCustomer, ...toResults]);
  const { timeline } = await handle.result();
  await lab.untilListedAsEnded(orderId);
  const before = lab.receiver.about(orderId);

  expect(await lab.sandbox.releaseWebhooks()).toBe(1);
  await lab.untilListedAsEnded(orderId, 2);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', timeline });
  expect(lab.receiver.about(orderId)).toEqual(before);
  expect(await lab.activitiesOf(orderId)).toEqual(['readChain']);
});

test('a correction of a finished order announces only the correction', async () => {
  const { handle, orderId, reference } = await lab.place();
  await moveToEnd(orderId, [...toCustomer, ...toResults]);
  await handle.result();
  await lab.untilListedAsEnded(orderId);
  const before = lab.receiver.about(orderId);

  await lab.sandbox.move(orderId, { status: 'corrected', interpretation: 'abnormal' });
  await lab.untilListedAsEnded(orderId, 2);
  const after = lab.receiver.about(orderId).slice(before.length);
  expect(after).toMatchObject([
    { type: 'correction', subject: orderId, data: { reference, interpretation: 'abnormal' } },
  ]);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', interpretation: 'abnormal', reference });
});
