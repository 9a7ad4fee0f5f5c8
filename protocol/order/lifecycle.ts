import type { OrderEvent } from '../../service/order/snapshot.js';
import { omitNullish } from '../../service/json-object.js';
import type { OrderPhase } from './state.js';

export { boundedEvents, hasCriticalResult, listedOnce, listedWhole } from '../../service/order/snapshot.js';
export { isCritical, isKnownInterpretation, isSameInterpretation } from '../../service/interpretation.js';

/**
 * The meaning of an order's events. The service's statuses read `<top>.<method>.<low>`; neither part is a closed list,
 * and the top-level status is not monotonic: a kit that is registered after its delivery goes back to `received`
 * (docs/internals/lab-service.md, "Order lifecycle"). An unknown low-level status keeps its top-level meaning.
 */

interface StatusParts {
  top: string;
  low: string;
}

export function readStatus(status: string): StatusParts {
  const end = status.indexOf('.');
  return { top: end < 0 ? status : status.slice(0, end), low: status.slice(status.lastIndexOf('.') + 1) };
}

/** The progress of one order, read from its events in the order of their ids. */
export interface Standing {
  phase: OrderPhase;
  registered: boolean;
  /** The service reported that it waits for a registration, and none has come. */
  awaitsRegistration: boolean;
  /** The order began as an import, and nothing was shipped: its sample exists, and no kit is registered for it. */
  imported: boolean;
  /** No further event is expected. The truth may still change: a lost kit can reach the lab after all. */
  final: boolean;
  placedAt?: string;
  shippedAt?: string;
  /** Delivery as reported; for a kit that was registered on its way, the registration, which needs the kit in hand. */
  deliveredAt?: string;
  registeredAt?: string;
  sentBackAt?: string;
  /** A visit took the sample; on its way to the lab it has no status of its own. */
  drawnAt?: string;
  arrivedAt?: string;
  problem?: Problem;
  /** The event that brought the kit to its current place. */
  arrivedBy?: number;
  /** The event that brought the present phase or problem, which later events left as they were. */
  lastChange?: OrderEvent;
  last?: OrderEvent;
  /** Only the order's own status says that it has ended. */
  endedByStatus?: true;
}

interface Problem {
  status: string;
  since: string;
  eventId: number;
  detail?: string;
}

type Place =
  | 'not_shipped'
  | 'in_transit_to_customer'
  | 'with_customer'
  | 'collecting_sample'
  | 'in_transit_to_lab'
  | 'at_lab';

interface Meaning {
  /** Where the kit, or the sample, is. */
  place?: Place;
  end?: OrderPhase;
  /**
   * `registration`: the requisitions too, because the service makes them only once it knows the patient. `loss`: the kit is lost, and
   * the service does not follow it up. `redraw`: the service may follow the order up with one of its own.
   */
  is?: 'registration' | 'problem' | 'loss' | 'redraw';
  /** For the case file, if the status itself does not read well. */
  words?: string;
}

/** Every top-level status. */
const tops: Readonly<Record<string, Meaning>> = {
  received: {},
  collecting_sample: { place: 'collecting_sample' },
  sample_with_lab: { place: 'at_lab' },
  completed: { end: 'completed' },
  failed: { end: 'failed' },
  cancelled: { end: 'cancelled' },
};

