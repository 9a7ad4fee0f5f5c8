import { appointmentSchema, type Appointment } from '../appointment/appointments.js';
import { canonicalId } from '../canonical-id.js';
import { criticalResultReportOf, criticalResultSchema, type CriticalResultReport } from '../order/critical-result.js';
import { isCritical } from '../interpretation.js';
import { isObject, omitNullish } from '../json-object.js';
import { matchReviewEventSchema, matchReviewReportOf, type MatchReviewReport } from '../match-review/snapshot.js';
import * as fields from '../fields.js';
import { orderSchema, type Order } from '../order/order.js';
import { parsingJobSchema, type ParsingJob } from '../report/parsing-job.js';
import { shapeProblem } from '../validation.js';

/** The `eventType` of an order that came without an envelope, which some deployments send. */
const bareOrderEvent = 'order';

/** A webhook's body, classified by its meaning for us. Missing envelope ids are normal (docs/internals/lab-service.md). */
export type ReceivedEvent =
  | OrderEventReceived
  | CriticalResultReceived
  | ParsingJobReceived
  | AppointmentReceived
  | MatchReviewReceived
  | ConnectionEventReceived
  | HealthDataReceived
  | OtherReceived
  | UnreadableReceived;

/** The fields that all handled events have in common. */
interface Received {
  eventType: string;
  /** The envelope's user, else the one inside the data. */
  userId?: string;
  /** The envelope's team, else the one inside the data. */
  teamId?: string;
}

/**
 * An order's current state: `labtest.order.updated` and others; `bareOrderEvent` if the order came without an envelope. A
 * delivery may be late, repeated or out of order.
 */
export interface OrderEventReceived extends Received {
  kind: 'order';
  order: Order;
}

/**
 * An order has a critical result, by the event type (`labtest.result.critical`); a delivery may be late, repeated, or before any
 * other event of the order.
 */
export interface CriticalResultReceived extends Received {
  kind: 'critical_result';
  report: CriticalResultReport;
  /** The whole order, which some deployments send in the place of the result's own fields. */
  order?: Order;
}

/** A parsing job's current state: `lab_report.parsing_job.updated` and others. A delivery may be late, repeated or out of order. */
export interface ParsingJobReceived extends Received {
  kind: 'parsing_job';
  jobId: string;
  job: ParsingJob;
}

/** An appointment's current state: `labtest.appointment.updated` and others. A delivery may be late, repeated or out of order. */
export interface AppointmentReceived extends Received {
  kind: 'appointment';
  /** The order that the appointment is for. */
  orderId: string;
  appointment: Appointment;
}

/**
 * A result could not be matched with an order and waits for a review, or its review has news: `labtest.match_review.created` and
 * others. It may be late or repeated. The documented schema has no user in the envelope, and none in the data.
 */
export interface MatchReviewReceived extends Received {
  kind: 'match_review';
  report: MatchReviewReport;
}

/**
 * News of a provider connection: it was made (`provider.connection.created`), it broke (`provider.connection.error`), or something
 * not known yet. A delivery may be late, repeated or of an older connection.
 */
export interface ConnectionEventReceived extends Received {
  kind: 'connection';
  /** The customer's own reference: free text, and perhaps personal. */
  clientUserId?: string;
  /**
   * The slug of `data.source`, else of `data.provider`: its `slug`, its `provider`, or the value itself if it is a
   * text.
   */
  sourceSlug?: string;
  /** As it was sent. */
  data: unknown;
}

/** Health data. */
export interface HealthDataReceived extends Received {
  kind: 'health_data';
  /** The customer's own reference: free text, and perhaps personal. */
  clientUserId?: string;
  /** As it was sent. */
  data: unknown;
}

/** An event that is not handled here. */
interface OtherReceived {
  kind: 'other';
  eventType?: string;
}

/** A body that claims to be an order, an appointment, a match review or a parsing job, or one that cannot be read. */
interface UnreadableReceived {
  kind: 'unreadable';
  eventType?: string;
  /** The fault, without a value of the body. */
  problem: string;
}

const healthDataPrefixes = ['daily.data.', 'historical.data.'];
const connectionPrefix = 'provider.connection.';
const appointmentPrefix = 'labtest.appointment.';
const matchReviewPrefix = 'labtest.match_review.';
/** With any suffix. */
const criticalResultEvent = 'labtest.result.critical';
const labTestPrefix = 'labtest.';
const orderEvents = ['labtest.order.created', 'labtest.order.updated', 'labtest.order.update'];
const parsingJobEvents = [
  'lab_report.parsing_job.created',
  'lab_report.parsing_job.updated',
  'lab_report.parsing_job.update',
];
/** Types without a documented payload; they are order events if the payload looks like an order. */
const orderPrefixes = ['labtest.order.', 'labtest.result.'];

