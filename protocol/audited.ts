import { isObject } from '../service/json-object.js';
import { bookAppointmentName, bookingRequestedSignal } from './appointment/messages.js';
import { linkProviderName } from './link/messages.js';
import { matchReviewName, reviewRequestedSignal } from './match-review/messages.js';
import { placeKitOrderName } from './order/placing-messages.js';
import { resumeSignal, stopPlacingName } from './placing-stop.js';
import { reconcileOrdersName } from './reconcile.js';
import { submitReportName } from './report/submission-messages.js';

/*
 * The starts and signals of clients, which the audit trail has beside every update. Workflows report them (`workflows/command-audit.ts`),
 * and those that were lost are read from the histories (`workers/audit-recovery.ts`).
 */

const startedByClients: readonly string[] = [placeKitOrderName, linkProviderName, submitReportName, stopPlacingName];

/** @param input undefined if it cannot be read */
export function isStartedByClients(workflowType: string, input: unknown): boolean {
  // The schedule's runs have no range.
  if (workflowType === reconcileOrdersName) return isObject(input) && input['from'] !== undefined;
  return startedByClients.includes(workflowType);
}

const signalsOfClients: Readonly<Record<string, string>> = {
  [stopPlacingName]: resumeSignal.name,
  [bookAppointmentName]: bookingRequestedSignal.name,
  [matchReviewName]: reviewRequestedSignal.name,
};

export function isSentByClients(workflowType: string, signal: string | null | undefined): boolean {
  return signalsOfClients[workflowType] === (signal ?? '');
}

/** The user and the order that a start names: its search attributes may come later. */
export function subjectsOfStart(input: unknown): string[] {
  const { userId, orderId, order } = isObject(input) ? input : {};
  const user = isObject(order) ? order['user_id'] : userId;
  return [user, orderId].filter((id) => typeof id === 'string');
}
