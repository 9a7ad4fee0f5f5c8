import { appointmentPolicy, type ResolvedAppointmentPolicy } from './appointment/policy.js';
import { deletionPolicy, type ResolvedDeletionPolicy } from './deletion/policy.js';
import { linkPolicy, type ResolvedLinkPolicy } from './link/policy.js';
import { matchReviewPolicy, type ResolvedMatchReviewPolicy } from './match-review/policy.js';
import { orderPolicy, type ResolvedOrderPolicy } from './order/policy.js';
import { resolveSettings, type Policy } from './policy-resolution.js';
import type { Settings } from './policy-settings.js';
import { reportPolicy, type ResolvedReportPolicy } from './report/policy.js';

/** Every workflow with a policy. */
export interface ResolvedPolicies {
  order: ResolvedOrderPolicy;
  link: ResolvedLinkPolicy;
  report: ResolvedReportPolicy;
  appointment: ResolvedAppointmentPolicy;
  deletion: ResolvedDeletionPolicy;
  'match review': ResolvedMatchReviewPolicy;
}

export type PolicyName = keyof ResolvedPolicies;

const policies = {
  order: orderPolicy,
  link: linkPolicy,
  report: reportPolicy,
  appointment: appointmentPolicy,
  deletion: deletionPolicy,
  'match review': matchReviewPolicy,
};

/** @throws PolicyInvalid, PolicyTooNew: see `resolveSettings` */
export function resolvePolicy<Of extends PolicyName>(of: Of, given: unknown, base?: object): ResolvedPolicies[Of] {
  return resolveSettings(policies[of] as Policy<Settings>, given, base) as ResolvedPolicies[Of];
}

/** True if nothing is left open: it says so by its version, and has every setting of this release. */
export function isComplete(of: PolicyName, policy: unknown): boolean {
  const known = { ...(policy as Record<string, unknown> | null | undefined) };
  return Object.keys({ version: 0, ...policies[of].settings }).every((name) => known[name] != null);
}
