import { log } from '@temporalio/workflow';
import { announceClaim } from './announcements.js';
import { raise } from './attention.js';
import {
  contradicts,
  learnFromRead,
  learnFromWebhook,
  outcomeOf,
  reopen,
  saidNothing,
  withdrawEnding,
  type ReportCase,
} from './case.js';
import type { ReportSubmitted } from './messages.js';
import type { ReportRun } from './run.js';
import type { Reported } from './state.js';
import { readReportSnapshot } from './snapshot-reader.js';

/** Takes a webhook in. Called by the signal's handler: it only records. */
export function hear(run: ReportRun, reported: unknown): void {
  const { kase } = run;
  const snapshot = readReportSnapshot(reported);
  if (snapshot?.jobId !== kase.jobId) {
    // A malformed signal must not stop the task: it is the sender's fault, and the job is read in time.
    log.error('a signal that is no snapshot of this job was dropped');
    return;
  }
  // The service has just told of the job.
  delete kase.absentSince;
  if (learnFromWebhook(kase, snapshot, Date.now())) reopen(kase);
  else if (contradicts(kase, snapshot)) kase.contradicted = true;
  else return;
  run.heard = true;
}

/** The uploaded report arrives with its reference and policy. It may come twice, and after any number of webhooks. */
export function takeOver(run: ReportRun, submitted: ReportSubmitted): void {
  const { kase } = run;
  const now = Date.now();
  const snapshot = readReportSnapshot(submitted?.snapshot);
  if (typeof submitted?.reference !== 'string' || typeof submitted.policy !== 'object' || !snapshot) {
    log.error('a hand-over without reference, policy and snapshot was dropped');
    return;
  }
  if (kase.reference !== undefined && kase.reference !== submitted.reference) {
    raise(kase, 'reference_conflict', now);
  } else if (!kase.handedOver) {
    accept(kase, submitted, now);
  }
  // The answer to an upload is the beginning of a job: webhooks may have told more already.
  learnFromWebhook(kase, { ...snapshot, jobId: kase.jobId }, now);
  run.heard = true;
}

function accept(
  kase: ReportCase,
  { reference, userId, policy, adopted, notifies }: ReportSubmitted,
  now: number,
): void {
  kase.handedOver = true;
  kase.reference = reference;
  kase.userId = userId;
  kase.policy = policy;
  kase.uploadedAnew = !adopted;
  // Whoever has it was only slow to say so.
  if (kase.ending === 'superseded') withdrawEnding(kase);
  // The service has just answered with the job: that it did not know it was too early a look.
  reopen(kase);
  setNotifies(kase, notifies);
  announceClaim(kase, now);
}

/** With no target nothing is kept, and nothing scheduled. */
export function setNotifies(kase: ReportCase, notifies: boolean): void {
  kase.notifies = notifies;
  if (!notifies) kase.outbox = [];
}

/** A read is the job as it is now, whatever was heard before it was asked for. */
export function takeRead(run: ReportRun, snapshot: unknown, asked: Reported): void {
  delete run.kase.absentSince;
  const read = readReportSnapshot(snapshot);
  // The service may answer with another spelling of the id.
  if (read && learnFromRead(run.kase, { ...read, jobId: run.kase.jobId }, asked, Date.now())) run.heard = true;
}

/** The service does not know the job any more, by its own word. */
export function takeAbsence(kase: ReportCase): void {
  if (outcomeOf(kase) === undefined) kase.ending = 'job_gone';
}

/** How long a 404 that may be a proxy's has to last until it is believed: longer than a rollout of the service takes. */
const absenceBelieved = 10 * 60_000;

/** A 404 in nobody's words counts once a later read says the same. */
export function takeUnsureAbsence(kase: ReportCase, now: number): void {
  kase.absentSince ??= now;
  if (now - kase.absentSince >= absenceBelieved) takeAbsence(kase);
  else saidNothing(kase, now);
}
