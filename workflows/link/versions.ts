import type { PolicyVersions } from '../entity/policy.js';
import { day, hour, minute } from '../entity/spans.js';

/** The settings of each version, with what a policy of an earlier version gets: never changed once released. */
export const linkPolicyVersions: PolicyVersions<'link'> = {
  of: 'link',
  added: [
    {
      tokenLife: 10 * minute,
      onTokenExpiry: 'renew',
      passwordWait: day,
      codeWait: hour,
      codeReminder: 5 * minute,
      totalWait: 3 * day,
      maxCodeAttempts: 3,
      maxPasswordAttempts: 5,
      confirmedBy: 'new',
      clockTolerance: minute,
      confirmationWait: 2 * minute,
      notificationDeadline: hour,
    },
  ],
};
