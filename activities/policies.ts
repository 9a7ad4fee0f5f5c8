import { ApplicationFailure } from '@temporalio/activity';
import type { FailureDetails } from '../protocol/failure-details.js';
import { PolicyInvalid, PolicyTooNew } from '../protocol/policy-resolution.js';
import { resolveAppointmentPolicy, type ResolvedAppointmentPolicy } from '../protocol/appointment/policy.js';
import { resolveDeletionPolicy, type ResolvedDeletionPolicy } from '../protocol/deletion/policy.js';
import { resolveLinkPolicy, type ResolvedLinkPolicy } from '../protocol/link/policy.js';
import { resolveMatchReviewPolicy, type ResolvedMatchReviewPolicy } from '../protocol/match-review/policy.js';
import { resolveOrderPolicy, type ResolvedOrderPolicy } from '../protocol/order/policy.js';
import { resolveReportPolicy, type ResolvedReportPolicy } from '../protocol/report/policy.js';

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

export interface PolicyQuestion {
  of: PolicyName;
  /** The policy that a caller gave, not checked yet. */
  policy: unknown;
  /** A resolved policy, which gives what is left out, instead of the defaults. */
  base?: object;
}

const resolvers = {
  order: resolveOrderPolicy,
  link: resolveLinkPolicy,
  report: resolveReportPolicy,
  appointment: resolveAppointmentPolicy,
  deletion: resolveDeletionPolicy,
  'match review': resolveMatchReviewPolicy,
};

/** The defaults of policies: activities know them, workflows do not. */
export function policyActivities() {
  return {
    /** Completes a policy that a workflow was not given in full. */
    async resolvePolicy({ of, policy, base }: PolicyQuestion): Promise<ResolvedPolicies[PolicyName]> {
      const resolve = resolvers[of] as (given: unknown, known: unknown) => ResolvedPolicies[PolicyName];
      try {
        return resolve(policy, base);
      } catch (error) {
        if (error instanceof PolicyInvalid) throw invalid(error);
        // A worker of a later release takes it up.
        if (error instanceof PolicyTooNew) throw ApplicationFailure.retryable(error.message, error.name);
        throw error;
      }
    },
  };
}

function invalid({ message, name }: PolicyInvalid): ApplicationFailure {
  const details: FailureDetails = { fields: [] };
  return ApplicationFailure.nonRetryable(message, name, details);
}
