import type { EarlierRun } from '../../protocol/earlier-run.js';
import type { OrderState } from '../../protocol/order/messages.js';
import type { EntityRun } from '../entity/loop.js';
import type { Chain } from './chain.js';
import type { Command } from './validation.js';

/** One run of `kitOrder`. */
export interface KitOrderRun extends EntityRun<Command, OrderState> {
  chain: Chain;
  earlierRun: EarlierRun | undefined;
  /** Set when another root order's workflow does the work, and this run only passes things on. */
  forwardsTo?: string;
}
