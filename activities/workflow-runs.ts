import { activityInfo, ApplicationFailure, log, sleep } from '@temporalio/activity';
import {
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowExecutionInfo,
} from '@temporalio/client';
import type { EarlierRun } from '../protocol/signal-or-start.js';
import { withoutMemos, labReferenceKey } from '../protocol/search-attributes.js';

/** The runs that match a query. Visibility lags by moments. */
export async function listed(temporal: Client, query: string): Promise<WorkflowExecutionInfo[]> {
  const runs: WorkflowExecutionInfo[] = [];
  for await (const run of withoutMemos(temporal.workflow).list({ query })) runs.push(run);
  return runs;
}

/** A workflow ID's runs, as far as the namespace retains them. */
export async function runsOf(temporal: Client, workflowId: string): Promise<WorkflowExecutionInfo[]> {
  return listed(temporal, `WorkflowId = '${workflowId}'`);
}

export type Run = Pick<WorkflowExecutionInfo, 'runId' | 'status' | 'startTime' | 'closeTime'>;

/** Listed runs with their current state. */
export async function presentRuns(temporal: Client, runs: readonly WorkflowExecutionInfo[]): Promise<Run[]> {
  return Promise.all(runs.map((run) => asItIs(temporal, run)));
}

/** Those of them that ended by themselves, the latest first. */
export async function endedRunsOf(temporal: Client, workflowId: string): Promise<Run[]> {
  const runs = await presentRuns(temporal, await runsOf(temporal, workflowId));
  const ended = runs.filter(({ status }) => status.name === 'COMPLETED');
  return ended.toSorted((a, b) => (b.closeTime?.getTime() ?? 0) - (a.closeTime?.getTime() ?? 0));
}

/** Visibility may not know yet that a run has ended; the run itself does. */
async function asItIs(temporal: Client, listedAs: WorkflowExecutionInfo): Promise<Run> {
  const { workflowId, runId, status } = listedAs;
  if (status.name !== 'RUNNING') return listedAs;
  return (await described(temporal, workflowId, runId)) ?? listedAs;
}

/** A workflow's last run, or the given one, as it is now. Undefined if there is none, or if it is past its retention. */
export async function described(
  temporal: Client,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await withoutMemos(temporal.workflow).getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/** The reference that a workflow carries, if there is such a workflow and it has one. */
export async function claimOn(temporal: Client, workflowId: string): Promise<string | undefined> {
  return (await described(temporal, workflowId))?.typedSearchAttributes.get(labReferenceKey);
}

/**
 * The result of the last completed run with this workflow ID.
 *
 * @param earlier the run before the one that asks, as its input has it: it is found by ID. Without it, and if somebody
 * ended it or it failed, Temporal is searched, and a run that was started and ended just now may be missing; what it
 * announced is then announced again with the same ids, which a receiver drops.
 */
export async function lastResultOf<Result>(
  temporal: Client,
  workflowId: string,
  earlier?: EarlierRun,
): Promise<Result | undefined> {
  return resultOf(temporal, { workflowId, ...(await lastEndedOf(temporal, workflowId, earlier)) });
}

/** Its result; undefined without a run. */
export async function resultOf<Result>(
  temporal: Client,
  { workflowId, runId }: EarlierRun & { workflowId: string },
): Promise<Result | undefined> {
  if (runId === undefined) return undefined;
  return temporal.workflow.getHandle(workflowId, runId).result() as Promise<Result>;
}

/**
 * The same, but a result that cannot be decoded is unknown, as soon as a worker that has the key for it had time to take the
 * activity: what its run announced is then announced again with the same ids.
 */
export async function lastDecodableResultOf<Result>(
  temporal: Client,
  workflowId: string,
  earlier?: EarlierRun,
): Promise<Result | undefined> {
  const { runId } = await lastEndedOf(temporal, workflowId, earlier);
  try {
    return await resultOf<Result>(temporal, { workflowId, ...(runId !== undefined && { runId }) });
  } catch (error) {
    if (!isUndecodable(error) || activityInfo().attempt < decodingAttempts) throw error;
    const { name } = error instanceof Error ? error : new Error(String(error));
    log.error('the result of the run before this one cannot be decoded: the run continues without it', {
      workflowId,
      runId,
      name,
    });
    return undefined;
  }
}

/** With the pauses of an identification, half a minute. */
const decodingAttempts = 6;

/** True if a result could not be read in this process. Temporal's own errors do not count: the next attempt may not get them. */
export function isUndecodable(error: unknown): boolean {
  return ![ServiceError, WorkflowNotFoundError, WorkflowFailedError].some((known) => error instanceof known);
}

/**
 * A result that an activity reads itself. One that a later release wrote, before a rollback, may say something else: the
 * activity is repeated until a worker of that release takes it.
 */
export function readable<Result extends { version?: number }>(what: string, result: Result, known: number): Result {
  const { version = 0 } = result;
  if (version <= known) return result;
  const message = `The result of ${what} has version ${version}, and this release knows ${known}: run a later release again`;
  throw ApplicationFailure.retryable(message, 'StateTooNew');
}

interface LastEnded extends EarlierRun {
  /** The run before did not end by itself: what it had begun may still be under way. */
  followsBrokenRun?: true;
}

/** The last run before that ended by itself, searched if that cannot be found out by ID. */
export async function lastEndedOf(temporal: Client, workflowId: string, earlier?: EarlierRun): Promise<LastEnded> {
  const search = () => searching(temporal, async () => (await endedRunsOf(temporal, workflowId))[0] ?? {}, {});
  if (earlier === undefined) return search();
  if (earlier.runId === undefined) return earlier;
  const run = await described(temporal, workflowId, earlier.runId);
  // One that is past its retention has settled, and has none before it that is retained.
  if (!run) return {};
  return run.status.name === 'COMPLETED' ? earlier : { ...(await search()), followsBrokenRun: true };
}

/**
 * So many attempts of an activity wait for a search. Each tries for some seconds, and the pauses between them grow: two
 * minutes or so, less than a command waits.
 */
export const searchAttempts = 6;

/** The earlier attempts may have failed for another reason, so the last one searches twice. */
const lastSearches = 2;

const searchDeadlineMs = 10_000;
const searchPauseMs = 2_000;

/**
 * Searches Temporal for what a run would like to know. The search may be away for hours, while the run has a critical
 * result to announce: an activity that has tried long enough goes on with `instead`.
 *
 * @param deadlineMs for one search
 */
export async function searching<Found>(
  temporal: Client,
  search: () => Promise<Found>,
  instead: Found,
  deadlineMs = searchDeadlineMs,
): Promise<Found> {
  for (let searches = 1; ; searches += 1) {
    try {
      return await temporal.withDeadline(Date.now() + deadlineMs, search);
    } catch (error) {
      if (activityInfo().attempt < searchAttempts) throw error;
      if (searches === lastSearches) {
        const { name, message } = error instanceof Error ? error : new Error(String(error));
        log.warn('the search of Temporal fails: the run continues without it', { name, message });
        return instead;
      }
      await sleep(searchPauseMs);
    }
  }
}
