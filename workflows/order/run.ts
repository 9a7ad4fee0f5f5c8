import type { EarlierRun } from '../../protocol/earlier-run.js';
import { Alarm } from '../entity/alarm.js';
import { Lanes } from '../entity/commands.js';
import type { Wakeable } from '../entity/loop.js';
import type { Chain } from './chain.js';

/** One run of `kitOrder`. */
export interface KitOrderRun extends Wakeable {
  chain: Chain;
  earlierRun: EarlierRun | undefined;
  /**
   * A decision of a command or of the policy about an order runs in the lane of that order, beside the main loop: it waits for
   * nothing that has to do with another order.
   */
  lanes: Lanes;
  /** How many callers wait for the answer to a command. */
  callers: number;
  /** Set when another root order's workflow does the work, and this run only passes things on. */
  forwardsTo?: string;
}

export function openRun(chain: Chain, earlierRun: EarlierRun | undefined): KitOrderRun {
  return { chain, earlierRun, lanes: new Lanes(), callers: 0, alarm: new Alarm(), hasNews: false };
}
