import {
  type AppointmentOutcome,
  type AppointmentPhase,
  bookAppointmentName,
} from '../../protocol/appointment/messages.js';
import { type DeletionOutcome, type DeletionPhase, deleteUserName } from '../../protocol/deletion/messages.js';
import { deliverNotificationsName } from '../../protocol/delivery.js';
import { type LinkOutcome, type LinkPhase, linkProviderName } from '../../protocol/link/messages.js';
import {
  type MatchReviewOutcome,
  type MatchReviewPhase,
  matchReviewName,
} from '../../protocol/match-review/messages.js';
import { kitOrderName } from '../../protocol/order/messages.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import type { OrderPhase } from '../../protocol/order/state.js';
import { parsingJobName, type ReportPhase } from '../../protocol/report/messages.js';
import { submitReportName } from '../../protocol/report/submission-messages.js';
import { forwardedPhase, supersededPhase } from '../../protocol/search-attributes.js';
import { fetchWorkoutStreamName } from '../../protocol/workout-stream.js';

/** Every phase that a workflow can stay in for long. Written as keys, so a phase that is missing does not compile. */
const orders: Record<OrderPhase | typeof forwardedPhase, true> = {
  preparing: true,
  awaiting_registration: true,
  in_transit_to_customer: true,
  with_customer: true,
  collecting_sample: true,
  in_transit_to_lab: true,
  at_lab: true,
  // An order that has ended stays open until its critical result is acknowledged.
  completed: true,
  failed: true,
  cancelled: true,
  unknown: true,
  [forwardedPhase]: true,
};
const appointments: Record<Exclude<AppointmentPhase, AppointmentOutcome>, true> = {
  awaiting_choice: true,
  awaiting_confirmation: true,
  confirmed: true,
  in_progress: true,
};
const reviews: Record<Exclude<MatchReviewPhase, MatchReviewOutcome>, true> = {
  awaiting_decision: true,
  with_service: true,
  unknown: true,
};
const links: Record<Exclude<LinkPhase, LinkOutcome>, true> = {
  awaiting_password: true,
  awaiting_code: true,
  confirming: true,
};
const deletions: Record<Exclude<DeletionPhase, DeletionOutcome>, true> = {
  requested: true,
  grace: true,
  confirming: true,
};
const jobs: Record<Exclude<ReportPhase, 'completed' | 'failed'> | typeof supersededPhase, true> = {
  uploaded: true,
  parsing: true,
  in_review: true,
  [supersededPhase]: true,
};

/** The workflows that are counted, with the phases that are distinguished; one without phases is counted as a whole. */
export const countedPhases: readonly { workflowType: string; phases: readonly string[] }[] = [
  { workflowType: placeKitOrderName, phases: [] },
  { workflowType: kitOrderName, phases: Object.keys(orders) },
  { workflowType: bookAppointmentName, phases: Object.keys(appointments) },
  { workflowType: matchReviewName, phases: Object.keys(reviews) },
  { workflowType: linkProviderName, phases: Object.keys(links) },
  { workflowType: submitReportName, phases: [] },
  { workflowType: parsingJobName, phases: Object.keys(jobs) },
  { workflowType: deleteUserName, phases: Object.keys(deletions) },
  { workflowType: deliverNotificationsName, phases: [] },
  { workflowType: fetchWorkoutStreamName, phases: [] },
];
