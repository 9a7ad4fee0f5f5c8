import type { Client } from '@temporalio/client';
import { isAddressable, parsingJobId, submitReportId, idIn } from '../../protocol/ids.js';
import { parsingJobName, type ParsingJobResult } from '../../protocol/report/messages.js';
import { submitReportName, type LostUpload } from '../../protocol/report/submission-messages.js';
import { labPhaseKey, labReferenceKey, labUserIdKey, supersededPhase } from '../../protocol/search-attributes.js';
import { claimOn, resultOf, runsOf, listed } from '../workflow-runs.js';
import { readSubmission, type SubmissionRun } from './submissions.js';

/*
 * Decides which submission an unclaimed parsing job belongs to. A job does not name its file, so after a lost answer
 * only its user and the time of its webhook are known. With two uploads for one user at once that is not enough: then
 * nothing is claimed and nothing marked, because a second job for a file costs less than the results of another file.
 * `workflows/report/submit.ts` decides if the file is then uploaded again.
 */

/** A search after a lost answer. */
export interface LostJob {
  reference: string;
  userId: string;
  /** Another job was made elsewhere, if the service reports this option. */
  needsHumanReview: boolean;
  /** The uploads whose answers were lost, by Temporal's clock: the job appeared during one of them. */
  lostUploads: LostUpload[];
}

interface FoundJob {
  jobId: string;
  /** The lost uploads without the one that made the job. */
  remaining: LostUpload[];
}

/** The owner of an unclaimed job. */
export type JobOwner =
  /** None of ours: the job was made elsewhere. */
  | { kind: 'none' }
  /** An upload for the same user is running and may claim it: ask again later. */
  | { kind: 'open' }
  /** It comes from an upload whose answer was lost; the file was uploaded again, as this job. */
  | { kind: 'superseded'; by: string }
  /** It may be. */
  | { kind: 'ambiguous' };

/**
 * The only job that an upload with a lost answer can have made; undefined if there is none yet, or more than one
 * matches.
 */
export async function findLostJob(temporal: Client, lost: LostJob): Promise<FoundJob | undefined> {
  const { reference, userId, lostUploads } = lost;
  const unclaimed = await unclaimedJobs(temporal, userId, lostUploads);
  // Read after the jobs: by now every submission that could have made one of them is listed.
  // A job whose webhook is late may be that of a submission that ended before this upload began.
  const since = new Date(Date.parse(earliestOf(lostUploads)) - appearsWithin).toISOString();
  const others = await submissionsOf(temporal, since, { userId, except: submitReportId(reference) });
  // Still under way, or with a lost answer of its own: the job may be the other's.
  if (others.some(({ isRunning, lostUploads: theirs }) => isRunning || theirs.length > 0)) return undefined;
  const [job, another] = unclaimed.filter(({ jobId }) => others.every((other) => other.jobId !== jobId));
  if (job === undefined || another !== undefined) return undefined;
  const { jobId, appearedAt } = job;
  // The list lags; the workflow itself knows if it was claimed.
  if ((await claimOn(temporal, parsingJobId(jobId))) !== undefined) return undefined;
  const of = lostUploads.findIndex((upload) => couldBeOf(upload, appearedAt));
  return { jobId, remaining: lostUploads.filter((_, index) => index !== of) };
}

/** How long after a lost answer a job may still appear: three of the service's attempts at a webhook. */
const appearsWithin = 60 * 60_000;

/** True if this upload can have made a job that was first reported then. Milliseconds since the epoch. */
function couldBeOf({ from, until }: LostUpload, appearedAt: number): boolean {
  return Date.parse(from) <= appearedAt && appearedAt <= Date.parse(until) + appearsWithin;
}

function earliestOf(lostUploads: readonly LostUpload[]): string {
  return lostUploads.map(({ from }) => from).toSorted()[0] ?? new Date().toISOString();
}

/** @param since when the job was first reported, ISO 8601 by Temporal's clock */
export async function ownerOf(
  temporal: Client,
  { jobId, userId, since }: { jobId: string; userId?: string; since: string },
): Promise<JobOwner> {
  const appearedAt = Date.parse(since);
  const from = new Date(appearedAt - appearsWithin).toISOString();
  if (userId === undefined) return ownerOfAnybodys(temporal, from, appearedAt);
  if (!isAddressable(userId)) return { kind: 'none' };
  const submissions = await submissionsOf(temporal, from, { userId });
  if (submissions.some(({ isRunning }) => isRunning)) return { kind: 'open' };
  const losers = submissions.filter(({ lostUploads }) => lostUploads.some((lost) => couldBeOf(lost, appearedAt)));
  const owners = losers.flatMap(({ jobId: by, lostUploads }) => (by === undefined ? [] : [{ by, lostUploads }]));
  if (owners.length === 0) return { kind: 'none' };
  const ofOwners = owners.flatMap(({ lostUploads }) => lostUploads);
  const superseded = await supersededSince(temporal, userId, earliestOf(ofOwners));
  const outstanding = owners
    .map(({ by, lostUploads }) => ({
      by,
      count: lostUploads.length - superseded.filter((other) => other === by).length,
    }))
    .filter(({ count }) => count > 0);
  const [owner, another] = outstanding;
  if (!owner) return { kind: 'none' };
  const rivals = (await unclaimedJobs(temporal, userId, ofOwners)).filter((other) => other.jobId !== jobId);
  // A submission that was ended from outside, or failed, may have lost an answer, too.
  const isCertain = another === undefined && losers.length === owners.length && rivals.length < owner.count;
  return isCertain ? { kind: 'superseded', by: owner.by } : { kind: 'ambiguous' };
}

