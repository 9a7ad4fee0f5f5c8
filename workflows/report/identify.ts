import { condition, workflowInfo } from '@temporalio/workflow';
import type { JobReading } from '../../activities/report/reports.js';
import type { ParsingJobResult, ReportTimelineEntry } from '../../protocol/report/messages.js';
import { activities } from '../activity-options.js';
import { announceClaim, raise } from './announcements.js';
import { recordAbsence, recordRead, recordUnsureAbsence } from './intake.js';
import { resumeQuestions } from '../entity/attention.js';
import { setNotifies } from '../entity/outbox.js';
import { setPolicy, settlePolicyOrKeep } from '../entity/policy.js';
import { firstReportWait, second } from '../entity/spans.js';
import { hasEndedByItself, type Job, type ReportRun } from './job.js';
import { knownOf } from './reports.js';
import { carriedOn } from '../entity/versions.js';
import { omitNullish } from '../../protocol/json.js';

/**
 * How long a run that a webhook started waits for a hand-over before it asks whose job it is: the upload's answer is on
 * its way while the webhook comes. It is doubled as long as an upload of the same user is under way that may claim it.
 */
const claimWait = 10 * second;

/** So often: ten minutes in all. Then the job counts as one that was made elsewhere, and a person is asked. */
const mostReads = 7;

/**
 * Finds out what this run is for: a job that was handed over, one that it adopts, one that ended before and moves again,
 * or the job of an upload whose answer was lost and whose file another job reads meanwhile.
 */
export async function identify(run: ReportRun): Promise<void> {
  const { job } = run;
  if (job.identified) return;
  await settlePolicyOrKeep(job, 'report');
  const isReported = () => knownOf(job.reported) !== undefined;
  if (!isReported()) await condition(isReported, firstReportWait, { summary: 'first report' });
  const reads = await awaitOwner(run);
  // What was handed over together with an answer was made just now; what was found elsewhere may have a history.
  if (reads === 0 && !job.isNew && job.ending === undefined) await readWholeJob(run);
  job.identified = true;
}

/** @returns how often it was asked whose job this is */
async function awaitOwner(run: ReportRun): Promise<number> {
  const { job } = run;
  let reads = 0;
  // A job that was over when it was first reported probably ended long ago: reading says more than waiting.
  if (isOpen(job) && hasEndedByItself(job)) {
    reads += 1;
    await readWholeJob(run, { tooSoon: true });
  }
  for (let n = 0; isOpen(job) && n < mostReads; n += 1) {
    const wait = claimWait * 2 ** Math.max(n - 1, 0);
    if (await condition(() => !isOpen(job), wait, { summary: 'hand-over' })) break;
    reads += 1;
    await readWholeJob(run);
  }
  // An upload that is stuck for so long may still be the one that made it: only a person can know.
  if (isOpen(job)) raise(job, 'ambiguous_job', Date.now());
  return reads;
}

/** Nobody has claimed the job, and it was not found out that nobody will. */
function isOpen({ handedOver, identified, ending }: Job): boolean {
  return !handedOver && !identified && ending === undefined;
}

/** @param tooSoon an upload that is about to claim the job may not be listed yet: then only an earlier run of the job shows whose it is */
async function readWholeJob(run: ReportRun, { tooSoon = false } = {}): Promise<void> {
  const { job } = run;
  const since = workflowInfo().startTime.toISOString();
  const reported = job.reported;
  const question = omitNullish({ jobId: job.jobId, since, userId: job.userId });
  const reading = await activities.identifyJob.executeWithOptions({ summary: 'whose job is this' }, [
    question,
    run.earlierRun,
  ]);
  const { snapshot, gone, unsure, notifies } = reading;
  const previous = reading.previous && carriedOn<ParsingJobResult>('result of the report', reading.previous);
  if (previous) resume(job, previous);
  if (snapshot) recordRead(job, snapshot, reported);
  setNotifies(job, notifies);
  if (previous && staysEnded(job, previous)) {
    Object.assign(
      job,
      { ending: previous.outcome, endAnnounced: true },
      omitNullish({ supersededBy: previous.supersededBy }),
    );
  } else if (gone) recordAbsence(job);
  else if (unsure) recordUnsureAbsence(job, Date.now());
  if (previous) job.identified = true;
  else if (isOpen(job) && !tooSoon) settleOwner(job, reading);
}

/** Settles whether this unclaimed job is somebody's lost upload. When in doubt the job is not marked, and a person is asked. */
function settleOwner(job: Job, { owner }: JobReading): void {
  switch (owner.kind) {
    case 'open':
      return;
    case 'superseded':
      job.ending = 'superseded';
      job.supersededBy = owner.by;
      break;
    case 'ambiguous':
      raise(job, 'ambiguous_job', Date.now());
      break;
    case 'none':
      break;
    default:
      return owner satisfies never;
  }
  job.identified = true;
}

/** Goes on where the last run ended: with its reference and policy, and without announcing anything again. */
function resume(job: Job, previous: ParsingJobResult): void {
  if (!job.handedOver) setPolicy(job, previous.policy);
  job.announced = [...new Set([...previous.announced, ...job.announced])];
  resumeQuestions(job, previous);
  const isKnown = ({ status, isReviewed }: ReportTimelineEntry) =>
    previous.timeline.some((entry) => entry.status === status && entry.isReviewed === isReviewed);
  job.timeline = [...previous.timeline, ...job.timeline.filter((entry) => !isKnown(entry))];
  job.before = { outcome: previous.outcome, statuses: previous.timeline.length };
  if (previous.userId !== undefined) job.userId ??= previous.userId;
  if (previous.reference === undefined) {
    if (job.handedOver) announceClaim(job, Date.now());
    return;
  }
  job.reference ??= previous.reference;
  job.handedOver = true;
}

/** A job that somebody decided to stop following stays so, unless the service ended it: that is news. */
function staysEnded(job: Job, { outcome }: ParsingJobResult): boolean {
  if (outcome === 'superseded') return !job.handedOver;
  return outcome === 'abandoned' && !hasEndedByItself(job);
}
