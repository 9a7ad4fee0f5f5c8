import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { isAddressable } from '../workflows/order/address.js';
import { parsingJobId, submitReportId } from '../workflows/report/address.js';
import {
  parsingJobName,
  submitReportName,
  type ParsingJobResult,
  type SubmitReportResult,
} from '../workflows/report/messages.js';
import { labPhaseKey, labReferenceKey, labUserIdKey, supersededPhase } from '../workflows/search-attributes.js';
import { runsOf, listed } from './earlier-runs.js';

/*
 * Whose a parsing job is that nobody has claimed. A job says nothing of its file, so after a lost answer all that is known
 * of it is its user and when its webhook came. With two uploads of one user at once that is not enough: then nothing is
 * claimed and nothing marked, because a second job of a file costs less than the results of another file.
 */

/** What is looked for after a lost answer. */
export interface LostJob {
  reference: string;
  userId: string;
  /** When the first upload began whose answer was lost, ISO 8601 by Temporal's clock. */
  since: string;
}

/** Whose an unclaimed job is. */
export type JobOwner =
  /** Nobody's of ours: it was made elsewhere. */
  | { kind: 'none' }
  /** An upload of the same user is under way, which may claim it: ask again later. */
  | { kind: 'open' }
  /** It is the fruit of a lost answer; the file was uploaded once more, as this job. */
  | { kind: 'superseded'; by: string }
  /** It may be. */
  | { kind: 'ambiguous' };

/** The one job that can be the fruit of the lost answer; undefined where there is none yet, or more than one could be. */
export async function findLostJob(temporal: Client, lost: LostJob): Promise<string | undefined> {
  const { reference, userId, since } = lost;
  const unclaimed = await unclaimedJobs(temporal, userId, since);
  // Asked after the jobs: whoever could have made one of them has been listed by now.
  const others = await submissionsOf(temporal, userId, `CloseTime >= '${since}'`, submitReportId(reference));
  const theirs: string[] = [];
  for (const other of others) {
    const result = await resultOf<SubmitReportResult>(temporal, other);
    // Still under way, failed, or with a lost answer of its own: the job may be the other's.
    if (!result || result.lostUploads.length > 0) return undefined;
    theirs.push(result.jobId);
  }
  const [job, another] = unclaimed.filter((jobId) => !theirs.includes(jobId));
  if (job === undefined || another !== undefined) return undefined;
  // The list lags; the workflow itself knows whether it was claimed.
  const { typedSearchAttributes } = await temporal.workflow.getHandle(parsingJobId(job)).describe();
  return typedSearchAttributes.get(labReferenceKey) === undefined ? job : undefined;
}

/** For how long after an answer was given up a job may still appear: three of the service's attempts at a webhook. */
const appearsWithin = 60 * 60_000;

/** @param since when the job was first heard of, ISO 8601 by Temporal's clock */
export async function ownerOf(
  temporal: Client,
  { jobId, userId, since }: { jobId: string; userId?: string; since: string },
): Promise<JobOwner> {
  if (userId === undefined || !isAddressable(userId)) return { kind: 'none' };
  const from = new Date(Date.parse(since) - appearsWithin).toISOString();
  const submissions = await submissionsOf(temporal, userId, `CloseTime >= '${from}'`);
  if (submissions.some(({ status }) => status.name === 'RUNNING')) return { kind: 'open' };
  const results = await Promise.all(submissions.map((run) => resultOf<SubmitReportResult>(temporal, run)));
  const owners = results.filter((result) => result !== undefined).filter(({ lostUploads }) => lostUploads.length > 0);
  if (owners.length === 0) return { kind: 'none' };
  const earliest = owners.flatMap(({ lostUploads }) => lostUploads.map((lost) => lost.from)).toSorted()[0] ?? since;
  const superseded = await supersededSince(temporal, userId, earliest);
  const outstanding = owners
    .map((owner) => ({
      by: owner.jobId,
      count: owner.lostUploads.length - superseded.filter((by) => by === owner.jobId).length,
    }))
    .filter(({ count }) => count > 0);
  const [owner, another] = outstanding;
  if (!owner) return { kind: 'none' };
  const rivals = (await unclaimedJobs(temporal, userId, earliest)).filter((other) => other !== jobId);
  // A submission that failed may have lost an answer, too.
  const isCertain = another === undefined && results.every(Boolean) && rivals.length < owner.count;
  return isCertain ? { kind: 'superseded', by: owner.by } : { kind: 'ambiguous' };
}

/** Jobs of the user that a webhook started since then and nobody has claimed. One that was known before is no new job. */
async function unclaimedJobs(temporal: Client, userId: string, since: string): Promise<string[]> {
  const runs = await listed(
    temporal,
    [
      `WorkflowType = '${parsingJobName}' AND ${labUserIdKey.name} = '${userId}' AND StartTime >= '${since}'`,
      `${labReferenceKey.name} IS NULL AND ${labPhaseKey.name} != '${supersededPhase}'`,
    ].join(' AND '),
  );
  const workflowIds = [...new Set(runs.map(({ workflowId }) => workflowId))];
  const began = Date.parse(since);
  const isNew = await Promise.all(
    workflowIds.map(async (workflowId) =>
      (await runsOf(temporal, workflowId)).every(({ startTime }) => startTime.getTime() >= began),
    ),
  );
  return workflowIds.filter((_, index) => isNew[index]).map((workflowId) => workflowId.slice(parsingJobId('').length));
}

/** By which job each of the user's superseded jobs was. */
async function supersededSince(temporal: Client, userId: string, since: string): Promise<string[]> {
  const ofUser = `WorkflowType = '${parsingJobName}' AND ${labUserIdKey.name} = '${userId}'`;
  const query = `${ofUser} AND ${labPhaseKey.name} = '${supersededPhase}' AND StartTime >= '${since}'`;
  const runs = await listed(temporal, query);
  const results = await Promise.all(runs.map((run) => resultOf<ParsingJobResult>(temporal, run)));
  // A job that stirred again has been superseded once.
  const byJob = new Map(results.map((result) => [result?.jobId, result?.supersededBy]));
  return [...byJob.values()].filter((by) => by !== undefined);
}

/** The user's submissions that are under way, and those that a condition adds, each with its last run. */
async function submissionsOf(
  temporal: Client,
  userId: string,
  also: string,
  except?: string,
): Promise<WorkflowExecutionInfo[]> {
  const ofUser = `WorkflowType = '${submitReportName}' AND ${labUserIdKey.name} = '${userId}'`;
  const runs = await listed(temporal, `${ofUser} AND (ExecutionStatus = 'Running' OR ${also})`);
  return runs.filter(({ workflowId, status }) => workflowId !== except && status.name !== 'CONTINUED_AS_NEW');
}

/** Undefined of a run that has not ended by itself. */
async function resultOf<Result>(
  temporal: Client,
  { workflowId, runId, status }: WorkflowExecutionInfo,
): Promise<Result | undefined> {
  if (status.name !== 'COMPLETED') return undefined;
  return temporal.workflow.getHandle(workflowId, runId).result() as Promise<Result>;
}
