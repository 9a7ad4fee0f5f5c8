import { z } from 'zod';
import { sameStatus, lowLevel } from './lifecycle.js';
import { presentLow } from './order-body.js';
import type { Settings } from './settings.js';
import type { LabState, Order } from './state.js';
import { datetime, optional, pageQuery, queryList, readQuery, uuid } from './validation.js';

/**
 * The order list: page and size, newest first unless asked otherwise. Query parameters that are not read here are
 * ignored, as the service ignores what it does not know.
 */

const orderQuery = z.object({
  user_id: optional(uuid),
  interpretation: optional(z.enum(['normal', 'abnormal', 'critical', 'unknown'])),
  is_critical: optional(z.enum(['true', 'false'])),
  status: queryList(z.string()),
  order_ids: queryList(uuid),
  order_transaction_id: optional(uuid),
  start_date: datetime.default(-Infinity),
  end_date: datetime.default(Infinity),
  updated_start_date: datetime.default(-Infinity),
  updated_end_date: datetime.default(Infinity),
  order_key: z.enum(['created_at', 'patient_name', 'last_status']).default('created_at'),
  order_direction: z.enum(['asc', 'desc']).default('desc'),
  ...pageQuery,
});

type OrderQuery = z.output<typeof orderQuery>;

export function listOrders(state: LabState, asked: unknown, { criticalFilter, orderTotals }: Settings) {
  const query = withoutIgnored(readQuery(orderQuery, asked), criticalFilter);
  const candidates = query.user_id === null ? [...state.orders.values()] : state.ordersOfUser(query.user_id);
  const found = candidates.filter((order) => matches(order, query));
  const oldestFirst = sorted(found, query.order_key);
  const all = query.order_direction === 'desc' ? oldestFirst.toReversed() : oldestFirst;
  const { page, size } = query;
  const total = orderTotals ? all.length : null;
  return { orders: all.slice((page - 1) * size, page * size), total, page, size };
}

/** Deployments differ in which of the two filters they know. */
function withoutIgnored(query: OrderQuery, known: Settings['criticalFilter']): OrderQuery {
  if (known === 'interpretation') return { ...query, is_critical: null };
  return known === 'is_critical' ? { ...query, interpretation: null } : query;
}

function matches(order: Order, query: OrderQuery): boolean {
  const { interpretation, is_critical, status: statuses, order_ids, order_transaction_id } = query;
  return (
    (interpretation === null || order.interpretation === interpretation) &&
    (is_critical === null || String(order.interpretation === 'critical') === is_critical) &&
    (statuses === null || statuses.some((status) => sameStatus(lowLevel(status), presentLow(order)))) &&
    (order_ids === null || order_ids.includes(order.id)) &&
    (order_transaction_id === null || order.transactionId === order_transaction_id) &&
    order.createdAt >= query.start_date &&
    order.createdAt <= query.end_date &&
    order.updatedAt >= query.updated_start_date &&
    order.updatedAt <= query.updated_end_date
  );
}

/** Ascending. The sort is stable, so orders of one moment stay in the order of their creation. */
function sorted(orders: readonly Order[], key: string): Order[] {
  if (key === 'created_at') return orders.toSorted((one, other) => one.createdAt - other.createdAt);
  const text = (order: Order): string =>
    key === 'last_status'
      ? presentLow(order)
      : `${order.patient_details?.last_name ?? ''} ${order.patient_details?.first_name ?? ''}`;
  return orders.toSorted((one, other) => text(one).localeCompare(text(other)));
}
