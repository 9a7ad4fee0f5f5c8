import type { Moment } from '../entity/loop-timer.js';
import {
  currentOrder,
  isAwaitedImport,
  isKit,
  isTaken,
  lastEventId,
  needsSuccessor,
  outcomeOf,
  type Chain,
  type ChainOrder,
} from './chain.js';
import { timeAfter, type BusinessDays } from '../../protocol/business-days.js';
import { farthestDate } from '../../protocol/time.js';
import { iso, hour, spread } from '../entity/spans.js';
import { meaningOf } from '../../protocol/order/lifecycle.js';
import { nextReminder } from './critical-results.js';
import type { AttentionReason } from '../../protocol/order/state.js';

/**
 * The times by which something should have been reported. They derive from the times of the events and of the order, the dates that the
 * service names, the policy, and when the chain was opened, the question asked or more time given; no clock is read here. How long each
 * is: `protocol/order/policy.ts`; what is done when it passes: `decisions.ts`.
 */
export interface Deadline {
  /**
   * `<base key>[.<n>][.<date>|.limit|.begun][.<reminder>]`; `n` is 2 after more time was given once:
   * `<order id>/9.results_overdue.2.2026-01-05`.
   */
  key: string;
  /** `<order id>/<name>`, or `<order id>/<event id>.<name>` for what can happen to an order more than once, `<order id>/late.<name>`: extensions are kept by it. */
  baseKey: string;
  orderId: string;
  name: DeadlineName;
  /** Milliseconds since the epoch. */
  at: number;
  /** Which of several reminders, from 1. */
  ordinal: number;
}

type DeadlineName =
  | OverdueName
  | Reminder['name']
  /** Until when the service may still create a redraw order itself. */
  | 'redraw'
  /** Until when a person may decide; once asked, they have the whole time from then. Its key is that of the question, too. */
  | 'decision';

/** Messages to the product that come before it is too late, and are no limit. */
interface Reminder extends Deadline {
  name: 'registration_reminder' | 'return_reminder';
}

export function isReminder(deadline: Deadline): deadline is Reminder {
  return deadline.name === 'registration_reminder' || deadline.name === 'return_reminder';
}

/** True if a key in `chain.handledDeadlines` is a reminder's. */
export function isKeyOfReminder(key: string): boolean {
  return /_reminder\.\d+$/.test(key);
}

/** A deadline whose passing raises attention, unless the order moved without a report; for `problem_persists` the policy decides. */
type OverdueName = Extract<AttentionReason, `${string}_overdue` | 'problem_persists'>;

export function isOverdueName(name: DeadlineName): name is OverdueName {
  return name.endsWith('_overdue') || name === 'problem_persists';
}

/** All deadlines of the current order as it stands, handled or not, the earliest first. */
export function deadlinesOf(chain: Chain): Deadline[] {
  const order = currentOrder(chain);
  const found = needsSuccessor(order) ? successorDeadlines(chain, order) : waitingDeadlines(chain, order);
  return found.filter(({ at }) => Number.isFinite(at)).toSorted((a, b) => a.at - b.at);
}

/** True if it can pass: the time to decide is not up before anybody was asked. */
export function isPending(chain: Chain, deadline: Deadline): boolean {
  return !isHandled(chain, deadline) && !isUnasked(chain, deadline);
}

function isHandled({ handledDeadlines }: Chain, { key }: Deadline): boolean {
  return handledDeadlines.includes(key);
}

/** The order is read before anything is done about it; the others only say something, or let time pass. */
export function needsRead({ name }: Deadline): boolean {
  return isOverdueName(name) || name === 'decision';
}

/** A moment of the policy; `afterRead`: the order is read before anything is done about it. */
interface PolicyMoment extends Moment {
  afterRead: boolean;
}

/**
 * Every moment at which the policy makes something happen that has not happened yet: deadlines, reminders, and giving the order up.
 * After its end an order waits for nothing but an acknowledgement.
 */
export function momentsOf(
  chain: Chain,
  isCounted = (deadline: Deadline) => !isHandled(chain, deadline),
): PolicyMoment[] {
  const reminder = nextReminder(chain);
  const reminders = reminder ? [{ ...reminder, afterRead: false }] : [];
  if (outcomeOf(chain) !== undefined) return reminders;
  const deadlines = deadlinesOf(chain);
  const givingUp = givingUpAt(chain, deadlines);
  return [
    ...deadlines.filter(isCounted).map((deadline) => {
      const { at, name, ordinal } = deadline;
      return { at, name: isReminder(deadline) ? `${name} ${ordinal}` : name, afterRead: needsRead(deadline) };
    }),
    ...reminders,
    ...(givingUp === undefined ? [] : [{ at: givingUp, name: 'give_up', afterRead: true }]),
  ];
}

/** While the service does not answer, every decision waits for the next read. */
export function nextMoment(chain: Chain): Moment | undefined {
  const { unansweredRead, recheckAt } = chain;
  const again = outcomeOf(chain) === undefined ? (unansweredRead?.againAt ?? recheckAt) : undefined;
  const moments = momentsOf(chain, (deadline) => isPending(chain, deadline))
    .filter(({ afterRead }) => unansweredRead === undefined || !afterRead)
    .map(({ at, name }) => ({ at, name }));
  if (again !== undefined) moments.push({ at: again, name: 'read_again' });
  return moments.toSorted((a, b) => a.at - b.at)[0];
}

