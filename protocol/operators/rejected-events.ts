import { defineQuery } from '../definitions.js';

/* The words of operators' calls on rejected events: only an event's ids, type, reason and times. */

export type RejectedEventState = 'waiting' | 'replayed' | 'discarded' | 'expired';

export const rejectedEventStates: readonly RejectedEventState[] = ['waiting', 'replayed', 'discarded', 'expired'];

export interface RejectedEventFilter {
  /** Only events of exactly this type. */
  eventType?: string;
  /** Only events whose reason begins so, such as `not_handled`. */
  reason?: string;
}

interface RejectedEventsPart {
  /** Only what comes after this event, which is `next` of the answer before. */
  after?: string;
  /** Default 100, at most 1,000; of a replay 1,000 and 10,000. */
  limit?: number;
}

export interface ListedRejectedEvents extends RejectedEventFilter {
  /** Default `waiting`. */
  state?: RejectedEventState;
}

export type ListRejectedEventsInput = ListedRejectedEvents & RejectedEventsPart;

export interface RejectedEventEntry {
  /** Ascending: later ones are greater. */
  id: string;
  /** The webhook's, as the service shows it. */
  messageId: string;
  /** Absent if the event has none, or one that does not look like a type. */
  eventType?: string;
  /** The reason for the rejection, without a value of the event. */
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
  /** `after` of the next page; absent after the last. */
  next?: string;
}

/** One event, or those that wait and fit the filter, the latest first. */
export type ReplayRejectedEventsInput = { id: string } | (RejectedEventFilter & RejectedEventsPart);

export interface ReplayRejectedEventsResult {
  /** Counts by the webhook handler's answer: `delivered`, `health_data_accepted` and so on. */
  replayed: Record<string, number>;
  /** Counts of those that still could not be handled and keep waiting, by the handler's answer. */
  left: Record<string, number>;
  /** The first hundred of those. */
  leftEvents: { id: string; answer: string }[];
  /** `after` for the rest beyond the limit; absent if there is none. */
  next?: string;
}

/** The progress of a replay of many; `next` is where it is. */
export const progressQuery = defineQuery<ReplayRejectedEventsResult>('progress');

export interface DiscardRejectedEventInput {
  id: string;
  /** For later readers, at most 500 characters; nothing personal. */
  reason: string;
}
