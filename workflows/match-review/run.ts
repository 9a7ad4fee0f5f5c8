import type { EarlierRun } from '../../protocol/earlier-run.js';
import type { MatchReviewDecision, MatchReviewState } from '../../protocol/match-review/messages.js';
import type { Cancellable, EntityRun } from '../entity/loop.js';
import type { Review } from './review.js';

/** A decision as it is sent. The note is in no state: the service keeps it. */
export interface MatchReviewCommand extends MatchReviewDecision {
  note?: string;
}

/** One run of `matchReview`. */
export interface MatchReviewRun extends EntityRun<MatchReviewCommand, MatchReviewState>, Cancellable {
  review: Review;
  earlierRun: EarlierRun | undefined;
}
