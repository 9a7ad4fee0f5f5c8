import { type Client, ScheduleNotFoundError } from '@temporalio/client';
import { Gauge, type Registry } from 'prom-client';
import { reconcileScheduleId } from '../../protocol/reconcile.js';
import { remembered, type Watched, withinScrape } from './readings.js';
import { ofTaskQueue } from '../../protocol/task-queues.js';

/** A pass runs once an hour: its age need not be known to the second. */
const rememberedMs = 5 * 60_000;

/**
 * When the schedule's last complete pass began. Nothing else recovers a lost webhook of a critical result, so it must be seen when
 * the schedule is paused or gone, or its passes fail. A time stays true while Temporal cannot be asked.
 *
 * @param watched `isOn`: reconciliation is on. A schedule that is missing then, because somebody has deleted it or the worker was not
 * allowed to create it, counts as created when the worker started
 * @returns refreshes the gauge; never rejects
 */
export function watchReconciliation(
  registry: Registry,
  { client, taskQueue, log, isOn }: Watched & { isOn: boolean },
): () => Promise<void> {
  const started = isOn ? new Date() : undefined;
  const gauge = new Gauge({
    name: 'labops_last_reconciliation_timestamp_seconds',
    help: 'When the last complete pass of the reconciliation’s schedule began, in seconds since 1970, read every 5 minutes. Before the first, when the schedule was created, or, if it is missing, when the worker started. Absent with RECONCILE_EVERY_MINUTES=0.',
    labelNames: [] as const,
    registers: [registry],
  });
  gauge.remove(); // it would begin with 0
  const ask = remembered(
    async () => {
      try {
        const begun = await client.withDeadline(Date.now() + rememberedMs, () => lastPass(client, taskQueue, started));
        if (begun) gauge.set(begun.getTime() / 1000);
        else gauge.remove();
      } catch (error) {
        log.warn({ err: error }, 'the last reconciliation cannot be read: its metric may be old');
      }
    },
    undefined,
    rememberedMs,
  );
  return () => withinScrape(ask());
}

/** Nothing if there is no schedule and none is expected. */
async function lastPass(client: Client, taskQueue: string, expectedSince?: Date): Promise<Date | undefined> {
  const scheduleId = reconcileScheduleId(taskQueue);
  const created = (await createdAt(client, scheduleId)) ?? expectedSince;
  if (!created) return undefined;
  const { namespace } = client.options;
  const byIt = `TemporalScheduledById = '${scheduleId.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const query = `${ofTaskQueue(taskQueue)} AND ${byIt} AND ExecutionStatus = 'Completed'`;
  // Not by the client's list, which decodes memos: the latest comes first.
  const { executions } = await client.workflowService.listWorkflowExecutions({ namespace, query, pageSize: 1 });
  const seconds = executions[0]?.startTime?.seconds;
  return seconds == null ? created : new Date(Number(seconds) * 1000);
}

async function createdAt(client: Client, scheduleId: string): Promise<Date | undefined> {
  try {
    return (await client.schedule.getHandle(scheduleId).describe()).info.createdAt;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}
