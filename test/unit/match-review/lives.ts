import type { MatchReviewSnapshot } from '../../../service/match-review/snapshot.js';
import { matchReview } from '../../../workflows/match-review/workflow.js';
import { Life, type Answers } from '../life.js';
import { start } from './reviews.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

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
