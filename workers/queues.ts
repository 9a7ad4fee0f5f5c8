import { Worker, type WorkerOptions } from '@temporalio/worker';
import { sideQueueName, sideQueues, type SideQueue } from '../protocol/task-queues.js';

/** The queues that a process can poll: the deployment's own queue, with the workflows, and those of protocol/task-queues.ts. */
export const queues = ['main', ...sideQueues] as const;
type Queue = (typeof queues)[number];

export interface QueueOptions {
  /** Default: all. Those that one process leaves out must be polled by another. */
  polls?: readonly Queue[];
  /** How many activities of a side queue this process runs at once. */
  slots?: Partial<Record<SideQueue, number>>;
  /** How many activities of `background` all processes together start in a second. Default: as many as come. */
  backgroundPerSecond?: number;
}

/**
 * Calls of the service are made by the main queue, `background` and `files`. The last two together have fewer slots than a process
 * has connections to the service (32), so a call that somebody waits for finds one. A delivery waits for the product most of its time.
 */
export const usualSlots = { background: 16, notifications: 50, files: 4 } as const satisfies Record<SideQueue, number>;

/** Each poller is a request that waits at Temporal. Two keep a queue's slots filled: a poll takes milliseconds, its work seconds. */
const pollers = { maxConcurrentActivityTaskPolls: 2 };

/** The workers of one process, one for each queue that it polls. All have all activities; the workflows say where each one goes. */
export async function createWorkers(
  options: WorkerOptions & { taskQueue: string },
  { polls = queues, slots, backgroundPerSecond }: QueueOptions = {},
): Promise<Worker[]> {
  const { workflowBundle: _, maxCachedWorkflows: __, ...activityOptions } = options;
  const sideOptions = (queue: SideQueue): WorkerOptions => ({
    ...activityOptions,
    ...pollers,
    taskQueue: sideQueueName(options.taskQueue, queue),
    maxConcurrentActivityTaskExecutions: slots?.[queue] ?? usualSlots[queue],
    ...(queue === 'background' &&
      backgroundPerSecond !== undefined && { maxTaskQueueActivitiesPerSecond: backgroundPerSecond }),
  });
  return Promise.all(polls.map((queue) => Worker.create(queue === 'main' ? options : sideOptions(queue))));
}

/** Runs all until they are shut down. If one breaks, the others are shut down too, and its failure is thrown. */
export async function runWorkers(workers: readonly Worker[]): Promise<void> {
  const runs = workers.map(async (worker) => {
    try {
      await worker.run();
    } catch (error) {
      shutDown(workers);
      throw error;
    }
  });
  const ends = await Promise.allSettled(runs);
  const failure = ends.find((end) => end.status === 'rejected');
  if (failure) throw failure.reason;
}

export function shutDown(workers: readonly Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
