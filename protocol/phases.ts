import type { AppointmentOutcome, AppointmentPhase } from './appointment/messages.js';
import type { DeletionOutcome, DeletionPhase } from './deletion/messages.js';
import type { LinkOutcome, LinkPhase } from './link/messages.js';
import type { MatchReviewOutcome, MatchReviewPhase } from './match-review/messages.js';
import type { OrderPhase } from './order/state.js';
import type { ReportPhase } from './report/messages.js';
import type { supersededPhase } from './search-attributes.js';

/* The phases of every workflow. They are kept apart from the messages, which load Temporal: the command line lists them in its help. */

/** In a phase that is an `end`, the workflow only waits for the product's receiver. A missing phase does not compile. */
type Phases<Phase extends string, End extends string> = Readonly<
  Record<Exclude<Phase, End>, 'open'> & Record<End, 'end'>
>;

export const orderPhases: Phases<OrderPhase, 'completed' | 'cancelled'> = {
  preparing: 'open',
  awaiting_registration: 'open',
  in_transit_to_customer: 'open',
  with_customer: 'open',
  collecting_sample: 'open',
  in_transit_to_lab: 'open',
  at_lab: 'open',
  completed: 'end',
  // The order may wait for a decision.
  failed: 'open',
  cancelled: 'end',
  unknown: 'open',
};

export const linkPhases: Phases<LinkPhase, LinkOutcome> = {
  awaiting_password: 'open',
  awaiting_code: 'open',
  confirming: 'open',
  connected: 'end',
  failed: 'end',
  expired: 'end',
  cancelled: 'end',
};

export const reportPhases: Phases<ReportPhase, 'completed' | 'failed' | typeof supersededPhase> = {
  uploaded: 'open',
  parsing: 'open',
  in_review: 'open',
  completed: 'end',
  failed: 'end',
  superseded: 'end',
};

export const appointmentPhases: Phases<AppointmentPhase, AppointmentOutcome> = {
  awaiting_choice: 'open',
  awaiting_confirmation: 'open',
  confirmed: 'open',
  in_progress: 'open',
  completed: 'end',
  cancelled: 'end',
  expired: 'end',
  order_ended: 'end',
  order_gone: 'end',
  unresolved: 'end',
  abandoned: 'end',
};

export const matchReviewPhases: Phases<MatchReviewPhase, MatchReviewOutcome> = {
  awaiting_decision: 'open',
  with_service: 'open',
  unknown: 'open',
  accepted: 'end',
  rejected: 'end',
  matched: 'end',
  resolved: 'end',
  gone: 'end',
  abandoned: 'end',
};

export const deletionPhases: Record<Exclude<DeletionPhase, DeletionOutcome>, 'open'> = {
  requested: 'open',
  grace: 'open',
  confirming: 'open',
};

/** The phases of one kind. */
export function phasesOf(phases: Readonly<Record<string, 'open' | 'end'>>, kind: 'open' | 'end'): string[] {
  return Object.keys(phases).filter((phase) => phases[phase] === kind);
}
