import { LabOperationsError, Refusal, type Words } from '../errors.js';

/** No report with this reference or job id is known to Temporal. It may be older than the namespace's retention. */
export class ReportNotFound extends Refusal {
  override readonly name = 'ReportNotFound';
}

/**
 * The reference was already used for a report of another user, another file or other options. Use a new reference for a
 * new report. Where the first was ended in mid-upload, `jobId` and `result` say so, not `submit`.
 */
export class ReportReferenceConflict extends Refusal {
  override readonly name = 'ReportReferenceConflict';
}

/** The submission, its reference or its policy breaks a rule that is known here; nothing was started. */
export class ReportInvalid extends Refusal {
  override readonly name = 'ReportInvalid';
}

/**
 * The URL is a credential by itself, and payloads are not encrypted: it would be readable in Temporal. Use `headersFrom`
 * with a plain URL, or encryption keys.
 */
export class SignedUrlRefused extends Refusal {
  override readonly name = 'SignedUrlRefused';
}

/**
 * The worker does not send this file: it is not there, not below REPORT_ROOT, empty, too large, no PDF, JPEG or PNG, or
 * at an address that may not be asked. The message says which. Nothing was sent.
 */
export class ReportFileRefused extends Refusal {
  override readonly name = 'ReportFileRefused';
}

/** The service refused the report: its file, its user, or a human review that the team is not enabled for. */
export class ReportRefused extends Refusal {
  override readonly name = 'ReportRefused';
}

/** The report has ended, or its job is not followed any more. */
export class ReportEnded extends Refusal {
  override readonly name = 'ReportEnded';
}

/** The service shows no biomarkers of the report: it is not read yet, or could not be. `state` says which. */
export class ReportNotRead extends Refusal {
  override readonly name = 'ReportNotRead';
}

/** The workflow was terminated, timed out or cancelled by an operator; the message says which. */
export class ReportInterrupted extends LabOperationsError {
  override readonly name = 'ReportInterrupted';
}

/** What the failures of the report workflows are called in the product. */
export const reportWords: Words = {
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
    ReportEnded,
    // The run ended between accepting a command and carrying it out.
    AcceptedUpdateCompletedWorkflow: ReportEnded,
  },
};
