import type { PolicyName, ResolvedPolicies } from '../../activities/policies.js';
import { log, type ActivityOptions } from '@temporalio/workflow';
import { countOf } from '../../protocol/business-days.js';
import { isCalendarDate } from '../../protocol/calendar-date.js';
import { durationMs } from '../../protocol/durations.js';
import { activities } from '../activities.js';
import { refusalOf } from './commands.js';
import { isObject } from './fields.js';
import { note, type Journal } from './journal.js';
import { day } from './spans.js';
import { versionOf } from './versions.js';

/**
 * The policy that a run follows. It comes in resolved, as data of the history: no default is workflow code, so a release
 * that changes one changes no order that is under way (docs/decisions/0014-policies-are-data.md). A backend in another
 * language may give a part of a policy or none; that is resolved by an activity.
 */
export interface Governed<Policy extends object> {
  policy: Policy;
  /** The policy that a caller gave and that is not resolved yet. */
  requestedPolicy?: unknown;
}

type Value = number | string | readonly number[] | readonly string[];

/**
 * The settings of a policy: for each version those that it added, with the values that a policy of an earlier version
 * gets. They are not the defaults, which change; what is written here never does.
 */
export interface PolicyVersions<Of extends PolicyName> {
  of: Of;
  added: readonly Readonly<Record<string, Value>>[];
  /**
   * The choices and ranges of the policy's table, without those of a duration of up to 10 years. A policy within them is followed
   * without asking an activity, so a release may widen them and never narrows them: running workflows have any value that was valid.
   */
  bounds: Readonly<Record<string, Bounds>>;
}

/** Choices, a range, or a list of dates. */
type Bounds = readonly string[] | Range | 'dates';

interface Range {
  /** Every other number is a duration. */
  isCount?: true;
  least?: number;
  most?: number;
  /** Names of other settings. */
  notBelow?: string;
  below?: string;
  /** It may be a number of business days instead. */
  orBusinessDays?: boolean;
}

const anyDuration = { least: 1000, most: 3652.5 * day };
const longestList = 20;
const mostDates = 200;

/** The policy with which a run begins. Until what was requested is resolved, nothing is decided by it. */
export function openPolicy<Of extends PolicyName>(
  versions: PolicyVersions<Of>,
  given: unknown,
): Governed<ResolvedPolicies[Of]> {
  if (isResolved(versions, given)) return { policy: upgradePolicy(versions, given) };
  return { policy: { ...upgradePolicy(versions, {}), version: 0 }, requestedPolicy: given ?? {} };
}

