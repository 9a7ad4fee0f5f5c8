import type { MatchReviewResult } from '../../protocol/match-review/messages.js';
import { upgradeGoverned, type PolicyVersions } from '../entity/policy.js';
import { day, hour, second } from '../entity/spans.js';
import { upgrade, type Step } from '../entity/versions.js';
import type { Review } from './review.js';

const pauses = { least: second, most: 30 * day };

/** The settings of each version, with what a policy of an earlier version gets: never changed once released. */
export const matchReviewPolicyVersions: PolicyVersions<'match review'> = {
  of: 'match review',
  added: [
    {
      decisionReminders: [day, 3 * day],
      serviceReviewDeadline: 7 * day,
      firstPoll: hour,
      longestPoll: 12 * hour,
      notificationDeadline: 3 * day,
    },
  ],
  bounds: { firstPoll: pauses, longestPoll: pauses },
};

const reviewSteps: readonly Step[] = [
  (review) => ({
    identified: false,
    received: 0,
    unclear: false,
    silentReads: 0,
    unanswered: false,
    met: [],
    announced: [],
    attention: [],
    raised: {},
    outbox: [],
    journal: [],
    ...review,
  }),
];

export const reviewVersion = reviewSteps.length;

/** The state that the run before this one had. */
export function upgradeReview(carried: unknown): Review {
  const upgraded = upgrade<Review>('state of the match review', reviewSteps, carried);
  return upgradeGoverned(matchReviewPolicyVersions, upgraded);
}

const resultSteps: readonly Step[] = [
  (result) => ({
    subReasonCodes: [],
    allowedActions: [],
    attention: [],
    timeline: [],
    announced: [],
    raised: {},
    ...result,
  }),
];

export const reviewResultVersion = resultSteps.length;

/** The result of an earlier run of the same review. */
export function upgradeReviewResult(result: unknown): MatchReviewResult {
  const upgraded = upgrade<MatchReviewResult>('result of the match review', resultSteps, result);
  return upgradeGoverned(matchReviewPolicyVersions, upgraded);
}
