import {
  type Client,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleOptions,
} from '@temporalio/client';
import type { Logger } from 'pino';
import { reconcileOrdersName, reconcileScheduleId } from '../workflows/reconcile/messages.js';

/** How the schedule is to be. The action's workflow ID is the stem: the server adds the time to it. */
function scheduleOf(taskQueue: string, everyMinutes: number): ScheduleOptions {
  return {
    scheduleId: reconcileScheduleId,
    spec: { intervals: [{ every: everyMinutes * 60_000 }] },
    action: {
      type: 'startWorkflow',
      workflowType: reconcileOrdersName,
      workflowId: reconcileScheduleId,
      taskQueue,
      args: [],
      staticSummary: 'Reconcile orders with the lab service',
    },
    policies: {
      // A pass that takes longer than the interval is the next one, too: it began where the last complete one ended.
      overlap: ScheduleOverlapPolicy.SKIP,
      // After an outage of Temporal one pass makes up for all that were missed.
      catchupWindow: '1 minute',
    },
  };
}

/**
 * Makes sure of the schedule of `reconcileOrders`, as it is configured here; 0 takes it away. A namespace that does not
 * let us is no reason not to work: orders are followed by their webhooks all the same, and the log says what is missing.
 */
export async function ensureReconcileSchedule(
  client: Client,
  { taskQueue, reconcileEveryMinutes }: { taskQueue: string; reconcileEveryMinutes: number },
  log: Logger,
): Promise<void> {
  try {
    if (reconcileEveryMinutes === 0) await remove(client);
    else await createOrUpdate(client, scheduleOf(taskQueue, reconcileEveryMinutes));
  } catch (error) {
    if (!isGrpcServiceError(error) && !isGrpcServiceError((error as Error).cause)) throw error;
    log.error({ err: error, schedule: reconcileScheduleId }, 'the schedule that reconciles orders could not be made');
  }
}

async function createOrUpdate(client: Client, wanted: ScheduleOptions): Promise<void> {
  try {
    await client.schedule.create(wanted);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { spec, action, policies } = wanted;
    await client.schedule
      .getHandle(reconcileScheduleId)
      .update(({ state }) => ({ spec, action, ...(policies && { policies }), state }));
  }
}

async function remove(client: Client): Promise<void> {
  try {
    await client.schedule.getHandle(reconcileScheduleId).delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}
