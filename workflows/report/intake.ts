import { log } from '@temporalio/workflow';
import { timeOf } from '../entity/loop-timer.js';
import { noteAbsence } from '../entity/spans.js';
import { setNotifies } from '../entity/outbox.js';
import { setPolicy } from '../entity/policy.js';
import { isReference } from '../../protocol/ids.js';
import type { ReportSubmitted } from '../../protocol/report/messages.js';
import { announceClaim, raise } from './announcements.js';
import { learnFromRead, learnFromWebhook, outcomeOf, reopen, withdrawEnding, type Job, type ReportRun } from './job.js';
import { type Reported, readReportSnapshot } from './reports.js';
import { isObject } from '../../protocol/json.js';
import { recordNoAnswer } from '../entity/polling.js';

/** Takes a webhook in. Called by the signal's handler: it only records. */
export function receiveSnapshot(run: ReportRun, reported: unknown): void {
  const { job } = run;
  const snapshot = readReportSnapshot(reported);
  if (snapshot?.jobId !== job.jobId) {
    // A malformed signal must not stop the task: it is the sender's fault, and the job is read in time.
    log.error('a signal was dropped: it has no snapshot of this job');
    return;
  }
  // The service has just reported the job.
  delete job.absentSince;
  if (!learnFromWebhook(job, snapshot, Date.now())) return;
  reopen(job);
  run.hasNews = true;
}

/** The uploaded report arrives with its reference and policy. It may come twice, and after any number of webhooks. */
export function receiveSubmission(run: ReportRun, submitted: ReportSubmitted): void {
  const { job } = run;
  const now = Date.now();
  const snapshot = readReportSnapshot(submitted?.snapshot);
  if (!isReference(submitted?.reference) || !isObject(submitted.policy) || !snapshot) {
    log.error('a hand-over was dropped: it lacks reference, policy or snapshot');
    return;
  }
  if (job.reference !== undefined && job.reference !== submitted.reference) {
    raise(job, 'reference_conflict', now);
  } else if (!job.handedOver) {
    acceptHandOver(run, submitted, now);
  }
  // The answer to an upload is the beginning of a job: webhooks may have reported more already.
  learnFromWebhook(job, { ...snapshot, jobId: job.jobId }, now);
  run.hasNews = true;
}

function acceptHandOver(
  { job, earlierRun }: ReportRun,
  { reference, userId, policy, adopted, notifies }: ReportSubmitted,
  now: number,
): void {
  job.handedOver = true;
  job.reference = reference;
  job.userId = userId;
  setPolicy(job, policy);
  // A hand-over may be late.
  job.isNew = !adopted && earlierRun?.runId === undefined;
  // The submission that has it was only slow to hand it over.
  if (job.ending === 'superseded') withdrawEnding(job);
  // The service has just answered with the job: that it did not know it was too early a read.
  reopen(job);
  setNotifies(job, notifies);
  announceClaim(job, now);
}

/** A read is the job as it is now, whatever was received before it was asked for. */
export function recordRead(job: Job, snapshot: unknown, asked: Reported): void {
  delete job.absentSince;
  const read = readReportSnapshot(snapshot);
  // The service may answer with another spelling of the id.
  if (read && learnFromRead(job, { ...read, jobId: job.jobId }, asked, timeOf(job))) reopen(job);
}

/** The service does not know the job any more, by its own word. */
export function recordAbsence(job: Job): void {
  if (outcomeOf(job) === undefined) job.ending = 'job_gone';
}

/** A 404 that is not the service's own answer counts once a later read says the same. */
export function recordUnsureAbsence(job: Job, now: number): void {
  if (noteAbsence(job, now)) recordAbsence(job);
  else recordNoAnswer(job, now);
}
