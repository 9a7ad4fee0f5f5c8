import { type Client, isGrpcServiceError, isRetryableError, WorkflowNotFoundError } from '@temporalio/client';
import { appointmentSnapshotOf } from '../../service/appointment-snapshot.js';
import {
  type AppointmentReceived,
  type ConnectionEventReceived,
  type CriticalResultReceived,
  type HealthDataReceived,
  type MatchReviewReceived,
  type OrderEventReceived,
  type ParsingJobReceived,
  readEvent,
  type ReceivedEvent,
  teamOf,
  userOf,
} from '../../service/events.js';
import { readHealthData } from '../../service/health-data.js';
import { type OrderSnapshot, snapshotOf } from '../../service/order-snapshot.js';
import { reportSnapshotOf } from '../../service/report-snapshot.js';
import { utcInstant } from '../../service/timestamps.js';
import { replayableSeconds } from '../../service/webhook-signature.js';
import { appointmentChangedSignal, bookAppointmentName } from '../../protocol/appointment/messages.js';
import { bookAppointmentStart } from '../../protocol/appointment/start.js';
import {
  deliverNotificationsName,
  deliverNotificationsStart,
  notificationsLeftSignal,
  usualRetryDays,
} from '../../protocol/delivery.js';
import { signalOrStart } from '../../protocol/earlier-run.js';
import { isLinkAddressable, linkProviderId, isAddressable } from '../../protocol/ids.js';
import { connectionErrorNotification } from '../../protocol/link/connection-error.js';
import { connectionReportedSignal } from '../../protocol/link/messages.js';
import { matchReviewName, matchReviewReportedSignal } from '../../protocol/match-review/messages.js';
import { matchReviewStart } from '../../protocol/match-review/start.js';
import { anyProvider } from '../../protocol/link/provider-source.js';
import { rootOf } from '../../protocol/order/root-order.js';
import {
  criticalResultReportedSignal,
  kitOrderName,
  orderChangedSignal,
  type CriticalResultReported,
} from '../../protocol/order/messages.js';
import { criticalResultStart, kitOrderStart } from '../../protocol/order/start.js';
import { jobChangedSignal, parsingJobName } from '../../protocol/report/messages.js';
import { parsingJobStart } from '../../protocol/report/start.js';
import { fetchWorkoutStreamName, streamNoticedSignal, workoutStreamStart } from '../../protocol/workout-stream.js';
import { EncryptionKeysMissing } from '../errors.js';
import { type AnswerName, answers } from './answers.js';

/**
 * Takes health data and events of provider connections. It resolves once they are durable; if it rejects, the answer is
 * 503. The same event may come again, even if it was taken: the answer is also 503 if a link could not be signalled. It
 * may return a result: `set_aside` and `user_deleted` are counted as such, and after `stream_due` the worker, which
 * then needs a store too, fetches the workout's stream. Anything else, or nothing, is `stored`.
 *
 * @param body the whole event as it was sent
 */
export type HealthDataSink = (
  event: HealthDataReceived | ConnectionEventReceived,
  messageId: string,
  body: string,
) => Promise<unknown>;

/** An event that is let go with 204, because it will never be handled; or a signed body that is not a JSON object. */
export interface RejectedEventReceived {
  reason: DroppedRoute['name'] | 'refused_by_temporal' | UnparsedBody['reason'];
  /** The unreadable part, without a value of the event. */
  problem?: string;
  eventType?: string;
  /** The envelope's user, else the one inside the data. */
  userId?: string;
  /** The whole event as it was sent. It may hold anything, a patient's name and address included. */
  body: string;
}

/** A signed body that contains no readable event: Python, for instance, writes NaN, which is not JSON. */
export interface UnparsedBody {
  reason: 'not_json' | 'not_an_object';
  /** Bytes that are not UTF-8 are U+FFFD. */
  body: string;
}

/**
 * Takes events before they are let go. It settles once they are durable; when it rejects, the answer is 503. It may say
 * `user_deleted`, which is counted as such.
 */
export type RejectedEventSink = (event: RejectedEventReceived, messageId: string) => Promise<unknown>;

/**
 * A memory of messages by keys of `<namespace>/<task queue>/<message id>`: handlers of several deployments may share
 * it. It is a hint: if it rejects or is slow, the message counts as new.
 */
export interface TakenMessages {
  has(key: string, withinSeconds: number): Promise<boolean>;
  add(key: string): Promise<void>;
}

