import type { OrderEvent } from '../../service/order/snapshot.js';

/* A test kit's order as the service of the lives has it. */

export interface OrderAtService {
  orderId: string;
  origin: 'initial' | 'redraw' | 'replacement';
  createdAt: string;
  events: OrderEvent[];
  interpretation?: string;
}

/** The statuses of a test kit that a life may come to, each with its top level. */
const statuses = {
  awaiting_registration: 'received',
  testkit_registered: 'received',
  transit_customer: 'collecting_sample',
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
  cancelled: 'cancelled',
} as const satisfies Record<string, string>;

export type Low = keyof typeof statuses;

/** The last part of the order's present status: `with_customer`. */
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
