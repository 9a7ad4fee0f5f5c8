import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { orderChangedSignal, kitOrderName, orderPlacedSignal } from '../../protocol/order/messages.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { defaultInstallation } from '../../service/installation.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { snapshotOf } from '../../service/order/projection.js';
import { consents, kitFor, patientAddress, patientDetails } from '../../test/rig/cast.js';
import { bareOrderName, eventSignal, type BareEvent } from './bare-order.js';
import type { Side, Stage } from './stage.js';
import { kitOrderStart } from '../../protocol/starts.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/*
 * One life of an order, from its placement to its results: seven events, one of them the registration of the kit. Each event
 * is sent when the one before it has been carried out, so no two of them share a workflow task.
 */

/** The workflows that a life consists of, by their types. */
export type Life = Record<string, string>;

/** The world around an order: the service's stand-in, which sends no webhooks of its own, and its users. */
type World = Pick<Stage, 'sandbox' | 'newUser'>;

export type Play = (world: World, side: Omit<Side, 'process'>) => Promise<Life>;

const untilRegistered = ['transit_customer', 'out_for_delivery', 'with_customer'];
const afterwards = ['transit_lab', 'delivered_to_lab', 'completed'];

export const playProject: Play = async (world, side) => {
  const { userId, reference } = { userId: await world.newUser(), reference: `bench-${randomUUID()}` };
  const handle = await side.labs.orders.place(kitFor(userId, reference));
  const orderId = await handle.orderId();
  const workflow = side.temporal.workflow.getHandle(kitOrderId(orderId));
  const report = async (snapshot: OrderSnapshot) => {
    await workflow.signal(orderChangedSignal, snapshot);
    await untilQuiet(workflow);
  };
  await untilQuiet(workflow);
  for (const status of untilRegistered) await report(await moved(world, orderId, status));
  const { kit_sample_id: sampleId } = await world.sandbox.order(orderId);
  const patient = { patient_details: patientDetails, patient_address: patientAddress, consents };
  await handle.register({ registration: { user_id: userId, sample_id: sampleId ?? '', ...patient } });
  const { order } = await world.sandbox.order(orderId);
  await report(snapshotOf(order, defaultInstallation));
  for (const status of afterwards) await report(await moved(world, orderId, status));
  await workflow.result();
  return { placeKitOrder: placeKitOrderId(reference), kitOrder: kitOrderId(orderId) };
};

export const playBare: Play = async (world, side) => {
  const { userId, reference } = { userId: await world.newUser(), reference: `bare-${randomUUID()}` };
  const workflowId = `bare-order/${reference}`;
  const input = { reference, userId, labTestId: labTestIds.kit };
  const { taskQueue } = side;
  const workflow = await side.temporal.workflow.start(bareOrderName, { workflowId, taskQueue, args: [input] });
  await untilQuiet(workflow);
  const orderId = await orderOf(side, userId);
  const report = async (event: BareEvent) => {
    await workflow.signal(eventSignal, event);
    await untilQuiet(workflow);
  };
  for (const status of untilRegistered) {
    const { order, kit_sample_id: sampleId } = await world.sandbox.move(orderId, status);
    const registers = status === 'with_customer' && sampleId !== null ? { sampleId } : {};
    await report({ ...eventOf(order), ...registers });
  }
  await report(eventOf((await world.sandbox.order(orderId)).order));
  for (const status of afterwards) await report(eventOf((await world.sandbox.move(orderId, status)).order));
  await workflow.result();
  return { bareOrder: workflowId };
};

async function moved(world: World, orderId: string, status: string): Promise<OrderSnapshot> {
  const { order } = await world.sandbox.move(orderId, status);
  return snapshotOf(order, defaultInstallation);
}

function eventOf({ events }: { events: readonly { status: string; created_at: string }[] }): BareEvent {
  const { status = '', created_at: at = '' } = events.at(-1) ?? {};
  return { status, at };
}

async function orderOf({ labs }: Pick<Side, 'labs'>, userId: string): Promise<string> {
  for await (const { id } of labs.orders.search({ userId })) return id;
  throw new Error('The bare workflow has placed no order');
}

const pauseMs = 5;
const patienceMs = 90_000;

/** Waits until the workflow has nothing to do. Asked of Temporal, so it costs no worker anything. */
export async function untilQuiet(workflow: WorkflowHandle): Promise<void> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const { raw, status } = await workflow.describe();
    const isIdle = raw.pendingWorkflowTask == null && (raw.pendingActivities ?? []).length === 0;
    if (isIdle || status.name !== 'RUNNING') return;
    if (Date.now() > deadline) throw new Error(`${workflow.workflowId} is not done after ${patienceMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Opens an order as its placing does, without one. */
export async function handOver(
  { temporal, taskQueue }: Pick<Side, 'temporal' | 'taskQueue'>,
  snapshot: OrderSnapshot,
  { notifies }: { notifies: boolean },
): Promise<void> {
  const reference = `open-${snapshot.orderId}`;
  const policy = resolvePolicy('order');
  await temporal.workflow.signalWithStart(kitOrderName, {
    ...kitOrderStart(snapshot, snapshot.orderId, reference, policy),
    taskQueue,
    signal: orderPlacedSignal,
    signalArgs: [{ reference, policy, snapshot, adopted: false, notifies }],
  });
}
