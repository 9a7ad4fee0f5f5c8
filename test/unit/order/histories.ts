import type { OrderEvent, OrderSnapshot, TransactionSnapshot } from '../../../service/order/snapshot.js';
import { foldIn, openChain, type Chain } from '../../../workflows/order/chain.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

const hour = 3_600_000;
export const day = 24 * hour;

/** When the orders of these tests begin. */
export const start = Date.parse('2024-03-01T10:00:00.000Z');

export function daysAfterStart(days: number): string {
  return new Date(start + days * day).toISOString();
}

const lowsOf = {
  received: 'ordered awaiting_registration testkit_registered registered requisition_created requisition_bypassed',
  collecting_sample:
    'transit_customer out_for_delivery with_customer transit_lab problem_in_transit_customer problem_in_transit_lab',
  sample_with_lab: 'delivered_to_lab lab_processing_blocked',
  completed: 'completed corrected',
  failed: 'failure_to_deliver_to_customer failure_to_deliver_to_lab sample_error lost',
  cancelled: 'cancelled do_not_process',
};

/** The top-level status of each low-level one of a test kit. */
export const topOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(lowsOf).flatMap(([top, lows]) => lows.split(' ').map((low) => [low, top])),
);

/** A low-level status of a test kit as the service writes it; what has a dot in it, or is not known, stays as it is. */
export function statusOf(low: string): string {
  const top = Object.hasOwn(topOf, low) ? topOf[low] : undefined;
  return top === undefined ? low : `${top}.testkit.${low}`;
}

/** One event a day from the start on, with the ids 1, 2, 3. */
export function eventsOf(...statuses: string[]): OrderEvent[] {
  return statuses.map((status, index) => ({ id: index + 1, at: daysAfterStart(index), status: statusOf(status) }));
}

export const happyPath = [
  'ordered',
  'awaiting_registration',
  'transit_customer',
  'out_for_delivery',
  'with_customer',
  'testkit_registered',
  'requisition_created',
  'transit_lab',
  'delivered_to_lab',
  'completed',
];

/** The happy path up to and with this status, or the registered-before-shipping one if `skipping` says so. */
export function pathTo(status: string, { skipping = [] }: { skipping?: readonly string[] } = {}): string[] {
  return happyPath.slice(0, happyPath.indexOf(status) + 1).filter((step) => !skipping.includes(step));
}

/** The patient is known from the start: no registration is awaited. */
export const withPatient = { skipping: ['awaiting_registration', 'testkit_registered'] };

export function kitOf(orderId: string, statuses: readonly string[], more: Partial<OrderSnapshot> = {}): OrderSnapshot {
  return { orderId, method: 'testkit', events: eventsOf(...statuses), createdAt: daysAfterStart(0), ...more };
}

export function transactionOf(...orders: TransactionSnapshot['orders']): TransactionSnapshot {
  return { id: 'transaction-1', orders };
}

/** A case of a placed order that notifies, after these reports. */
export function caseOf(snapshots: readonly OrderSnapshot[], more: Partial<Chain> = {}): Chain {
  const chain: Chain = {
    ...openChain({ rootOrderId: 'order-1', policy: resolvePolicy('order') }, start),
    handedOver: true,
    notifies: true,
    ...more,
  };
  for (const snapshot of snapshots) foldIn(chain, snapshot);
  return chain;
}
