import { condition } from '@temporalio/workflow';
import type { EarlierRun } from '../../protocol/signal-or-start.js';
import type { OrderState } from '../../protocol/order/state.js';
import { LoopTimer } from '../entity/loop-timer.js';
import { commandWait, Lanes, notKnownYet, refusalOf, refuse } from '../entity/commands.js';
import type { Wakeable } from '../entity/loop.js';
import type { Chain } from './chain.js';

/** One run of `kitOrder`. */
export interface KitOrderRun extends Wakeable {
  chain: Chain;
  earlierRun: EarlierRun | undefined;
  /**
   * When it was known that the run before this one did not end by itself, milliseconds since the epoch. What it had sent by then may
   * still be under way, and its reservations are lost.
   */
  followsBrokenRunSince?: number;
  /**
   * Decisions about an order run in its lane, one at a time. A command does not wait for the main loop, except for what the policy does in
   * that lane; the policy's decisions go after every command that waits there, and the main loop waits for them. Replacements, and giving
   * an order up, wait for each other, too, whichever order they are for (`allReplacements`).
   */
  lanes: Lanes;
  /** How many callers wait for the answer to a command. */
  callers: number;
  /** Set when another root order's workflow does the work, and this run only passes things on. */
  forwardsTo?: string;
}

export function openRun(chain: Chain, earlierRun: EarlierRun | undefined): KitOrderRun {
  return { chain, earlierRun, lanes: new Lanes(), callers: 0, timer: new LoopTimer(), hasNews: false };
}

/** Does what a caller waits for, once it is known whose order this is. The main loop looks at what came of it. */
export async function answerCaller(run: KitOrderRun, work: () => Promise<OrderState>): Promise<OrderState> {
  run.callers += 1;
  try {
    await awaitIdentity(run);
    return await work();
  } catch (error) {
    throw refusalOf(error);
  } finally {
    run.callers -= 1;
    run.hasNews = true;
  }
}

/**
 * For a command that only the right workflow can take.
 * @throws ApplicationFailure `ServiceUnavailable` when that cannot be found out now
 */
export async function awaitIdentity(run: KitOrderRun): Promise<void> {
  const isKnown = () => run.chain.identified || run.forwardsTo !== undefined;
  if (!isKnown() && !(await condition(isKnown, commandWait, { summary: 'commands wait' }))) throw notKnownYet();
}

/**
 * Commands are for the run that follows the chain.
 * @param root the chain that the order belongs to, if that is another's
 */
export function requireNoOtherRoot(root: string | undefined): void {
  if (root === undefined) return;
  throw refuse('OrderForwarded', `The order belongs to the chain of order ${root}`, { reason: root });
}
