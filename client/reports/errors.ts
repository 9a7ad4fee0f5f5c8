import type { FailureDetails } from '../../protocol/failure-details.js';
import type { LostUpload } from '../../protocol/report/submission-messages.js';
import { LabOperationsError, Refusal, type ErrorMap } from '../errors.js';

/** Temporal knows no report with this reference or job id. It may be older than the namespace's retention. */
export class ReportNotFound extends Refusal {
  static readonly remedy = 'Check the reference or the id.';
  override readonly name = 'ReportNotFound';
}

/**
 * The reference was already used for a report of another user, another file or other options. If the first was ended
 * in the middle of an upload, `jobId` and `result` reject with this error instead of `submit`.
 */
export class ReportReferenceConflict extends Refusal {
  static readonly remedy = 'Use a new reference for a new report.';
  override readonly name = 'ReportReferenceConflict';
}

/** A field of the submission, its reference or its policy breaks a rule. Nothing was started. */
export class ReportInvalid extends Refusal {
  static readonly remedy = 'Fix the fields named in the error.';
  override readonly name = 'ReportInvalid';
}

/** The URL is itself a credential and payloads are not encrypted: anybody could read it in Temporal. */
export class SignedUrlRefused extends Refusal {
  static readonly remedy = 'Use a plain URL with `headersFrom`, or set LABOPS_ENCRYPTION_KEYS for worker and client.';
  override readonly name = 'SignedUrlRefused';
}

/**
 * The worker does not send this file: it is missing, outside REPORT_ROOT, empty, too large, not a whole PDF, JPEG or PNG, encrypted,
 * or at an address that the worker must not fetch from. The message says which. Nothing was sent.
 */
export class ReportFileRefused extends Refusal {
  static readonly remedy = 'Fix the file and submit it again with the same reference.';
  override readonly name = 'ReportFileRefused';
}

/** The lab service refused the report: its file, its user, or a human review that the team is not enabled for. */
export class ReportRefused extends Refusal {
  static readonly remedy =
    "Read the service's sentence in the error, fix the cause and submit again with the same reference.";
  override readonly name = 'ReportRefused';
}

/** The file was not uploaded within the policy's `submissionDeadline`; the message names the last attempt's failure. */
export class ReportSubmissionExpired extends Refusal {
  static readonly remedy = 'Fix the cause and submit it again with the same reference.';
  override readonly name = 'ReportSubmissionExpired';
}

/** The submission was cancelled before there was a job. */
export class ReportSubmissionCancelled extends Refusal {
  static readonly remedy = 'If you want the report after all, submit it again with the same reference.';
  override readonly name = 'ReportSubmissionCancelled';
  /** Uploads whose answers were lost: the service may parse the file nevertheless. */
  readonly lostUploads: readonly LostUpload[];

  constructor(message: string, details: Partial<FailureDetails> & { lostUploads?: LostUpload[] } = {}) {
    super(message, details);
    this.lostUploads = details.lostUploads ?? [];
  }
}

/** The report has ended, or its job is no longer followed. */
export class ReportEnded extends Refusal {
  static readonly remedy = "Look at the report's state.";
  override readonly name = 'ReportEnded';
}

/** The lab service shows no biomarkers of the report: it is not read yet, or could not be read. */
export class ReportNotRead extends Refusal {
  static readonly remedy = "Look at the report's state: it says which.";
  override readonly name = 'ReportNotRead';
}

/** The report's workflow was terminated, timed out or was cancelled by an operator; the message says which. */
export class ReportInterrupted extends LabOperationsError {
  static readonly remedy = "Submit it again, or wait for the job's next webhook.";
  override readonly name = 'ReportInterrupted';
}

/** The client error for each failure type of the report workflows. */
export const reportErrorMap: ErrorMap = {
  notFound: ReportNotFound,
  interrupted: ReportInterrupted,
  refusals: {
    ReferenceInvalid: ReportInvalid,
    ReferenceConflict: ReportReferenceConflict,
    PolicyInvalid: ReportInvalid,
    InvalidCommand: ReportInvalid,
    SignedUrlRefused,
    ReportFileRefused,
    ReportRefused,
    ReportSubmissionExpired,
    ReportSubmissionCancelled,
    ReportEnded,
    // The run ended between accepting a command and carrying it out.
    AcceptedUpdateCompletedWorkflow: ReportEnded,
  },
};
