import { upgradeGoverned, type PolicyVersions } from '../entity/policy.js';
import { upgrade, type Step } from '../entity/versions.js';
import type { Link } from './link.js';
import { day, hour, minute, second } from '../entity/spans.js';

const attempts = { isCount: true, least: 1, most: 20 } as const;

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
    { codeForm: 'tidied' },
  ],
  bounds: {
    tokenLife: { least: 10 * second, most: day },
    clockTolerance: { most: day },
    onTokenExpiry: ['renew', 'end'],
    codeForm: ['as_typed', 'tidied'],
    maxCodeAttempts: attempts,
    maxPasswordAttempts: attempts,
    confirmedBy: ['new', 'any'],
  },
};

const linkSteps: readonly Step[] = [
  (link) => ({
    tokens: 0,
    wrongCodes: 0,
    failedLogins: 0,
    reminded: false,
    attention: [],
    raised: {},
    outbox: [],
    journal: [],
    ...link,
  }),
];

export const linkVersion = linkSteps.length;

/** The state that the run before this one had. */
export function upgradeLink(carried: unknown): Link {
  return upgradeGoverned(linkPolicyVersions, upgrade<Link>('state of the link', linkSteps, carried));
}