/** A verified message. */
export interface Message {
  id: string;
  /** As it was sent. */
  body: string;
  /** The same, parsed. */
  value: object;
}

export interface Destinations {
  temporal: Client;
  taskQueue: string;
  healthData: HealthDataSink | undefined;
  rejected: RejectedEventSink | undefined;
  taken?: TakenMessages | undefined;
  /** Events of other teams are let go. Without it every team's are taken. */
  teamId?: string | undefined;
  /** How long Temporal or the sink may take, in milliseconds. */
  deadlineMs: number;
}

/** The result of an event, with what may be logged about it: ids and types, nothing personal. */
export interface Routed {
  name: AnswerName;
  /** A second result, which is counted too. */
  also?: AnswerName;
  orderId?: string;
  jobId?: string;
  workflowId?: string;
  problem?: string;
  error?: unknown;
  /** True if the event names our own team. */
  isOwnTeam?: boolean;
}

/** Routes a message. Never rejects: a failure is an answer too. */
export async function route(message: Message, destinations: Destinations): Promise<Routed & { eventType?: string }> {
  const event = readEvent(message.value);
  const { eventType } = event;
  const team = teamMatch(event, message, destinations);
  const routed = team === 'foreign' ? ({ name: 'foreign_team' } as const) : await bring(event, message, destinations);
  const settled = isLeft(routed) ? await storeRejected(routed, eventType, message, destinations) : routed;
  return { ...settled, ...(eventType !== undefined && { eventType }), ...(team === 'own' && { isOwnTeam: true }) };
}

/** An event that names no team is handled as ours: envelope ids are missing in some deployments. */
function teamMatch(
  event: ReceivedEvent,
  { value }: Message,
  { teamId }: Destinations,
): 'own' | 'foreign' | 'not_named' {
  const named = 'teamId' in event ? event.teamId : teamOf(value);
  if (teamId === undefined || named === undefined) return 'not_named';
  return named.toLowerCase() === teamId.toLowerCase() ? 'own' : 'foreign';
}

async function bring(event: ReceivedEvent, message: Message, destinations: Destinations): Promise<Routed> {
  switch (event.kind) {
    case 'order':
      return once(message, destinations, () => deliverOrder(project(event), destinations));
    case 'critical_result':
      return once(message, destinations, () => deliverCriticalResult(event, destinations));
    case 'connection':
      return deliverConnection(event, message, destinations);
    case 'health_data':
      return deliverHealthData(event, message, destinations);
    case 'parsing_job':
      return once(message, destinations, () => deliverParsingJob(event, destinations));
    case 'appointment':
      return once(message, destinations, () => deliverAppointment(event, destinations));
    case 'match_review':
      return once(message, destinations, () => deliverMatchReview(event, destinations));
    case 'other':
      return { name: 'not_handled' };
    case 'unreadable':
      return { name: 'unreadable', problem: event.problem };
  }
}

/** Orders do not need the database: it gets so long to say that it knows the message, or to remember it. */
const rememberWithinMs = 1_000;

/**
 * Delivers a message to Temporal unless a process has delivered it in the last minutes. Later repeats, which somebody
 * requested from the service, are delivered again.
 */
async function once({ id }: Message, to: Destinations, deliverIt: () => Promise<Routed>): Promise<Routed> {
  const { taken, temporal, taskQueue } = to;
  if (!taken) return deliverIt();
  const key = `${temporal.options.namespace}/${taskQueue}/${id}`;
  const isKnown = await within(rememberWithinMs, taken.has(key, replayableSeconds)).catch(() => false);
  if (isKnown) return { name: 'repeated' };
  const routed = await deliverIt();
  if (routed.name === 'delivered') await within(rememberWithinMs, taken.add(key)).catch(() => undefined);
  return routed;
}

type DroppedRoute = Routed & { name: 'not_handled' | 'unreadable' | 'not_addressable' };
type Refused = Routed & { name: 'event_refused' };

/** Nobody has accepted the event, and sending it again would not change that. */
function isLeft(routed: Routed): routed is DroppedRoute | Refused {
  return ['not_handled', 'unreadable', 'not_addressable', 'event_refused'].includes(routed.name);
}

async function storeRejected(
  routed: DroppedRoute | Refused,
  eventType: string | undefined,
  { id, body, value }: Message,
  destinations: Destinations,
): Promise<Routed> {
  const userId = userOf(value);
  const event: RejectedEventReceived = {
    reason: routed.name === 'event_refused' ? 'refused_by_temporal' : routed.name,
    ...(routed.problem !== undefined && { problem: routed.problem }),
    ...(eventType !== undefined && { eventType }),
    ...(userId !== undefined && { userId }),
    body,
  };
  const kept: Routed = routed.name === 'event_refused' ? { ...routed, name: 'event_set_aside' } : routed;
  return handToRejected(event, id, destinations, { kept, without: routed });
}

