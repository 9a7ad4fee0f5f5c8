import type { AppointmentNotification } from '../appointment/messages.js';
import type { DeletionNotification } from '../deletion/messages.js';
import type { LinkState, LinkNotification } from '../link/messages.js';
import type { MatchReviewNotification } from '../match-review/messages.js';
import type { OrderNotification } from '../order/messages.js';
import type { ReportNotification } from '../report/messages.js';

/**
 * Notifications on the wire, which is JSON for any language: CloudEvents whose `data` has snake_case names, as the
 * service's own webhooks have. The types are derived from those that the workflows write, so the two cannot diverge.
 */

/** A structured-mode CloudEvent, version 1.0. */
export interface CloudEvent<Type extends string = string, Data = Record<string, unknown>> {
  specversion: '1.0';
  /** The same whenever the same thing is announced again: drop repeats by it. */
  id: string;
  /** The ID of the workflow that it comes from. */
  source: string;
  type: Type;
  /** The id of the notification's subject: an order, a parsing job or a user. */
  subject: string;
  /** When it happened, ISO 8601 in UTC. */
  time: string;
  datacontenttype: 'application/json';
  /** Ids, states and times; nothing personal, unless your `client_user_id`s are. */
  data: Data;
}

/**
 * The link of a `labops.order.registration_reminder` to the portal, where the patient registers the kit. It is a
 * credential that was made for this delivery: a repeated delivery carries a new one. Without a user there is no link.
 */
export interface PortalLinkData {
  /** `null` if the service refused to make one. */
  portal_url?: string | null;
  /** Seconds from the delivery on. */
  portal_url_expires_in?: number;
  /** The type of the refusal. */
  portal_url_refused?: string;
}

/** Every notification that the worker sends, by `type`. A newer worker may send more. */
export type NotificationEvent =
  | Sent<'order', OrderNotification, About<OrderNotification>>
  | Sent<'report', ReportNotification, About<ReportNotification>>
  | Sent<'link', LinkNotification, Pick<LinkState, 'userId' | 'provider'>>
  | Sent<'appointment', AppointmentNotification, About<AppointmentNotification>>
  | Sent<'match_review', MatchReviewNotification, About<MatchReviewNotification>>
  | Sent<'user', DeletionNotification, About<DeletionNotification>>;

export type NotificationType = NotificationEvent['type'];

/** A workflow's form of one notification. */
interface Written {
  type: string;
  data: object;
}

/** The data that every notification of an area has: the ids of its subject. */
type About<Notification extends Written> = Omit<Notification, 'id' | 'at' | 'type' | 'data'>;

interface ClientUser {
  /**
   * The product's own reference for the user of `user_id`, at most ten minutes old. Only if the worker's
   * NOTIFY_CLIENT_USER_ID is true; absent without a user, for a user who is deleted or about to be, and if the service did
   * not answer in time.
   */
  clientUserId?: string;
}

type Sent<Area extends string, Notification extends Written, Ids> = Notification extends unknown
  ? CloudEvent<
      `labops.${Area}.${Notification['type']}`,
      SnakeCased<Ids & ClientUser & Notification['data']> &
        (Notification['type'] extends 'registration_reminder' ? PortalLinkData : unknown)
    >
  : never;

/** The names of the data itself; those inside its values stay as they are. */
type SnakeCased<Data> = { [Name in keyof Data as SnakeCase<Name & string>]: Data[Name] };

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

const raised = 'A person should look, for this reason (docs/attention.md).';
const cleared = 'The reason is answered or obsolete.';

