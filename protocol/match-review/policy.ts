import { defaultsOf, duration, durations, poll, type PolicyOf, type ResolvedSettings } from '../policy/settings.js';

/**
 * How long a review may take. The service documents no duration (docs/internals/lab-service.md, "Unmatched results"), so all of them
 * are input, and every default has its reason. There is no setting for giving up: an unmatched result is somebody's.
 */
export const matchReviewSettings = {
  /** After how long without a decision the product is reminded. Default 1 day and 3 days: results are needed while they matter. */
  decisionReminders: durations('1d', '3d'),
  /** How long the service's staff may take before attention is raised. Default 7 days: a working week and its weekend. */
  serviceReviewDeadline: duration('7d'),
  /** How long the review may be without webhooks before it is read; doubled after each read without news. Default 1 hour. */
  firstPoll: poll('1h'),
  /** The longest pause between two reads. Default 12 hours: a decision made elsewhere is known on the same day. */
  longestPoll: poll('12h'),
  /** How long a notification may stay undelivered before attention is raised. Default 3 days. */
  notificationDeadline: duration('3d'),
};

export type MatchReviewPolicy = PolicyOf<typeof matchReviewSettings>;

/** A policy with nothing left open; all durations in milliseconds. */
export type ResolvedMatchReviewPolicy = ResolvedSettings<typeof matchReviewSettings>;

export const defaultMatchReviewPolicy = defaultsOf(matchReviewSettings);

export const matchReviewPolicy = { of: 'match review', version: 1, settings: matchReviewSettings };
