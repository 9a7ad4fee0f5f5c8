import type { Moment } from '../alarm.js';
import { currentOrder, lastEventId, needsSuccessor, type Case, type ChainOrder } from './case.js';
import { readStatus } from './lifecycle.js';
import type { AttentionReason } from './messages.js';

/**
 * The moments at which silence means something. All of them derive from the events' own times and the policy; there
 * is no clock here.
 */
export interface Deadline {
  /** `<order id>/<name>`, or `<order id>/<event id>.<name>` for what can happen to an order more than once. */
  key: string;
  /** The key without the count of extensions: what patience is kept by. */
  baseKey: string;
  orderId: string;
  name: DeadlineName;
  /** Milliseconds since the epoch. */
  at: number;
  /** Which of several reminders, from 1. */
  ordinal: number;
}

export type DeadlineName =
  | OverdueName
  | 'registration_reminder'
  | 'return_reminder'
  /** Until when the service may still create a redraw order itself. */
  | 'redraw'
  /** Until when a person may say what shall happen. */
  | 'decision';

/** A deadline whose passing raises attention, unless the order moved unheard. */
export type OverdueName = Extract<AttentionReason, `${string}_overdue` | 'problem_persists'>;

export function isOverdueName(name: DeadlineName): name is OverdueName {
  return name.endsWith('_overdue') || name === 'problem_persists';
}

/** All deadlines of the current order as it stands, met or not, the earliest first. */
export function deadlinesOf(kase: Case): Deadline[] {
  const order = currentOrder(kase);
  const found = needsSuccessor(order) ? successorDeadlines(kase, order) : waitingDeadlines(kase, order);
  return found.filter(({ at }) => Number.isFinite(at)).toSorted((a, b) => a.at - b.at);
}

export function nextMoment(kase: Case): Moment | undefined {
  const deadlines = deadlinesOf(kase);
  const unmet = deadlines.find((deadline) => !kase.met.includes(deadline.key) && !isUnasked(kase, deadline));
  const moments: Moment[] = unmet ? [{ at: unmet.at, name: nameOf(unmet) }] : [];
  if (kase.recheckAt !== undefined) moments.push({ at: kase.recheckAt, name: 'read_again' });
  const givingUp = givingUpAt(kase, deadlines);
  if (givingUp !== undefined) moments.push({ at: givingUp, name: 'give_up' });
  return moments.toSorted((a, b) => a.at - b.at)[0];
}

function nameOf({ name, ordinal }: Deadline): string {
  return name.endsWith('_reminder') ? `${name} ${ordinal}` : name;
}

/** When an order that missed a deadline and has stood still ever since is given up. */
export function givingUpAt(kase: Case, deadlines = deadlinesOf(kase)): number | undefined {
  const missed = deadlines.find(({ key, name }) => kase.met.includes(key) && isOverdueName(name));
  if (!missed) return undefined;
  const movedAt = Date.parse(currentOrder(kase).standing.last?.at ?? '') || 0;
  return Math.max(missed.at, movedAt) + kase.policy.giveUpAfter;
}

function waitingDeadlines(kase: Case, order: ChainOrder): Deadline[] {
  if (order.standing.final) return [];
  const { policy } = kase;
  const { standing } = order;
  const deadlines = [...phaseDeadlines(kase, order)];
  if (standing.problem) {
    deadlines.push(
      deadline(kase, order, 'problem_persists', standing.problem.since, policy.problemLimit, standing.problem.eventId),
    );
  }
  // A sample that arrives unregistered is held for weeks at most: the questions stand until it is registered.
  if (standing.awaitsRegistration) {
    const delivered = standing.deliveredAt ?? later(standing.shippedAt ?? standing.placedAt, policy.assumedDelivery);
    deadlines.push(...reminders(kase, order, 'registration_reminder', delivered, policy.registrationReminders));
    deadlines.push(deadline(kase, order, 'registration_overdue', standing.placedAt, policy.registrationDeadline));
  }
  return deadlines;
}

