import type { Alarm } from '../alarm.js';
import type { Case } from './case.js';
import type { Command } from './command.js';
import type { OrderState } from './messages.js';
import type { CommandQueue } from '../command-queue.js';

/** One run of `kitOrder`: the case it works on, and what wakes it. */
export interface Run {
  kase: Case;
  commands: CommandQueue<Command, OrderState>;
  alarm: Alarm;
  /** Something was heard that the main loop has not looked at yet. */
  heard: boolean;
  /** Until when an order that has ended waits for its notifications to be delivered; milliseconds since the epoch. */
  tellUntil?: number;
  /** Set when another root order's workflow does the work, and this run only passes things on. */
  forwardsTo?: string;
}
