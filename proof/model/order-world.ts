import type { OrderEvent, OrderSnapshot } from '../../service/order/snapshot.js';
import type { Left } from './model.js';

/*
 * The lab service as the model of the order sees it: the orders with all their events, of which the workflow knows what was
 * reported.
 */

/** The first order of the chain, and the one that follows it: a redraw, or the replacement. Both ids are invented. */
export const first = '00000000-0000-4000-8000-00000000000a';
export const second = '00000000-0000-4000-8000-00000000000b';
export const reference = 'ref-1';

export interface OrderAtService {
  orderId: string;
  origin: 'initial' | 'redraw' | 'replacement';
  createdAt: string;
  events: OrderEvent[];
  interpretation?: string;
}

export interface OrderWorld {
  orders: OrderAtService[];
  /** The service does not know the first order any more. */
  isGone: boolean;
  /** How much more may happen. */
  left: Left;
  /** Kits that the service was asked to create, by the number in their passthrough. */
  created: number[];
}

/** The statuses of a test kit, each with its top level; two of them are not known to the project. */
export const statuses = {
  awaiting_registration: 'received',
  testkit_registered: 'received',
  requisition_created: 'received',
  requisition_bypassed: 'received',
  transit_customer: 'collecting_sample',
  out_for_delivery: 'collecting_sample',
  problem_in_transit_customer: 'collecting_sample',
  with_customer: 'collecting_sample',
  transit_lab: 'collecting_sample',
  problem_in_transit_lab: 'collecting_sample',
  delivered_to_lab: 'sample_with_lab',
  lab_processing_blocked: 'sample_with_lab',
  completed: 'completed',
  corrected: 'completed',
  sample_error: 'failed',
  failure_to_deliver_to_customer: 'failed',
  failure_to_deliver_to_lab: 'failed',
  lost: 'failed',
  redraw_available: 'sample_with_lab',
  cancelled: 'cancelled',
  unheard_of: 'collecting_sample',
  never_seen: 'elsewhere',
} as const satisfies Record<string, string>;

export type Low = keyof typeof statuses;

/** The order's present status, without its top level. */
export function lowOf({ events }: OrderAtService): string {
  return events.at(-1)?.status.split('.').at(-1) ?? '';
}

export function newOrder(orderId: string, origin: OrderAtService['origin'], now: number): OrderAtService {
  const at = new Date(now).toISOString();
  return { orderId, origin, createdAt: at, events: [{ id: 1, at, status: 'received.testkit.ordered' }] };
}

export function addEvent(order: OrderAtService, low: Low, now: number): void {
  const { id } = order.events.at(-1) ?? { id: 0 };
  order.events.push({ id: id + 1, at: new Date(now).toISOString(), status: `${statuses[low]}.testkit.${low}` });
}

/** The order as a webhook or a read shows it. */
export function snapshotIn({ orders }: OrderWorld, orderId: string): OrderSnapshot | undefined {
  const order = orders.find((each) => each.orderId === orderId);
  if (!order) return undefined;
  const { origin, createdAt, events, interpretation } = order;
  const isReplacement = origin === 'replacement';
  const transaction = isReplacement ? undefined : transactionOf(orders);
  return {
    orderId,
    userId: 'user-1',
    method: 'testkit',
    passthrough: isReplacement ? `labops:${first}:${reference}:2` : `labops:-:${reference}:1`,
    origin: isReplacement ? 'initial' : origin,
    createdAt,
    events: structuredClone(events),
    ...(origin === 'redraw' && { parentId: first }),
    ...(transaction && { transaction }),
    ...(interpretation !== undefined && { interpretation }),
  };
}

/** The service says nothing of a transaction with one order. */
function transactionOf(orders: readonly OrderAtService[]): OrderSnapshot['transaction'] | undefined {
  const own = orders.filter(({ origin }) => origin !== 'replacement');
  if (own.length < 2) return undefined;
  return {
    id: 'transaction-1',
    orders: own.map(({ orderId, origin, createdAt }) => ({ id: orderId, origin, createdAt })),
  };
}