/** Every low-level status, with what its top-level status does not say. */
const lows: Readonly<Record<string, Meaning>> = {
  ordered: {},
  awaiting_registration: { words: 'Waits to be registered' },
  testkit_registered: { is: 'registration', words: 'Registered' },
  registered: { is: 'registration' },
  requisition_created: { is: 'registration' },
  requisition_bypassed: { is: 'registration' },
  transit_customer: { place: 'in_transit_to_customer', words: 'On its way to the customer' },
  out_for_delivery: { place: 'in_transit_to_customer' },
  problem_in_transit_customer: {
    place: 'in_transit_to_customer',
    is: 'problem',
    words: 'Problem on its way to the customer',
  },
  with_customer: { place: 'with_customer', words: 'With the customer' },
  appointment_pending: {},
  appointment_scheduled: {},
  appointment_cancelled: {},
  draw_completed: {},
  transit_lab: { place: 'in_transit_to_lab', words: 'On its way to the lab' },
  problem_in_transit_lab: { place: 'in_transit_to_lab', is: 'problem', words: 'Problem on its way to the lab' },
  delivered_to_lab: { place: 'at_lab', words: 'Delivered to the lab' },
  lab_processing_blocked: { place: 'at_lab', is: 'problem', words: 'Blocked at the lab' },
  partial_results: {},
  redraw_available: { is: 'redraw' },
  completed: {},
  corrected: { words: 'Results corrected' },
  sample_error: { is: 'redraw', words: 'The sample cannot be used' },
  failure_to_deliver_to_customer: { is: 'loss', words: 'Could not be delivered to the customer' },
  failure_to_deliver_to_lab: { is: 'loss', words: 'Could not be delivered to the lab' },
  lost: { is: 'loss' },
  cancelled: {},
  do_not_process: {},
};

/** The statuses of orders that have a meaning here. */
export const orderStatuses: readonly string[] = [...Object.keys(tops), ...Object.keys(lows)];

/** Only the table's own entries: a status comes from outside, and every object has a `constructor`. */
function lookUp(table: Readonly<Record<string, Meaning>>, name: string): Meaning {
  return (Object.hasOwn(table, name) ? table[name] : undefined) ?? {};
}

/** The meaning of the low-level part. */
export function meaningOf(status: string): Meaning {
  return lookUp(lows, readStatus(status).low);
}

/** The two spellings of `registered` are one status: a deployment has one of them. */
const spellingsOfRegistered: readonly string[] = ['testkit_registered', 'registered'];

/** Every spelling of a low-level status. */
export function spellingsOf(low: string): readonly string[] {
  return spellingsOfRegistered.includes(low) ? spellingsOfRegistered : [low];
}

/** People type and scan sample ids in any letter case, with blanks around them. */
export function isSameSample(one: string | undefined, other: string): boolean {
  return one?.trim().toLowerCase() === other.trim().toLowerCase();
}

interface Walk extends Standing {
  place: Place;
  ending?: OrderPhase;
  understood: boolean;
}

/**
 * @param events ascending by id
 * @param topLevelStatus the order's own status. It is deprecated and may lag, so it counts only while there is no event, or if it
 * says that the order has ended and no event ever did
 */
export function standingOf(events: readonly OrderEvent[], topLevelStatus?: string): Standing {
  const walk: Walk = {
    phase: 'unknown',
    registered: false,
    imported: false,
    final: false,
    place: 'not_shipped',
    awaitsRegistration: false,
    understood: false,
  };
  for (const event of events) step(walk, event);
  const own = readStatus(topLevelStatus ?? '');
  if (events.length === 0 && isUnderstood(own)) move(walk, own, undefined);
  // After an event of an end the order may have moved on, and its own status may not have followed yet.
  if (isEnd(topLevelStatus ?? '') && !events.some(({ status }) => isEnd(status))) {
    move(walk, own, undefined);
    walk.endedByStatus = true;
    delete walk.problem;
  }
  const { place: _place, ending: _ending, understood: _understood, ...standing } = walk;
  return { ...standing, phase: phaseOfWalk(walk) };
}

/** The status of an event, or an order's own, says that the order has ended. */
export function isEnd(status: string): boolean {
  return lookUp(tops, readStatus(status).top).end !== undefined;
}

/** The phase alone. */
export function phaseOf(events: readonly OrderEvent[], topLevelStatus?: string): OrderPhase {
  return standingOf(events, topLevelStatus).phase;
}

function step(walk: Walk, event: OrderEvent): void {
  const before = { phase: phaseOfWalk(walk), place: walk.place, problem: walk.problem };
  read(walk, event);
  if (walk.place !== before.place) walk.arrivedBy = event.id;
  const { status, detail } = walk.problem ?? {};
  const isSameProblem = status === before.problem?.status && detail === before.problem?.detail;
  if (phaseOfWalk(walk) !== before.phase || !isSameProblem || walk.lastChange === undefined) walk.lastChange = event;
  walk.last = event;
}

