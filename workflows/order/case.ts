import type { OrderSnapshot } from '../../service/order-snapshot.js';
import { isProblem, standingOf, type Standing } from './lifecycle.js';
import type { Attention, OrderOutcome, OrderPhase, Replacement } from './messages.js';
import type { OrderNotification } from './notifications.js';
import { resolvePolicy, type ResolvedPolicy } from './policy.js';
import { observe, type OrderRecord, type Orders } from './state.js';

/**
 * Everything a `kitOrder` run knows: what was reported (`orders`, the converging fold) and what was decided on it. It
 * is plain JSON and goes through continue-as-new as it is.
 */
export interface Case {
  rootOrderId: string;
  policy: ResolvedPolicy;
  /** Whether `placeKitOrder` handed this order over; one that was not is adopted, and nothing is replaced by itself. */
  handedOver: boolean;
  /** The order was created for this hand-over, so that there is no history to read. */
  placedAnew: boolean;
  /** What the run is for has been found out. */
  identified: boolean;
  reference?: string;
  labTestId?: string;
  labAccountId?: string;
  /** Whether the worker has a target for notifications. Unknown until the hand-over or the first read. */
  notifies?: boolean;
  orders: Orders;
  replacements: Replacement[];
  /** Orders named by a transaction that the service could not show. */
  unreadable: string[];
  announced: Announced[];
  /** Keys of the deadlines that were acted on. */
  met: string[];
  /** More time, given by a person. */
  patience: Patience[];
  attention: RaisedAttention[];
  /** How often each question was raised: a question that comes again is another notification. */
  raised: { key: string; times: number }[];
  /** When an overdue order is read again. */
  recheckAt?: number;
  outbox: OrderNotification[];
  /** Only its notifications keep it from ending. */
  isClosing?: boolean;
  /** What was done and decided, for the case file; the latest hundred. */
  journal: JournalEntry[];
  ending?: OrderOutcome;
  /** The ending was put into the outbox. */
  endTold?: boolean;
}

export interface Announced {
  orderId: string;
  eventId: number;
  phase: OrderPhase;
  problem?: string;
}

export interface Patience {
  /** The deadline's key, as it was without any patience. */
  key: string;
  /** From when the limit counts anew. */
  since: string;
}

export interface RaisedAttention extends Attention {
  /** The question it asks; it is cleared when the question no longer stands. */
  key: string;
  /** Which time it is raised, from 1. */
  time: number;
}

export interface JournalEntry {
  at: string;
  orderId: string;
  /** In our own words: nothing from outside. */
  what: string;
}

const journalLength = 100;

export function note(kase: Case, orderId: string, what: string, now: number): void {
  kase.journal = [...kase.journal, { at: new Date(now).toISOString(), orderId, what }].slice(-journalLength);
}

/** One order of the chain with what its events mean. */
export interface ChainOrder extends OrderRecord {
  standing: Standing;
}

export function openCase(rootOrderId: string, carried: unknown): Case {
  if (carried !== undefined) return carried as Case;
  return {
    rootOrderId,
    policy: resolvePolicy(),
    handedOver: false,
    placedAnew: false,
    identified: false,
    orders: [],
    replacements: [],
    unreadable: [],
    announced: [],
    met: [],
    patience: [],
    attention: [],
    raised: [],
    outbox: [],
    journal: [],
  };
}

/** Folds a report in; says whether it told anything new. */
export function learn(kase: Case, snapshot: OrderSnapshot): boolean {
  const orders = observe(kase.orders, snapshot);
  if (orders === kase.orders) return false;
  kase.orders = orders;
  return true;
}

export function chainOf(kase: Case): ChainOrder[] {
  return kase.orders.map((order) => ({ ...order, standing: standingOf(order.events, order.greatest.status) }));
}

export function findOrder(kase: Case, orderId: string | undefined): ChainOrder | undefined {
  return chainOf(kase).find((order) => order.orderId === orderId);
}

/**
 * The order that is expected to bring the results: the last that is still in play, else the last of all. An order that
 * was replaced is in play again once it moves.
 */
export function currentOrder(kase: Case): ChainOrder {
  const chain = chainOf(kase);
  const current = chain.findLast((order) => isInPlay(kase, order)) ?? chain.at(-1);
  if (!current) throw new TypeError('A case has no current order before its first snapshot');
  return current;
}

function isInPlay(kase: Case, order: ChainOrder): boolean {
  const replacement = replacementOf(kase, order.orderId);
  if (replacement?.orderId !== undefined && !hasMovedSince(order, replacement)) return false;
  return !order.standing.final || order.standing.phase === 'completed';
}

/** A problem that is reported where the kit was anyway is no movement; one that tells of another place is. */
function hasMovedSince({ events, standing }: ChainOrder, { atEventId }: Replacement): boolean {
  const { arrivedBy = -1 } = standing;
  return arrivedBy > atEventId || events.some(({ id, status }) => id > atEventId && !isProblem(status));
}

export function replacementOf(kase: Case, orderId: string): Replacement | undefined {
  return kase.replacements.find(({ replaces }) => replaces === orderId);
}

export function lastEventId({ standing }: ChainOrder): number {
  return standing.last?.id ?? -1;
}

/** Set once nothing is left to wait for. */
export function outcomeOf(kase: Case): OrderOutcome | undefined {
  if (kase.ending !== undefined) return kase.ending;
  const { phase } = currentOrder(kase).standing;
  return phase === 'completed' || phase === 'cancelled' ? phase : undefined;
}

/** The current order failed, or waits for a redraw that the service announced: it needs a successor. */
export function needsSuccessor({ standing }: ChainOrder): boolean {
  return standing.final && standing.phase !== 'completed' && standing.phase !== 'cancelled';
}

/** An order that the service's transaction names and that was never reported. */
export function unreadOrder(kase: Case): string | undefined {
  const named = kase.orders.flatMap(({ greatest }) => greatest.transaction?.orders ?? []);
  return named.find(({ id }) => !kase.unreadable.includes(id) && !kase.orders.some(({ orderId }) => orderId === id))
    ?.id;
}

/**
 * Orders in play beside the current one: a kit that was replaced and moves again, or a replacement whose original was
 * redrawn after all. An order that a redraw of its own transaction follows is only not finished yet.
 */
export function lateArrivals(kase: Case): ChainOrder[] {
  const current = currentOrder(kase).orderId;
  return chainOf(kase).filter(
    (order) => order.orderId !== current && isInPlay(kase, order) && !isRedrawn(kase.orders, order),
  );
}

function isRedrawn(orders: Orders, { orderId, greatest }: OrderRecord): boolean {
  const transactionId = greatest.transaction?.id;
  const followers = orders.slice(orders.findIndex((order) => order.orderId === orderId) + 1);
  return followers.some(
    ({ greatest: follower }) =>
      follower.parentId === orderId || (transactionId !== undefined && follower.transaction?.id === transactionId),
  );
}
