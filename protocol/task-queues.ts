/** The deployment's own task queue, if TASK_QUEUE sets no other. */
export const defaultTaskQueue = 'lab-operations';

/**
 * The task queues of activities that nobody waits for on a screen. Workflows, and whatever a person or a program waits for, are on
 * the deployment's own queue (TASK_QUEUE): a backlog on a side queue does not hold them up. The table in workflows/activity-options.ts says which activity uses which queue.
 */
export const sideQueues = ['background', 'notifications', 'files'] as const;

/**
 * `background`: reads of orders and reports, reconciliation, erasure, workouts' streams. `notifications`: deliveries to the product,
 * which hang as long as its receiver hangs. `files`: uploads of reports.
 */
export type SideQueue = (typeof sideQueues)[number];

/** @param taskQueue the deployment's own, `workflowInfo().taskQueue` in a workflow */
export function sideQueueName(taskQueue: string, queue: SideQueue): string {
  return `${taskQueue}/${queue}`;
}

/** The condition of a visibility query that keeps only the workflows of one task queue. */
export function ofTaskQueue(taskQueue: string): string {
  return `TaskQueue = '${taskQueue.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
