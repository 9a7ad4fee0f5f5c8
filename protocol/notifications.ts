/** What the product is told, whatever it is about: delivered as a signed CloudEvent (activities/notifications.ts). */
export interface Notification {
  /** Never derived from a run, so that a receiver can drop repeats. */
  id: string;
  /** When it happened, ISO 8601 in UTC. */
  at: string;
  /** The ID of the workflow that tells it. */
  source: string;
  /** The CloudEvent's type without its prefix `labops.`: `order.phase_changed`. */
  type: string;
  /** What it is about: an order's id, a user's. */
  subject: string;
  /** Names become snake_case on the wire. Nothing personal. */
  data: Record<string, unknown>;
  /** Whose portal is to be linked, at which order. A link is a credential: it is made where it is sent. */
  portalLink?: { userId: string; orderId: string };
}
