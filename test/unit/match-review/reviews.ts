import type { MatchReviewSnapshot } from '../../../service/match-review/snapshot.js';
import { openReview, recordRead, type Review } from '../../../workflows/match-review/review.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

export const start = Date.parse('2024-03-01T10:00:00.000Z');
export const hour = 3_600_000;
export const day = 24 * hour;

export function item(changes: Partial<MatchReviewSnapshot> = {}): MatchReviewSnapshot {
  return {
    rawResultId: 'result-1',
    status: 'pending_customer_review',
    decisionCode: 'match_demo',
    subReasonCodes: [],
    allowedActions: ['accept', 'reject', 'unsure'],
    ...changes,
  };
}

/** A review that was read and that the product is notified about. */
export function readCase(changes: Partial<MatchReviewSnapshot> = {}): Review {
  const review = openReview({ rawResultId: 'result-1', policy: resolvePolicy('match review') }, start);
  Object.assign(review, { identified: true, notifies: true });
  recordRead(review, item(changes), 0, start);
  return review;
}
