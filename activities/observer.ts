import type { PageCounts } from '../protocol/reconcile.js';

/** Is notified of what the activities did, for metrics. Its methods return at once and never throw. */
export interface ActivityObserver {
  /**
   * One attempt of one notification has ended. An activity may be repeated, and then counts again.
   *
   * @param sinceMilliseconds from what it is about to its delivery; only if it was delivered
   */
  notificationSent(outcome: NotificationAttempt, sinceMilliseconds?: number): void;
  /** The orders of one page, or the match reviews, were compared with their workflows. */
  reconciled(counts: Partial<PageCounts> & { matchReviews?: number }): void;
}

/** `refused`: for good. `failed`: it is tried again. */
export type NotificationAttempt = 'delivered' | 'refused' | 'failed';
