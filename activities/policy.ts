import { ApplicationFailure } from '@temporalio/activity';
import type { FailureDetails } from '../protocol/failure-details.js';
import { PolicyInvalid, PolicyTooNew } from '../protocol/policy/resolution.js';
import { resolvePolicy, type PolicyName, type ResolvedPolicies } from '../protocol/policy/policies.js';

export interface PolicyQuestion {
  of: PolicyName;
  /** The policy that a caller gave, not checked yet. */
  policy: unknown;
  /** A resolved policy, which gives what is left out, instead of the defaults. */
  base?: object;
}

/** The defaults of policies: activities know them, workflows do not. */
export function policyActivities() {
  return {
    /** Completes a policy that a workflow was not given in full. */
    async resolvePolicy({ of, policy, base }: PolicyQuestion): Promise<ResolvedPolicies[PolicyName]> {
      try {
        return resolvePolicy(of, policy, base);
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
