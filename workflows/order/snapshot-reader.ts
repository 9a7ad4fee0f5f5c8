import type { OrderEvent, OrderSnapshot, TransactionOrder, TransactionSnapshot } from '../../service/order-snapshot.js';
import { isObject, readTime, textsOf, timesOf } from '../signal-fields.js';

/**
 * Reads a snapshot that came by signal, perhaps from a backend in another language: known fields of their types are
 * taken, everything else is left behind. What has no order id and no list of events is no snapshot. Never throws.
 */
export function readSnapshot(value: unknown): OrderSnapshot | undefined {
  if (!isObject(value) || typeof value['orderId'] !== 'string' || !Array.isArray(value['events'])) return undefined;
  const events = value['events'].flatMap((event) => readEvent(event) ?? []);
  const transaction = readTransaction(value['transaction']);
  const shipment = isObject(value['shipment']) ? textsOf(value['shipment'], shipmentFields) : undefined;
  return {
    ...textsOf(value, orderFields),
    ...timesOf(value, ['createdAt', 'updatedAt']),
    orderId: value['orderId'],
    events,
    ...(transaction && { transaction }),
    ...(shipment && { shipment }),
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
  const { id, status, detail } = value;
  const at = readTime(value['at']);
  if (!isEventId(id) || at === undefined || typeof status !== 'string') return undefined;
  return { id, at, status, ...(typeof detail === 'string' && { detail }) };
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

/** JSON can write numbers beyond all bounds, which a history would give back as null. */
function isEventId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
