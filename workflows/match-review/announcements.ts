import type { RaisedAttention } from '../../protocol/attention.js';
import { matchReviewId } from '../../protocol/ids.js';
import type { MatchReviewAttentionReason } from '../../protocol/match-review/messages.js';
import type {
  MatchReviewNotification,
  MatchReviewNotificationHead,
} from '../../protocol/match-review/notifications.js';
import type { Notification } from '../../protocol/notifications.js';
import { attentionVerbsFor } from '../entity/attention.js';
import { enqueue as enqueueIn } from '../entity/outbox.js';
import { currentPhase, type Review } from './review.js';

/** Puts a notification into the outbox, once. */
export function enqueue(review: Review, notification: MatchReviewNotification): void {
  if (review.announced.includes(notification.id)) return;
  review.announced = [...review.announced, notification.id].slice(-mostAnnounced);
  enqueueIn(review, asNotification(notification));
}

/** Longer than any review is by itself; it goes into the result. */
const mostAnnounced = 200;

export function headOf(review: Review, key: string, type: string, now: number): MatchReviewNotificationHead {
  const { rawResultId, userId } = review;
  return {
    id: `${rawResultId}/${key}/${type}`,
    at: new Date(now).toISOString(),
    rawResultId,
    ...(userId !== undefined && { userId }),
  };
}

/** Announces for whom the review waits now. It may come back to a person: that is another question. */
export function announceNews(review: Review, now: number): void {
  const { known, stage, ending } = review;
  if (!known || ending !== undefined) return;
  const { status = 'unknown', decisionCode, allowedActions, interpretation, resultStatus } = known;
  const key = `${status}.${new Date(stage.since).toISOString()}`;
  if (stage.phase !== 'awaiting_decision') {
    const head = headOf(review, key, 'phase_changed', now);
    return enqueue(review, { ...head, type: 'phase_changed', data: { phase: stage.phase, status } });
  }
  const data = {
    ...(decisionCode !== undefined && { decisionCode }),
    allowedActions,
    ...(interpretation !== undefined && { interpretation }),
    ...(resultStatus !== undefined && { resultStatus }),
  };
  enqueue(review, { ...headOf(review, key, 'review_needed', now), type: 'review_needed', data });
}

/** Announces the end, once. A run that a late webhook started, and that finds the same end again, announces nothing. */
export function announceEnd(review: Review, now: number): void {
  const { ending, resolvedOrderId, resolvedUserId } = review;
  if (ending === undefined) return;
  const data = {
    outcome: ending,
    ...(resolvedOrderId !== undefined && { resolvedOrderId }),
    ...(resolvedUserId !== undefined && { resolvedUserId }),
  };
  enqueue(review, { ...headOf(review, currentPhase(review), 'ended', now), type: 'ended', data });
}

export const { raise, clear } = attentionVerbsFor<RaisedAttention<MatchReviewAttentionReason>, Review>({
  notify(review, { reason, since }, { id, type }, now) {
    enqueue(review, { ...headOf(review, id, type, now), type, data: { reason, since } });
  },
});

function asNotification({ id, at, type, data, ...about }: MatchReviewNotification): Notification {
  const { rawResultId } = about;
  return {
    id,
    at,
    source: matchReviewId(rawResultId),
    type: `match_review.${type}`,
    subject: rawResultId,
    data: { ...about, ...data },
  };
}
