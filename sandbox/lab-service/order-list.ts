import { sameStatus, lowLevel } from './lifecycle.js';
import { presentLow } from './order-body.js';
import type { Settings } from './settings.js';
import type { LabState, Order } from './state.js';
import { parseTimestamp } from './timestamps.js';
import { Fields, datetime, oneOf, uuid } from './validation.js';

/**
 * The order list: page and size, newest first unless asked otherwise. Query parameters that are not read here are
 * ignored, as the service ignores what it does not know.
 */

const LARGEST_PAGE = 100;

type OrderQuery = ReturnType<typeof orderQuery>;

export function listOrders(state: LabState, query: unknown, { criticalFilter }: Settings) {
  const filter = withoutIgnored(orderQuery(query), criticalFilter);
  const candidates = filter.userId === null ? [...state.orders.values()] : state.ordersOfUser(filter.userId);
  const found = candidates.filter((order) => matches(order, filter));
  const oldestFirst = sorted(found, filter.key);
  const all = filter.descending ? oldestFirst.toReversed() : oldestFirst;
  const { page, size } = filter;
  return { orders: all.slice((page - 1) * size, page * size), total: all.length, page, size };
}

/** Deployments differ in which of the two filters they know. */
function withoutIgnored(query: OrderQuery, known: Settings['criticalFilter']): OrderQuery {
  if (known === 'interpretation') return { ...query, isCritical: null };
  return known === 'is_critical' ? { ...query, interpretation: null } : query;
}

function orderQuery(query: unknown) {
  const fields = Fields.ofQuery(query);
  const time = (name: string, otherwise: number): number => {
    const text = fields.optionalString(name, datetime);
    return text === null ? otherwise : parseTimestamp(text);
  };
  const filter = {
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
  return filter;
}

function isTrue(text: string | null): boolean | null {
  return text === null ? null : text === 'true';
}

function matches(order: Order, filter: OrderQuery): boolean {
  const { statuses, orderIds } = filter;
  return (
    (filter.interpretation === null || order.interpretation === filter.interpretation) &&
    (filter.isCritical === null || (order.interpretation === 'critical') === filter.isCritical) &&
    (statuses === null || statuses.some((status) => sameStatus(lowLevel(status), presentLow(order)))) &&
    (orderIds === null || orderIds.includes(order.id)) &&
    (filter.transactionId === null || order.transactionId === filter.transactionId) &&
    order.createdAt >= filter.createdFrom &&
    order.createdAt <= filter.createdTo &&
    order.updatedAt >= filter.updatedFrom &&
    order.updatedAt <= filter.updatedTo
  );
}

/** Ascending. The sort is stable, so orders of one moment stay in the order of their creation. */
function sorted(orders: readonly Order[], key: string): Order[] {
  if (key === 'created_at') return orders.toSorted((one, other) => one.createdAt - other.createdAt);
  const text = (order: Order): string =>
    key === 'last_status'
      ? presentLow(order)
      : `${order.patientDetails?.last_name ?? ''} ${order.patientDetails?.first_name ?? ''}`;
  return orders.toSorted((one, other) => text(one).localeCompare(text(other)));
}