/** Another policy than the one with which the run began. */
export function choosePolicy<Of extends PolicyName>(
  governed: Governed<ResolvedPolicies[Of]>,
  versions: PolicyVersions<Of>,
  given: unknown,
): void {
  if (isResolved(versions, given)) setPolicy(governed, upgradePolicy(versions, given));
  else governed.requestedPolicy = given;
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
  versions: PolicyVersions<Of>,
): Promise<void> {
  while (governed.requestedPolicy !== undefined) {
    const requested = governed.requestedPolicy;
    const policy = await obtainPolicy(versions, requested);
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
  versions: PolicyVersions<Of>,
): Promise<void> {
  while (governed.requestedPolicy !== undefined) {
    try {
      await settlePolicy(governed, versions);
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
  versions: PolicyVersions<Of>,
  given: unknown,
  { base, ...limit }: Resolution<ResolvedPolicies[Of]> = {},
): Promise<ResolvedPolicies[Of]> {
  if (isResolved(versions, given)) return upgradePolicy(versions, given);
  const { of } = versions;
  try {
    const summary = `resolve the ${of} policy`;
    const question = { of, policy: given, ...(base && { base }) };
    const resolved = await activities.resolvePolicy.executeWithOptions({ ...limit, summary }, [question]);
    return upgradePolicy(versions, resolved);
  } catch (error) {
    throw refusalOf(error);
  }
}

/** True until the first policy of the run is resolved. */
export function isUnsettled({ policy }: Governed<{ version: number }>): boolean {
  return policy.version === 0;
}

/** A resolved policy of an earlier release, or a part of one, with every setting of this release. */
export function upgradePolicy<Of extends PolicyName>(
  { of, added, bounds }: PolicyVersions<Of>,
  policy: unknown,
): ResolvedPolicies[Of] {
  versionOf(`${of} policy`, policy, added.length);
  const known = isObject(policy) ? policy : {};
  const upgraded: Record<string, unknown> = {};
  for (const [name, constant] of added.flatMap((settings) => Object.entries(settings))) {
    const value = known[name];
    upgraded[name] = isLike(constant, value, bounds[name]) ? value : constant;
  }
  return { ...upgraded, version: added.length } as unknown as ResolvedPolicies[Of];
}

/** The same in the state that a run is given by the one before it, which may not have resolved a policy yet. */
export function upgradeGoverned<Of extends PolicyName, State extends Governed<ResolvedPolicies[Of]>>(
  versions: PolicyVersions<Of>,
  state: State,
): State {
  const policy = upgradePolicy(versions, state.policy);
  const isOpen = state.requestedPolicy !== undefined && isUnsettled(state);
  return { ...state, policy: isOpen ? { ...policy, version: 0 } : policy };
}

/** Says so by its version, and is what the table of the policy would make of it. A caller's part of a policy has no version. */
function isResolved<Of extends PolicyName>(versions: PolicyVersions<Of>, policy: unknown): boolean {
  const version = versionOf(`${versions.of} policy`, policy, versions.added.length);
  return version > 0 && isObject(policy) && wrongSettings(versions, policy).length === 0;
}

/** The settings that a policy of its version lacks, does not know, or has out of bounds. */
export function wrongSettings<Of extends PolicyName>(
  { added, bounds }: PolicyVersions<Of>,
  { version, ...settings }: Record<string, unknown>,
): string[] {
  const known = Object.fromEntries(added.slice(0, Number(version)).flatMap((each) => Object.entries(each)));
  const isRight = (name: string) => {
    const constant = Object.hasOwn(known, name) ? known[name] : undefined;
    const value = settings[name];
    return (
      constant !== undefined && isLike(constant, value, bounds[name]) && isWithin(bounds[name] ?? {}, value, settings)
    );
  };
  return Object.keys({ ...known, ...settings }).filter((name) => !isRight(name));
}

/**
 * A caller's part of a policy in the form of a resolved one, as far as it can be read. In a caller's policy a number is not a duration: a wrong
 * setting stays as it is, or becomes `NaN`.
 */
export function inMilliseconds<Of extends PolicyName>(
  { bounds }: PolicyVersions<Of>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const read = (name: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((each) => read(name, each));
    const isCount = 'isCount' in Object(bounds[name] ?? {});
    const span = durationMs(value);
    if (span !== undefined) return Math.ceil(span);
    return typeof value === 'number' && !isCount ? Number.NaN : value;
  };
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, read(name, value)]));
}

function isWithin(bounds: Bounds, value: unknown, others: Record<string, unknown>): boolean {
  if (bounds === 'dates') return Array.isArray(value) && value.length <= mostDates && value.every(isCalendarDate);
  if (Array.isArray(value)) return value.length <= longestList && value.every((each) => isWithin(bounds, each, others));
  if (isChoice(bounds)) return bounds.includes(String(value));
  // Where they are not allowed, `isLike` has refused them.
  if (countOf(value) !== undefined) return true;
  const { least, most, notBelow, below } = { ...anyDuration, ...bounds };
  const number = Number(value);
  if (!Number.isInteger(number) || number < least || number > most) return false;
  if (notBelow !== undefined && !(number >= Number(others[notBelow]))) return false;
  return below === undefined || number < Number(others[below]);
}

function isChoice(bounds: Bounds): bounds is readonly string[] {
  return Array.isArray(bounds);
}

function isLike(constant: Value, value: unknown, bounds: Bounds = {}): boolean {
  if (bounds === 'dates') return Array.isArray(value) && value.every(isCalendarDate);
  if (Array.isArray(constant)) return Array.isArray(value) && value.every((each) => isLike(0, each));
  if ('orBusinessDays' in Object(bounds) && countOf(value) !== undefined) return true;
  if (typeof constant === 'number') {
    return Number.isFinite(value) && (Number(value) >= 0 || constant < 0);
  }
  return typeof value === 'string';
}
