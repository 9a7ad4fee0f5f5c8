import { Worker, type WorkerOptions } from '@temporalio/worker';
import { heartbeatEvery } from '../../activities/attempt.js';
import { sideQueueName, type SideQueue } from '../../protocol/task-queues.js';
import { queues, defaultSlots } from '../settings/settings.js';

export interface QueueOptions {
  /** Default: all. Those that one process leaves out must be polled by another. */
  polls?: readonly (typeof queues)[number][];
  /** How many activities of a side queue this process runs at once. */
  slots?: Partial<Record<SideQueue, number>>;
  /** How many activities of `background` all processes together start in a second. Default: as many as come. */
  backgroundPerSecond?: number | undefined;
}

/** Each poller is a request that waits at Temporal. Two keep a queue's slots filled: a poll takes milliseconds, its work seconds. */
const pollers = { maxConcurrentActivityTaskPolls: 2 };

/**
 * How long one step of a workflow may take on the clock. By itself the SDK ends it after 5 seconds, and with it, often, the
 * process ("async hook stack has become corrupted"): a machine that was suspended, migrated or starved in mid-step for longer
 * would cost the worker. Five minutes outlast that, and still end a step that loops. The SDK takes the option without naming it in
 * its types; a test holds it.
 */
export const suspensionTolerance: object = { isolateExecutionTimeout: '5 minutes' };

/** The workers of one process, one for each queue that it polls. All have all activities; the workflows say where each one goes. */
export async function createWorkers(
  options: WorkerOptions & { taskQueue: string },
  { polls = queues, slots, backgroundPerSecond }: QueueOptions = {},
): Promise<Worker[]> {
  // By itself the SDK passes on a heartbeat every half minute only, and a new attempt might come before an earlier one's request has settled.
  const all = { maxHeartbeatThrottleInterval: heartbeatEvery, ...options };
  const { workflowBundle: _, maxCachedWorkflows: __, ...activityOptions } = all;
  const sideOptions = (queue: SideQueue): WorkerOptions => ({
    ...activityOptions,
    ...pollers,
    taskQueue: sideQueueName(options.taskQueue, queue),
    maxConcurrentActivityTaskExecutions: slots?.[queue] ?? defaultSlots[queue],
    ...(queue === 'background' &&
      backgroundPerSecond !== undefined && { maxTaskQueueActivitiesPerSecond: backgroundPerSecond }),
  });
  return Promise.all(
    polls.map((queue) => Worker.create(queue === 'main' ? { ...suspensionTolerance, ...all } : sideOptions(queue))),
  );
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
