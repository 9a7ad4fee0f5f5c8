import { sideQueues, type SideQueue } from '../../protocol/task-queues.js';

/* Apart from what polls them: the settings name them, and not every process that reads settings needs Temporal's native core. */

/** The queues that a process can poll: the deployment's own queue, with the workflows, and those of protocol/task-queues.ts. */
export const queues = ['main', ...sideQueues] as const;
type Queue = (typeof queues)[number];

export interface QueueOptions {
  /** Default: all. Those that one process leaves out must be polled by another. */
  polls?: readonly Queue[];
  /** How many activities of a side queue this process runs at once. */
  slots?: Partial<Record<SideQueue, number>>;
  /** How many activities of `background` all processes together start in a second. Default: as many as come. */
  backgroundPerSecond?: number | undefined;
}

/**
 * Calls of the service are made by the main queue, `background` and `files`. The last two together have fewer slots than a process
 * has connections to the service (32), so a call that somebody waits for finds one. A delivery waits for the product most of its time.
 */
export const defaultSlots = { background: 16, notifications: 50, files: 4 } as const satisfies Record<
  SideQueue,
  number
>;