/** When an order that missed a deadline and has stood still ever since is given up. */
export function givingUpAt(chain: Chain, deadlines = deadlinesOf(chain)): number | undefined {
  const missed = deadlines.find(({ key, name }) => chain.handledDeadlines.includes(key) && isOverdueName(name));
  if (!missed) return undefined;
  const movedAt = Date.parse(currentOrder(chain).standing.last?.at ?? '') || 0;
  return Math.max(missed.at, movedAt) + chain.policy.giveUpAfter;
}

function waitingDeadlines(chain: Chain, order: ChainOrder): Deadline[] {
  if (order.standing.final) return [];
  const { policy } = chain;
  const { standing } = order;
  const deadlines = [...phaseDeadlines(chain, order)];
  if (standing.problem) {
    deadlines.push(
      deadline(chain, order, 'problem_persists', standing.problem.since, policy.problemLimit, standing.problem.eventId),
    );
  }
  // A sample that arrives unregistered is held for weeks at most: the questions stand until it is registered.
  if (standing.awaitsRegistration) {
    const { deliveredAt, shippedAt } = standing;
    const assumed = later(countedFrom(chain, shippedAt ?? beginOf(chain, order)), policy.assumedDelivery);
    // A kit that comes later than assumed has its reminders once it is there, whatever was sent before.
    const late = Date.parse(deliveredAt ?? '') > Date.parse(assumed ?? '') ? 'late' : undefined;
    const since = deliveredAt ?? assumed;
    deadlines.push(...reminders(chain, order, 'registration_reminder', since, policy.registrationReminders, late));
    deadlines.push(deadlineFromBegin(chain, order, 'registration_overdue', policy.registrationDeadline));
  }
  return deadlines;
}

function phaseDeadlines(chain: Chain, order: ChainOrder): Deadline[] {
  const { policy } = chain;
  const { standing } = order;
  const overdue = (name: OverdueName, since: string | undefined, span: number | BusinessDays) => [
    deadline(chain, order, name, since, span, standing.arrivedBy),
  ];
  if (standing.phase === 'at_lab') return [resultsDeadline(chain, order, standing.arrivedAt)];
  // An import has no kit to ship, and its sample is at the lab or on its way there.
  if (isAwaitedImport(order)) return [resultsDeadline(chain, order, standing.placedAt)];
  if (!isKit(order)) {
    const since = standing.drawnAt ?? standing.last?.at;
    return [isTaken(order) ? resultsDeadline(chain, order, since) : collectionDeadline(chain, order)];
  }
  switch (standing.phase) {
    case 'preparing':
    case 'awaiting_registration':
      return standing.deliveredAt === undefined
        ? [deadlineFromBegin(chain, order, 'shipping_overdue', policy.shippingDeadline)]
        : [];
    case 'in_transit_to_customer':
      return overdue('delivery_overdue', standing.shippedAt, policy.deliveryDeadline);
    case 'with_customer':
      return returnDeadlines(chain, order);
    case 'in_transit_to_lab':
      return overdue('transit_to_lab_overdue', standing.sentBackAt, policy.transitToLabDeadline);
    case 'collecting_sample':
    case 'unknown':
      return [collectionDeadline(chain, order)];
    case 'completed':
    case 'failed':
    case 'cancelled':
      return [];
    default:
      return standing.phase satisfies never;
  }
}

/**
 * After the date that the service itself names, which differs for every test; only without one does the policy say it. Another
 * date is another deadline, and so is the limit: one that was missed is obsolete if the service now expects the results later.
 */
function resultsDeadline(chain: Chain, order: ChainOrder, since: string | undefined): Deadline {
  const { resultsDeadline: span, resultsLimit } = chain.policy;
  const plain = deadline(chain, order, 'results_overdue', since, span, order.standing.arrivedBy);
  const named = endOfDate(order.latest.resultsBy);
  const from = countedFrom(chain, since);
  // A date that is over when the sample arrives says nothing about it.
  if (!(named > from)) return plain;
  const latest = from + resultsLimit;
  // Time that a person gave stays given.
  const given = plain.key === plain.baseKey ? -Infinity : plain.at;
  // A date that keeps moving away would put the question off indefinitely.
  if (named > latest) return { ...plain, key: `${plain.key}.limit`, at: Math.max(latest, given) };
  return { ...plain, key: `${plain.key}.${order.latest.resultsBy}`, at: Math.max(named, given) };
}

/** When a date is over everywhere on earth, in milliseconds since the epoch: its time zone is not documented. */
function endOfDate(date = ''): number {
  return Date.parse(`${date}T00:00:00Z`) + 36 * hour;
}

/** It counts from the placing wherever the order is since, so no event is in its key: time that was given stays given. */
function collectionDeadline(chain: Chain, order: ChainOrder): Deadline {
  return deadlineFromBegin(chain, order, 'collection_overdue', chain.policy.registrationDeadline);
}

