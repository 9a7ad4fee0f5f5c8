import type { ReportAttentionReason } from '../../protocol/report/messages.js';
import { type Moment, isDue, timeOf } from '../entity/loop-timer.js';
import { doubled, longestOutage } from '../entity/spans.js';
import { currentJob, type Job, outcomeOf, type ReportRun } from './job.js';
import { activities } from '../activity-options.js';
import { loggedRefusal } from '../entity/commands.js';
import { raise } from './announcements.js';
import { recordAbsence, recordRead, recordUnsureAbsence } from './intake.js';
import { recordNoAnswer } from '../entity/polling.js';

/** How long a job may take, and when it is read though nothing was reported. Pure; time comes in as data. */

export type OverdueReason = Extract<ReportAttentionReason, 'parsing_overdue' | 'review_overdue'>;

interface ReportDeadline {
  reason: OverdueReason;
  /** Milliseconds since the epoch. */
  at: number;
}

/** The deadline of the stage that the job is in: a machine at work, or a person. */
export function deadlineOf(job: Job): ReportDeadline {
  const { stage, policy } = job;
  if (stage.reviewing) return { reason: 'review_overdue', at: stage.since + policy.reviewDeadline };
  // Not every deployment says when a review begins (docs/internals/lab-service.md): the job then looks like one that is still read.
  const { needsHumanReview, isReviewed } = currentJob(job);
  const review = needsHumanReview === true && isReviewed !== true ? policy.reviewDeadline : 0;
  return { reason: 'parsing_overdue', at: stage.since + policy.parsingDeadline + review };
}

export function isOverdue(job: Job): boolean {
  const { reason } = deadlineOf(job);
  return job.attention.some((raised) => raised.reason === reason);
}

/** When the job is read next: each read that says nothing new doubles the pause. */
export function pollAt({ stage, policy, lookedAt, silentReads }: Job): number {
  const first = stage.reviewing ? policy.firstReviewPoll : policy.firstPoll;
  return lookedAt + doubled(first, silentReads, Math.max(policy.longestPoll, first));
}

/** When a job that missed its deadline and has stood still since is given up: a late one that moves is alive. */
export function giveUpAt(job: Job): number {
  if (!isOverdue(job)) return Infinity;
  const movedAt = Date.parse(job.timeline.at(-1)?.at ?? '');
  const { at } = deadlineOf(job);
  return Math.max(at, Number.isNaN(movedAt) ? at : movedAt) + job.policy.giveUpAfter;
}

/** The same, but if the service did not answer when the job was read at that moment, the next read may show that it has moved. */
export function mustGiveUpAt(job: Job): number {
  return giveUpAt(job) + longestOutage;
}

/** The next moment at which the job has to be looked at. One timer serves all of them. */
export function nextMoment(job: Job): Moment {
  const poll = { at: pollAt(job), name: 'read the job' };
  const deadline = { at: isOverdue(job) ? Infinity : deadlineOf(job).at, name: deadlineOf(job).reason };
  const isAsked = giveUpAt(job) <= job.lookedAt;
  const givingUp = { at: isAsked ? mustGiveUpAt(job) : giveUpAt(job), name: 'give_up' };
  return [poll, deadline, givingUp].reduce((next, moment) => (moment.at < next.at ? moment : next));
}

/** Reads the job if nothing was reported for too long, and asks a person to look if it really stands still. */
export async function handlePassedDeadlines(run: ReportRun): Promise<void> {
  const { job } = run;
  if (outcomeOf(job) !== undefined || !isDue(job, nextMoment(job).at)) return;
  // Silence may only mean a lost webhook.
  const isAnswered = await readJob(run);
  if (outcomeOf(job) !== undefined) return;
  const now = timeOf(job);
  const { reason, at } = deadlineOf(job);
  if (at <= now) raise(job, reason, now);
  if ((isAnswered ? giveUpAt(job) : mustGiveUpAt(job)) <= now) job.ending = 'unresolved';
}

/**
 * A job that was known and is gone ends the workflow; one that cannot be read now is as silent as before, and so is one that is
 * not found by an answer that is not the service's own.
 *
 * @returns whether the service itself has answered
 */
async function readJob(run: ReportRun): Promise<boolean> {
  const { job } = run;
  const asked = job.reported;
  try {
    const read = await activities.readParsingJob.executeWithOptions({ summary: 'read the job' }, [job.jobId]);
    if (read !== null && 'unsure' in read) {
      recordUnsureAbsence(job, timeOf(job));
      return false;
    }
    if (read === null) recordAbsence(job);
    else recordRead(job, read, asked);
    return true;
  } catch (error) {
    loggedRefusal('parsing job could not be read', { jobId: job.jobId }, error);
    recordNoAnswer(job, timeOf(job));
    return false;
  }
}
