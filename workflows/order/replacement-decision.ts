import { isLost, mayBeRedrawn, readStatus } from '../../protocol/order/lifecycle.js';
import type { RaisedOrderAttention } from '../../protocol/order/state.js';
import type { Remedy } from '../../protocol/order/policy.js';
import { loggedRefusal } from '../entity/commands.js';
import { raise } from './announcements.js';
import {
  currentOrder,
  findOrder,
  lastEventId,
  needsSuccessor,
  outcomeOf,
  replacementOf,
  type Chain,
  type ChainOrder,
} from './chain.js';
import { deadlinesOf, nextRecheck, shipsKit, type Deadline } from './deadlines.js';
import { replaceKit } from './replacement-order.js';
import type { KitOrderRun } from './run.js';

/*
 * Decides, by the policy, what is done about a kit that failed or is stuck: ask a person, order a new kit, or fail the order.
 */

/** Does what the policy says about a kit that failed: it may replace a lost one. */
export async function takeRemedy(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  const question = dueRemedy(chain);
  if (!question) return;
  const order = currentOrder(chain);
  await apply(run, order, remedyFor(chain, order), question.key);
}

/**
 * Does what the policy says about a problem that persists. A blocked sample is at the lab: no new kit helps it, so a person is
 * asked.
 *
 * @returns false when the order has moved on since it was read
 */
export async function takeProblemRemedy(run: KitOrderRun, key: string): Promise<boolean> {
  const { chain } = run;
  const order = currentOrder(chain);
  const remedy = order.standing.phase === 'at_lab' ? 'ask' : allowed(chain, order, chain.policy.onProblem);
  return apply(run, order, remedy, key);
}

/** The question of what becomes of a kit that failed, once no redraw is expected any more, until it is asked or answered. */
export function dueRemedy(chain: Chain): Deadline | undefined {
  const deadlines = deadlinesOf(chain);
  if (deadlines.some(({ name, key }) => name === 'redraw' && !chain.met.includes(key))) return undefined;
  const question = deadlines.find(({ name }) => name === 'decision');
  if (!question || chain.attention.some(({ key }) => key === question.key)) return undefined;
  return chain.patience.some(({ key }) => key === question.baseKey) ? undefined : question;
}

function remedyFor(chain: Chain, order: ChainOrder): Remedy {
  const { last, endedByStatus } = order.standing;
  const status = last?.status ?? '';
  if (readStatus(status).low === 'redraw_available') return 'ask';
  if (mayBeRedrawn(status)) return allowed(chain, order, chain.policy.onSampleError);
  // An unknown failure, or one whose event is still to come, may be followed up by the service itself.
  if ((endedByStatus === true || !isLost(status)) && chain.policy.onLost === 'replace') return 'ask';
  return allowed(chain, order, chain.policy.onLost);
}

/**
 * Three kinds of order are never replaced automatically: an adopted order, an order for which no kit is shipped, and an order
 * whose chain has used all its replacements. For these a person is asked.
 */
function allowed(chain: Chain, order: ChainOrder, remedy: Remedy): Remedy {
  const isReserved = replacementOf(chain, order.orderId) !== undefined;
  const isLeft = isReserved || chain.replacements.length < chain.policy.replacementLimit;
  const mayReplace = chain.handedOver && shipsKit(order) && isLeft;
  return remedy === 'replace' && !mayReplace ? 'ask' : remedy;
}

/**
 * @param key identifies the question, so it is asked once
 * @returns false when the order has moved on since it was read: then it is decided on again
 */
async function apply(run: KitOrderRun, order: ChainOrder, remedy: Remedy, key: string): Promise<boolean> {
  const { chain } = run;
  const { orderId } = order;
  switch (remedy) {
    case 'fail':
      chain.ending = 'failed';
      return true;
    case 'ask':
      raise(
        chain,
        { key, reason: needsSuccessor(order) ? 'decision_needed' : 'problem_persists', orderId },
        Date.now(),
      );
      return true;
    case 'replace':
      return replace(run, order, key);
    default:
      return remedy satisfies never;
  }
}

async function replace(run: KitOrderRun, order: ChainOrder, key: string): Promise<boolean> {
  const { chain } = run;
  const { orderId } = order;
  try {
    await replaceKit(run, orderId);
    return true;
  } catch (error) {
    loggedRefusal('replacement failed', { orderId }, error);
    // It was given up, or brought its results, meanwhile: nobody is asked any more.
    if (outcomeOf(chain) !== undefined) return false;
    const now = findOrder(chain, orderId) ?? order;
    if (lastEventId(now) > lastEventId(order)) {
      chain.recheckAt = Date.now();
      return false;
    }
    raise(chain, { key, reason: 'replacement_failed', orderId }, Date.now());
    chain.recheckAt = nextRecheck(chain, Date.now());
    return true;
  }
}

/** A replacement that the policy asks for and that failed is tried again; the question stands until one is ordered. */
export async function retryReplacement(run: KitOrderRun): Promise<void> {
  const failed = failedReplacement(run.chain);
  if (failed) await apply(run, currentOrder(run.chain), 'replace', failed.key);
}

export function failedReplacement(chain: Chain): RaisedOrderAttention | undefined {
  return chain.attention.find(
    ({ reason, key }) => reason === 'replacement_failed' && deadlinesOf(chain).some((deadline) => deadline.key === key),
  );
}
