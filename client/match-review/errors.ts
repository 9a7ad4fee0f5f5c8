import { invalid, notFound, refused } from '../../service/lab-operations-error.js';
import { type ErrorMap } from '../errors.js';

/** No workflow follows this result, or it is older than the namespace's retention. */
export class MatchReviewNotFound extends notFound('MatchReviewNotFound', 'Check the id, or start the review.') {}

/** A field of the start, the decision or the policy breaks a rule. Nothing was changed. */
export class MatchReviewInvalid extends invalid('MatchReviewInvalid') {}

/** The review needs no decision any more: somebody has decided otherwise, or the lab service no longer shows it. */
export class MatchReviewEnded extends refused('MatchReviewEnded', "Read the review's state: it says how it ended.") {}

/** The lab service does not allow this decision now, for example because its staff are reviewing the result. Nothing was sent. */
export class DecisionNotAllowed extends refused(
  'DecisionNotAllowed',
  'Choose one of the `allowedActions` of the state.',
) {}

/** The lab service refuses the decision, for example because it needs an order's id. */
export class DecisionRefused extends refused(
  'DecisionRefused',
  "Read the candidates (`lab.matchReviews.read`) and the service's message in the error, then decide again.",
) {}

/**
 * The review's workflow was terminated or timed out; the message says which. The result still waits at the service unless a
 * decision had already been sent.
 */
export class MatchReviewInterrupted extends refused('MatchReviewInterrupted', 'Start the review again.') {}

/** The client error for each failure type of the workflow of a match review. */
export const matchReviewErrorMap: ErrorMap = {
  notFound: MatchReviewNotFound,
  invalid: MatchReviewInvalid,
  ended: MatchReviewEnded,
  interrupted: MatchReviewInterrupted,
  refusals: {
    ReviewEnded: MatchReviewEnded,
    ActionNotAllowed: DecisionNotAllowed,
    DecisionRefused,
    ServiceRefused: DecisionRefused,
  },
};
