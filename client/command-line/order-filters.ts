import { InvalidArgumentError } from 'commander';
import type { AttentionReason, OrderPhase } from '../../protocol/order/messages.js';
import { name } from './options.js';

/* The filters of the list of orders, as values of options. The compiler checks that none is missing. */

type Phase = OrderPhase | 'placing';

const phases: Readonly<Record<Phase, true>> = {
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

export function phase(text: string): Phase {
  const given = name(text);
  if (isOf(phases, given)) return given;
  throw new InvalidArgumentError(`Unknown phase ${given}. Known phases: ${Object.keys(phases).join(', ')}.`);
}

export function attentionReason(text: string): AttentionReason {
  const given = name(text);
  if (isOf(attention, given)) return given;
  throw new InvalidArgumentError(`Unknown reason ${given}. Known reasons: ${Object.keys(attention).join(', ')}.`);
}

function isOf<Known extends string>(known: Readonly<Record<Known, true>>, given: string): given is Known {
  return Object.hasOwn(known, given);
}
