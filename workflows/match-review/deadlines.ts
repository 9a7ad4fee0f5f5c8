import { atOnce, isDue, timeOf, type Moment } from '../entity/loop-timer.js';
import { iso, absenceBelieved, doubled, longestOutage, longestPause, minute } from '../entity/spans.js';
import { note } from '../entity/journal.js';
import { enqueue, headOf, raise } from './announcements.js';
import { bringOrder, readReview } from './reading.js';
import { backBelieved, mayContradict, type Review } from './review.js';
import { omitNullish } from '../../protocol/json.js';

/** The times by which something should have been reported: `deadlinesOf` derives them from what happened and from the policy, without a clock. */

interface Deadline extends Moment {
  name: 'read_the_review' | 'unreadable' | 'decision_reminder' | 'service_review' | 'notify_the_order';
  /** The key that marks it as handled, once for each stage. */
  key: string;
  /** Which of several reminders, from 1. */
  ordinal: number;
}

/** Those that are not handled yet, the earliest first. */
export function deadlinesOf(review: Review): Deadline[] {
  const found =
    review.ending === undefined
      ? [nextReadOf(review), ...stageDeadlines(review)]
      : [...(mayContradict(review) ? [nextReadOf(review)] : []), ...orderDeadline(review)];
  const open = found.filter(({ key }) => !review.handledDeadlines.includes(key));
  return open.toSorted((a, b) => a.at - b.at);
}

function stageDeadlines(review: Review): Deadline[] {
  const { known, stage, policy, notifies } = review;
  const { phase, since } = stage;
  if (!known) return [deadline(review, 'unreadable', since + longestOutage)];
  if (phase === 'with_service') return [deadline(review, 'service_review', since + policy.serviceReviewDeadline)];
  if (phase !== 'awaiting_decision' || notifies !== true) return [];
  return policy.decisionReminders.map((span, n) => deadline(review, 'decision_reminder', since + span, n + 1));
}

function nextReadOf(review: Review): Deadline {
  const { lookedAt, unclear, unanswered, absentSince, backSince, doubt } = review;
  const usual = pollAt(review);
  const moments = [
    usual,
    // What a webhook reported is read at once, but not again and again while the service is silent.
    ...(unclear && !unanswered ? [atOnce] : []),
    ...(doubt && !unanswered ? [doubt.until] : []),
    ...(backSince !== undefined && lookedAt < backSince + backBelieved ? [backSince + backBelieved] : []),
    ...(absentSince !== undefined && lookedAt < absentSince + absenceBelieved ? [absentSince + absenceBelieved] : []),
  ];
  return { name: 'read_the_review', key: '', at: Math.min(...moments), ordinal: 1 };
}

/** The order's workflow is notified before the review ends. */
function orderDeadline(review: Review): Deadline[] {
  if (!review.order) return [];
  return [{ name: 'notify_the_order', key: '', at: review.unanswered ? pollAt(review) : atOnce, ordinal: 1 }];
}

/** Each read that says nothing new doubles the pause. Of what was never read, or reported since, nobody is notified yet. */
function pollAt({ known, unclear, lookedAt, silentReads, policy }: Review): number {
  const { firstPoll } = policy;
  const longest = Math.max(policy.longestPoll, firstPoll);
  if (known && !unclear) return lookedAt + doubled(firstPoll, silentReads, longest);
  return lookedAt + doubled(Math.min(minute, firstPoll), silentReads, Math.min(longestPause, longest));
}

function deadline({ stage }: Review, name: Deadline['name'], at: number, ordinal = 1): Deadline {
  return { name, key: `${stage.phase}/${stage.since}/${name}.${ordinal}`, at, ordinal };
}

/** Until when the service's staff are waited for. A decision is waited for without end. */
export function waitingUntil(review: Review): number | undefined {
  return deadlinesOf(review).find(({ name }) => name === 'service_review')?.at;
}

/** Acts on what is due. Silence may only mean a lost webhook: the service is asked first. */
export async function handlePassedDeadlines(review: Review): Promise<void> {
  const mayRead = review.ending === undefined || mayContradict(review);
  if (mayRead && dueOf(review).length > 0) await readReview(review);
  for (const due of dueOf(review)) handleDeadline(review, due, timeOf(review));
  await bringOrderIfDue(review);
}

function dueOf(review: Review): Deadline[] {
  return deadlinesOf(review).filter(({ at }) => isDue(review, at));
}

function handleDeadline(review: Review, { name, key, ordinal }: Deadline, now: number): void {
  if (name === 'decision_reminder') {
    review.handledDeadlines.push(key);
    note(review, `decision reminder ${ordinal}`, now);
    const at = `${iso(review.stage.since)}/${ordinal}`;
    const { allowedActions = [], interpretation } = review.known ?? {};
    const data = { reminder: ordinal, allowedActions, ...omitNullish({ interpretation }) };
    enqueue(review, { ...headOf(review, at, 'review_reminder', now), type: 'review_reminder', data });
  } else if (name === 'service_review') {
    review.handledDeadlines.push(key);
    raise(review, 'service_review_overdue', now);
  } else if (name === 'unreadable') {
    review.handledDeadlines.push(key);
    raise(review, 'review_unreadable', now);
  }
}

/** An order that cannot be read for a day is left to its own webhooks and to the reconciliation. */
async function bringOrderIfDue(review: Review): Promise<void> {
  const { order } = review;
  if (!order || dueOf(review).length === 0) return;
  const isLast = timeOf(review) >= order.since + longestOutage;
  if (await bringOrder(review, order)) delete review.order;
  else if (isLast) {
    note(review, 'the order could not be read', timeOf(review));
    delete review.order;
  }
}