/**
 * Stores a signed body without a readable event; without a sink the sender, who alone has it then, gets the refusal.
 */
export async function rejectBody(
  { id, reason, body }: UnparsedBody & { id: string },
  destinations: Destinations,
): Promise<Routed> {
  return handToRejected({ reason, body }, id, destinations, {
    kept: { name: 'body_set_aside', problem: reason },
    without: { name: reason },
  });
}

async function handToRejected(
  event: RejectedEventReceived,
  id: string,
  { rejected, deadlineMs }: Destinations,
  answer: { kept: Routed; without: Routed },
): Promise<Routed> {
  if (!rejected) return answer.without;
  try {
    const outcome = await within(deadlineMs, rejected(event, id));
    return outcome === 'user_deleted' ? { name: 'health_data_unwanted' } : answer.kept;
  } catch (error) {
    return { name: 'rejected_failed', error };
  }
}

/**
 * A link that waits for this connection is signalled, or the product is notified that it broke, and the sink gets the event too. Both at once, because the sender
 * waits.
 */
async function deliverConnection(event: ConnectionEventReceived, message: Message, to: Destinations): Promise<Routed> {
  const [woken, taken] = await Promise.all([bringConnection(event, message, to), giveToSink(event, message, to)]);
  const failed = [woken, taken].find((routed) => routed && answers[routed.name].status !== 204);
  if (failed) return failed;
  if (!woken) return taken;
  return woken.name === 'delivered' || !to.healthData ? woken : { ...taken, also: woken.name };
}

async function bringConnection(event: ConnectionEventReceived, { id }: Message, to: Destinations) {
  if (event.eventType === 'provider.connection.created') return signalLink(event, to);
  if (event.eventType === 'provider.connection.error') return reportBrokenConnection(event, id, to);
  return undefined;
}

/**
 * The product is notified by the workflow that delivers what ended links left: the link of a connection that breaks normally has
 * ended long ago, and a run of its own would have nothing to decide.
 */
async function reportBrokenConnection(
  { userId, sourceSlug, data }: ConnectionEventReceived,
  messageId: string,
  to: Destinations,
): Promise<Routed> {
  if (userId === undefined || sourceSlug === undefined || !isLinkAddressable(userId, sourceSlug)) return noConnection;
  const { error_type: errorType } = { error_type: undefined, ...(data as object) };
  const at = brokenAt(data) ?? new Date().toISOString();
  const broken = connectionErrorNotification({ userId, provider: sourceSlug, errorType, messageId, at });
  const start = deliverNotificationsStart(broken, usualRetryDays * 24 * 60 * 60_000);
  return deliver(to, { workflowId: start.workflowId }, (workflow, taskQueue) =>
    workflow.signalWithStart(deliverNotificationsName, {
      ...start,
      taskQueue,
      signal: notificationsLeftSignal,
      signalArgs: [{ notifications: [broken], refused: [] }],
    }),
  );
}

/** When it broke, if the webhook says so: a late delivery then has the true time, and a repeated one the same. */
function brokenAt(data: unknown): string | undefined {
  const { errored_at: at, error_details: details } = {
    errored_at: undefined,
    error_details: undefined,
    ...(data as object),
  };
  const { errored_at: inDetails } = { errored_at: undefined, ...(details as object | undefined) };
  return [at, inDetails].map((time) => (typeof time === 'string' ? utcInstant(time) : undefined)).find(Boolean);
}

const noConnection: Routed = { name: 'unreadable', problem: 'names no user, or no provider by its slug' };

async function signalLink({ userId, sourceSlug }: ConnectionEventReceived, to: Destinations): Promise<Routed> {
  if (userId === undefined || !isAddressable(userId)) return noConnection;
  if (sourceSlug === undefined || !isLinkAddressable(userId, sourceSlug)) {
    // Nothing but a link that takes any provider can be meant.
    const signalled = await signalOneLink(linkProviderId(userId, anyProvider), to);
    return signalled.name === 'link_not_running' ? noConnection : signalled;
  }
  // A link without a chosen provider waits for a connection of any.
  const signalled = await Promise.all(
    [sourceSlug, anyProvider].map((provider) => signalOneLink(linkProviderId(userId, provider), to)),
  );
  const isFailed = ({ name }: Routed) => answers[name].status !== 204;
  return signalled.find(isFailed) ?? signalled.find(({ name }) => name === 'delivered') ?? { name: 'link_not_running' };
}