/** Another date is another deadline: one that was missed is obsolete if the order now begins later. */
function deadlineFromBegin(chain: Chain, order: ChainOrder, name: OverdueName, span: number | BusinessDays): Deadline {
  const plain = deadline(chain, order, name, placingOf(order), span);
  const begin = beginOf(chain, order);
  if (begin === placingOf(order)) return plain;
  // Time that a person gave stays given, but the order may have been put off since.
  const at = Math.max(plain.at, timeAfter(countedFrom(chain, begin), span, chain.policy));
  return { ...plain, key: `${plain.key}.${order.latest.activateBy ?? 'begun'}`, at };
}

function placingOf({ standing, latest }: ChainOrder): string | undefined {
  return standing.placedAt ?? latest.createdAt;
}

/** From when the service works on the order: a scheduled one waits until its date, for a year at most, unless it is sent before. */
function beginOf(chain: Chain, order: ChainOrder): string | undefined {
  const { latest, events, wasScheduled } = order;
  const placed = placingOf(order);
  const scheduled = Math.min(endOfDate(latest.activateBy), countedFrom(chain, placed) + farthestDate);
  if (scheduled > Date.parse(placed ?? '')) return iso(scheduled);
  // The date is taken away when the order is sent at once. Its first event is the placing.
  return wasScheduled && latest.activateBy === undefined ? (events[1]?.at ?? latest.updatedAt ?? placed) : placed;
}

/** The time to return counts from when the patient can: the kit is there and registered. */
function returnDeadlines(chain: Chain, order: ChainOrder): Deadline[] {
  const { deliveredAt = '', registeredAt = '', arrivedBy } = order.standing;
  const since = deliveredAt > registeredAt ? deliveredAt : registeredAt;
  return [
    ...reminders(chain, order, 'return_reminder', since, chain.policy.returnReminders, arrivedBy),
    deadline(chain, order, 'return_overdue', since, chain.policy.returnDeadline, arrivedBy),
  ];
}

function successorDeadlines(chain: Chain, order: ChainOrder): Deadline[] {
  const { policy } = chain;
  const failedAt = order.standing.last?.at;
  const eventId = lastEventId(order);
  const wait = meaningOf(order.standing.last?.status ?? '').is === 'redraw' ? policy.redrawWait : 0;
  return [
    ...(wait > 0 ? [deadline(chain, order, 'redraw', failedAt, wait, eventId)] : []),
    fromAsking(chain, deadline(chain, order, 'decision', failedAt, wait + policy.decisionWait, eventId)),
  ];
}

/** A person has the whole time to decide from when they were asked, which silence may have delayed. */
function fromAsking(chain: Chain, decision: Deadline): Deadline {
  const asked = chain.attention.find(({ key }) => key === decision.key)?.since;
  return asked === undefined
    ? decision
    : { ...decision, at: Math.max(decision.at, Date.parse(asked) + chain.policy.decisionWait) };
}

/** True for the time to decide while nobody was asked. */
export function isUnasked(chain: Chain, { name, key, baseKey }: Deadline): boolean {
  if (name !== 'decision') return false;
  return (
    !chain.attention.some((asked) => asked.key === key) && !chain.extensions.some((given) => given.baseKey === baseKey)
  );
}

function reminders(
  chain: Chain,
  order: ChainOrder,
  name: DeadlineName,
  since: string | undefined,
  spans: readonly number[],
  part?: number | 'late',
): Deadline[] {
  // If nobody is notified of them, they would wake the workflow for nothing.
  if (chain.notifies === false) return [];
  return spans.map((span, index) => {
    const plain = deadline(chain, order, name, since, span, part);
    return { ...plain, key: `${plain.key}.${index + 1}`, ordinal: index + 1 };
  });
}

function deadline(
  chain: Chain,
  order: ChainOrder,
  name: DeadlineName,
  since: string | undefined,
  span: number | BusinessDays,
  part?: number | 'late',
): Deadline {
  const baseKey = `${order.orderId}/${part === undefined ? '' : `${part}.`}${name}`;
  const given = chain.extensions.filter((extension) => extension.baseKey === baseKey);
  const base = given.at(-1)?.since ?? since ?? order.latest.createdAt;
  const key = given.length === 0 ? baseKey : `${baseKey}.${given.length + 1}`;
  const at = timeAfter(countedFrom(chain, base), span, chain.policy);
  return { key, baseKey, orderId: order.orderId, name, at, ordinal: 1 };
}

/** `snapshotOf` writes 1970 for a time that is not there. */
const firstTime = Date.UTC(1971, 0);

/** The service may leave times out; what counts from 1970 would be overdue at once, and the order given up. */
function countedFrom({ openedAt }: Chain, base: string | undefined): number {
  const from = Date.parse(base ?? '');
  return from < firstTime ? openedAt : from;
}

function later(from: number, span: number): string | undefined {
  return Number.isNaN(from) ? undefined : iso(from + span);
}

/** When an order that is overdue is read again. */
export function nextRecheck({ policy, rootOrderId }: Chain, now: number): number {
  return now + spread(policy.recheckEvery, rootOrderId);
}
