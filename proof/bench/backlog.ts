import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/activities.js';

/** Reads of one order that are scheduled at once, as those of many orders are after an outage. */
export interface Backlog {
  /** The queue that the reads wait in. */
  readsFrom: string;
  orderId: string;
  reads: number;
}

export const backlogName = 'backlog';

export async function backlog({ readsFrom: taskQueue, orderId, reads }: Backlog): Promise<void> {
  const { readOrder } = proxyActivities<Activities>({ taskQueue, startToCloseTimeout: '2 minutes' });
  await Promise.all(Array.from({ length: reads }, () => readOrder(orderId)));
}
