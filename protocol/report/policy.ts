import { defaultsOf, duration, poll, type PolicyOf, type ResolvedSettings } from '../policy/settings.js';

/**
 * How long each stage of a report may take. The service documents no duration (docs/internals/lab-service.md, "Report parsing"),
 * so all of them are input, and every default has its reason.
 */
export const reportSettings = {
  /** The longest that one upload may take, its answer included, 10 seconds to 1 hour. Default 10 minutes: 10 MB at 17 kB/s. */
  uploadTimeout: duration('10m', { least: '10s', most: '1h' }),
  /**
   * How long the service may take to answer once it has the whole file, 1 second to 5 minutes and shorter than
   * `uploadTimeout`. Default 30 seconds, as for orders. No upload is completed that could not be answered in time any more.
   */
  creationTimeout: duration('30s', { least: '1s', most: '5m' }),
  /**
   * After a lost answer, how long the job is waited for before the file is uploaded again. Default 2 minutes: a webhook is
   * tried at once and after 5 seconds. A job that appears later is marked as superseded.
   */
  lostAnswerWait: duration('2m'),
  /**
   * From the submission until the file has been uploaded: then it fails with `ReportSubmissionExpired`. An upload that is
   * under way is not cut off. Default 7 days: longer, the file or its host has been forgotten, and the user's deletion waits.
   */
  submissionDeadline: duration('7d'),
  /**
   * How long the job may be without webhooks before it is read; doubled after each read without news. Default 2
   * minutes.
   */
  firstPoll: poll('2m'),
  /** The same during a review. Default 1 hour: no review finishes before its webhook arrives. */
  firstReviewPoll: poll('1h'),
  /** The longest pause between two reads. Default 6 hours: a result whose webhooks were all lost is known on the same day. */
  longestPoll: poll('6h'),
  /** From the upload to a result or a review, before attention is raised. Default 1 hour: parsing is done by machines. */
  parsingDeadline: duration('1h'),
  /** From the beginning of a review to its end, before attention is raised. Default 4 days: two business days over a weekend. */
  reviewDeadline: duration('4d'),
  /** How long a job may be without progress after a deadline before it ends as `unresolved`. Default 14 days. */
  giveUpAfter: duration('14d'),
  /** How long a notification may stay undelivered before attention is raised. Default 3 days. */
  notificationDeadline: duration('3d'),
};

export type ReportPolicy = PolicyOf<typeof reportSettings>;

/** A policy with nothing left open; all durations in milliseconds. */
export type ResolvedReportPolicy = ResolvedSettings<typeof reportSettings>;

export const defaultReportPolicy = defaultsOf(reportSettings);

export const reportPolicy = {
  of: 'report',
  version: 1,
  settings: reportSettings,
  rule({ creationTimeout, uploadTimeout }: ResolvedReportPolicy, fault: (problem: string) => void): void {
    if (creationTimeout >= uploadTimeout) fault('creationTimeout must be shorter than uploadTimeout');
  },
};
