import type { FailureDetails } from '../../protocol/failure-details.js';
import type { MovedMoment, PolicyPreview, PolicyRefusal, SetPolicyCommand } from '../../protocol/order/messages.js';
import type { OrderState } from '../../protocol/order/state.js';
import type { OfActor } from '../../protocol/ids.js';
import type { OrderPolicy, ResolvedOrderPolicy } from '../../protocol/order/policy.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import { PolicyInvalid } from '../../protocol/policy/resolution.js';
import { canonicalJson, isObject, omitNullish } from '../../protocol/json.js';
import type { Moment } from '../entity/loop-timer.js';
import {
  actorOf,
  commandWait,
  mostBeforeCancelling,
  refusalOf,
  refuse,
  refuseField,
  requireRoom,
} from '../entity/commands.js';
import { noteDecided } from '../entity/journal.js';
import { obtainPolicy, setPolicy } from '../entity/policy.js';
import { clear } from './announcements.js';
import { outcomeOf, requireOpen, type Chain } from './chain.js';
import { awaitsAcknowledgement } from './critical-results.js';
import { deadlinesOf, isOverdueName, momentsOf } from './deadlines.js';
import { endObsoleteWait } from './decisions.js';
import { publish } from './publish.js';
import { stateOf, waitingOf } from './view.js';
import { answerCaller, requireNoOtherRoot, type KitOrderRun } from './run.js';
import { isoOf } from '../entity/spans.js';

/** The settings that still count for an order that has its outcome and that a critical result keeps open. */
const lastSettings = ['criticalResultReminder', 'notificationDeadline'];

/**
 * Checks only that there are settings, and that one of them still counts: their values are checked when they are
 * resolved.
 */
export function validatePolicyChange(run: KitOrderRun, command: SetPolicyCommand | undefined): void {
  actorOf(command);
  const names = Object.keys(givenIn(command));
  if (names.length === 0) throw refuseField('policy', 'must have at least one setting');
  if (names.includes('version')) throw refuseField('policy', 'has a version, which is not a setting');
  if (run.forwardsTo !== undefined || run.chain.identified) requireEffect(run, givenIn(command));
  requireRoom(run.callers, mostBeforeCancelling);
}

/** The settings that change. `null` means that one stays, as in every policy. */
function givenIn(command: SetPolicyCommand | undefined): Record<string, unknown> {
  const policy: unknown = command?.policy;
  return Object.fromEntries(Object.entries(isObject(policy) ? policy : {}).filter(([, value]) => value != null));
}

/** Another workflow may have taken the order over, and the order may have ended. */
function requireEffect(run: KitOrderRun, given: object): void {
  const { chain } = run;
  const names = Object.keys(given);
  requireNoOtherRoot(run.forwardsTo);
  // Repeated: it has had its effect.
  if (chain.policyChange === canonicalJson(given)) return;
  if (!awaitsAcknowledgement(chain)) return requireOpen(chain);
  const reason = outcomeOf(chain);
  if (reason === undefined || names.some((name) => lastSettings.includes(name))) return;
  const message = `The order has ended: ${reason}. Until its critical result is acknowledged only these settings count: ${lastSettings.join(', ')}`;
  throw refuse('OrderEnded', message, { reason });
}

/** Changes some settings of a running order, at once: no other command and no decision is between its steps. */
export function changePolicy(run: KitOrderRun, command: SetPolicyCommand): Promise<OrderState> {
  return answerCaller(run, async () => {
    const given = givenIn(command);
    requireEffect(run, given);
    if (outcomeOf(run.chain) === undefined || run.chain.policyChange !== canonicalJson(given))
      apply(run, given, await resolved(run, given), actorOf(command));
    return stateOf(run.chain);
  });
}

/** The whole policy with the changes. A hand-over, or another change, may have come meanwhile: then they are for that one. */
async function resolved(run: KitOrderRun, given: object): Promise<ResolvedOrderPolicy> {
  const { chain } = run;
  for (;;) {
    requireEffect(run, given);
    const base = chain.policy;
    const policy = await obtainPolicy('order', given, { base, scheduleToCloseTimeout: commandWait });
    if (chain.policy === base) return policy;
  }
}

function apply(run: KitOrderRun, given: object, policy: ResolvedOrderPolicy, actor: OfActor): void {
  requireEffect(run, given);
  const { chain } = run;
  const now = Date.now();
  const before = chain.policy;
  const moved = limitsCountingAgain(chain, policy, now);
  setPolicy(chain, policy);
  chain.policyChange = canonicalJson(given);
  chain.changedSettings = [...new Set([...(chain.changedSettings ?? []), ...Object.keys(given)])].toSorted();
  chain.handledDeadlines = chain.handledDeadlines.filter((key) => !moved.includes(key));
  clear(chain, ({ key }) => moved.includes(key), now);
  const names = Object.keys(policy) as (keyof ResolvedOrderPolicy)[];
  const changed = names.filter((name) => String(before[name]) !== String(policy[name])).toSorted();
  if (changed.length > 0) noteDecided(chain, { ...actor, status: 'policy_changed', detail: changed.join(', ') }, now);
  endObsoleteWait(run);
  publish(run);
}

/** The keys of the limits that were missed, and that the policy moves into the future: they count again. */
function limitsCountingAgain(chain: Chain, policy: ResolvedOrderPolicy, now: number): string[] {
  return deadlinesOf({ ...chain, policy })
    .filter(({ name, key, at }) => isOverdueName(name) && at > now && chain.handledDeadlines.includes(key))
    .map(({ key }) => key);
}

/** The effect that a change would have: nothing is changed. */
export function previewPolicy(run: KitOrderRun, policy: OrderPolicy, now: number): PolicyPreview | PolicyRefusal {
  try {
    return previewOf(run.chain, changedIn(run, policy), now);
  } catch (error) {
    const { type, message, details } = refusalOf(error);
    const [first = { fields: [] }] = (details ?? []) as FailureDetails[];
    return { refused: { type: type ?? '', message, details: first } };
  }
}

/** Refused if the change would be refused, so the preview shows what would happen. */
function changedIn(run: KitOrderRun, policy: OrderPolicy): ResolvedOrderPolicy {
  const { chain } = run;
  validatePolicyChange(run, { policy });
  if (chain.orders.length === 0) throw refuse('OrderNotFound', 'No order was reported to this workflow yet');
  // The version is 0 until the policy of the order itself is resolved.
  const { version, ...base } = chain.policy;
  try {
    return { ...resolvePolicy('order', givenIn({ policy }), base), version };
  } catch (error) {
    throw error instanceof PolicyInvalid ? refuseField('policy', error.faults.join('; ')) : error;
  }
}

function previewOf(chain: Chain, policy: ResolvedOrderPolicy, now: number): PolicyPreview {
  const moved = limitsCountingAgain(chain, policy, now);
  const after = { ...chain, policy, handledDeadlines: chain.handledDeadlines.filter((key) => !moved.includes(key)) };
  return { before: waitingOf(chain), after: waitingOf(after), moved: movesBetween(momentsOf(chain), momentsOf(after)) };
}

function movesBetween(before: readonly Moment[], after: readonly Moment[]): MovedMoment[] {
  const names = new Set([...before, ...after].toSorted((a, b) => a.at - b.at).map(({ name }) => name));
  const timeIn = (moments: readonly Moment[], name: string) => moments.find((moment) => moment.name === name)?.at;
  return [...names].flatMap((name) => {
    const [was, willBe] = [timeIn(before, name), timeIn(after, name)];
    if (was === willBe) return [];
    return [omitNullish({ name, before: isoOf(was), after: isoOf(willBe) })];
  });
}
