import { defineQuery } from '../definitions.js';

/* The words of an operator's replay of notifications, for a product that has lost what it accepted. */

export interface ReplayNotificationsInput {
  /** Notifications that the product accepted at or after this time are sent again: ISO 8601 with its zone. */
  since: string;
}

/** The part of a replay that one activity does. */
export interface ReplayNotificationsPart extends ReplayNotificationsInput {
  /** Only workflows whose ID comes after this one: `next` of the part before. */
  after?: string;
}

export interface ReplayNotificationsResult {
  /** How many notifications are sent again. `deliverNotifications` delivers them. */
  notifications: number;
  /** How many workflows they come from. */
  workflows: number;
  /** How many runs have a history that cannot be decrypted or read: what they delivered is not sent again. */
  unreadable: number;
}

export interface ReplayNotificationsProgress extends ReplayNotificationsResult {
  /** Workflows still to be read, once it is known. */
  workflowsToGo?: number;
}

/** The result of one part. */
export interface ReplayedPart extends ReplayNotificationsProgress {
  /** Absent if it was the last part. */
  next?: string;
}

/** Only a run of `replayNotifications` answers it. */
export const progressQuery = defineQuery<ReplayNotificationsProgress>('progress');