async function signalOneLink(workflowId: string, to: Destinations): Promise<Routed> {
  try {
    const { temporal, deadlineMs } = to;
    const link = temporal.workflow.getHandle(workflowId);
    const signalled = temporal.withDeadline(Date.now() + deadlineMs, () => link.signal(connectionReportedSignal));
    await within(deadlineMs, signalled);
    return { name: 'delivered', workflowId };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return { name: 'link_not_running' };
    return { name: temporalAnswer(error), workflowId, error };
  }
}

/** From here on there is no name, address or birth date. */
function project({ order, userId }: Pick<OrderEventReceived, 'order' | 'userId'>): OrderSnapshot {
  const snapshot = snapshotOf(order);
  return userId === undefined ? snapshot : { userId, ...snapshot };
}

async function deliverOrder(snapshot: OrderSnapshot, destinations: Destinations): Promise<Routed> {
  const root = rootOf(snapshot);
  const { orderId } = snapshot;
  if (!isAddressable(orderId) || !isAddressable(root)) return { name: 'not_addressable' };
  const start = kitOrderStart(snapshot, root);
  return deliver(destinations, { orderId, workflowId: start.workflowId }, (workflow, taskQueue) =>
    signalOrStart(workflow, kitOrderName, { ...start, taskQueue, signal: orderChangedSignal, signalArgs: [snapshot] }),
  );
}

/**
 * Signals the workflow of the named order, which is started if there is none, and passes the alarm on if the order
 * belongs to another chain.
 */
async function deliverCriticalResult(event: CriticalResultReceived, destinations: Destinations): Promise<Routed> {
  const { userId, order } = event;
  const report: CriticalResultReported = {
    ...event.report,
    ...(userId !== undefined && { userId }),
    ...(order && { order: project({ order, ...(userId !== undefined && { userId }) }) }),
  };
  const { orderId } = report;
  const root = report.order ? rootOf(report.order) : orderId;
  if (!isAddressable(orderId) || !isAddressable(root)) return { name: 'not_addressable' };
  const start = criticalResultStart(report, root);
  return deliver(destinations, { orderId, workflowId: start.workflowId }, (workflow, taskQueue) =>
    signalOrStart(workflow, kitOrderName, {
      ...start,
      taskQueue,
      signal: criticalResultReportedSignal,
      signalArgs: [report],
    }),
  );
}

/** Names, birth dates and values stay behind; of the job go its states and counts. */
async function deliverParsingJob(event: ParsingJobReceived, destinations: Destinations): Promise<Routed> {
  const { jobId, userId } = event;
  if (!isAddressable(jobId)) return { name: 'not_addressable' };
  const snapshot = { ...reportSnapshotOf(event.job), jobId, ...(userId !== undefined && { userId }) };
  const start = parsingJobStart(snapshot);
  return deliver(destinations, { jobId, workflowId: start.workflowId }, (workflow, taskQueue) =>
    signalOrStart(workflow, parsingJobName, { ...start, taskQueue, signal: jobChangedSignal, signalArgs: [snapshot] }),
  );
}

/** Address, visitor and notes are left out. */
async function deliverAppointment(event: AppointmentReceived, destinations: Destinations): Promise<Routed> {
  const { orderId, userId } = event;
  if (!isAddressable(orderId)) return { name: 'not_addressable' };
  const snapshot = { ...appointmentSnapshotOf(event.appointment), orderId, ...(userId !== undefined && { userId }) };
  const start = bookAppointmentStart(orderId, snapshot);
  return deliver(destinations, { orderId, workflowId: start.workflowId }, (workflow, taskQueue) =>
    signalOrStart(workflow, bookAppointmentName, {
      ...start,
      taskQueue,
      signal: appointmentChangedSignal,
      signalArgs: [snapshot],
    }),
  );
}

/** A stub without patient or candidates: the run reads the review. */
async function deliverMatchReview({ report, userId }: MatchReviewReceived, to: Destinations): Promise<Routed> {
  if (!isAddressable(report.rawResultId)) return { name: 'not_addressable' };
  const reported = { ...report, ...(userId !== undefined && { userId }) };
  const start = matchReviewStart(reported);
  return deliver(to, { workflowId: start.workflowId }, (workflow, taskQueue) =>
    signalOrStart(workflow, matchReviewName, {
      ...start,
      taskQueue,
      signal: matchReviewReportedSignal,
      signalArgs: [reported],
    }),
  );
}

