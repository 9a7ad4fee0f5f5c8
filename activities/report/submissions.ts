import { WorkflowFailedError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { submitReportId } from '../../protocol/ids.js';
import {
  submissionResultVersion,
  type LostUpload,
  type SubmitReportResult,
  uploadOutcomeOf,
} from '../../protocol/report/submission-messages.js';
import { readable, resultOf, runsOf } from '../workflow-runs.js';

/** The facts that the end of a submission's run shows about its job. */
export interface SubmissionRun {
  isRunning: boolean;
  /** The job that it ended with. */
  jobId?: string;
  /** Uploads that may have made a job whose id was never received. Not known for a running submission. */
  lostUploads: LostUpload[];
}

/** @param began the start of its first run if it has continued as new; else its own start */
export async function readSubmission(
  temporal: Client,
  run: WorkflowExecutionInfo,
  began: Date = run.startTime,
): Promise<SubmissionRun> {
  // Ended from outside, it may have been in the middle of an upload.
  const whole = { from: began.toISOString(), until: (run.closeTime ?? new Date()).toISOString() };
  switch (run.status.name) {
    case 'RUNNING':
      return { isRunning: true, lostUploads: [] };
    case 'COMPLETED': {
      const result = (await resultOf(temporal, run)) as SubmitReportResult;
      const { jobId, lostUploads } = readable('a submission', result, submissionResultVersion);
      return { isRunning: false, jobId, lostUploads };
    }
    case 'FAILED':
      return { isRunning: false, lostUploads: await lostByFailed(temporal, run, whole) };
    default:
      return { isRunning: false, lostUploads: [whole] };
  }
}

/** The job that a run may have made, and for which report. */
interface LostByRun {
  digest: unknown;
  uploads: LostUpload[];
}

/**
 * Uploads of earlier runs of a reference whose jobs were never claimed. A run that was refused, by the service or
 * before anything was sent, made nothing: a search for its job would find somebody else's.
 *
 * @throws ReferenceConflict if one of them was for another report: taking its job over would give this report the
 * results of another file, and a new upload would be a second job for the reference
 */
export async function lostByEarlierRuns(
  temporal: Client,
  reference: string,
  currentRunId: string | undefined,
): Promise<LostUpload[]> {
  const runs = await runsOf(temporal, submitReportId(reference));
  let lost: LostByRun[] = [];
  let first: WorkflowExecutionInfo | undefined;
  for (const run of runs.toSorted((a, b) => a.startTime.getTime() - b.startTime.getTime())) {
    first ??= run;
    if (run.status.name === 'CONTINUED_AS_NEW' || run.runId === currentRunId) continue;
    const { startTime: began } = first;
    const { isRunning, jobId, lostUploads } = await readSubmission(temporal, run, began);
    // The list lags: two runs of one ID are never under way together.
    const uploads = isRunning ? [{ from: began.toISOString(), until: new Date().toISOString() }] : lostUploads;
    const its = uploads.length > 0 ? [{ digest: await submittedDigest(temporal, first), uploads }] : [];
    // A run that ended with a job has taken over what was lost before it.
    lost = jobId === undefined ? [...lost, ...its] : its;
    first = undefined;
  }
  if (lost.length === 0) return [];
  // The list lags: if it does not have the current run yet, Temporal itself does.
  const digest = await submittedDigest(
    temporal,
    first ?? { workflowId: submitReportId(reference), runId: currentRunId },
  );
  if (lost.some((other) => other.digest !== digest)) throw anotherReport(reference);
  const all = lost.flatMap(({ uploads }) => uploads);
  return [...new Map(all.map((upload) => [`${upload.from} ${upload.until}`, upload])).values()];
}

/**
 * The client's digest of the report that a run is for; without a digest, a backend's runs all count as the same report. It is
 * in the memo, which lists leave out (`withoutMemos`).
 */
async function submittedDigest(
  temporal: Client,
  { workflowId, runId }: { workflowId: string; runId: string | undefined },
): Promise<unknown> {
  const { memo } = await temporal.workflow.getHandle(workflowId, runId).describe();
  return memo?.['inputDigest'];
}

function anotherReport(reference: string): ApplicationFailure {
  const message =
    `The reference ${reference} was used for another report, of which there may be a job already: ` +
    'submit this one with a reference of its own';
  return ApplicationFailure.nonRetryable(message, 'ReferenceConflict', { fields: [{ field: 'reference', message }] });
}

/** A submission that fails after a lost answer has it in its failure's details; an internal error has nothing. */
async function lostByFailed(temporal: Client, run: WorkflowExecutionInfo, whole: LostUpload): Promise<LostUpload[]> {
  const failure = await resultOf(temporal, run).catch((error: unknown) => error);
  const cause = failure instanceof WorkflowFailedError ? failure.cause : undefined;
  if (!(cause instanceof ApplicationFailure)) return [whole];
  const [details] = (cause.details ?? []) as (Partial<Pick<SubmitReportResult, 'lostUploads'>> | undefined)[];
  const { lostUploads = [] } = details ?? {};
  if (lostUploads.length > 0) return lostUploads;
  return uploadOutcomeOf(cause) === 'nothing_created' ? [] : [whole];
}
