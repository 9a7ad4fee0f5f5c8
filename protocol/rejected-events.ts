/**
 * Who the commands on rejected events are: names, IDs, inputs and results. Each is a short run of a worker with a store,
 * for whoever speaks to Temporal only. Nothing of an event is in them but its ids, its type, its reason and its times.
 */

export const listRejectedEventsName = 'listRejectedEvents';
export const replayRejectedEventsName = 'replayRejectedEvents';
export const discardRejectedEventName = 'discardRejectedEvent';

/** @param unique what no other run has: two commands may run at once, the store takes them one after the other */
export function rejectedEventsId(command: 'list' | 'replay' | 'discard', unique: string): string {
  return `rejected-events/${command}/${unique}`;
}

export type RejectedEventState = 'waiting' | 'replayed' | 'discarded' | 'expired';

export interface RejectedEventFilter {
  /** Only events of exactly this type. */
  eventType?: string;
  /** Only events whose reason begins so, such as `not_handled`. */
  reason?: string;
  /** Only events before this one: `next` of the page before. */
  before?: string;
}

export interface ListRejectedEventsInput extends RejectedEventFilter {
  /** Default `waiting`. */
  state?: RejectedEventState;
  /** Default 100, at most 1,000. */
  limit?: number;
}

export interface RejectedEventEntry {
  /** Ascending: later ones are greater. */
  id: string;
  /** The webhook's, as the service shows it. */
  messageId: string;
  /** Absent where the event has none, or one that does not look like a type. */
  eventType?: string;
  /** What was wrong, without a value of the event. */
  reason: string;
  /** ISO 8601 in UTC. */
  receivedAt: string;
  state: RejectedEventState;
  settledAt?: string;
  discardReason?: string;
}

export interface RejectedEventsPage {
  /** The latest first. */
  events: RejectedEventEntry[];
  /** How many wait altogether, whatever the filter. */
  waiting: number;
  /** `before` of the next page; absent after the last. */
  next?: string;
}

/** One event, or those that wait and fit the filter, the latest first. */
export type ReplayRejectedEventsInput = { id: string } | (RejectedEventFilter & { limit?: number });

/** How many are replayed where no `limit` is given, and at most. */
export const replayLimit = { usual: 1_000, most: 10_000 } as const;

export interface ReplayRejectedEventsResult {
  /** By the webhook handler's word for what became of each: `delivered`, `health_data_accepted` and so on. */
  replayed: Record<string, number>;
  /** Those that nobody took, and which go on waiting: how many, by the handler's word. */
  left: Record<string, number>;
  /** The first hundred of those. */
  leftEvents: { id: string; answer: string }[];
  /** `before` of what was not looked at because of the limit; absent where everything was. */
  next?: string;
}

export interface DiscardRejectedEventInput {
  id: string;
  /** For whoever looks later, at most 500 characters; nothing personal. */
  reason: string;
}
