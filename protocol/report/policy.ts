import ms from 'ms';
import { PolicyInvalid, readDuration, type Duration } from '../policy-settings.js';

/**
 * How long each stage of a report may take. The service documents no duration (docs/lab-service.md, "Report parsing"),
 * so all of them are input, and every default has its reason.
 */
export interface ReportPolicy {
  /** The longest that one upload may take, its answer included, 10 seconds to 1 hour. Default 10 minutes: 10 MB at 17 kB/s. */
  uploadTimeout?: Duration;
  /**
   * How long the service may take to answer once it has the whole file, 1 second to 5 minutes and shorter than
   * `uploadTimeout`. Default 30 seconds, as for orders. No upload is completed that could not be answered in time any more.
   */
  creationTimeout?: Duration;
  /**
   * After a lost answer, how long the job is waited for before the file is uploaded again. Default 2 minutes: a webhook is
   * tried at once and after 5 seconds. A job that appears later is marked as superseded.
   */
  lostAnswerWait?: Duration;
  /**
   * From the submission until the file has been uploaded: then it fails with `ReportSubmissionExpired`. An upload that is
   * under way is not cut off. Default 7 days: longer, the file or its host has been forgotten, and the user's deletion waits.
   */
  submissionDeadline?: Duration;
  /**
   * How long the job may be without webhooks before it is read; doubled after each read without news. Default 2
   * minutes.
   */
  firstPoll?: Duration;
  /** The same during a review. Default 1 hour: no review finishes before its webhook arrives. */
  firstReviewPoll?: Duration;
  /** The longest pause between two reads. Default 6 hours: a result whose webhooks were all lost is known on the same day. */
  longestPoll?: Duration;
  /** From the upload to a result or a review, before attention is raised. Default 1 hour: parsing is done by machines. */
  parsingDeadline?: Duration;
  /** From the beginning of a review to its end, before attention is raised. Default 4 days: two business days over a weekend. */
  reviewDeadline?: Duration;
  /** How long a job may be without progress after a deadline before it ends as `unresolved`. Default 14 days. */
  giveUpAfter?: Duration;
  /** How long a notification may stay undelivered before attention is raised. Default 3 days. */
  notificationDeadline?: Duration;
}

/** A policy with nothing left open; all durations in milliseconds. */
export type ResolvedReportPolicy = Record<keyof ReportPolicy, number>;

export const defaultReportPolicy = {
  uploadTimeout: '10m',
  creationTimeout: '30s',
  lostAnswerWait: '2m',
  submissionDeadline: '7d',
  firstPoll: '2m',
  firstReviewPoll: '1h',
  longestPoll: '6h',
  parsingDeadline: '1h',
  reviewDeadline: '4d',
  giveUpAfter: '14d',
  notificationDeadline: '3d',
} satisfies Required<ReportPolicy>;

const bounds: Partial<Record<keyof ReportPolicy, readonly [least: number, most: number]>> = {
  uploadTimeout: [ms('10s'), ms('1h')],
  creationTimeout: [ms('1s'), ms('5m')],
  // Reads are paid for: none of these may make the workflow ask without end.
  firstPoll: [ms('1s'), ms('30d')],
  firstReviewPoll: [ms('1s'), ms('30d')],
  longestPoll: [ms('1s'), ms('30d')],
};

/**
 * Fills in the defaults and turns durations into milliseconds.
 * @throws PolicyInvalid naming every setting that is unknown or out of range, all at once
 */
export function resolveReportPolicy(policy: ReportPolicy = {}): ResolvedReportPolicy {
  const faults: string[] = [];
  const given: Record<string, unknown> = { ...policy };
  const names = Object.keys(defaultReportPolicy) as (keyof ReportPolicy)[];
  const resolved = Object.fromEntries(
    names.map((name) => {
      const fault = (problem: string) => faults.push(`${name} ${problem}`);
      return [name, readDuration(given[name] ?? defaultReportPolicy[name], fault, ...(bounds[name] ?? []))];
    }),
  ) as ResolvedReportPolicy;
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(defaultReportPolicy, name)) faults.push(`${name} is not a policy setting`);
  }
  if (faults.length === 0 && resolved.creationTimeout >= resolved.uploadTimeout) {
    faults.push('creationTimeout must be shorter than uploadTimeout');
  }
  if (faults.length > 0) throw new PolicyInvalid('report', faults);
  return resolved;
}
