import { activityInfo, ApplicationFailure, log } from '@temporalio/activity';
import { reportSnapshotOf, type ReportSnapshot } from '../../service/report/snapshot.js';
import type { LostUpload, ReportSource } from '../../protocol/report/submission-messages.js';
import { isAddressable, parsingJobId } from '../../protocol/ids.js';
import { isSignedUrl } from '../../protocol/report/signed-url.js';
import { settlingAfter } from '../../protocol/settling.js';
import type { ActivityDependencies } from '../dependencies.js';
import { startAttempt, type Attempt } from '../attempt.js';
import { asFailures } from '../failures.js';
import { ReportFileRefused, ReportFileUnavailable } from '../report-file/errors.js';
import type { OpenReportFile } from '../report-file/report-files.js';
import { lostByEarlierRuns } from './submissions.js';
import { claimOn } from '../workflow-runs.js';

export interface UploadReport {
  reference: string;
  userId: string;
  file: ReportSource;
  needsHumanReview: boolean;
  /** Milliseconds; see `ReportPolicy`. */
  creationTimeout: number;
  uploadTimeout: number;
  /** True if the earlier runs of the reference must still be read. */
  looksBack: boolean;
}

/** The job that was made; or nothing was sent, because earlier runs of the reference may have made one. */
export type UploadAnswer = { snapshot: ReportSnapshot } | { lostBefore: LostUpload[] };

/** The longest time between two heartbeats, also while waiting for a slow host or the service. */
const showEveryMs = 5_000;

/**
 * Streams the file to the service and reports the progress. Nothing is buffered: a chunk is read when the connection
 * has taken the one before it. The service makes a job of every file that it gets and knows no key of ours, so nothing
 * is sent if an earlier run may have made one; after a lost answer the workflow looks for its job before it
 * uploads again.
 */
export async function uploadFile(dependencies: ActivityDependencies, input: UploadReport): Promise<UploadAnswer> {
  const { creationTimeout, uploadTimeout, reference, looksBack } = input;
  const endsAt = Date.now() + uploadTimeout;
  const upload = () =>
    inTime(input, async (progress) => {
      const runId = activityInfo().workflowExecution?.runId;
      const lostBefore = looksBack ? await lostByEarlierRuns(dependencies.temporal, reference, runId) : [];
      if (lostBefore.length > 0) return { lostBefore };
      progress.attempt.requireFresh();
      const snapshot = await send(dependencies, input, progress, endsAt);
      await requireNoOtherReference(dependencies, snapshot, reference);
      return { snapshot };
    });
  return asFailures('ReportRefused', () => fileFailures(upload), settlingAfter(creationTimeout));
}

/**
 * The answer may have been mixed up with another's: taken as it is, this submission would get the results of another file.
 *
 * @throws ApplicationFailure `AnswerUnreadable` if the job belongs to another reference
 */
async function requireNoOtherReference(
  { temporal }: Pick<ActivityDependencies, 'temporal'>,
  { jobId }: ReportSnapshot,
  reference: string,
): Promise<void> {
  if (!isAddressable(jobId)) return;
  const claim = await claimOn(temporal, parsingJobId(jobId)).catch((error: unknown) => {
    // The job is made, and must not be lost because Temporal does not answer: a conflict shows at the hand-over.
    log.warn('it is not known if a new job has been claimed already', { jobId, error });
    return undefined;
  });
  if (claim === undefined || claim === reference) return;
  const message = `The service answered the upload with job ${jobId}, which belongs to another reference`;
  throw ApplicationFailure.retryable(message, 'AnswerUnreadable', { fields: [] });
}

/** Checked again here, because a backend in another language has not used the client. */
export function requireUnsigned({ file }: UploadReport, encrypts: boolean): void {
  if (encrypts || !('url' in file) || !isSignedUrl(file.url)) return;
  const message = 'is a credential by itself, and payloads are not encrypted: use headersFrom, or encryption keys';
  throw ApplicationFailure.nonRetryable(`The file's url ${message}`, 'SignedUrlRefused', {
    fields: [{ field: 'file.url', message }],
  });
}

interface Progress {
  sentBytes: number;
  /** Sends a heartbeat; throws if nothing may be created any more. */
  show(): void;
  attempt: Attempt;
  /** Aborts with the reason why nothing may be created any more: a stalled file is not waited for. */
  outdated: AbortController;
}

/** Runs an upload as one attempt with regular heartbeats, so a crashed worker is noticed soon. */
async function inTime<T>({ creationTimeout }: UploadReport, run: (progress: Progress) => Promise<T>): Promise<T> {
  const attempt = startAttempt(creationTimeout);
  const progress: Progress = {
    sentBytes: 0,
    show: () => attempt.call({ sentBytes: progress.sentBytes }),
    attempt,
    outdated: new AbortController(),
  };
  const timer = setInterval(
    () => {
      try {
        progress.show();
      } catch (error) {
        clearInterval(timer);
        progress.outdated.abort(error);
      }
    },
    Math.min(showEveryMs, creationTimeout / 3),
  );
  try {
    progress.show();
    return await run(progress);
  } finally {
    clearInterval(timer);
  }
}

async function send(
  { service, reportFiles }: ActivityDependencies,
  { userId, needsHumanReview, file, creationTimeout }: UploadReport,
  progress: Progress,
  endsAt: number,
): Promise<ReportSnapshot> {
  const opened = await reportFiles.open(file, { signal: progress.outdated.signal });
  try {
    const { contentType, size } = opened;
    const bytes = shown(opened, progress);
    const upload = { contentType, bytes, ...(size !== undefined && { size }) };
    const request = { userId, file: upload, ...(needsHumanReview && { needsHumanReview }) };
    const timeouts = { timeoutMs: Math.max(endsAt - Date.now(), 1), answerTimeoutMs: creationTimeout };
    const job = await service.reports.createJob(request, timeouts);
    return { ...reportSnapshotOf(job), userId };
  } finally {
    await opened.close();
  }
}

/**
 * The file's bytes, with a heartbeat for each chunk. The end of the form follows the last byte, and only then can the
 * service make a job: an attempt that is outdated by then fails here, and nothing was made.
 */
async function* shown({ bytes }: OpenReportFile, progress: Progress): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bytes) {
    progress.sentBytes += chunk.length;
    progress.show();
    yield chunk;
  }
  progress.attempt.requireFresh();
}

/** Errors of the file itself, as failures: none contains a path, an address or a header. */
async function fileFailures<T>(calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    if (!(error instanceof ReportFileRefused || error instanceof ReportFileUnavailable)) throw error;
    const { message, name: type, reason } = error;
    const details = { fields: [{ field: 'file', message }], reason };
    if (error instanceof ReportFileRefused) throw ApplicationFailure.nonRetryable(message, type, details);
    const { retryAfterMs } = error;
    throw ApplicationFailure.retryable(message, type, {
      ...details,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    });
  }
}
