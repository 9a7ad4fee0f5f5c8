import { unsigned } from '../installation.js';
import type { Order } from './order.js';
import { interpretationOf } from '../interpretation.js';
import {
  boundedEvents,
  type OrderEvent,
  type OrderSnapshot,
  type ShipmentSnapshot,
  type TransactionSnapshot,
} from './snapshot.js';
import { isCalendarDate, knownInstant } from '../timestamps.js';
import { wordOf } from '../word.js';
import { omitNullish } from '../json-object.js';

/**
 * Projects a whole order to its snapshot. Pure; never throws on an order that `orderSchema` accepts.
 *
 * Absent and null fields are left out, so equal orders have equal snapshots.
 *
 * @param ours the names of this installation: the passthrough of every other one is left out
 */
export function snapshotOf(order: Order, ours: readonly string[]): OrderSnapshot {
  const listed = order.order_transaction?.orders ?? [];
  const inTransaction = listed.find(({ id }) => id === order.id);
  const parent_id = order.parent_id ?? inTransaction?.parent_id;
  const own = { id: order.id, origin: order.origin ?? inTransaction?.origin, parent_id };
  // Such a transaction is another patient's: the reference in a copied passthrough is not its own.
  const isOfAnother = [own, ...listed].some((member) => isApart(member, listed));
  const events = eventsOf(order);
  return omitNullish({
    orderId: order.id,
    userId: order.user_id,
    method: lowerWordIn(order.details?.type ?? order.lab_test?.method ?? methodOf(events)),
    passthrough: isOfAnother ? undefined : unsigned(order.passthrough, ours),
    origin: wordIn(own.origin),
    ...(isApart(own, listed) ? { recreates: parent_id } : { parentId: parent_id }),
    status: lowerWordIn(order.status),
    events,
    sampleId: order.sample_id,
    shipment: shipmentOf(order),
    transaction: transactionOf(order),
    interpretation: interpretationOf(order.interpretation),
    resultsBy: dateOf(order.worst_case_result_by_date),
    activateBy: dateOf(order.activate_by),
    createdAt: knownInstant(order.created_at),
    updatedAt: knownInstant(order.updated_at),
  });
}

type Member = NonNullable<NonNullable<Order['order_transaction']>['orders']>[number];

/**
 * True for an order that was made again for another patient: its parent is in another transaction (docs/internals/lab-service.md). It begins
 * a chain of its own. A transaction that lists no orders says nothing about that.
 */
function isApart({ id, origin, parent_id }: Member, listed: readonly Member[]): boolean {
  if (origin !== 'recreation' || parent_id == null || parent_id === id) return false;
  return listed.length > 0 && !listed.some((member) => member.id === parent_id);
}

/** A status or the like as it was sent if it is a word; a sentence in its place may be about a person. */
function wordIn(text: string | null | undefined): string | undefined {
  return text == null || text.trim() === '' ? text?.trim() : wordOf(text);
}

/** In lower case, as the contract writes statuses and methods. */
function lowerWordIn(text: string | null | undefined): string | undefined {
  return wordIn(text?.toLowerCase());
}

/** The middle part of an event's status, for an order that shows neither its details nor its test. */
function methodOf(events: readonly OrderEvent[]): string | undefined {
  const parts = events.findLast(({ status }) => status.split('.').length === 3)?.status.split('.');
  return parts?.[1];
}

/** Also of a timestamp, whose date it is. */
function dateOf(text: string | null | undefined): string | undefined {
  const date = text?.slice(0, 10) ?? '';
  return isCalendarDate(date) ? date : undefined;
}

type SentEvent = NonNullable<Order['events']>[number];

/**
 * Events by id, the last one too if the list does not have it yet. If no event has a usable id, their positions in the list are
 * their ids: the list only grows, so positions are stable. If only some have one, the others cannot be identified and are left out.
 */
function eventsOf(order: Order): OrderEvent[] {
  const sent = sentEvents(order);
  const numbered = sent.some((event) => isEventId(event.id));
  const byId = new Map<number, OrderEvent>();
  sent.forEach((event, index) => {
    const sentId = numbered ? event.id : index + 1;
    if (!isEventId(sentId) || event.status == null) return;
    // JSON can write -0, which a history would give back as 0: the same snapshot must read the same twice.
    const id = sentId + 0;
    const [status = '', detail] = [lowerWordIn(event.status), wordIn(event.status_detail)];
    byId.set(id, omitNullish({ id, at: timeOf(event, order), status, detail }));
  });
  return boundedEvents([...byId.values()].toSorted((a, b) => a.id - b.id));
}

/** The position of a last event without a list that has it would be unknown, so it needs an id that the list's events have, too. */
function sentEvents({ events: listed, last_event: last }: Order): readonly SentEvent[] {
  if (last == null) return listed ?? [];
  if (listed == null || listed.length === 0) return [last];
  const isMissing = listed.some(({ id }) => isEventId(id)) && listed.every(({ id }) => id !== last.id);
  return isMissing ? [...listed, last] : listed;
}

function isEventId(id: unknown): id is number {
  return Number.isSafeInteger(id);
}

/** Deadlines start at an event's time, so every event has one; 1970 stands for an order without any time in it. */
function timeOf(event: SentEvent, order: Order): string {
  const times = [event.created_at, order.updated_at, order.created_at].map(knownInstant);
  return times.find((time) => time !== undefined) ?? new Date(0).toISOString();
}

/**
 * Couriers and tracking numbers; the notes are free text and may name people. The service may show a shipment before it knows any
 * of them, long before the kit ships.
 */
function shipmentOf(order: Order): ShipmentSnapshot | undefined {
  const sent = order.details?.data?.shipment;
  const shipment = omitNullish({
    outboundCourier: sent?.outbound_courier || undefined,
    outboundTrackingNumber: sent?.outbound_tracking_number || undefined,
    inboundCourier: sent?.inbound_courier || undefined,
    inboundTrackingNumber: sent?.inbound_tracking_number || undefined,
  });
  return Object.keys(shipment).length === 0 ? undefined : shipment;
}

function transactionOf(order: Order): TransactionSnapshot | undefined {
  const transaction = order.order_transaction;
  if (transaction?.id == null) return undefined;
  const orders = (transaction.orders ?? []).flatMap((member) =>
    member.id == null
      ? []
      : [
          omitNullish({
            id: member.id,
            origin: wordIn(member.origin),
            parentId: isApart(member, transaction.orders ?? []) ? undefined : member.parent_id,
            createdAt: knownInstant(member.created_at),
          }),
        ],
  );
  return omitNullish({ id: transaction.id, status: wordIn(transaction.status), orders });
}
