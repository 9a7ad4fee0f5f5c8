import type { OfActor } from '../ids.js';
import { defineUpdate } from '../definitions.js';
import type { FailureDetails } from '../failure-details.js';
import type { ReportPolicy, ResolvedReportPolicy } from './policy.js';

/** Who `submitReport` is: its name, input, result and update. The job that it hands over: `messages.ts`. */

export const submitReportName = 'submitReport';

/** The place from which the worker gets the file. Nothing of the file itself enters Temporal. */
export type ReportSource =
  /** Below the worker's REPORT_ROOT. */
  | { path: string }
  /**
   * Fetched by the worker; from an address that is not public only if its host is listed (REPORT_URL_ALLOWED_HOSTS). A
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

export interface SubmitReportInput extends OfActor {
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
  /** The version of this result's format; a later submission of the reference, and those of the same user, read it. */
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
export const cancelUpdate = defineUpdate<SubmissionEnd, [OfActor]>('cancel');

/**
 * The meaning of a failed upload. The service accepts a file more than once and makes a job of each, so before it is
 * sent again it must be certain that there is no job yet.
 */
type UploadOutcome =
  /** The service cannot have had the whole file: it may be sent again at once. */
  | 'nothing_created'
  /** There may be a job: it is waited for first. */
  | 'unknown'
  /** There is a job, and the answer to the next upload would be as unreadable: it is waited for, and not repeated. */
  | 'created_unreadably';

/**
 * By the failure's type (activities/failures.ts, activities/report/upload.ts, workflows/report/submit.ts). A body that broke off lacks the last boundary of
 * its form, which is handed to the connection only after the last byte of the file; so whatever is called
 * `ServiceUnreachable`, or an attempt that held itself back as outdated or that no worker started, made nothing. A 4xx or a redirect made nothing either; of these, a 429, a
 * redirect and a proxy's 404 are tried again. After a 5xx the service does not know itself. A fault of ours counts as unknown.
 */
const certain: readonly string[] = [
  'ServiceUnreachable',
  'TooManyRequests',
  'AttemptOutdated',
  'UploadNotStarted',
  'ReportFileUnavailable',
  // An earlier submission's result is read before anything is sent.
  'StateTooNew',
];

/** Failures that end a submission for good, before anything was sent or by the service's own answer. */
const refused: readonly string[] = [
  'ReferenceInvalid',
  'ReferenceConflict',
  'PolicyInvalid',
  'InvalidCommand',
  'SignedUrlRefused',
  'ReportFileRefused',
  'ReportRefused',
  'FeatureNotEnabled',
  'Unauthorized',
  // A failure of the submission itself: its details list the uploads that may have made a job.
  'ReportSubmissionCancelled',
  'ReportSubmissionExpired',
];

/** @param failure that the attempt ended with; undefined if its worker stopped responding */
export function uploadOutcomeOf(
  failure: { type?: string | null | undefined; details?: unknown[] | null | undefined } | undefined,
): UploadOutcome {
  const type = failure?.type ?? '';
  const [details] = (failure?.details ?? []) as (Partial<FailureDetails> | undefined)[];
  if (type === 'AnswerUnreadable') return (details?.status ?? 0) < 300 ? 'created_unreadably' : 'nothing_created';
  return [...certain, ...refused].includes(type) ? 'nothing_created' : 'unknown';
}
