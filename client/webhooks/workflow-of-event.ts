import type { SignalDefinition } from '@temporalio/common';
import { appointmentSnapshotOf } from '../../service/appointment/snapshot.js';
import type {
  AppointmentReceived,
  CriticalResultReceived,
  MatchReviewReceived,
  OrderEventReceived,
  ParsingJobReceived,
} from '../../service/webhooks/events.js';
import { type OrderSnapshot, snapshotOf } from '../../service/order/snapshot.js';
import { reportSnapshotOf } from '../../service/report/snapshot.js';
import { appointmentChangedSignal } from '../../protocol/appointment/messages.js';
import { bookAppointmentStart } from '../../protocol/appointment/start.js';
import { signalOrStart, type WorkflowStart } from '../../protocol/signal-or-start.js';
import { isAddressable } from '../../protocol/ids.js';
import { matchReviewReportedSignal } from '../../protocol/match-review/messages.js';
import { matchReviewStart } from '../../protocol/match-review/start.js';
import { rootOf } from '../../protocol/order/root-order.js';
import {
  criticalResultReportedSignal,
  orderChangedSignal,
  type CriticalResultReported,
} from '../../protocol/order/messages.js';
import { criticalResultStart, kitOrderStart } from '../../protocol/order/start.js';
import { jobChangedSignal } from '../../protocol/report/messages.js';
import { parsingJobStart } from '../../protocol/report/start.js';
import type { Destinations, Routed } from './destinations.js';
import { deliver } from './temporal-delivery.js';

/*
 * The workflow that each event belongs to, found by the event alone, and the signal that it gets. What is personal stays behind.
 */

/** From here on there is no name, address or birth date. */
function project(
  { order, userId }: Pick<OrderEventReceived, 'order' | 'userId'>,
  { installation }: Destinations,
): OrderSnapshot {
  const snapshot = snapshotOf(order, installation);
  return userId === undefined ? snapshot : { userId, ...snapshot };
}

export async function deliverOrder(event: OrderEventReceived, destinations: Destinations): Promise<Routed> {
  const snapshot = project(event, destinations);
  const root = rootOf(snapshot);
  const { orderId } = snapshot;
  if (!isAddressable(orderId) || !isAddressable(root)) return { name: 'not_addressable' };
  const start = kitOrderStart(snapshot, root);
  return deliver(destinations, { orderId, workflowId: start.workflowId }, async (workflow, taskQueue) => {
    await signalOrStart(workflow, taskQueue, start, orderChangedSignal, snapshot);
  });
}

/**
 * Signals the workflow of the named order, which is started if there is none, and passes the alarm on if the order
 * belongs to another chain.
 */
export async function deliverCriticalResult(
  event: CriticalResultReceived,
  destinations: Destinations,
): Promise<Routed> {
  const { userId, order } = event;
  const report: CriticalResultReported = {
    ...event.report,
    ...(userId !== undefined && { userId }),
    ...(order && { order: project({ order, ...(userId !== undefined && { userId }) }, destinations) }),
  };
  const { orderId } = report;
  const root = report.order ? rootOf(report.order) : orderId;
  if (!isAddressable(orderId) || !isAddressable(root)) return { name: 'not_addressable' };
  const start = criticalResultStart(report, root);
  return signal(destinations, { orderId }, start, criticalResultReportedSignal, report);
}

/** Names, birth dates and values stay behind; of the job go its states and counts. */
export async function deliverParsingJob(event: ParsingJobReceived, destinations: Destinations): Promise<Routed> {
  const { jobId, userId } = event;
  if (!isAddressable(jobId)) return { name: 'not_addressable' };
  const snapshot = { ...reportSnapshotOf(event.job), jobId, ...(userId !== undefined && { userId }) };
  const start = parsingJobStart(snapshot);
  return signal(destinations, { jobId }, start, jobChangedSignal, snapshot);
}

/** Address, visitor and notes are left out. */
export async function deliverAppointment(event: AppointmentReceived, destinations: Destinations): Promise<Routed> {
  const { orderId, userId } = event;
  if (!isAddressable(orderId)) return { name: 'not_addressable' };
  const snapshot = { ...appointmentSnapshotOf(event.appointment), orderId, ...(userId !== undefined && { userId }) };
  const start = bookAppointmentStart(orderId, snapshot);
  return signal(destinations, { orderId }, start, appointmentChangedSignal, snapshot);
}

/** A stub without patient or candidates: the run reads the review. */
export async function deliverMatchReview({ report, userId }: MatchReviewReceived, to: Destinations): Promise<Routed> {
  if (!isAddressable(report.rawResultId)) return { name: 'not_addressable' };
  const reported = { ...report, ...(userId !== undefined && { userId }) };
  const start = matchReviewStart(reported);
  return signal(to, {}, start, matchReviewReportedSignal, reported);
}

async function signal<Argument>(
  destinations: Destinations,
  ids: Pick<Routed, 'orderId' | 'jobId'>,
  start: WorkflowStart<object>,
  definition: SignalDefinition<[Argument]>,
  argument: Argument,
): Promise<Routed> {
  return deliver(destinations, { ...ids, workflowId: start.workflowId }, (workflow, taskQueue) =>
    signalOrStart(workflow, taskQueue, start, definition, argument),
  );
}
