import type { MatchReviewSnapshot } from '../../../service/match-review/snapshot.js';
import { openReview, recordRead, type Review } from '../../../workflows/match-review/review.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';
import { matchReview } from '../../../workflows/match-review/workflow.js';
import { Life, type Answers } from '../life.js';

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

export const rawResultId = '00000000-0000-4000-8000-00000000000a';
export const policy = resolvePolicy('match review');
export const opening = {
  ...{ workflow: matchReview, type: 'matchReview', workflowId: `match-review/${rawResultId}`, now: start },
};

export const shown = (of?: MatchReviewSnapshot) => (of ? { item: of } : {});
export const found = (of?: MatchReviewSnapshot, more: object = {}) => ({
  ...{ notifies: true, reading: shown(of) },
  ...more,
});

export const reported = (status?: string, more: object = {}) => ({
  name: 'matchReviewReported',
  argument: { rawResultId, ...(status !== undefined && { status }), ...more },
});

/** The service shows the review; a webhook has reported it. */
export async function life(
  of: MatchReviewSnapshot | undefined,
  answers: Answers = {},
  input: object = { policy },
): Promise<Life> {
  const begun = new Life(opening, { identifyMatchReview: found(of), readMatchReview: shown(of), ...answers });
  return begun.start({ rawResultId, ...input }, reported('pending_customer_review'));
}
