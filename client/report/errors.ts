import type { FailureDetails } from '../../protocol/failure-details.js';
import type { LostUpload } from '../../protocol/report/submission-messages.js';
import { isFinal } from '../../protocol/report/lifecycle.js';
import { type ErrorKind, invalid, notFound, refused, unavailable } from '../../service/lab-operations-error.js';
import { type ErrorMap } from '../errors.js';

/** Temporal knows no report with this reference or job id. It may be older than the namespace's retention. */
export class ReportNotFound extends notFound('ReportNotFound', 'Check the reference or the id.') {}

/**
 * The reference was already used for a report of another user, another file or other options. If the first was ended
 * in the middle of an upload, `jobId` and `result` reject with this error instead of `submit`.
 */
export class ReportReferenceConflict extends refused(
  'ReportReferenceConflict',
  'Use a new reference for a new report.',
) {}

/** A field of the submission, its reference or its policy breaks a rule. Nothing was started. */
export class ReportInvalid extends invalid('ReportInvalid') {}

/** The URL is itself a credential and payloads are not encrypted: anybody could read it in Temporal. */
export class SignedUrlRefused extends refused(
  'SignedUrlRefused',
  'Use a plain URL with `headersFrom`, or set LABOPS_ENCRYPTION_KEYS for worker and client.',
) {}

/**
 * The worker does not send this file: it is missing, outside REPORT_ROOT, empty, too large, not a whole PDF, JPEG or PNG, encrypted,
 * or at an address that the worker must not fetch from. The message says which. Nothing was sent.
 */
export class ReportFileRefused extends refused(
  'ReportFileRefused',
  'Fix the file and submit it again with the same reference.',
) {}

/** The lab service refused the report: its file, its user, or a human review that the team is not enabled for. */
export class ReportRefused extends refused(
  'ReportRefused',
  "Read the service's sentence in the error, fix the cause and submit again with the same reference.",
) {}

/** The file was not uploaded within the policy's `submissionDeadline`; the message names the last attempt's failure. */
export class ReportSubmissionExpired extends refused(
  'ReportSubmissionExpired',
  'Fix the cause and submit it again with the same reference.',
) {}

/** The submission was cancelled before there was a job. */
export class ReportSubmissionCancelled extends refused(
  'ReportSubmissionCancelled',
  'If you want the report after all, submit it again with the same reference.',
) {
  /** Uploads whose answers were lost: the service may parse the file nevertheless. */
  readonly lostUploads: readonly LostUpload[];

  constructor(message: string, details: Partial<FailureDetails> & { lostUploads?: LostUpload[] } = {}) {
    super(message, details);
    this.lostUploads = details.lostUploads ?? [];
  }
}

/** The report has ended, or its job is no longer followed. */
export class ReportEnded extends refused('ReportEnded', "Look at the report's state.") {}

/** The lab service shows no biomarkers of the report: it is not read yet (`unavailable`), or could not be read (`refused`). */
export class ReportNotRead extends unavailable(
  'ReportNotRead',
  'Ask again once the report is `completed`; if it has `failed`, or is `completed` and empty, submit a better file.',
) {
  /** The parsing job's status, as the lab service writes it. */
  readonly jobStatus: string | undefined;

  constructor(jobId: string, jobStatus: string | undefined) {
    super(`Parsing job ${jobId} has no biomarkers: it is ${jobStatus ?? 'unknown'}`);
    this.jobStatus = jobStatus;
  }

  override get kind(): ErrorKind {
    return isFinal(this.jobStatus) ? 'refused' : super.kind;
  }
}

/** The report's workflow was terminated, timed out or was cancelled by an operator; the message says which. */
export class ReportInterrupted extends refused(
  'ReportInterrupted',
  "Submit it again, or wait for the job's next webhook.",
) {}

/** The client error for each failure type of the report workflows. */
export const reportErrorMap: ErrorMap = {
  notFound: ReportNotFound,
  invalid: ReportInvalid,
  ended: ReportEnded,
  interrupted: ReportInterrupted,
  refusals: {
    ReferenceConflict: ReportReferenceConflict,
    SignedUrlRefused,
    ReportFileRefused,
    ReportRefused,
    ReportSubmissionExpired,
    ReportSubmissionCancelled,
    ReportEnded,
  },
};