function read(walk: Walk, event: OrderEvent): void {
  const parts = readStatus(event.status);
  // Later in an order of another kind it only says that no requisition is needed.
  if (walk.placedAt === undefined) walk.imported = parts.low === 'requisition_bypassed';
  walk.placedAt ??= event.at;
  if (isUnderstood(parts)) move(walk, parts, event.at);
  const { is } = meaningOf(event.status);
  if (is === 'registration') register(walk, parts.low, event.at);
  if (parts.low === 'draw_completed') walk.drawnAt = event.at;
  else if (parts.low.startsWith('appointment_')) delete walk.drawnAt;
  if (parts.low === 'failure_to_deliver_to_customer') walk.imported = false;
  if (parts.low === 'awaiting_registration') walk.awaitsRegistration = !walk.registered;
  if (is === 'problem') walk.problem = problemAfter(walk.problem, event);
  else if (isUnderstood(parts)) delete walk.problem;
}

function move(walk: Walk, { top, low }: StatusParts, at: string | undefined): void {
  const { end: ending } = lookUp(tops, top);
  if (ending === undefined) delete walk.ending;
  else walk.ending = ending;
  walk.final = ending !== undefined || low === 'redraw_available';
  walk.understood = true;
  const place = lookUp(lows, low).place ?? keptPlace(walk.place, top);
  if (at !== undefined && place !== walk.place) enter(walk, place, at);
  walk.place = place;
}

/** A status with two unknown parts changes nothing: the order keeps its place, ended or not. */
function isUnderstood({ top, low }: StatusParts): boolean {
  return Object.hasOwn(tops, top) || lookUp(lows, low).place !== undefined;
}

/** An unknown low-level status moves the kit only if its top-level status requires it. */
function keptPlace(place: Place, top: string): Place {
  const { place: required = place } = lookUp(tops, top);
  const isUnderWay = place !== 'not_shipped' && place !== 'at_lab';
  return required === 'collecting_sample' && isUnderWay ? place : required;
}

function enter(walk: Walk, place: Place, at: string): void {
  if (place === 'in_transit_to_customer') walk.shippedAt = at;
  if (place === 'in_transit_to_customer' || place === 'with_customer') walk.imported = false;
  if (place === 'with_customer') walk.deliveredAt = at;
  if (place === 'in_transit_to_lab') walk.sentBackAt = at;
  if (place === 'at_lab') walk.arrivedAt = at;
}

/**
 * A kit is registered by the data printed on it: one that was on its way has arrived. A requisition alone proves
 * nothing.
 */
function register(walk: Walk, low: string, at: string): void {
  const first = !walk.registered;
  const inHand = first && (walk.awaitsRegistration || !low.startsWith('requisition_'));
  if (first) walk.registeredAt = at;
  walk.registered = true;
  walk.awaitsRegistration = false;
  if (!inHand || walk.place !== 'in_transit_to_customer') return;
  walk.place = 'with_customer';
  walk.deliveredAt = at;
}

/** A problem that is reported again lasts since its first report; its detail is the latest that was given. */
function problemAfter(before: Problem | undefined, { id, at, status, detail }: OrderEvent): Problem {
  const known = before?.status === status ? before : { since: at, eventId: id };
  return { ...known, ...omitNullish({ status, detail }) };
}

function phaseOfWalk(walk: Walk): OrderPhase {
  if (walk.ending !== undefined) return walk.ending;
  if (!walk.understood) return 'unknown';
  switch (walk.place) {
    case 'not_shipped':
      return walk.awaitsRegistration ? 'awaiting_registration' : 'preparing';
    case 'with_customer':
      return walk.awaitsRegistration ? 'awaiting_registration' : 'with_customer';
    case 'in_transit_to_customer':
    case 'collecting_sample':
    case 'in_transit_to_lab':
    case 'at_lab':
      return walk.place;
    default:
      return walk.place satisfies never;
  }
}