async function deliver(
  { temporal, taskQueue, deadlineMs }: Destinations,
  ids: Pick<Routed, 'orderId' | 'jobId' | 'workflowId'>,
  signal: (workflow: Client['workflow'], taskQueue: string) => Promise<unknown>,
): Promise<Routed> {
  try {
    const signalled = temporal.withDeadline(Date.now() + deadlineMs, () => signal(temporal.workflow, taskQueue));
    // The deadline holds for each attempt that the client makes, but not for its pauses between them.
    await within(deadlineMs, signalled);
    return { name: 'delivered', ...ids };
  } catch (error) {
    return { name: temporalAnswer(error), ...ids, error };
  }
}

/** The first is not the sender's to repeat. The others are answered with 503; all but `temporal_unavailable` need a person. */
function temporalAnswer(
  error: unknown,
): 'event_refused' | 'temporal_unavailable' | 'temporal_refused' | 'encryption_keys_missing' {
  if (error instanceof EncryptionKeysMissing) return 'encryption_keys_missing';
  if (error instanceof DeadlinePassed) return 'temporal_unavailable';
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (!isGrpcServiceError(cause)) return 'temporal_refused';
  if (isOfTheEvent(cause)) return 'event_refused';
  return isRetryableError(cause) || passing.has(cause.code) || isOfTheRun(cause)
    ? 'temporal_unavailable'
    : 'temporal_refused';
}

/**
 * gRPC's CANCELLED, DEADLINE_EXCEEDED and INTERNAL: not worth an immediate retry, but not a fault of the configuration
 * either.
 */
const passing: ReadonlySet<number> = new Set([1, 4, 13]);

/** A run takes ten thousand signals. It is about to continue in a new run, which takes more. */
function isOfTheRun({ code, details }: { code: number; details: string }): boolean {
  return code === invalidArgument && /limit for signal/i.test(details);
}

const invalidArgument = 3;
const resourceExhausted = 8;

/**
 * INVALID_ARGUMENT refers to the message, so a retry would fail as well. There are two exceptions: search attributes
 * that the namespace does not have yet, which the worker registers, and a run that has had too many signals. A message
 * that is too large for gRPC itself has a code of its own.
 */
function isOfTheEvent(error: { code: number; details: string }): boolean {
  const { code, details } = error;
  if (code === invalidArgument) return !isOfTheRun(error) && !/search ?attribute/i.test(details);
  return code === resourceExhausted && /larger than max/.test(details);
}

/** A workout's stream is too large for its event: it is fetched after the event is stored, if the sink requests it. */
async function deliverHealthData(event: HealthDataReceived, message: Message, to: Destinations): Promise<Routed> {
  const taken = await giveToSink(event, message, to);
  return taken.isStreamDue === true ? startStreamFetch(event, to) : taken;
}

async function startStreamFetch(event: HealthDataReceived, to: Destinations): Promise<Routed> {
  const { workoutId, userId } = { workoutId: undefined, ...readHealthData(event) };
  if (userId === undefined || workoutId === undefined || !isAddressable(workoutId)) {
    return { name: 'health_data_accepted' };
  }
  const start = workoutStreamStart({ userId, workoutId });
  return deliver(to, { workflowId: start.workflowId }, (workflow, taskQueue) =>
    workflow.signalWithStart(fetchWorkoutStreamName, {
      ...start,
      taskQueue,
      signal: streamNoticedSignal,
      signalArgs: [{ userId }],
    }),
  );
}

async function giveToSink(
  event: HealthDataReceived | ConnectionEventReceived,
  { id, body }: Message,
  to: Destinations,
): Promise<Routed & { isStreamDue?: boolean }> {
  if (!to.healthData) return { name: 'health_data_counted' };
  try {
    const outcome = await within(to.deadlineMs, to.healthData(event, id, body));
    if (outcome === 'set_aside') return { name: 'health_data_set_aside' };
    if (outcome === 'user_deleted') return { name: 'health_data_unwanted' };
    return { name: 'health_data_accepted', ...(outcome === 'stream_due' && { isStreamDue: true }) };
  } catch (error) {
    return { name: 'health_data_failed', error };
  }
}

class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** Rejects if the work takes longer; the work itself continues, and its result is ignored. */
async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed(`No answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
