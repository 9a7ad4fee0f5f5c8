import type { RaisedAttention } from '../../protocol/attention.js';
import { matchReviewId } from '../../protocol/ids.js';
import { isCritical } from '../../protocol/order/lifecycle.js';
import type {
  MatchReviewAttentionReason,
  MatchReviewOutcome,
  MatchReviewNotification,
  MatchReviewNotificationHead,
} from '../../protocol/match-review/messages.js';
import { attentionVerbsFor } from '../entity/attention.js';
import { enqueueOnce, notificationOf } from '../entity/outbox.js';
import { iso } from '../entity/spans.js';
import type { Review } from './review.js';
import { omitNullish } from '../../protocol/json.js';

export function enqueue(review: Review, notification: MatchReviewNotification): void {
  const { rawResultId } = review;
  const from = { area: 'match_review', source: matchReviewId(rawResultId), subject: rawResultId };
  enqueueOnce(review, notificationOf(from, notification));
}

export function headOf(review: Review, key: string, type: string, now: number): MatchReviewNotificationHead {
  const { rawResultId, userId } = review;
  return omitNullish({ id: `${rawResultId}/${key}/${type}`, at: iso(now), rawResultId, userId });
}

/** Announces for whom the review waits now. It may come back to a person: that is another question. */
export function announceNews(review: Review, now: number): void {
  const { known, stage, ending } = review;
  if (!known || ending !== undefined) return;
  const { status = 'unknown', decisionCode, allowedActions, interpretation, resultStatus } = known;
  const since = `${status}.${iso(stage.since)}`;
  // One that turns out to be critical is urgent from then on.
  const key = isCritical(interpretation) ? `${since}.critical` : since;
  if (stage.phase !== 'awaiting_decision') {
    const head = headOf(review, key, 'phase_changed', now);
    return enqueue(review, { ...head, type: 'phase_changed', data: { phase: stage.phase, status } });
  }
  const data = omitNullish({ decisionCode, interpretation, resultStatus, allowedActions });
  enqueue(review, { ...headOf(review, key, 'review_needed', now), type: 'review_needed', data });
}

/** Announces the end, once. A run that a late webhook started, and that finds the same end again, announces nothing. */
export function announceEnd(review: Review, now: number): void {
  const { ending, resolvedOrderId, resolvedUserId } = review;
  if (ending === undefined) return;
  const data = omitNullish({ outcome: ending, resolvedOrderId, resolvedUserId });
  review.endKey ??= keyOfEnd(review, ending);
  enqueue(review, { ...headOf(review, review.endKey, 'ended', now), type: 'ended', data });
}

/** The same outcome once more, after the review was open again, is another end: `gone.2`. */
function keyOfEnd({ rawResultId, announced, before }: Review, ending: MatchReviewOutcome): string {
  const idOf = (key: string) => `${rawResultId}/${key}/ended`;
  const keyOf = (time: number) => (time === 1 ? ending : `${ending}.${time}`);
  let time = 1;
  while (announced.includes(idOf(keyOf(time)))) time += 1;
  return keyOf(before?.outcome === ending ? Math.max(time - 1, 1) : time);
}

export const { raise, clear } = attentionVerbsFor<RaisedAttention<MatchReviewAttentionReason>, Review>({
  notify(review, { reason, since }, { id, type }, now) {
    enqueue(review, { ...headOf(review, id, type, now), type, data: { reason, since } });
  },
});
