import type { PolicyVersions } from '../entity/policy.js';
import { day } from '../entity/spans.js';

/** The settings of each version, with what a policy of an earlier version gets: never changed once released. */
export const deletionPolicyVersions: PolicyVersions<'deletion'> = {
  of: 'deletion',
  added: [
    {
      onRunningWork: 'refuse',
      grace: 7 * day,
      reminderBefore: day,
      notificationDeadline: 3 * day,
    },
  ],
};
