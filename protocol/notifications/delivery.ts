import { TypedSearchAttributes } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '../definitions.js';
import { deliverNotificationsId } from '../ids.js';
import { isCritical } from '../order/lifecycle.js';
import { labAttentionKey, labAttentionSinceKey, labOrderIdKey, labReferenceKey, ofUser } from '../search-attributes.js';
import type { WorkflowStart } from '../signal-or-start.js';

/** A notification to the product: delivered as a signed CloudEvent (activities/notifications/notifications.ts). */
export interface Notification {
  /** Never derived from a run, so a receiver can drop repeats. */
  id: string;
  /** When it happened, ISO 8601 in UTC. */
  at: string;
  /** The ID of the workflow that sends it. */
  source: string;
  /** The CloudEvent's type without its prefix `labops.`: `order.phase_changed`. */
  type: string;
  /** The subject: an order's id, a user's. */
  subject: string;
  /** Names become snake_case on the wire. Nothing personal. */
  data: Record<string, unknown>;
  /** The user and the order of the portal link. A link is a credential: it is made when it is sent. */
  portalLink?: { userId: string; orderId: string };
  /** Nobody knew if there is a receiver when it was made: a deployment that sends no notifications drops it. */
  dropIfOff?: true;
}

/** Somebody must act on a result at once. */
export function isAlarm({ type, data: { interpretation } }: Notification): boolean {
  const isCriticalReview = type === 'match_review.review_needed' && isCritical(String(interpretation));
  return type === 'order.critical_result' || isCriticalReview;
}

export function isAlarmReminder({ type }: Notification): boolean {
  return type === 'order.critical_result_reminder';
}

/** True if it must pass what the receiver fails to take. */
export function isUrgent(notification: Notification): boolean {
  return isAlarm(notification) || isAlarmReminder(notification);
}

/*
 * The delivery of undelivered notifications: its name, input, messages and result. A workflow that ends before its
 * product could be notified hands the rest to `deliver-notifications/<its own ID>` and closes.
 */

export const deliverNotificationsName = 'deliverNotifications';

export interface DeliverNotificationsInput {
  /** The ID of the workflow that the notifications come from. */
  source: string;
  /** How long an undelivered notification is tried, in milliseconds. */
  giveUpAfter: number;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** A notification that the receiver refused for good: it waits for an operator. */
export interface RefusedNotification {
  notification: Notification;
  /** The HTTP status that it was refused with. */
  status: number;
}

/** A run's undelivered notifications, in the order in which they must arrive. */
export interface NotificationsLeft {
  notifications: Notification[];
  refused: RefusedNotification[];
  /** True if they come before all that still waits: they are sent again, for a product that has lost them. */
  areEarlier?: true;
}

/** Sent together with the start (signal-with-start), so nothing is lost on a delivery that is about to end. */
export const notificationsLeftSignal = defineSignal<[NotificationsLeft]>('notificationsLeft');

/** One notification, without its content. */
export interface UndeliveredNotification {
  id: string;
  /** The CloudEvent's type, `labops.order.phase_changed`. */
  type: string;
  /** When it happened, ISO 8601 in UTC. */
  at: string;
  /** Only if the receiver refused it for good: the HTTP status. Such a notification is not tried again until `resend`. */
  refusedWith?: number;
}

export interface DeliveryState {
  source: string;
  /** The undelivered notifications, in the order in which they are sent; refused ones last. */
  undelivered: UndeliveredNotification[];
  /** Until when the latest of them is tried, ISO 8601 in UTC; each has the same time from when it was handed over. */
  triedUntil: string;
  delivered: number;
  discarded: number;
}

export const stateQuery = defineQuery<DeliveryState>('state');

export interface ResendCommand {
  /** Ids of notifications; without them all, refused ones included. */
  ids?: string[];
}

/** Tries now: refused notifications are sent again, before all others. */
export const resendUpdate = defineUpdate<DeliveryState, [ResendCommand]>('resend');

export interface DiscardCommand {
  /** Ids of notifications that are not needed any more. */
  ids: string[];
}

export const discardUpdate = defineUpdate<DeliveryState, [DiscardCommand]>('discard');

export interface DeliveryResult {
  source: string;
  delivered: number;
  discarded: number;
  /** The notifications that were given up, because the time was over or an operator cancelled the delivery; empty if everything was delivered or discarded. */
  givenUp: UndeliveredNotification[];
}

/** How long a notification is tried by a caller that knows no setting of the worker's: NOTIFY_RETRY_DAYS. */
export const defaultRetryDays = 30;

/** The start options, to be used with signal-with-start. */
export function deliverNotificationsStart(
  first: Notification,
  giveUpAfter: number,
): WorkflowStart<DeliverNotificationsInput> {
  const { source, data } = first;
  const text = (name: string) => (typeof data[name] === 'string' ? data[name] : undefined);
  const [orderId, reference] = [text('orderId'), text('reference')];
  return {
    name: deliverNotificationsName,
    workflowId: deliverNotificationsId(source),
    args: [{ source, giveUpAfter }],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: labAttentionKey, value: ['notifications_undelivered'] },
      { key: labAttentionSinceKey, value: new Date() },
      ...(orderId === undefined ? [] : [{ key: labOrderIdKey, value: [orderId] }]),
      ...(reference === undefined ? [] : [{ key: labReferenceKey, value: reference }]),
      ...ofUser(text('userId')),
    ]),
    staticSummary: `Undelivered notifications of ${source}`,
    staticDetails: 'Delivers the notifications that were left when their workflow ended.',
  };
}
