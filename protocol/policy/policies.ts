import { appointmentPolicy } from '../appointment/policy.js';
import { deletionPolicy } from '../deletion/policy.js';
import { linkPolicy } from '../link/policy.js';
import { matchReviewPolicy } from '../match-review/policy.js';
import { orderPolicy } from '../order/policy.js';
import { resolveSettings, type Policy } from './resolution.js';
import type { ResolvedSettings, Settings } from './settings.js';
import { reportPolicy } from '../report/policy.js';

/** Every workflow with a policy. */
export const policies = {
  order: orderPolicy,
  link: linkPolicy,
  report: reportPolicy,
  appointment: appointmentPolicy,
  deletion: deletionPolicy,
  'match review': matchReviewPolicy,
};

export type PolicyName = keyof typeof policies;

export type ResolvedPolicies = { [Of in PolicyName]: ResolvedSettings<(typeof policies)[Of]['settings']> };

/** @throws PolicyInvalid, PolicyTooNew: see `resolveSettings` */
export function resolvePolicy<Of extends PolicyName>(of: Of, given?: unknown, base?: object): ResolvedPolicies[Of] {
  return resolveSettings(policies[of] as Policy<Settings>, given, base) as ResolvedPolicies[Of];
}

/** True if nothing is left open: it says so by its version, and has every setting of this release. */
export function isComplete(of: PolicyName, policy: unknown): boolean {
  const known = { ...(policy as Record<string, unknown> | null | undefined) };
  return Object.keys({ version: 0, ...policies[of].settings }).every((name) => known[name] != null);
}
