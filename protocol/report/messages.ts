import type { EarlierRun } from '../earlier-run.js';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ReportCounts, ReportSnapshot } from '../../service/report-snapshot.js';
import type { Attention } from '../attention.js';
import type { ReportFailure } from './failure-reasons.js';
import type { ReportPolicy, ResolvedReportPolicy } from './policy.js';

/**
 * Who the report workflows are: their names, inputs, results, signals, queries and updates. The wire name of a message
 * is its export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const submitReportName = 'submitReport';
export const parsingJobName = 'parsingJob';

/** Where the worker gets the file. Nothing of the file itself enters Temporal. */
export type ReportSource =
  /** Below the worker's REPORT_ROOT. */
  | { path: string }
  /**
   * Fetched by the worker; from an address that is not public only where its host is listed (REPORT_URL_ALLOWED_HOSTS). A
   * URL that is itself a credential (signed, with a token) is refused while payloads are not encrypted.
   */
  | {
      url: string;
      /**
       * Names a set of headers that is configured at the worker (REPORT_URL_HEADERS_FILE), so no secret is in a
       * history.
       */
      headersFrom?: string;
    };

export interface SubmitReportInput {
  /** The product's own key, `^[A-Za-z0-9._:-]{1,128}$`, never personal data. The same key is followed to one job. */
  reference: string;
  /** The service's user id of whose report it is. */
  userId: string;
  file: ReportSource;
  /** True if a person at the service must check the values. Default false. Not every team is enabled for it. */
  needsHumanReview?: boolean;
  /** A part of the settings, or a resolved policy, which the client sends. */
  policy?: ReportPolicy | ResolvedReportPolicy;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** An upload with an unknown outcome: the service may have made a job of it. ISO 8601 in UTC. */
export interface LostUpload {
  from: string;
  until: string;
}

export interface SubmitReportResult {
  /** The form of the result: a later submission of the reference, and those of the same user, read it. */
  version: number;
  /** The service's id of the parsing job, which the workflow `parsing-job/<job id>` follows. */
  jobId: string;
  /** True when an upload's answer was lost and its job was found among those that webhooks had reported. */
  adopted: boolean;
  /** Uploads before that, whose jobs never appeared: one that appears later is superseded by `jobId`. */
  lostUploads: LostUpload[];
}

export const submissionResultVersion = 1;

/** The result of cancelling a submission. */
export type SubmissionEnd =
  /**
   * Nothing is uploaded any more. `lostUploads` are those whose answers were lost: the service may read such a file all
   * the same.
   */
  | { outcome: 'cancelled'; reference: string; lostUploads: LostUpload[] }
  /** It came too late: the file was uploaded as this job, which its own `cancel` stops following. */
  | { outcome: 'uploaded'; jobId: string };

/** Ends a submission: on `submitReport`. */
export const cancelSubmissionUpdate = defineUpdate<SubmissionEnd, []>('cancel');

export interface ParsingJobInput {
  jobId: string;
  /** Followed unless `reportSubmitted` brings another: the defaults when the run was started. */
  policy?: ReportPolicy | ResolvedReportPolicy;
  /** The run of the same workflow ID before this one, where the sender that started it looked. */
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
export const cancelReportUpdate = defineUpdate<ReportState, []>('cancel');

export const reportStateQuery = defineQuery<ReportState>('state');

/** Where the report is. LabPhase carries it. */
export type ReportPhase =
  /** The service has the file. */
  | 'uploaded'
  /** It is being read; also under a status that is not known yet. */
  | 'parsing'
  /** A person at the service checks the values. */
  | 'in_review'
  | 'completed'
  | 'failed';

/** The reason why a person should look. */
export type ReportAttentionReason =
  /** Neither a result nor a review by `parsingDeadline`. */
  | 'parsing_overdue'
  | 'review_overdue'
  /** A second reference claims this job. */
  | 'reference_conflict'
  /** Nobody submitted this job, and it may come from an upload whose answer was lost: it could not be found out. */
  | 'ambiguous_job'
  | 'notifications_undelivered'
  /** On `submitReport`: the file has not been uploaded for an hour, or the service refuses the worker's key; it goes on trying. */
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

export interface ParsingJobResult {
  /** The form of the result, for the runs that continue with it. */
  version: number;
  outcome: ReportOutcome;
  jobId: string;
  reference?: string;
  userId?: string;
  status: string;
  isReviewed?: boolean;
  failure?: ReportFailure;
  /** Biomarkers stay in the service; here is how many there are, by interpretation and by LOINC match. */
  counts?: ReportCounts;
  supersededBy?: string;
  timeline: ReportTimelineEntry[];
  /** State that a later run continues with, if the service reports something new. */
  policy: ResolvedReportPolicy;
  /** The ids of notifications that the product got. */
  announced: string[];
}
