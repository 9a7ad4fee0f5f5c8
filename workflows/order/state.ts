import type { OrderEvent, OrderSnapshot } from '../../service/order-snapshot.js';
import { canonicalJson, compareText } from '../canonical-json.js';

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
  const events = unionOf(greatest.events, [...record.events, ...snapshot.events]);
  const known = !newer && canonicalJson(events) === canonicalJson(record.events);
  return known ? record : { ...record, events, greatest };
}

/**
 * Where two reports of one event differ, the one in `winners` counts, and between others the greater text: whichever
 * came first, the same one stays.
 */
function unionOf(winners: readonly OrderEvent[], others: readonly OrderEvent[]): OrderEvent[] {
  const byId = new Map<number, OrderEvent>();
  for (const event of others) {
    const known = byId.get(event.id);
    if (!known || compareText(canonicalJson(event), canonicalJson(known)) > 0) byId.set(event.id, event);
  }
  for (const event of winners) byId.set(event.id, event);
  return [...byId.values()].toSorted((a, b) => a.id - b.id);
}

function compareSnapshots(a: OrderSnapshot, b: OrderSnapshot): number {
  return (
    highestEventId(a) - highestEventId(b) ||
    compareText(a.updatedAt ?? '', b.updatedAt ?? '') ||
    compareText(canonicalJson(a), canonicalJson(b))
  );
}

/** A snapshot without any event counts lowest. */
function highestEventId({ events }: OrderSnapshot): number {
  return events.reduce((highest, event) => Math.max(highest, event.id), -1);
}

function byCreation(a: OrderRecord, b: OrderRecord): number {
  return compareText(createdAt(a), createdAt(b)) || compareText(a.orderId, b.orderId);
}

function createdAt({ greatest, events }: OrderRecord): string {
  return greatest.createdAt ?? events[0]?.at ?? '';
}
