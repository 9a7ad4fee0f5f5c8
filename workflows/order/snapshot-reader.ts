import type { OrderEvent, OrderSnapshot, TransactionOrder, TransactionSnapshot } from '../../service/order-snapshot.js';

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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON can write numbers beyond all bounds, which a history would give back as null. */
function isEventId(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/;

/** Times with a year of four digits: beyond, texts no longer compare as the instants they name. */
const earliest = Date.parse('0000-01-01T00:00:00Z');
const latest = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The instant in UTC, so that two times compare as texts. One without a zone is UTC, as the service writes it: read by
 * the zone of a worker's machine, it would be another time on the next worker.
 */
export function readTime(value: unknown): string | undefined {
  const match = typeof value === 'string' ? timePattern.exec(value) : null;
  if (!match) return undefined;
  const [text, zone] = match;
  const at = new Date(zone === undefined ? `${text}Z` : text);
  return at.getTime() >= earliest && at.getTime() <= latest ? at.toISOString() : undefined;
}

function timesOf<Name extends string>(
  value: Record<string, unknown>,
  names: readonly Name[],
): { [N in Name]?: string } {
  const times: { [N in Name]?: string } = {};
  for (const name of names) {
    const time = readTime(value[name]);
    if (time !== undefined) times[name] = time;
  }
  return times;
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
