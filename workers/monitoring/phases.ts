import { bookAppointmentName } from '../../protocol/appointment/messages.js';
import { deleteUserName } from '../../protocol/deletion/messages.js';
import { deliverNotificationsName } from '../../protocol/notifications/delivery.js';
import { linkProviderName } from '../../protocol/link/messages.js';
import { matchReviewName } from '../../protocol/match-review/messages.js';
import { kitOrderName } from '../../protocol/order/messages.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import {
  appointmentPhases,
  deletionPhases,
  linkPhases,
  matchReviewPhases,
  orderPhases,
  phasesOf,
  reportPhases,
} from '../../protocol/phases.js';
import { parsingJobName } from '../../protocol/report/messages.js';
import { submitReportName } from '../../protocol/report/submission-messages.js';
import { forwardedPhase, supersededPhase } from '../../protocol/search-attributes.js';
import { fetchWorkoutStreamName } from '../../protocol/workout-stream.js';

/**
 * The workflows that are counted, each with the phases in which it can stay for long. One without phases is counted as a whole. An order
 * that has ended stays open until its critical result is acknowledged.
 */
export const countedPhases: readonly { workflowType: string; phases: readonly string[] }[] = [
  { workflowType: placeKitOrderName, phases: [] },
  { workflowType: kitOrderName, phases: [...Object.keys(orderPhases), forwardedPhase] },
  { workflowType: bookAppointmentName, phases: phasesOf(appointmentPhases, 'open') },
  { workflowType: matchReviewName, phases: phasesOf(matchReviewPhases, 'open') },
  { workflowType: linkProviderName, phases: phasesOf(linkPhases, 'open') },
  { workflowType: submitReportName, phases: [] },
  { workflowType: parsingJobName, phases: [...phasesOf(reportPhases, 'open'), supersededPhase] },
  { workflowType: deleteUserName, phases: phasesOf(deletionPhases, 'open') },
  { workflowType: deliverNotificationsName, phases: [] },
  { workflowType: fetchWorkoutStreamName, phases: [] },
];
