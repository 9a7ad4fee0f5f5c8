import { appointmentSnapshotOf } from '../../service/appointment/snapshot.js';
import { canonicalId } from '../../service/canonical-id.js';
import * as events from '../../service/webhooks/events.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { snapshotOf } from '../../service/order/projection.js';
import { reportSnapshotOf } from '../../service/report/snapshot.js';
import { utcInstant } from '../../service/timestamps.js';
import { appointmentChangedSignal } from '../../protocol/appointment/messages.js';
import {
  bookAppointmentStart,
  criticalResultStart,
  kitOrderStart,
  matchReviewStart,
  parsingJobStart,
} from '../../protocol/starts.js';
import { isAddressable } from '../../protocol/ids.js';
import { matchReviewReportedSignal } from '../../protocol/match-review/messages.js';
import {
  criticalResultReportedSignal,
  orderChangedSignal,
  type CriticalResultReported,
} from '../../protocol/order/messages.js';
import { rootOf } from '../../protocol/order/root-order.js';
import { jobChangedSignal } from '../../protocol/report/messages.js';
import type { Outcome } from './answers.js';
import { type Destinations, isRejected, rejectBody, storeRejected } from './sinks.js';
import { deliverConnection, deliverHealthData } from './health-data.js';
import { signalWorkflow } from './signal.js';
import type { Message, UnparsedMessage } from './verify.js';

/*
 * The third step of a message: the workflow or the sink that its event is for, found by the event alone, and what that gets of it. What is
 * personal stays behind. If an event may begin a workflow, protocol/signal-or-start.ts decides whether its signal starts it; an order
 * that nobody placed here is identified by its workflow (workflows/order/identify.ts).
 */

/** Routes a message. Never rejects: a failure is an answer too. */
export async function route(message: Message | UnparsedMessage, to: Destinations): Promise<Outcome> {
  if ('reason' in message) return rejectBody(message, to);
  const event = events.readEvent(message.value);
  const { kind, eventType } = event;
  const outcome = foreignTeam(event, message, to) ?? (await deliver(event, message, to));
  const settled = isRejected(outcome) ? await storeRejected(outcome, eventType, message, to) : outcome;
  return { ...settled, kind, eventType, happenedAt: settled.name === 'delivered' ? timeOf(event) : undefined };
}

/** An event that names no team is handled as ours: envelope ids are missing in some deployments. */
function foreignTeam(event: events.ReceivedEvent, { value }: Message, { team }: Destinations): Outcome | undefined {
  const named = 'teamId' in event ? event.teamId : events.teamOf(value);
  if (team === undefined || named === undefined) return undefined;
  if (canonicalId(named).toLowerCase() !== canonicalId(team.id).toLowerCase()) {
    return { name: 'foreign_team', isAlarming: !team.isSeen };
  }
  team.isSeen = true;
  return undefined;
}

/** Match reviews, parsing jobs and most health data name no time of the change. */
function timeOf(event: events.ReceivedEvent): string | undefined {
  if (event.kind === 'order') return utcInstant(event.order.updated_at);
  if (event.kind === 'critical_result') return event.report.updatedAt ?? event.report.createdAt;
  if (event.kind === 'appointment') return appointmentSnapshotOf(event.appointment).events.at(-1)?.at;
  return undefined;
}

async function deliver(event: events.ReceivedEvent, message: Message, to: Destinations): Promise<Outcome> {
  switch (event.kind) {
    case 'order':
      return deliverOrder(event, message, to);
    case 'critical_result':
      return deliverCriticalResult(event, message, to);
    case 'connection':
      return deliverConnection(event, message, to);
    case 'health_data':
      return deliverHealthData(event, message, to);
    case 'parsing_job':
      return deliverParsingJob(event, message, to);
    case 'appointment':
      return deliverAppointment(event, message, to);
    case 'match_review':
      return deliverMatchReview(event, message, to);
    case 'other':
      return { name: 'not_handled' };
    case 'unreadable':
      return { name: 'unreadable', problem: event.problem };
  }
}

const notAddressable: Outcome = { name: 'not_addressable' };

/** From here on there is no name, address or birth date. */
function project(
  { order, userId }: Pick<events.OrderEventReceived, 'order' | 'userId'>,
  { installation }: Destinations,
): OrderSnapshot {
  const snapshot = snapshotOf(order, installation);
  return userId === undefined ? snapshot : { userId, ...snapshot };
}

async function deliverOrder(event: events.OrderEventReceived, message: Message, to: Destinations): Promise<Outcome> {
  const snapshot = project(event, to);
  const root = rootOf(snapshot);
  const { orderId } = snapshot;
  if (!isAddressable(orderId) || !isAddressable(root)) return notAddressable;
  return signalWorkflow(message, to, { orderId }, kitOrderStart(snapshot, root), orderChangedSignal, snapshot);
}

/**
 * Signals the workflow of the named order, which is started if there is none, and passes the alarm on if the order
 * belongs to another chain.
 */
async function deliverCriticalResult(
  event: events.CriticalResultReceived,
  message: Message,
  to: Destinations,
): Promise<Outcome> {
  const { order } = event;
  const user = userIn(event);
  const report: CriticalResultReported = {
    ...event.report,
    ...user,
    ...(order && { order: project({ order, ...user }, to) }),
  };
  const { orderId } = report;
  const root = report.order ? rootOf(report.order) : orderId;
  if (!isAddressable(orderId) || !isAddressable(root)) return notAddressable;
  return signalWorkflow(
    message,
    to,
    { orderId },
    criticalResultStart(report, root),
    criticalResultReportedSignal,
    report,
  );
}

/** Names, birth dates and values stay behind; of the job go its states and counts. */
async function deliverParsingJob(
  event: events.ParsingJobReceived,
  message: Message,
  to: Destinations,
): Promise<Outcome> {
  const { jobId, job } = event;
  if (!isAddressable(jobId)) return notAddressable;
  const snapshot = { ...reportSnapshotOf(job), jobId, ...userIn(event) };
  return signalWorkflow(message, to, { jobId }, parsingJobStart(snapshot), jobChangedSignal, snapshot);
}

/** Address, visitor and notes are left out. */
async function deliverAppointment(
  event: events.AppointmentReceived,
  message: Message,
  to: Destinations,
): Promise<Outcome> {
  const { orderId, appointment } = event;
  if (!isAddressable(orderId)) return notAddressable;
  const snapshot = { ...appointmentSnapshotOf(appointment), orderId, ...userIn(event) };
  const start = bookAppointmentStart(orderId, snapshot);
  return signalWorkflow(message, to, { orderId }, start, appointmentChangedSignal, snapshot);
}

/** A stub without patient or candidates: the run reads the review. */
async function deliverMatchReview(
  event: events.MatchReviewReceived,
  message: Message,
  to: Destinations,
): Promise<Outcome> {
  if (!isAddressable(event.report.rawResultId)) return notAddressable;
  const reported = { ...event.report, ...userIn(event) };
  return signalWorkflow(message, to, {}, matchReviewStart(reported), matchReviewReportedSignal, reported);
}

function userIn({ userId }: { userId?: string }): { userId?: string } {
  return userId === undefined ? {} : { userId };
}
