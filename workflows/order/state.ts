import type { OrderEvent, OrderSnapshot } from '../../service/order-snapshot.js';

/**
 * The fold: what has been reported of the orders of one chain. It converges: any order, repetition or loss of
 * snapshots that includes the greatest one ends in the same state. It has no clock and knows no workflow.
 */
export type Orders = readonly OrderRecord[];

export interface OrderRecord {
  orderId: string;
  /** All events ever reported of the order, ascending by id. The order's status is that of the last one. */
  events: readonly OrderEvent[];
  /** The greatest snapshot by (highest event id, `updatedAt`, canonical JSON): it gives the fields without an event id. */
  greatest: OrderSnapshot;
}

/** Folds one snapshot in. Answers with the same object when it says nothing new. */
export function observe(orders: Orders, snapshot: OrderSnapshot): Orders {
  const before = orders.find((order) => order.orderId === snapshot.orderId);
  if (!before) return [...orders, recordOf(snapshot)].toSorted(byCreation);
  const after = merge(before, snapshot);
  return after === before ? orders : orders.map((order) => (order === before ? after : order)).toSorted(byCreation);
}

function recordOf(snapshot: OrderSnapshot): OrderRecord {
  return { orderId: snapshot.orderId, events: unionOf(snapshot.events, []), greatest: snapshot };
}

function merge(record: OrderRecord, snapshot: OrderSnapshot): OrderRecord {
  const newer = compareSnapshots(snapshot, record.greatest) > 0;
  const greatest = newer ? snapshot : record.greatest;
  const events = unionOf(greatest.events, newer ? record.events : snapshot.events);
  const known = record.events.length === events.length && !newer;
  return known ? record : { ...record, events, greatest };
}

/** Where two reports of one event differ, the one in `winners` counts. */
function unionOf(winners: readonly OrderEvent[], others: readonly OrderEvent[]): OrderEvent[] {
  const ids = new Set(winners.map((event) => event.id));
  return [...winners, ...others.filter((event) => !ids.has(event.id))].toSorted((a, b) => a.id - b.id);
}

function compareSnapshots(a: OrderSnapshot, b: OrderSnapshot): number {
  return (
    highestEventId(a) - highestEventId(b) ||
    compareText(a.updatedAt ?? '', b.updatedAt ?? '') ||
    compareText(canonicalJson(a), canonicalJson(b))
  );
}

/** Events do not pass as newer than no events: an order without any counts lowest. */
function highestEventId({ events }: OrderSnapshot): number {
  return events.reduce((highest, event) => Math.max(highest, event.id), -1);
}

function byCreation(a: OrderRecord, b: OrderRecord): number {
  return compareText(createdAt(a), createdAt(b)) || compareText(a.orderId, b.orderId);
}

function createdAt({ greatest, events }: OrderRecord): string {
  return greatest.createdAt ?? events[0]?.at ?? '';
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** JSON with sorted keys: the same for two snapshots that say the same. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => compareText(a, b)))
      : inner,
  );
}