/**
 * A job that does not name its user is neither claimed nor superseded: it could be anybody's. While there are lost
 * answers a person is asked. An upload that started after the job was reported did not make it.
 */
async function ownerOfAnybodys(temporal: Client, from: string, appearedAt: number): Promise<JobOwner> {
  const submissions = await submissionsOf(temporal, from, { startedBefore: appearedAt });
  if (submissions.some(({ lostUploads }) => lostUploads.some((lost) => couldBeOf(lost, appearedAt)))) {
    return { kind: 'ambiguous' };
  }
  return { kind: submissions.some(({ isRunning }) => isRunning) ? 'open' : 'none' };
}

/**
 * The user's jobs that a webhook started during one of these uploads and nobody has claimed. A job that was known
 * before is not new.
 */
async function unclaimedJobs(
  temporal: Client,
  userId: string,
  lostUploads: readonly LostUpload[],
): Promise<{ jobId: string; appearedAt: number }[]> {
  const runs = await listed(
    temporal,
    [
      `WorkflowType = '${parsingJobName}' AND ${labUserIdKey.name} = '${userId}' AND StartTime >= '${earliestOf(lostUploads)}'`,
      `${labReferenceKey.name} IS NULL AND ${labPhaseKey.name} != '${supersededPhase}'`,
    ].join(' AND '),
  );
  const workflowIds = [...new Set(runs.map(({ workflowId }) => workflowId))];
  const jobs = await Promise.all(
    workflowIds.map(async (workflowId) => {
      const starts = (await runsOf(temporal, workflowId)).map(({ startTime }) => startTime.getTime());
      return { jobId: idIn(workflowId, parsingJobId), appearedAt: Math.min(...starts) };
    }),
  );
  return jobs.filter(({ appearedAt }) => lostUploads.some((lost) => couldBeOf(lost, appearedAt)));
}

/** By which job each of the user's superseded jobs was. */
async function supersededSince(temporal: Client, userId: string, since: string): Promise<string[]> {
  const ofUser = `WorkflowType = '${parsingJobName}' AND ${labUserIdKey.name} = '${userId}'`;
  const query = `${ofUser} AND ${labPhaseKey.name} = '${supersededPhase}' AND StartTime >= '${since}'`;
  const completed = (await listed(temporal, query)).filter(({ status }) => status.name === 'COMPLETED');
  const results = await Promise.all(completed.map((run) => resultOf<ParsingJobResult>(temporal, run)));
  // A job that stirred again has been superseded once.
  const byJob = new Map(results.map((result) => [result?.jobId, result?.supersededBy]));
  return [...byJob.values()].filter((by) => by !== undefined);
}

/** Submissions that are under way or ended since then: a user's, or everybody's. */
async function submissionsOf(
  temporal: Client,
  since: string,
  which: { userId?: string; except?: string; startedBefore?: number },
): Promise<SubmissionRun[]> {
  const { userId, except, startedBefore = Infinity } = which;
  const ofUser = userId === undefined ? '' : ` AND ${labUserIdKey.name} = '${userId}'`;
  const recent = `(ExecutionStatus = 'Running' OR CloseTime >= '${since}')`;
  const runs = await listed(temporal, `WorkflowType = '${submitReportName}'${ofUser} AND ${recent}`);
  const relevant = runs.filter(
    ({ workflowId, status, startTime }) =>
      workflowId !== except && status.name !== 'CONTINUED_AS_NEW' && startTime.getTime() <= startedBefore,
  );
  // A run that ended with a job has taken over what earlier runs of its reference had lost.
  const settled = new Set(
    relevant.filter(({ status }) => status.name === 'COMPLETED').map(({ workflowId }) => workflowId),
  );
  const conclusive = relevant.filter(
    ({ workflowId, status }) => status.name === 'COMPLETED' || !settled.has(workflowId),
  );
  return Promise.all(conclusive.map((run) => readSubmission(temporal, run)));
}
