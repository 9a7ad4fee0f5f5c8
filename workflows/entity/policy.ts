import { log, type ActivityOptions } from '@temporalio/workflow';
import { isComplete, resolvePolicy, type PolicyName, type ResolvedPolicies } from '../../protocol/policy/policies.js';
import { PolicyInvalid } from '../../protocol/policy/resolution.js';
import { activities } from '../activity-options.js';
import { refusalOf } from './commands.js';
import { note, type Journal } from './journal.js';

/**
 * The policy that a run follows. It comes in resolved, as data of the history: no default decides anything in a workflow, so a release
 * that changes one changes no order that is under way (docs/internals/decisions/0014-policies-are-data.md). A backend in another
 * language may give a part of a policy or none; that is resolved by an activity.
 */
export interface Governed<Policy extends object> {
  policy: Policy;
  /** The policy that a caller gave and that is not resolved yet. */
  requestedPolicy?: unknown;
}

/** The policy with which a run begins. Until what was requested is resolved, nothing is decided by it. */
export function openPolicy<Of extends PolicyName>(of: Of, given: unknown): Governed<ResolvedPolicies[Of]> {
  const policy = resolvedIn(of, given);
  if (policy) return { policy };
  return { policy: { ...resolvePolicy(of, {}), version: 0 }, requestedPolicy: given ?? {} };
}

/** Another policy than the one with which the run began. */
export function choosePolicy<Of extends PolicyName>(
  governed: Governed<ResolvedPolicies[Of]>,
  of: Of,
  given: unknown,
): void {
  const policy = resolvedIn(of, given);
  if (policy) setPolicy(governed, policy);
  else governed.requestedPolicy = given;
}

/**
 * The policy that a client or an activity resolved, checked by its table: so a release may widen the bounds of a setting and never narrows them.
 * Undefined for a part of a policy, which only an activity completes, and for what is wrong, which it refuses.
 * @throws PolicyTooNew after a rollback: it fails the workflow task, which Temporal repeats until a later release runs again
 */
function resolvedIn<Of extends PolicyName>(of: Of, given: unknown): ResolvedPolicies[Of] | undefined {
  if (!isComplete(of, given)) return undefined;
  try {
    return resolvePolicy(of, given);
  } catch (error) {
    if (error instanceof PolicyInvalid) return undefined;
    throw error;
  }
}

/** A resolved policy takes the place of the one before, and of what was requested. */
export function setPolicy<Policy extends object>(governed: Governed<Policy>, policy: Policy): void {
  governed.policy = policy;
  delete governed.requestedPolicy;
}

/**
 * Resolves what was requested, if there is anything: the only call that a policy may cost.
 * @throws ApplicationFailure `PolicyInvalid`
 */
export async function settlePolicy<Of extends PolicyName>(
  governed: Governed<ResolvedPolicies[Of]>,
  of: Of,
): Promise<void> {
  while (governed.requestedPolicy !== undefined) {
    const requested = governed.requestedPolicy;
    const policy = await obtainPolicy(of, requested);
    // A policy that came meanwhile is the later one.
    if (governed.requestedPolicy === requested) setPolicy(governed, policy);
  }
}

/**
 * The same for a run that is started by a signal: nobody is there to learn that a policy cannot be followed, and what the
 * signal reports must not be lost. The policy before it stays, or else the defaults.
 */
export async function settlePolicyOrKeep<Of extends PolicyName>(
  governed: Governed<ResolvedPolicies[Of]> & Journal,
  of: Of,
): Promise<void> {
  while (governed.requestedPolicy !== undefined) {
    try {
      await settlePolicy(governed, of);
    } catch (error) {
      const { type, message } = refusalOf(error);
      log.error('an invalid policy was ignored', { type, message });
      note(governed, 'an invalid policy was ignored', Date.now());
      if (isUnsettled(governed)) governed.requestedPolicy = {};
      else delete governed.requestedPolicy;
    }
  }
}

/** `scheduleToCloseTimeout`: how long somebody waits for it; without it, it waits for a worker that knows the policy. */
interface Resolution<Policy> extends Pick<ActivityOptions, 'scheduleToCloseTimeout'> {
  /** Gives what is left out, instead of the defaults. */
  base?: Policy;
}

export async function obtainPolicy<Of extends PolicyName>(
  of: Of,
  given: unknown,
  { base, ...limit }: Resolution<ResolvedPolicies[Of]> = {},
): Promise<ResolvedPolicies[Of]> {
  const known = resolvedIn(of, given);
  if (known) return known;
  try {
    const summary = `resolve the ${of} policy`;
    const question = { of, policy: given, ...(base && { base }) };
    const resolved = await activities.resolvePolicy.executeWithOptions({ ...limit, summary }, [question]);
    return resolved as ResolvedPolicies[Of];
  } catch (error) {
    throw refusalOf(error);
  }
}

/** True until the first policy of the run is resolved. */
export function isUnsettled({ policy }: Governed<{ version: number }>): boolean {
  return policy.version === 0;
}
