import { choice, defaultsOf, duration, type PolicyOf, type ResolvedSettings } from '../policy/settings.js';

/** The treatment of a user's running kit orders, links, reports and appointments before the deletion. */
export type OnRunningWork = (typeof treatments)[number];

const treatments = ['refuse', 'cancel', 'leave'] as const;

export const deletionSettings = {
  /**
   * Default `refuse`: nothing is deleted while a kit is on its way, because the caller should decide about it. `cancel`
   * cancels what can be cancelled and reports the rest; `leave` only reports what runs.
   */
  onRunningWork: choice('refuse', treatments),
  /**
   * How long the deletion can be undone, 1 hour to 7 days. Default 7 days: it is the service's own grace period (specification,
   * "User deletion"), and a longer one could not be kept. In less than an hour nobody could decide to undo it.
   */
  grace: duration('7d', { most: '7d', leastGiven: '1h' }),
  /**
   * How long before the end of the grace period the product is reminded, at most 7 days. Default 1 day; no reminder if the grace period
   * is not longer.
   */
  reminderBefore: duration('1d', { most: '7d' }),
  /**
   * How long a notification may stay undelivered before attention is raised. Default 3 days. With seconds, the deletion's history grows every
   * ten minutes while the receiver is down.
   */
  notificationDeadline: duration('3d'),
};

export type DeletionPolicy = PolicyOf<typeof deletionSettings>;

/** A policy with nothing left open; durations in milliseconds. */
export type ResolvedDeletionPolicy = ResolvedSettings<typeof deletionSettings>;

export const defaultDeletionPolicy = defaultsOf(deletionSettings);

export const deletionPolicy = { of: 'deletion', version: 1, settings: deletionSettings };
