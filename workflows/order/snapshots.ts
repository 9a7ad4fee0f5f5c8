import { canonicalJson, compareText, isObject, omitNullish } from '../../protocol/json.js';
import { canonicalId, isAddressable } from '../../protocol/ids.js';
import { boundedEvents, hasCriticalResult, isEnd, listedOnce, listedWhole } from '../../protocol/order/lifecycle.js';
import type { CriticalResultReported } from '../../protocol/order/messages.js';
import type { OrderEvent, OrderSnapshot, TransactionOrder, TransactionSnapshot } from '../../service/order/snapshot.js';
import { readDate, readTime, textsOf, timesOf } from '../entity/fields.js';

/**
 * The fold: what has been reported of the orders of one chain. It converges: any order, repetition or loss of
 * snapshots that includes the latest one ends in the same state, except for what any of them may have said once (`wasScheduled`,
 * `wasCritical`). It has no clock and knows no workflow.
 */
export type Orders = readonly OrderRecord[];

export interface OrderRecord {
  orderId: string;
  /** The events that were reported of the order, ascending by id, within bounds. The order's status is that of the last one. */
  events: readonly OrderEvent[];
  /** The latest snapshot by `compareSnapshots`: it gives the fields without an event id. */
  latest: OrderSnapshot;
  /** Any snapshot had the date that the order is scheduled for. */
  wasScheduled?: true;
  /** Any snapshot said that its results are critical, whichever came first. */
  wasCritical?: true;
}

/** The records as a later run gets them: with each event once, and the orders of a transaction. */
export function carriedOrders(orders: Orders): object[] {
  return listedOnce(orders.map(({ latest }) => latest)).map(({ events, ...fields }, index) => {
    const isOwn = canonicalJson(events) === canonicalJson(orders[index]?.events);
    return { ...orders[index], latest: isOwn ? fields : { ...fields, events } };
  });
}

export function restoredOrders(carried: Orders): Orders {
  const whole = listedWhole(carried.map(({ latest, events }) => ({ ...latest, events: latest.events ?? events })));
  return carried.map((record, index) => ({ ...record, latest: whole[index] ?? record.latest }));
}

/** Folds one snapshot in. Answers with the same object when it says nothing new. */
export function foldSnapshot(orders: Orders, snapshot: OrderSnapshot): Orders {
  const before = orders.find((order) => order.orderId === snapshot.orderId);
  if (!before) {
    const events = boundedEvents(unionOf(snapshot.events, []));
    const record = { orderId: snapshot.orderId, events, latest: snapshot, ...everSaid(snapshot) };
    return [...orders, record].toSorted(byCreation);
  }
  const after = merge(before, snapshot);
  return after === before ? orders : orders.map((order) => (order === before ? after : order)).toSorted(byCreation);
}

function everSaid(snapshot: OrderSnapshot): Pick<OrderRecord, 'wasScheduled' | 'wasCritical'> {
  return {
    ...(snapshot.activateBy !== undefined && { wasScheduled: true }),
    ...(hasCriticalResult(snapshot) && { wasCritical: true }),
  };
}

function merge(record: OrderRecord, snapshot: OrderSnapshot): OrderRecord {
  const newer = compareSnapshots(snapshot, record.latest) > 0;
  const latest = newer ? snapshot : record.latest;
  const last = record.events.at(-1)?.id ?? -Infinity;
  // Later events need no sorting: a burst of them would sort all events each time.
  const events = boundedEvents(
    snapshot.events.every(({ id }) => id > last)
      ? [...record.events, ...unionOf(snapshot.events, [])]
      : unionOf(latest.events, [...record.events, ...snapshot.events]),
  );
  const said = everSaid(snapshot);
  const learns = (said.wasScheduled && !record.wasScheduled) || (said.wasCritical && !record.wasCritical);
  // No event of the record is missing in the union. Most are the very same ones: comparing texts is expensive.
  const isKnown = (event: OrderEvent, index: number) =>
    event === record.events[index] || canonicalJson(event) === canonicalJson(record.events[index]);
  const known = !newer && !learns && events.every(isKnown);
  return known ? record : { ...record, events, latest, ...said };
}

/**
 * If two reports of one event differ, the one in `winners` counts, and between others the greater text: whichever
 * came first, the same one stays.
 */
