import type { AttentionReason, OrderPhase } from '../../protocol/order/messages.js';

/* The filters of the list of orders. The compiler checks that none is missing. */

const phases: Readonly<Record<OrderPhase | 'placing', true>> = {
  placing: true,
  preparing: true,
  awaiting_registration: true,
  in_transit_to_customer: true,
  with_customer: true,
  collecting_sample: true,
  in_transit_to_lab: true,
  at_lab: true,
  completed: true,
  failed: true,
  cancelled: true,
  unknown: true,
};

const attention: Readonly<Record<AttentionReason, true>> = {
  registration_overdue: true,
  shipping_overdue: true,
  delivery_overdue: true,
  return_overdue: true,
  transit_to_lab_overdue: true,
  results_overdue: true,
  collection_overdue: true,
  problem_persists: true,
  decision_needed: true,
  late_arrival: true,
  registered_another_order: true,
  reference_conflict: true,
  cancellation_failed: true,
  replacement_failed: true,
  order_unreadable: true,
  critical_result: true,
  notifications_undelivered: true,
  ambiguous_order: true,
  placing_delayed: true,
};

export const knownPhases = Object.keys(phases);
export const knownAttention = Object.keys(attention);

export function isKnownPhase(name: string): boolean {
  return knownPhases.includes(name);
}

export function isKnownAttention(name: string): boolean {
  return knownAttention.includes(name);
}
