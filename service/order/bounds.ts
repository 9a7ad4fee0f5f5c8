import type { OrderEvent, OrderSnapshot, TransactionOrder } from './snapshot.js';

/*
 * A service may report an order's tracking every few minutes, and list many orders in a transaction. What is carried from run to run, and is
 * in every answer, must not grow with the one, nor with the square of the other. Pure: the workflow's fold uses it, too.
 */

const mostOfEach = 33;

/**
 * An order's events, if there are more than 99: of each kind at most 33, the first with each status, the newest that change
 * status or detail, and the newest of all.
 *
 * @param events ascending by id
 */
export function boundedEvents(events: readonly OrderEvent[]): OrderEvent[] {
  if (events.length <= 3 * mostOfEach) return [...events];
  const statuses = new Set<string>();
  const firsts = events.filter(({ status }) => !statuses.has(status) && statuses.add(status));
  const turns = events.filter(({ status, detail }, index) => {
    const before = events[index - 1];
    return status !== before?.status || detail !== before.detail;
  });
  const kept = new Set([firsts.slice(0, mostOfEach), turns.slice(-mostOfEach), events.slice(-mostOfEach)].flat());
  return events.filter((event) => kept.has(event));
}

/** A snapshot among others of its transaction, which shows only what they do not. */
export interface ListedOnce extends Omit<OrderSnapshot, 'transaction'> {
  transaction?: OrderSnapshot['transaction'] & {
    /** With how many orders the longest list before this one begins like this one: they are left out here. */
    repeated?: number;
  };
}

/** Snapshots with the orders of a transaction once: an order's transaction lists all its orders, so each snapshot repeats them. */
export function listedOnce(snapshots: readonly OrderSnapshot[]): ListedOnce[] {
  const longest = new Map<string, string[]>();
  return snapshots.map((snapshot) => {
    const { transaction } = snapshot;
    if (!transaction) return snapshot;
    const texts = transaction.orders.map((order) => JSON.stringify(order));
    const before = longest.get(transaction.id) ?? [];
    if (texts.length > before.length) longest.set(transaction.id, texts);
    const differing = texts.findIndex((text, index) => text !== before[index]);
    const repeated = differing === -1 ? texts.length : differing;
    return { ...snapshot, transaction: { ...transaction, orders: transaction.orders.slice(repeated), repeated } };
  });
}

/** The snapshots as they were before `listedOnce`. */
export function listedWhole(snapshots: readonly ListedOnce[]): OrderSnapshot[] {
  const longest = new Map<string, TransactionOrder[]>();
  return snapshots.map(({ transaction: listed, ...snapshot }) => {
    if (!listed) return snapshot;
    const { repeated = 0, ...transaction } = listed;
    const before = longest.get(transaction.id) ?? [];
    const orders = [...before.slice(0, repeated), ...transaction.orders];
    if (orders.length > before.length) longest.set(transaction.id, orders);
    return { ...snapshot, transaction: { ...transaction, orders } };
  });
}
