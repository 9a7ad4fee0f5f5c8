import { expect, test } from 'vitest';
import { errors, type OrderPolicy, type OrderState, type OrderHandle } from '../../client/index.js';
import { createNotificationHandler } from '../../client/notifications/index.js';
import { kitOrderId } from '../../protocol/ids.js';
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
async function caughtUp(handle: OrderHandle, orderId: string): Promise<OrderState> {
  const { order } = await lab.sandbox.order(orderId);
  const received = async () => (await followed(handle)).timeline.filter((entry) => entry.orderId === orderId).length;
  await expect.poll(received, patience).toBe(order.events.length);
  return followed(handle);
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
  const registered = await handle.register({ registration: registration(sampleId ?? '') });
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

test('a redraw whose webhook names no transaction is forwarded to its chain', async () => {
  await lab.sandbox.changeSettings({ transactionInWebhooks: false });
  const { handle, orderId } = await lab.place();
  await move(orderId, [...toCustomer, 'transit_lab', 'delivered_to_lab', 'sample_error']);
  const { order: redraw } = await lab.sandbox.redraw(orderId);
  await expect.poll(async () => (await handle.state()).orderId, patience).toBe(redraw.id);
  const forwarder = lab.rig.client.workflow.getHandle(kitOrderId(redraw.id));
  const phase = async () => (await forwarder.describe()).typedSearchAttributes.get(labPhaseKey);
  await expect.poll(phase, patience).toBe(forwardedPhase);
  const byRedraw = await lab.labs.orders.getHandle({ orderId: redraw.id });
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
  await expect(other).rejects.toThrow(errors.ReferenceConflict);
  const otherPolicy = await lab.labs.orders.place(kitFor(userId, reference, { replacementLimit: 2 }));
  expect(await otherPolicy.orderId()).toBe(orderId);
  expect(await lab.creations()).toBe(1);
});

test('what two people decide through one process names each of them, in the state and in the Web UI', async () => {
  const { orderId } = await lab.place();
  const [nurse, doctor] = [lab.labs.as('nurse-7'), lab.labs.as('doctor-3')];
  await (await nurse.orders.getHandle({ orderId })).setPolicy({ shippingDeadline: '8d' });
  const state = await (await doctor.orders.getHandle({ orderId })).cancel();
  const decided = 'timeline' in state ? state.timeline.filter(({ eventId }) => eventId === undefined) : [];
  expect(decided).toMatchObject([
    { status: 'policy_changed', detail: 'shippingDeadline', by: 'nurse-7' },
    { status: 'order_cancelled', by: 'doctor-3' },
  ]);
  const workflow = lab.rig.client.workflow.getHandle(kitOrderId(orderId));
  const { currentDetails } = await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  expect(currentDetails).toContain('**policy changed: shippingDeadline**, by `nurse-7`');
  expect(currentDetails).toContain('**order cancelled**, by `doctor-3`');
  const { events } = await workflow.fetchHistory();
  const accepted = (events ?? []).flatMap(
    ({ workflowExecutionUpdateAcceptedEventAttributes: update }) => update?.acceptedRequest?.meta?.identity ?? [],
  );
  expect(accepted).toEqual(['nurse-7', 'doctor-3']);
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
