import { upgradeGoverned, type PolicyVersions } from '../entity/policy.js';
import { upgrade, type Step } from '../entity/versions.js';
import type { Deletion } from './deletion.js';
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
  bounds: {
    onRunningWork: ['refuse', 'cancel', 'leave'],
    grace: { most: 7 * day },
    reminderBefore: { most: 7 * day },
  },
};

const deletionSteps: readonly Step[] = [
  (deletion) => ({
    workMet: false,
    scheduledBefore: false,
    reminded: false,
    attention: [],
    raised: {},
    outbox: [],
    journal: [],
    ...deletion,
  }),
];

export const deletionVersion = deletionSteps.length;

/** The state of a deletion that the run before this one had. */
export function upgradeDeletion(carried: unknown): Deletion {
  const upgraded = upgrade<Deletion>('state of the deletion', deletionSteps, carried);
  return upgradeGoverned(deletionPolicyVersions, upgraded);
}
