/** The condition of a visibility query that leaves the workflows of one task queue. */
export function ofTaskQueue(taskQueue: string): string {
  return `TaskQueue = '${taskQueue.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