/**
 * Classifies a webhook's parsed body. Never throws, whatever the value: bodies are signed, but not by us, and an
 * exception would make the sender repeat an unreadable body for a day. Only known fields are read, so the depth of the
 * rest costs nothing.
 */
export function readEvent(value: unknown): ReceivedEvent {
  if (!isObject(value)) return { kind: 'unreadable', problem: 'the body is not a JSON object' };
  const sentType = value['event_type'] ?? '';
  if (typeof sentType !== 'string') return { kind: 'unreadable', problem: 'event_type is not a string' };
  if (sentType === '') return readUntyped(value, value['data']);
  // An order may come without an envelope here too, with the type among its fields.
  const data = value['data'] == null && looksLikeOrder(value) ? value : value['data'];
  const eventType = sentType.trim().toLowerCase();

  if (eventType.startsWith(criticalResultEvent)) return readCriticalResult(eventType, data, value);
  if (eventType.startsWith(labTestPrefix) && namesCriticalOrder(data))
    return readCriticalResult(eventType, data, value);
  if (orderEvents.includes(eventType)) return readOrder(eventType, data, value);
  if (eventType.startsWith(appointmentPrefix)) return readAppointment(eventType, data, value);
  if (eventType.startsWith(matchReviewPrefix)) return readMatchReview(eventType, data, value);
  if (parsingJobEvents.includes(eventType)) return readParsingJob(eventType, data, value);
  if (eventType.startsWith(connectionPrefix)) {
    return {
      kind: 'connection',
      ...aboutUser(eventType, value),
      ...textAs('sourceSlug', sourceOf(data).provider),
      data,
    };
  }
  // The type names a resource, whose spelling is kept.
  if (startsWithAny(eventType, healthDataPrefixes)) return { kind: 'health_data', ...aboutUser(sentType, value), data };
  if (startsWithAny(eventType, orderPrefixes) && looksLikeOrder(data)) return readOrder(eventType, data, value);
  // The specification does not name the types of order events: what has an order's status is one, whatever its type is called.
  if (hasOrderStatus(data)) return readOrder(eventType, data, value);
  return { kind: 'other', eventType: sentType };
}

/** Some deployments send an order without an envelope, or an envelope without a type. */
function readUntyped(value: Record<string, unknown>, data: unknown): ReceivedEvent {
  if (looksLikeOrder(value)) return readOrder(bareOrderEvent, value, {});
  return looksLikeOrder(data) ? readOrder(bareOrderEvent, data, value) : { kind: 'other' };
}

/** The user that an event is about, of whatever type it is: the envelope's, else the one inside its data. */
export function userOf(event: object): string | undefined {
  const { user_id: user, data } = event as Record<string, unknown>;
  const candidates = [user, isObject(data) ? data['user_id'] : undefined];
  return candidates.find((named): named is string => typeof named === 'string' && named !== '');
}

/** The team that the envelope names. */
export function teamOf(event: object): string | undefined {
  return textAs('teamId', (event as Record<string, unknown>)['team_id']).teamId;
}

/** The envelope's fields of an event about a user. */
function aboutUser(eventType: string, envelope: Record<string, unknown>): Omit<HealthDataReceived, 'kind' | 'data'> {
  const received = receivedOf(eventType, { user_id: userOf(envelope) }, envelope);
  return { ...received, ...textAs('clientUserId', envelope['client_user_id']) };
}

/** @param said what the data themselves say of the user and the team: the envelope counts more */
function receivedOf(
  eventType: string,
  said: { user_id?: unknown; team_id?: unknown },
  envelope: Record<string, unknown>,
): Received {
  return {
    eventType,
    ...userAs(said.user_id),
    ...userAs(envelope['user_id']),
    ...textAs('teamId', said.team_id),
    ...textAs('teamId', envelope['team_id']),
  };
}

/** A deployment may wrap an order as the answer of its creation does, or call its id `order_id`. */
function readOrder(eventType: string, data: unknown, envelope: Record<string, unknown>): ReceivedEvent {
  const sent = isObject(data) && !('id' in data) && isObject(data['order']) ? data['order'] : data;
  const result = orderSchema.safeParse(isObject(sent) ? withId(sent, 'order_id') : sent);
  if (!result.success) return { kind: 'unreadable', eventType, problem: shapeProblem(result.error) };
  return { kind: 'order', ...receivedOf(eventType, result.data, envelope), order: result.data };
}

/**
 * An event without an order cannot be routed, so its id is looked for wherever it may stand. A whole order contains more than the
 * result, and has its own status.
 */
