import type { OrderEvent, OrderSnapshot, TransactionOrder, TransactionSnapshot } from '../../service/order-snapshot.js';

/**
 * Reads a snapshot that came by signal, perhaps from a backend in another language: known fields of their types are
 * taken, everything else is left behind. What has no order id and no list of events is no snapshot.
 */
export function readSnapshot(value: unknown): OrderSnapshot | undefined {
  if (!isObject(value) || typeof value['orderId'] !== 'string' || !Array.isArray(value['events'])) return undefined;
  const events = value['events'].flatMap((event) => readEvent(event) ?? []);
  const transaction = readTransaction(value['transaction']);
  const shipment = isObject(value['shipment']) ? textsOf(value['shipment'], shipmentFields) : undefined;
  return {
    ...textsOf(value, orderFields),
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
  'createdAt',
  'updatedAt',
] as const satisfies (keyof OrderSnapshot)[];

const shipmentFields = [
  'outboundCourier',
  'outboundTrackingNumber',
  'inboundCourier',
  'inboundTrackingNumber',
] as const;

function readEvent(value: unknown): OrderEvent | undefined {
  if (!isObject(value)) return undefined;
  const { id, at, status, detail } = value;
  if (typeof id !== 'number' || typeof at !== 'string' || typeof status !== 'string') return undefined;
  return { id, at, status, ...(typeof detail === 'string' && { detail }) };
}

function readTransaction(value: unknown): TransactionSnapshot | undefined {
  if (!isObject(value) || typeof value['id'] !== 'string') return undefined;
  const listed: unknown[] = Array.isArray(value['orders']) ? value['orders'] : [];
  const orders = listed.flatMap((order): TransactionOrder[] =>
    isObject(order) && typeof order['id'] === 'string'
      ? [{ ...textsOf(order, ['origin', 'parentId', 'createdAt']), id: order['id'] }]
      : [],
  );
  return { ...textsOf(value, ['status']), id: value['id'], orders };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function textsOf<Name extends string>(
  value: Record<string, unknown>,
  names: readonly Name[],
): { [N in Name]?: string } {
  const texts: { [N in Name]?: string } = {};
  for (const name of names) {
    const text = value[name];
    if (typeof text === 'string') texts[name] = text;
  }
  return texts;
}
