import { defineUpdate } from '../definitions.js';
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
export const cancelUpdate = defineUpdate<SubmissionEnd, []>('cancel');