function readCriticalResult(eventType: string, data: unknown, envelope: Record<string, unknown>): ReceivedEvent {
  const { id: _ofTheMessage, ...flat } = envelope;
  const sent = isObject(data) ? data : flat;
  const inside = isObject(sent['order']) ? sent['order'] : {};
  const named = [sent['order_id'], sent['id'], inside['id'], inside['order_id'], envelope['order_id']];
  const orderId = named.find((id) => id != null && id !== '');
  const result = criticalResultSchema.safeParse({ user_id: inside['user_id'], ...sent, order_id: orderId });
  if (!result.success) return { kind: 'unreadable', eventType, problem: shapeProblem(result.error) };
  const candidates = [sent, inside].map((each) => withId(each, 'order_id'));
  const whole = candidates.find(looksLikeOrder);
  const order = orderSchema.safeParse(whole).data;
  const { status, ...report } = criticalResultReportOf(result.data);
  return {
    kind: 'critical_result',
    ...receivedOf(eventType, result.data, envelope),
    report: {
      ...report,
      ...(order && { orderId: order.id }),
      ...(whole !== candidates[0] && textAs('status', status)),
    },
    ...(order && { order }),
  };
}

/** An appointment that names no order cannot be routed. */
function readAppointment(eventType: string, data: unknown, envelope: Record<string, unknown>): ReceivedEvent {
  const result = appointmentSchema.safeParse(data);
  if (!result.success) return { kind: 'unreadable', eventType, problem: shapeProblem(result.error) };
  const { user_id: userId } = result.data;
  const orderId = result.data.order_id ?? fields.referredId.parse(envelope['order_id']);
  if (orderId == null) return { kind: 'unreadable', eventType, problem: 'order_id: is missing' };
  const received = receivedOf(eventType, { user_id: userId }, envelope);
  return { kind: 'appointment', ...received, orderId, appointment: result.data };
}

function readMatchReview(eventType: string, data: unknown, envelope: Record<string, unknown>): ReceivedEvent {
  // The paths of the API call the id `raw_result_id`.
  const result = matchReviewEventSchema.safeParse(isObject(data) ? withId(data, 'raw_result_id') : data);
  if (!result.success) return { kind: 'unreadable', eventType, problem: shapeProblem(result.error) };
  return { kind: 'match_review', ...receivedOf(eventType, {}, envelope), report: matchReviewReportOf(result.data) };
}

function readParsingJob(eventType: string, data: unknown, envelope: Record<string, unknown>): ReceivedEvent {
  const result = parsingJobSchema.safeParse(data);
  if (!result.success) return { kind: 'unreadable', eventType, problem: shapeProblem(result.error) };
  const received = receivedOf(eventType, result.data, envelope);
  return { kind: 'parsing_job', ...received, jobId: result.data.id, job: result.data };
}

/** With its id, which a deployment may call by another name. */
function withId(sent: Record<string, unknown>, otherName: string): Record<string, unknown> {
  return { ...sent, id: sent['id'] ?? sent[otherName] };
}

/** A body with an `order_id` is about an order, for instance an appointment: its `events` are its own. */
function looksLikeOrder(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || !('id' in value)) return false;
  return hasOrderStatus(value) || ('events' in value && value['order_id'] == null);
}

/** An event, or the last one, has a status in three parts, such as `received.testkit.ordered`: nothing else has. */
function hasOrderStatus(value: unknown): boolean {
  if (!isObject(value) || !('id' in value)) return false;
  const { events, last_event: last } = value;
  const listed: readonly unknown[] = Array.isArray(events) ? events : [];
  return [...listed, last].some((event) => {
    const status = isObject(event) ? event['status'] : undefined;
    return typeof status === 'string' && /^\w+\.\w+\.\w+$/.test(status.trim());
  });
}

/** True if the value names an order with a critical interpretation, whatever the type of its event. */
function namesCriticalOrder(value: unknown): boolean {
  if (!isObject(value) || value['order_id'] == null || 'events' in value || 'last_event' in value) return false;
  return typeof value['interpretation'] === 'string' && isCritical(value['interpretation']);
}

function startsWithAny(text: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => text.startsWith(prefix));
}

/** The user that an event names: a UUID in lower case, so it is the same user everywhere. */
function userAs(value: unknown): { userId?: string } {
  return textAs('userId', typeof value === 'string' ? canonicalId(value) : value);
}

function textAs<K extends string>(key: K, value: unknown): { [key in K]?: string } {
  return typeof value === 'string' && value !== '' ? ({ [key]: value } as { [key in K]?: string }) : {};
}

/** The source of data or of a connection, as far as stated. */
export interface SourceRead {
  /** The provider's slug. */
  provider?: string;
  /** The provider's device or app, for instance `watch`; most sources do not name it. */
  type?: string;
}

/** A source is `{name, slug, logo}`, `{provider, type}` or a text, under `source` or `provider` (docs/internals/lab-service.md). */
export function sourceOf(data: unknown): SourceRead {
  if (!isObject(data)) return {};
  const sources = [data['source'], data['provider']];
  const provider = firstWord(
    sources.flatMap((source) => (isObject(source) ? [source['slug'], source['provider']] : [source])),
  );
  const type = firstWord(sources.map((source) => (isObject(source) ? source['type'] : undefined)));
  return omitNullish({ provider, type });
}

function firstWord(values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}