/** Every type that this version knows, with the reason for which it is sent: docs/notifications.md is made of it. */
export const notificationTypes: Readonly<Record<NotificationType, string>> = {
  'labops.order.phase_changed': 'The phase or the problem changed. `problem` is a status, while there is one.',
  'labops.order.registration_reminder':
    'The kit is not registered yet, at each of the policy’s `registrationReminders`; `reminder` counts from 1. `portal_url` is a credential that was made for this delivery, for `portal_url_expires_in` seconds; a repeated delivery carries a new one. It is `null` if the service refused to make one, for the reason `portal_url_refused`.',
  'labops.order.return_reminder': 'The kit has not been sent back yet, at each of the policy’s `returnReminders`.',
  'labops.order.attention_raised': raised,
  'labops.order.attention_cleared': cleared,
  'labops.order.replacement': 'A new kit was ordered: this order replaces `replaces`.',
  'labops.order.critical_result':
    'A critical result was reported. `status` is `partial` or `final`; `interpretation` is as the service writes it, which may be `normal`, `Critical High` or a lab’s own word.',
  'labops.order.critical_result_reminder':
    'Nobody has acknowledged the critical result yet, every `criticalResultReminder`. If several are due at once, only the last is sent. `alarm` is the id of the `critical_result`.',
  'labops.order.partial_results': 'Some results can be read; again whenever there are more.',
  'labops.order.result': 'The results can be read; again if their interpretation comes later.',
  'labops.order.correction': 'The results were corrected, or their interpretation changed.',
  'labops.order.cancellation': 'The order was cancelled.',
  'labops.order.ended': 'An end that no event of the service announced.',
  'labops.report.phase_changed': 'The service parses the file: `phase` is `parsing`.',
  'labops.report.review_needed': 'A person at the service checks the values that were read.',
  'labops.report.completed':
    'The biomarkers can be read; again after a late review. The numbers are those of `counts` in the state.',
  'labops.report.failed': 'The job failed; `failure_sentence` says why.',
  'labops.report.claimed': 'A job that was announced without a reference belongs to this reference.',
  'labops.report.attention_raised': raised,
  'labops.report.attention_cleared': cleared,
  'labops.report.ended': 'An end that no status of the service announced.',
  'labops.link.code_reminder':
    'The provider’s code has not come for `codeReminder`; sent once in a link. `until` is the end of the wait.',
  'labops.link.connection_error':
    'The connection broke, and the user must link the provider again. `error_type` is there if the service’s webhook has one. The id has the webhook’s id instead of the link’s start.',
  'labops.link.ended': 'The link ended.',
  'labops.appointment.phase_changed': 'The phase or the time changed.',
  'labops.appointment.choice_needed':
    'Another slot must be chosen: `cancelled` (by somebody else) or `not_shown` (the service no longer shows the appointment).',
  'labops.appointment.choice_reminder':
    'No slot has been chosen yet, at each of the policy’s `choiceReminders`; `reminder` counts from 1.',
  'labops.appointment.visit_reminder': 'The visit comes, at each of the policy’s `visitReminders`.',
  'labops.appointment.attention_raised': raised,
  'labops.appointment.attention_cleared': cleared,
  'labops.appointment.ended': 'Nothing is waited for any more. `order` says why, with `order_ended`.',
  'labops.match_review.review_needed':
    'A person has to decide. `critical` in `interpretation` is urgent: a review that turns out to be critical is announced again.',
  'labops.match_review.review_reminder':
    'Nobody has decided yet, at each of the policy’s `decisionReminders`; `reminder` counts from 1.',
  'labops.match_review.phase_changed': 'The review waits for others: `with_service` or `unknown`.',
  'labops.match_review.attention_raised': raised,
  'labops.match_review.attention_cleared': cleared,
  'labops.match_review.ended': 'The review is over.',
  'labops.user.deletion_scheduled':
    'The user is scheduled for deletion. `work` has entries as in the state, with `workflowId`.',
  'labops.user.deletion_reminder': 'The grace period ends in `reminderBefore`.',
  'labops.user.deletion_undone': 'The deletion was undone.',
  'labops.user.deleted': 'The deletion is final: erase the user’s data in your systems.',
  'labops.user.deletion_failed':
    'Nothing is deleted, though the request had been answered. `reason` is `unknown_user`, `running_work` or a failure type; `work` is there if some was found.',
  'labops.user.attention_raised': raised,
  'labops.user.attention_cleared': cleared,
};
