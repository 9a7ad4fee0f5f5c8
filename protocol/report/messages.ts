import type { OfActor } from '../ids.js';
import type { EarlierRun } from '../signal-or-start.js';
import { defineQuery, defineSignal, defineUpdate } from '../definitions.js';
import type { ReportCounts, ReportSnapshot } from '../../service/report/snapshot.js';
import type { Attention, RaisedAttention } from '../attention.js';
import type { ReportPolicy, ResolvedReportPolicy } from './policy.js';

/**
 * Who `parsingJob` is: its name, input, result, signals, queries and updates. The wire name of a message
 * is its export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const parsingJobName = 'parsingJob';

export interface ParsingJobInput {
  jobId: string;
  /** Followed unless `reportSubmitted` brings another: the defaults when the run was started. */
  policy?: ReportPolicy | ResolvedReportPolicy;
  /** The run of the same workflow ID before this one, if the sender that started it looked. */
  earlierRun?: EarlierRun;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** Hands an uploaded report over to the workflow that follows its job. */
export interface ReportSubmitted {
  reference: string;
  userId: string;
  policy: ResolvedReportPolicy;
  snapshot: ReportSnapshot;
  /** The job was there already: it may have a history that the run should know. */
  adopted: boolean;
  /** True if the worker has a target for notifications; without one, none is scheduled. */
  notifies: boolean;
}

export const reportSubmittedSignal = defineSignal<[ReportSubmitted]>('reportSubmitted');
export const jobChangedSignal = defineSignal<[ReportSnapshot]>('jobChanged');

/** Stops following the job; nothing is sent to the service, which cannot cancel a job. Answers with the new state. */
export const cancelUpdate = defineUpdate<ReportState, [OfActor]>('cancel');

export const stateQuery = defineQuery<ReportState>('state');

/** The state of the report. LabPhase carries it. */
export type ReportPhase =
  /** The service has the file. */
  | 'uploaded'
  /** It is being read; also under a status that is not known yet. */
  | 'parsing'
  /** A person at the service checks the values. */
  | 'in_review'
  | 'completed'
  | 'failed';

/** The reason why a person should look: docs/attention.md. */
export type ReportAttentionReason =
  | 'parsing_overdue'
  | 'review_overdue'
  | 'reference_conflict'
  | 'ambiguous_job'
  | 'notifications_undelivered'
  | 'unreadable_signal'
  | 'upload_delayed';

/** A status, and when this workflow learnt of it: the service itself gives no time. */
export interface ReportTimelineEntry {
  at: string;
  /** The service's own status, also one that is not known yet. */
  status: string;
  isReviewed?: boolean;
}

/** The answer of `state` and `cancel`. Nothing personal: values and names stay in the service. */
export interface ReportState {
  jobId: string;
  reference?: string;
  userId?: string;
  phase: ReportPhase;
  /** The service's own; `unknown` if it reported none. */
  status: string;
  needsHumanReview?: boolean;
  isReviewed?: boolean;
  /** Why the job failed. */
  failure?: ReportFailure;
  /** There once the report was read. */
  counts?: ReportCounts;
  waiting: { for: string; until?: string };
  attention: Attention<ReportAttentionReason>[];
  timeline: ReportTimelineEntry[];
  /** Set once the job has ended. */
  outcome?: ReportOutcome;
  /** The job that took this one's place. */
  supersededBy?: string;
}

export type ReportOutcome =
  | 'completed'
  | 'failed'
  /** A person decided to stop following it. */
  | 'abandoned'
  /** Nothing moved for `giveUpAfter` beyond a deadline. A later event starts a new run. */
  | 'unresolved'
  /** The service no longer knows the job. */
  | 'job_gone'
  /**
   * An upload whose answer was lost probably made it, and another job was made of the same file. Its result is
   * announced nevertheless.
   */
  | 'superseded';

/** The last state. Biomarkers stay in the service; `counts` has how many there are, by interpretation and by LOINC match. */
export interface ParsingJobResult extends ReportState {
  /** The version of this result's format; later runs read it. */
  version: number;
  outcome: ReportOutcome;
  /** State that a later run continues with, if the service reports something new. */
  policy: ResolvedReportPolicy;
  /** The ids of notifications that the product got. */
  announced: string[];
  /** The questions that stood at its end. */
  attention: RaisedAttention<ReportAttentionReason>[];
  /** How often each question was raised: one that is raised again is another notification. Absent is never. */
  raised?: Record<string, number>;
}

/**
 * Notifications about a lab report, CloudEvents of type `labops.report.<type>`. An id is never derived from a run, so a
 * receiver can drop repeats: `<job id>/<status or deadline>/<type>`.
 */
export type ReportNotification = ReportNotificationHead &
  (
    | { type: 'phase_changed'; data: { phase: ReportPhase; status: string } }
    | { type: 'review_needed'; data: { status: string } }
    | { type: 'completed'; data: { isReviewed: boolean; supersededBy?: string } & Partial<ReportCounts> }
    | { type: 'failed'; data: { failureReason: string; failureSentence: string; supersededBy?: string } }
    /** A job that was announced before belongs to this reference. */
    | { type: 'claimed'; data: { status: string } }
    | { type: 'attention_raised'; data: Attention<ReportAttentionReason> }
    | { type: 'attention_cleared'; data: Attention<ReportAttentionReason> }
    | { type: 'ended'; data: { outcome: ReportOutcome; supersededBy?: string } }
  );

export interface ReportNotificationHead {
  id: string;
  /** When it was learnt, ISO 8601 in UTC. */
  at: string;
  jobId: string;
  reference?: string;
  userId?: string;
}

/** A reason why a report could not be read, for the person who uploaded it. */
export interface ReportFailure {
  /** The service's reason; an unknown one as it was sent. */
  reason: string;
  /** In plain English, to be shown or translated by `reason`. */
  sentence: string;
}

const sentences: Readonly<Record<string, string>> = {
  invalid_input:
    'The file could not be opened as a lab report. Please upload the original PDF, or a photo of every page.',
  low_quality: 'The report could not be read well enough. Please upload a sharper scan or photo.',
  not_english: 'Only reports in English can be read. Please upload an English version of the report.',
  too_many_pages: 'The report has too many pages. Please upload only the pages with results.',
  processing_error: 'Something went wrong while the report was read. Please upload it again.',
};

const otherwise = 'The report could not be read. Please try again, or contact support.';

/** A failed job need not have a reason. */
export function failureOf(reason: string | undefined): ReportFailure {
  const known = reason !== undefined && Object.hasOwn(sentences, reason) ? sentences[reason] : undefined;
  return { reason: reason ?? 'unknown', sentence: known ?? otherwise };
}
