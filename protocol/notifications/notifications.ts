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
export function isAlarm({ type }: Notification): boolean {
  return type === 'order.critical_result';
}

export function isAlarmReminder({ type }: Notification): boolean {
  return type === 'order.critical_result_reminder';
}
