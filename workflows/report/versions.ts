import type { PolicyVersions } from '../entity/policy.js';
import { day, hour, minute, second } from '../entity/spans.js';

/** The settings of each version, with what a policy of an earlier version gets: never changed once released. */
export const reportPolicyVersions: PolicyVersions<'report'> = {
  of: 'report',
  added: [
    {
      uploadTimeout: 10 * minute,
      creationTimeout: 30 * second,
      lostAnswerWait: 2 * minute,
      submissionDeadline: 7 * day,
      firstPoll: 2 * minute,
      firstReviewPoll: hour,
      longestPoll: 6 * hour,
      parsingDeadline: hour,
      reviewDeadline: 4 * day,
      giveUpAfter: 14 * day,
      notificationDeadline: 3 * day,
    },
  ],
};