function phaseDeadlines(kase: Case, order: ChainOrder): Deadline[] {
  const { policy } = kase;
  const { standing } = order;
  const overdue = (name: OverdueName, since: string | undefined, span: number) => [
    deadline(kase, order, name, since, span, standing.arrivedBy),
  ];
  if (standing.phase === 'at_lab') return overdue('results_overdue', standing.arrivedAt, policy.resultsDeadline);
  if (!isKit(order)) return [collectionDeadline(kase, order)];
  switch (standing.phase) {
    case 'preparing':
      return overdue('shipping_overdue', standing.placedAt, policy.shippingDeadline);
    case 'awaiting_registration':
      return standing.deliveredAt === undefined
        ? overdue('shipping_overdue', standing.placedAt, policy.shippingDeadline)
        : [];
    case 'in_transit_to_customer':
      return overdue('delivery_overdue', standing.shippedAt, policy.deliveryDeadline);
    case 'with_customer':
      return returnDeadlines(kase, order);
    case 'in_transit_to_lab':
      return overdue('transit_to_lab_overdue', standing.sentBackAt, policy.transitToLabDeadline);
    case 'collecting_sample':
    case 'unknown':
      return [collectionDeadline(kase, order)];
    case 'completed':
    case 'failed':
    case 'cancelled':
      return [];
    default:
      return standing.phase satisfies never;
  }
}

/** It counts from the placing wherever the order is since, so no event is in its key: time that was given stays given. */
function collectionDeadline(kase: Case, order: ChainOrder): Deadline {
  return deadline(kase, order, 'collection_overdue', order.standing.placedAt, kase.policy.registrationDeadline);
}

/** The time to return counts from when the patient can: the kit is there and registered. */
function returnDeadlines(kase: Case, order: ChainOrder): Deadline[] {
  const { deliveredAt = '', registeredAt = '', arrivedBy } = order.standing;
  const since = deliveredAt > registeredAt ? deliveredAt : registeredAt;
  return [
    ...reminders(kase, order, 'return_reminder', since, kase.policy.returnReminders, arrivedBy),
    deadline(kase, order, 'return_overdue', since, kase.policy.returnDeadline, arrivedBy),
  ];
}

function successorDeadlines(kase: Case, order: ChainOrder): Deadline[] {
  const { policy } = kase;
  const failedAt = order.standing.last?.at;
  const eventId = lastEventId(order);
  const wait = mayBeRedrawn(order) ? policy.redrawWait : 0;
  return [
    ...(wait > 0 ? [deadline(kase, order, 'redraw', failedAt, wait, eventId)] : []),
    fromAsking(kase, deadline(kase, order, 'decision', failedAt, wait + policy.decisionWait, eventId)),
  ];
}

/** A person has the whole time to decide from when they were asked, which silence may have delayed. */
function fromAsking(kase: Case, decision: Deadline): Deadline {
  const asked = kase.attention.find(({ key }) => key === decision.key)?.since;
  return asked === undefined
    ? decision
    : { ...decision, at: Math.max(decision.at, Date.parse(asked) + kase.policy.decisionWait) };
}

/** Nobody was asked yet: the time to decide cannot be up. */
export function isUnasked(kase: Case, { name, key, baseKey }: Deadline): boolean {
  if (name !== 'decision') return false;
  return !kase.attention.some((asked) => asked.key === key) && !kase.patience.some((given) => given.key === baseKey);
}

/** Whether the service may follow this order up with a redraw of its own. */
export function mayBeRedrawn({ standing }: ChainOrder): boolean {
  const low = readStatus(standing.last?.status ?? '').low;
  return low === 'sample_error' || low === 'redraw_available';
}

export function isKit({ greatest }: ChainOrder): boolean {
  return (greatest.method ?? 'testkit') === 'testkit';
}

function reminders(
  kase: Case,
  order: ChainOrder,
  name: DeadlineName,
  since: string | undefined,
  spans: readonly number[],
  eventId?: number,
): Deadline[] {
  // Where nobody is told of them, they would wake the workflow for nothing.
  if (kase.notifies === false) return [];
  return spans.map((span, index) => {
    const plain = deadline(kase, order, name, since, span, eventId);
    return { ...plain, key: `${plain.key}.${index + 1}`, ordinal: index + 1 };
  });
}

function deadline(
  kase: Case,
  order: ChainOrder,
  name: DeadlineName,
  since: string | undefined,
  span: number,
  eventId?: number,
): Deadline {
  const baseKey = `${order.orderId}/${eventId === undefined ? '' : `${eventId}.`}${name}`;
  const given = kase.patience.filter(({ key }) => key === baseKey);
  const base = given.at(-1)?.since ?? since ?? order.greatest.createdAt ?? '';
  const key = given.length === 0 ? baseKey : `${baseKey}.${given.length + 1}`;
  return { key, baseKey, orderId: order.orderId, name, at: Date.parse(base) + span, ordinal: 1 };
}

function later(base: string | undefined, span: number): string | undefined {
  const from = Date.parse(base ?? '');
  return Number.isNaN(from) ? undefined : new Date(from + span).toISOString();
}