function unionOf(winners: readonly OrderEvent[], others: readonly OrderEvent[]): OrderEvent[] {
  const won = new Map(winners.map((event) => [event.id, event]));
  const byId = new Map<number, OrderEvent>();
  for (const event of others) {
    // Nearly all: a snapshot repeats the events of the one before it. Comparing texts is expensive.
    if (won.has(event.id)) continue;
    const known = byId.get(event.id);
    if (!known || compareText(canonicalJson(event), canonicalJson(known)) > 0) byId.set(event.id, event);
  }
  return [...won.values(), ...byId.values()].toSorted((a, b) => a.id - b.id);
}

function compareSnapshots(a: OrderSnapshot, b: OrderSnapshot): number {
  return (
    highestEventId(a) - highestEventId(b) ||
    compareText(a.updatedAt ?? '', b.updatedAt ?? '') ||
    // If nothing shows which is later, an alarm must not get lost: it may change nothing else of its order.
    Number(hasCriticalResult(a)) - Number(hasCriticalResult(b)) ||
    // An end must not get lost either.
    Number(isEnd(a.status ?? '')) - Number(isEnd(b.status ?? '')) ||
    // Neither must the date that an order is scheduled for: one report may leave it out.
    Number(a.activateBy !== undefined) - Number(b.activateBy !== undefined) ||
    // Nor may anything else that only one of them says, such as the transaction that names a redraw.
    Object.keys(a).length - Object.keys(b).length ||
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

function createdAt({ latest, events }: OrderRecord): string {
  return latest.createdAt ?? events[0]?.at ?? '';
}

/**
 * Reads a snapshot that came by signal, perhaps from a backend in another language: known fields of their types are
 * taken, everything else is left behind. What has no order id and no list of events is not a snapshot. Never throws.
 */
export function readSnapshot(value: unknown): OrderSnapshot | undefined {
  if (!isObject(value) || typeof value['orderId'] !== 'string' || !Array.isArray(value['events'])) return undefined;
  const events = boundedEvents(value['events'].flatMap((event) => readEvent(event) ?? []));
  const [resultsBy, activateBy] = [readDate(value['resultsBy']), readDate(value['activateBy'])];
  const transaction = readTransaction(value['transaction']);
  const shipment = isObject(value['shipment']) ? textsOf(value['shipment'], shipmentFields) : undefined;
  return {
    ...textsOf(value, orderFields),
    ...timesOf(value, ['createdAt', 'updatedAt']),
    orderId: canonicalId(value['orderId']),
    events,
    ...(value['flaggedCritical'] === true && { flaggedCritical: true as const }),
    ...omitNullish({ resultsBy, activateBy, transaction, shipment }),
  };
}

/** Reads the report of a critical result in the same way. What names no order is none. Never throws. */
export function readCriticalReport(value: unknown): CriticalResultReported | undefined {
  if (!isObject(value) || typeof value['orderId'] !== 'string') return undefined;
  const { status } = value;
  const order = readSnapshot(value['order']);
  return {
    ...textsOf(value, ['userId', 'sampleId', 'interpretation']),
    ...timesOf(value, ['createdAt', 'updatedAt']),
    orderId: canonicalId(value['orderId']),
    // It stands in the ids of notifications.
    ...(isAddressable(status) && { status: status.toLowerCase() }),
    ...omitNullish({ order }),
  };
}

const orderFields = [
  'userId',
  'method',
  'passthrough',
  'origin',
  'parentId',
  'status',
  'sampleId',
  'interpretation',
] as const satisfies (keyof OrderSnapshot)[];

const shipmentFields = [
  'outboundCourier',
  'outboundTrackingNumber',
  'inboundCourier',
  'inboundTrackingNumber',
] as const;

function readEvent(value: unknown): OrderEvent | undefined {
  if (!isObject(value)) return undefined;
  const { id, status } = value;
  const at = readTime(value['at']);
  // JSON can write numbers beyond all bounds, which a history would give back as null.
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || at === undefined || typeof status !== 'string')
    return undefined;
  return { id, at, status, ...textsOf(value, ['detail']) };
}

function readTransaction(value: unknown): TransactionSnapshot | undefined {
  if (!isObject(value) || typeof value['id'] !== 'string') return undefined;
  const listed: unknown[] = Array.isArray(value['orders']) ? value['orders'] : [];
  const orders = listed.flatMap((order): TransactionOrder[] =>
    isObject(order) && typeof order['id'] === 'string'
      ? [{ ...textsOf(order, ['origin', 'parentId']), ...timesOf(order, ['createdAt']), id: order['id'] }]
      : [],
  );
  return { ...textsOf(value, ['status']), id: value['id'], orders };
}
