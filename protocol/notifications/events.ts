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
  /** Seconds from the delivery on; `null` if the service did not state it. */
  portal_url_expires_in?: number | null;
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

/** Every type that this version knows, for code at run time. */
export const notificationTypes: Readonly<Record<NotificationType, true>> = {
  'labops.order.phase_changed': true,
  'labops.order.registration_reminder': true,
  'labops.order.return_reminder': true,
  'labops.order.attention_raised': true,
  'labops.order.attention_cleared': true,
  'labops.order.replacement': true,
  'labops.order.critical_result': true,
  'labops.order.critical_result_reminder': true,
  'labops.order.partial_results': true,
  'labops.order.result': true,
  'labops.order.correction': true,
  'labops.order.cancellation': true,
  'labops.order.ended': true,
  'labops.report.phase_changed': true,
  'labops.report.review_needed': true,
  'labops.report.completed': true,
  'labops.report.failed': true,
  'labops.report.claimed': true,
  'labops.report.attention_raised': true,
  'labops.report.attention_cleared': true,
  'labops.report.ended': true,
  'labops.link.code_reminder': true,
  'labops.link.connection_error': true,
  'labops.link.ended': true,
  'labops.appointment.phase_changed': true,
  'labops.appointment.choice_needed': true,
  'labops.appointment.choice_reminder': true,
  'labops.appointment.visit_reminder': true,
  'labops.appointment.attention_raised': true,
  'labops.appointment.attention_cleared': true,
  'labops.appointment.ended': true,
  'labops.match_review.review_needed': true,
  'labops.match_review.review_reminder': true,
  'labops.match_review.phase_changed': true,
  'labops.match_review.attention_raised': true,
  'labops.match_review.attention_cleared': true,
  'labops.match_review.ended': true,
  'labops.user.deletion_scheduled': true,
  'labops.user.deletion_reminder': true,
  'labops.user.deletion_undone': true,
  'labops.user.deleted': true,
  'labops.user.deletion_failed': true,
  'labops.user.attention_raised': true,
  'labops.user.attention_cleared': true,
};
