import { sameStatus, lowLevel } from './lifecycle.js';
import { presentLow } from './order-body.js';
import type { Settings } from './settings.js';
import type { LabState, Order } from './state.js';
import { parseTimestamp } from './timestamps.js';
import { Fields, datetime, oneOf, uuid } from './validation.js';

/**
 * The order list: page and size, newest first unless asked otherwise. Query parameters that are not read here are
 * passed over, as the service passes over what it does not know.
 */

const LARGEST_PAGE = 100;

export interface OrderPage {
  readonly orders: readonly Order[];
  readonly total: number;
  readonly page: number;
  readonly size: number;
}

interface OrderQuery {
  readonly userId: string | null;
  readonly interpretation: string | null;
  readonly isCritical: boolean | null;
  readonly statuses: string[] | null;
  readonly orderIds: string[] | null;
  readonly transactionId: string | null;
  readonly createdFrom: number;
  readonly createdTo: number;
  readonly updatedFrom: number;
  readonly updatedTo: number;
  readonly key: string;
  readonly descending: boolean;
  readonly page: number;
  readonly size: number;
}

export function listOrders(state: LabState, query: unknown, { criticalFilter }: Settings): OrderPage {
  const wanted = passingOver(orderQuery(query), criticalFilter);
  const candidates = wanted.userId === null ? [...state.orders.values()] : state.ordersOfUser(wanted.userId);
  const found = candidates.filter((order) => matches(order, wanted));
  const oldestFirst = sorted(found, wanted.key);
  const all = wanted.descending ? oldestFirst.toReversed() : oldestFirst;
  const { page, size } = wanted;
  return { orders: all.slice((page - 1) * size, page * size), total: all.length, page, size };
}

/** Deployments differ in which of the two filters they know. */
function passingOver(query: OrderQuery, known: Settings['criticalFilter']): OrderQuery {
  if (known === 'interpretation') return { ...query, isCritical: null };
  return known === 'is_critical' ? { ...query, interpretation: null } : query;
}

function orderQuery(query: unknown): OrderQuery {
  const fields = Fields.ofQuery(query);
  const time = (name: string, otherwise: number): number => {
    const text = fields.optionalString(name, datetime);
    return text === null ? otherwise : parseTimestamp(text);
  };
  const wanted = {
    userId: fields.optionalString('user_id', uuid),
    interpretation: fields.optionalString('interpretation', oneOf('normal', 'abnormal', 'critical', 'unknown')),
    isCritical: isTrue(fields.optionalString('is_critical', oneOf('true', 'false'))),
    statuses: fields.optionalStrings('status'),
    orderIds: fields.optionalStrings('order_ids', uuid),
    transactionId: fields.optionalString('order_transaction_id', uuid),
    createdFrom: time('start_date', -Infinity),
    createdTo: time('end_date', Infinity),
    updatedFrom: time('updated_start_date', -Infinity),
    updatedTo: time('updated_end_date', Infinity),
    key: fields.optionalString('order_key', oneOf('created_at', 'patient_name', 'last_status')) ?? 'created_at',
    descending: (fields.optionalString('order_direction', oneOf('asc', 'desc')) ?? 'desc') === 'desc',
    page: fields.queryInteger('page', 1, { min: 1, max: Number.MAX_SAFE_INTEGER }),
    size: fields.queryInteger('size', 50, { min: 1, max: LARGEST_PAGE }),
  };
  fields.finish();
  return wanted;
}

function isTrue(text: string | null): boolean | null {
  return text === null ? null : text === 'true';
}

function matches(order: Order, wanted: OrderQuery): boolean {
  const { statuses, orderIds } = wanted;
  return (
    (wanted.interpretation === null || order.interpretation === wanted.interpretation) &&
    (wanted.isCritical === null || (order.interpretation === 'critical') === wanted.isCritical) &&
    (statuses === null || statuses.some((status) => sameStatus(lowLevel(status), presentLow(order)))) &&
    (orderIds === null || orderIds.includes(order.id)) &&
    (wanted.transactionId === null || order.transactionId === wanted.transactionId) &&
    order.createdAt >= wanted.createdFrom &&
    order.createdAt <= wanted.createdTo &&
    order.updatedAt >= wanted.updatedFrom &&
    order.updatedAt <= wanted.updatedTo
  );
}

/** Ascending. The sort is stable, so that orders of one moment keep the order in which they were made. */
function sorted(orders: readonly Order[], key: string): Order[] {
  if (key === 'created_at') return orders.toSorted((one, other) => one.createdAt - other.createdAt);
  const text = (order: Order): string =>
    key === 'last_status'
      ? presentLow(order)
      : `${order.patientDetails?.last_name ?? ''} ${order.patientDetails?.first_name ?? ''}`;
  return orders.toSorted((one, other) => text(one).localeCompare(text(other)));
}
