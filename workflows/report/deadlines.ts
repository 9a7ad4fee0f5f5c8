import type { Moment } from '../alarm.js';
import { currentJob, type ReportCase } from './case.js';
import type { ReportAttentionReason } from './messages.js';

/** How long a job may take, and when it is looked at though nobody told of it. Pure; time comes in as data. */

export type OverdueReason = Extract<ReportAttentionReason, 'parsing_overdue' | 'review_overdue'>;

export interface ReportDeadline {
  reason: OverdueReason;
  /** Milliseconds since the epoch. */
  at: number;
}

/** The deadline of the stage that the job is in: a machine at work, or a person. */
export function deadlineOf(kase: ReportCase): ReportDeadline {
  const { stage, policy } = kase;
  if (stage.reviewing) return { reason: 'review_overdue', at: stage.since + policy.reviewDeadline };
  // Not every deployment says when a review begins (docs/lab-service.md): the job then looks like one that is still read.
  const { needsHumanReview, isReviewed } = currentJob(kase);
  const review = needsHumanReview === true && isReviewed !== true ? policy.reviewDeadline : 0;
  return { reason: 'parsing_overdue', at: stage.since + policy.parsingDeadline + review };
}

export function isOverdue(kase: ReportCase): boolean {
  const { reason } = deadlineOf(kase);
  return kase.attention.some((raised) => raised.reason === reason);
}

/** When the job is read next: each read that says nothing new doubles the pause. */
export function pollAt({ stage, policy, lookedAt, silentReads }: ReportCase): number {
  const first = stage.reviewing ? policy.firstReviewPoll : policy.firstPoll;
  return lookedAt + Math.min(first * 2 ** Math.min(silentReads, 30), Math.max(policy.longestPoll, first));
}

/** When a job that missed its deadline and has stood still since is given up: a late one that moves is alive. */
export function giveUpAt(kase: ReportCase): number {
  if (!isOverdue(kase)) return Infinity;
  const movedAt = Date.parse(kase.timeline.at(-1)?.at ?? '');
  const { at } = deadlineOf(kase);
  return Math.max(at, Number.isNaN(movedAt) ? at : movedAt) + kase.policy.giveUpAfter;
}

/** The next moment at which the job has to be looked at. One timer serves all of them. */
export function nextMoment(kase: ReportCase): Moment {
  const poll = { at: pollAt(kase), name: 'read the job' };
  const deadline = { at: isOverdue(kase) ? Infinity : deadlineOf(kase).at, name: deadlineOf(kase).reason };
  const givingUp = { at: giveUpAt(kase), name: 'give_up' };
  return [poll, deadline, givingUp].reduce((next, moment) => (moment.at < next.at ? moment : next));
}
