import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { reportSnapshotOf, type ReportSnapshot } from '../service/report-snapshot.js';
import type { LostUpload, ReportSource } from '../protocol/report/messages.js';
import { isSignedUrl } from '../protocol/report/signed-url.js';
import { settlingAfter } from '../protocol/order/policy.js';
import type { ActivityDependencies } from './activities.js';
import { startAttempt, type Attempt } from './attempt.js';
import { asFailures } from './failures.js';
import { ReportFileRefused, ReportFileUnavailable } from './report-file/errors.js';
import type { OpenReportFile } from './report-file/report-files.js';
import { lostByEarlierRuns } from './report-submissions.js';

export interface UploadReport {
  reference: string;
  userId: string;
  file: ReportSource;
  needsHumanReview: boolean;
  /** Milliseconds; see `ReportPolicy`. */
  creationTimeout: number;
  uploadTimeout: number;
  /** Whether earlier runs of the reference are still to be asked about. */
  looksBack: boolean;
}

/** The job that was made; or nothing was sent, because earlier runs of the reference may have made one. */
export type UploadAnswer = { snapshot: ReportSnapshot } | { lostBefore: LostUpload[] };

/** Life is shown this often at least, also while a slow host or the service is waited for. */
const showEveryMs = 5_000;

/**
 * Streams the file from where it lies to the service, and shows how far it has come. Nothing of it is held: a piece is
 * read when the connection has taken the one before it.
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
      return { snapshot: await send(dependencies, input, progress, endsAt) };
    });
  return asFailures('ReportRefused', () => fileFailures(upload), settlingAfter(creationTimeout));
}

/** Said again here, because a backend in another language has not asked the client. */
export function requireUnsigned({ file }: UploadReport, encrypts: boolean): void {
  if (encrypts || !('url' in file) || !isSignedUrl(file.url)) return;
  const message = 'is a credential by itself, and payloads are not encrypted: use headersFrom, or encryption keys';
  throw ApplicationFailure.nonRetryable(`The file's url ${message}`, 'SignedUrlRefused', {
    fields: [{ field: 'file.url', message }],
  });
}

interface Progress {
  sentBytes: number;
  /** Shows life; throws when nothing may be created any more. */
  show(): void;
  attempt: Attempt;
  /** Aborts with why nothing may be created any more: a file that stands still is not waited for. */
  outdated: AbortController;
}

/** Runs an upload as one attempt that shows life all the time: whoever dies with it is missed soon. */
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
 * The file's bytes, each piece with a sign of life. The end of the form follows the last byte, and only with it the
 * service can make a job: an attempt that is outdated by then fails here, and nothing was made.
 */
async function* shown({ bytes }: OpenReportFile, progress: Progress): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of bytes) {
    progress.sentBytes += chunk.length;
    progress.show();
    yield chunk;
  }
  progress.attempt.requireFresh();
}

/** What is wrong with the file itself, as failures: neither carries a path, an address or a header. */
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
