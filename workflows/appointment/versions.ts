import type { PolicyVersions } from '../entity/policy.js';
import { day, hour, second } from '../entity/spans.js';

/** The settings of each version, with what a policy of an earlier version gets: never changed once released. */
export const appointmentPolicyVersions: PolicyVersions<'appointment'> = {
  of: 'appointment',
  added: [
    {
      choiceReminders: [day, 3 * day],
      choiceWait: 14 * day,
      confirmation: 'wait',
      confirmationWait: 2 * day,
      visitReminders: [day, 2 * hour],
      visitOverdue: day,
      giveUpAfter: 14 * day,
      firstPoll: hour,
      longestPoll: 12 * hour,
      bookingTimeout: 30 * second,
      notificationDeadline: 3 * day,
    },
  ],
};
