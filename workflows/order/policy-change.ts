import type { OrderState, PolicyPreview, SetPolicyCommand } from '../../protocol/order/messages.js';
import type { ResolvedPolicy } from '../../protocol/order/policy.js';
import { refusalOf, refuse } from '../entity/commands.js';
import { isObject } from '../entity/fields.js';
import { note } from '../entity/journal.js';
import { resolvePolicy, setPolicy } from '../entity/policy.js';
import { clear } from './announcements.js';
import { currentOrder, outcomeOf, type Chain } from './chain.js';
import { deadlinesOf, isOverdueName } from './deadlines.js';
import { awaitIdentity } from './identify.js';
import { endWaitingUnlessDue } from './policy-decisions.js';
import { review } from './review.js';
import type { KitOrderRun } from './run.js';
import { forwarded } from './validation.js';
import { orderPolicyVersions } from './versions.js';
import { stateOf, waitingOf } from './view.js';

/** What the settings are worth is checked where they are resolved: here only that there are any, for an order that goes on. */
export function validatePolicyChange({ chain, forwardsTo }: KitOrderRun, command: SetPolicyCommand | undefined): void {
  if (!isObject(command?.policy) || Object.keys(command.policy).length === 0) {
    const fields = [{ field: 'policy', message: 'must have at least one setting' }];
    throw refuse('InvalidCommand', 'policy must have at least one setting', { fields });
  }
  if (forwardsTo !== undefined) throw forwarded(forwardsTo);
  if (chain.orders.length > 0) demandOpen(chain);
}

function demandOpen(chain: Chain): void {
  const outcome = outcomeOf(chain);
  if (outcome !== undefined) throw refuse('OrderEnded', `The order has ended: ${outcome}`, { reason: outcome });
}

/** Changes some settings of a running order. In the lane of the current order, whose deadlines it moves. */
export async function changePolicy(run: KitOrderRun, { policy }: SetPolicyCommand): Promise<OrderState> {
  run.callers += 1;
  try {
    await awaitIdentity(run);
    return await run.lanes.run(currentOrder(run.chain).orderId, async () => {
      demandOpen(run.chain);
      apply(run, policy, await resolvePolicy(orderPolicyVersions, policy, run.chain.policy));
      return stateOf(run.chain);
    });
  } catch (error) {
    throw refusalOf(error);
  } finally {
    run.callers -= 1;
    run.hasNews = true;
  }
}

function apply(run: KitOrderRun, given: object, policy: ResolvedPolicy): void {
  const { chain } = run;
  const now = Date.now();
  const moved = movedOn(chain, policy, now);
  setPolicy(chain, policy);
  chain.met = chain.met.filter((key) => !moved.includes(key));
  clear(chain, ({ key }) => moved.includes(key), now);
  note(chain, `the product changed the policy: ${Object.keys(given).toSorted().join(', ')}`, now);
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
