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
 * `ServiceUnreachable`, or an attempt that held itself back as outdated or that no worker started, made nothing. A 4xx made nothing either; 429 is the
 * only one that may be tried again. After a 5xx the service does not know itself. A fault of ours counts as unknown.
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

/** @param type of the failure that the attempt ended with; undefined if its worker stopped responding */
export function uploadOutcomeOf(type: string | undefined): UploadOutcome {
  if (type === 'AnswerUnreadable') return 'created_unreadably';
  return type !== undefined && [...certain, ...refused].includes(type) ? 'nothing_created' : 'unknown';
}
