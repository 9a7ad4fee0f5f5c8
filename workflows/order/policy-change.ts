import type { OrderState, PolicyPreview, SetPolicyCommand } from '../../protocol/order/messages.js';
import type { ResolvedPolicy } from '../../protocol/order/policy.js';
import { commandWait, refuse } from '../entity/commands.js';
import { isObject } from '../entity/fields.js';
import { note } from '../entity/journal.js';
import { resolvePolicy, setPolicy } from '../entity/policy.js';
import { clear } from './announcements.js';
import type { Chain } from './chain.js';
import { answerCaller } from './commands.js';
import { recountReminders } from './critical-results.js';
import { deadlinesOf, isOverdueName } from './deadlines.js';
import { endWaitingUnlessDue } from './policy-decisions.js';
import { review } from './review.js';
import type { KitOrderRun } from './run.js';
import { demandOpen, forwarded } from './validation.js';
import { orderPolicyVersions } from './versions.js';
import { stateOf, waitingOf } from './view.js';

/** What the settings are worth is checked where they are resolved: here only that there are any, for an order that goes on. */
export function validatePolicyChange({ chain, forwardsTo }: KitOrderRun, command: SetPolicyCommand | undefined): void {
  if (!isObject(command?.policy) || Object.keys(command.policy).length === 0) {
    const fields = [{ field: 'policy', message: 'must have at least one setting' }];
    throw refuse('InvalidCommand', 'policy must have at least one setting', { fields });
  }
  if ('version' in command.policy) {
    const fields = [{ field: 'policy.version', message: 'is not a setting' }];
    throw refuse('InvalidCommand', 'policy.version is not a setting', { fields });
  }
  if (forwardsTo !== undefined) throw forwarded(forwardsTo);
  if (chain.orders.length > 0) demandOpen(chain);
}

/** Another workflow may have taken the order over, and the order may have ended. */
function demandFollowed({ chain, forwardsTo }: KitOrderRun): void {
  if (forwardsTo !== undefined) throw forwarded(forwardsTo);
  demandOpen(chain);
}

/** Changes some settings of a running order, at once: no other command and no decision is between its steps. */
export function changePolicy(run: KitOrderRun, { policy }: SetPolicyCommand): Promise<OrderState> {
  return answerCaller(run, async () => {
    apply(run, policy, await resolved(run, policy));
    return stateOf(run.chain);
  });
}

/** The whole policy with the changes. A hand-over, or another change, may have come meanwhile: then they are for that one. */
async function resolved(run: KitOrderRun, changes: object): Promise<ResolvedPolicy> {
  const { chain } = run;
  for (;;) {
    demandFollowed(run);
    const base = chain.policy;
    const policy = await resolvePolicy(orderPolicyVersions, changes, { base, within: commandWait });
    if (chain.policy === base) return policy;
  }
}

function apply(run: KitOrderRun, given: object, policy: ResolvedPolicy): void {
  demandFollowed(run);
  const { chain } = run;
  const now = Date.now();
  const moved = movedOn(chain, policy, now);
  const interval = chain.policy.criticalResultReminder;
  const names = Object.keys(given).toSorted();
  setPolicy(chain, policy);
  recountReminders(chain, interval);
  chain.changedSettings = [...new Set([...(chain.changedSettings ?? []), ...names])];
  chain.met = chain.met.filter((key) => !moved.includes(key));
  clear(chain, ({ key }) => moved.includes(key), now);
  note(chain, `the product changed the policy: ${names.join(', ')}`, now);
  endWaitingUnlessDue(run);
  review(run);
}

/** The keys of the limits that were missed, and that the policy moves into the future: they count again. */
function movedOn(chain: Chain, policy: ResolvedPolicy, now: number): string[] {
  return deadlinesOf({ ...chain, policy })
    .filter(({ name, key, at }) => isOverdueName(name) && at > now && chain.met.includes(key))
    .map(({ key }) => key);
}

/** What an order waits for, and what it would wait for with other settings: nothing is changed. */
export function previewPolicy({ chain }: KitOrderRun, changes: Partial<ResolvedPolicy>, now: number): PolicyPreview {
  if (chain.orders.length === 0) throw refuse('OrderNotFound', 'No order was reported to this workflow yet');
  const policy = { ...chain.policy, ...changes };
  const moved = movedOn(chain, policy, now);
  const after = { ...chain, policy, met: chain.met.filter((key) => !moved.includes(key)) };
  return { before: waitingOf(chain), after: waitingOf(after) };
}
