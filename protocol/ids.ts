import { canonicalId, isMisspeltUuid } from '../service/canonical-id.js';
import type { WebhookPlace } from '../service/management/webhooks.js';
import { sourceSlugOf } from './link/provider-source.js';

export { canonicalId } from '../service/canonical-id.js';

/*
 * Every workflow ID, and the rules for ids from outside that may be part of one. Each ID is a pure function of a
 * message's content, so the message finds its workflow without a look-up table, a search or a race. IDs are built only
 * here.
 */

/** The product's own key for an order or a report. Never personal data: it is readable in IDs and search attributes. */
export const referencePattern = /^[A-Za-z0-9._:-]{1,128}$/;

export function isReference(value: unknown): value is string {
  return typeof value === 'string' && referencePattern.test(value);
}

/** The sender of a command. */
export interface OfActor {
  /** Who sends it: your id of a person or a program, `^[A-Za-z0-9._:-]{1,128}$`, never a name. */
  by?: string;
}

export const isActor = isReference;

/** The rule for a field that names an actor, as a fault's text. */
export const actorRule = `must be an id that matches ${referencePattern.source}, not a name`;

/**
 * The characters allowed in a workflow ID and in the path of a request, in which `.` and `..` would name another one.
 * Wider than a UUID, because some ids that the service sends are not UUIDs. A UUID is in our spelling there, however it came (`canonicalId`).
 */
const addressablePattern = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,128}$/;

export function isAddressable(id: string): boolean;
export function isAddressable(id: unknown): id is string;
export function isAddressable(id: unknown): boolean {
  return typeof id === 'string' && addressablePattern.test(canonicalId(id)) && !isMisspeltUuid(id);
}

/** For messages and logs. An id of the service that cannot be part of a workflow ID may be anything, a person's name too: only its length is shown. */
export function shownId(id: string): string {
  return isAddressable(id)
    ? canonicalId(id)
    : `(an id of ${id.length} characters that cannot be part of a workflow ID)`;
}

/** A command with the ids that it names as we write them. */
export function ofCanonicalIds<Command extends { orderId?: string; userId?: string }>(command: Command): Command {
  const { orderId, userId } = command;
  return {
    ...command,
    ...(typeof orderId === 'string' && { orderId: canonicalId(orderId) }),
    ...(typeof userId === 'string' && { userId: canonicalId(userId) }),
  };
}

/** A request to the service with the user's id as we write it. */
export function ofCanonicalUser<Request extends { user_id: string }>(request: Request): Request {
  return { ...request, user_id: canonicalId(request.user_id) };
}

/** The id from which one of these functions made the workflow ID. */
export function idIn(workflowId: string, idOf: (id: string) => string): string {
  return workflowId.slice(idOf('').length);
}

export function placeKitOrderId(reference: string): string {
  return `place-kit-order/${reference}`;
}

export function kitOrderId(rootOrderId: string): string {
  return `kit-order/${canonicalId(rootOrderId)}`;
}

export function isLinkAddressable(userId: unknown, provider: unknown): boolean {
  return isAddressable(userId) && typeof provider === 'string' && addressablePattern.test(provider);
}

/**
 * One link of a user with a provider at a time. Both spellings of a provider, the link's and that of its source in
 * webhooks, give the same ID, and so do both of a user's UUID.
 */
export function linkProviderId(userId: string, provider: string): string {
  return `link-provider/${canonicalId(userId)}/${sourceSlugOf(provider)}`;
}

export function submitReportId(reference: string): string {
  return `submit-report/${reference}`;
}

/** The id is the service's: it must be addressable (`isAddressable`). */
export function parsingJobId(jobId: string): string {
  return `parsing-job/${canonicalId(jobId)}`;
}

/** One workflow for the appointments of an order: there is one at a time. */
export function bookAppointmentId(orderId: string): string {
  return `appointment/${canonicalId(orderId)}`;
}

/** One workflow per result that waits for a review; the id is the service's and must be addressable. */
export function matchReviewId(rawResultId: string): string {
  return `match-review/${canonicalId(rawResultId)}`;
}

/** One workflow per user: asking for a deletion again finds the one that is under way. */
export function deleteUserId(userId: string): string {
  return `delete-user/${canonicalId(userId)}`;
}

/** One call at a time for the webhook endpoints of one team in one environment. */
export function webhookEndpointsId({ orgId, teamId, environment }: WebhookPlace): string {
  return `webhook-endpoints/${canonicalId(orgId)}/${canonicalId(teamId)}/${environment}`;
}

/** @param unique an id that no other run has: the store handles two calls on an event one after the other */
export function rejectedEventsId(unique: string): string {
  return `rejected-events/${unique}`;
}

/** One stop at a time for the workers of one task queue. */
export function placingStopId(taskQueue: string): string {
  return `placing-stop/${taskQueue}`;
}

/** One workflow per workout: a notice finds the fetching that is under way. */
export function workoutStreamId(workoutId: string): string {
  return `workout-stream/${canonicalId(workoutId)}`;
}

/** One delivery for each workflow that ended before its product could be notified. */
export function deliverNotificationsId(workflowId: string): string {
  return `deliver-notifications/${workflowId}`;
}

/** The workflow that a delivery's notifications come from; any other workflow's are its own. */
export function deliveredFrom(workflowId: string): string {
  const isDelivery = workflowId.startsWith(deliverNotificationsId(''));
  return isDelivery ? idIn(workflowId, deliverNotificationsId) : workflowId;
}

/** One replay of the same time at once. */
export function notificationReplayId(since: string, taskQueue: string): string {
  return `notification-replay/${since}/${taskQueue}`;
}
