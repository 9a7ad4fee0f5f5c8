import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleOptions,
} from '@temporalio/client';
import type { Logger } from 'pino';
import { maySucceedLater } from '../../client/temporal-errors.js';
import { reconcileOrdersName, reconcileScheduleId } from '../../protocol/reconcile.js';
import { StartFailed } from '../process.js';

/** How the schedule has to be. The action's workflow ID is the stem: the server adds the time to it. */
function scheduleOf(taskQueue: string, everyMinutes: number): ScheduleOptions {
  const scheduleId = reconcileScheduleId(taskQueue);
  return {
    scheduleId,
    spec: { intervals: [{ every: everyMinutes * 60_000 }] },
    action: {
      type: 'startWorkflow',
      workflowType: reconcileOrdersName,
      workflowId: scheduleId,
      taskQueue,
      // Nothing of it is encrypted: a worker that starts reads it, also if the key of that time is gone.
      args: [],
    },
    policies: {
      // A pass that takes longer than the interval replaces the next one, because that starts where the last complete
      // one ended.
      overlap: ScheduleOverlapPolicy.SKIP,
      // After an outage of Temporal one pass makes up for all that were missed.
      catchupWindow: '1 minute',
    },
  };
}

interface ScheduleSettings {
  taskQueue: string;
  /** 0 takes the schedule away. */
  reconcileEveryMinutes: number;
}

/** A blip is over after seconds; a failover of Temporal may take minutes, and the next pass is up to an hour away. */
const pausesMs = { first: 5_000, longest: 300_000 };

/**
 * Creates or updates the schedule of `reconcileOrders`, as configured here. If Temporal has a temporary problem, it is
 * retried in the background until `stop`. If the namespace does not allow it, the worker still works: orders are
 * followed by their webhooks, and the log says what is missing.
 *
 * @throws StartFailed if the schedule starts its passes on another task queue
 */
export async function ensureReconcileSchedule(
  client: Client,
  settings: ScheduleSettings,
  log: Logger,
  pauses = pausesMs,
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const isToRepeat = await attempt(client, settings, log);
  const repeating = isToRepeat ? repeat(client, settings, log, { pauses, signal: stopping.signal }) : undefined;
  return {
    stop: async () => {
      stopping.abort();
      await repeating;
    },
  };
}

async function repeat(
  client: Client,
  settings: ScheduleSettings,
  log: Logger,
  { pauses, signal }: { pauses: typeof pausesMs; signal: AbortSignal },
): Promise<void> {
  for (let pause = pauses.first; !signal.aborted; pause = Math.min(pause * 2, pauses.longest)) {
    await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined); // only `stop` ends it early
    if (signal.aborted) return;
    try {
      if (await attempt(client, settings, log)) continue;
    } catch (error) {
      log.error({ err: error }, 'the schedule that reconciles orders could not be made');
    }
    return;
  }
}

/** True when another attempt may succeed. */
async function attempt(client: Client, settings: ScheduleSettings, log: Logger): Promise<boolean> {
  const { taskQueue, reconcileEveryMinutes } = settings;
  const schedule = reconcileScheduleId(taskQueue);
  try {
    if (reconcileEveryMinutes === 0) await remove(client, taskQueue);
    else await createOrUpdate(client, scheduleOf(taskQueue, reconcileEveryMinutes), taskQueue);
    return false;
  } catch (error) {
    const cause = isGrpcServiceError(error) ? error : (error as Error).cause;
    if (!isGrpcServiceError(cause)) throw error;
    const isPassing = maySucceedLater(cause);
    const message = 'the schedule that reconciles orders could not be made';
    if (isPassing) log.warn({ err: error, schedule }, `${message}; retrying`);
    else log.error({ err: error, schedule }, message);
    return isPassing;
  }
}

async function createOrUpdate(client: Client, required: ScheduleOptions, taskQueue: string): Promise<void> {
  try {
    await client.schedule.create(required);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { scheduleId, spec, action, policies } = required;
    await client.schedule.getHandle(scheduleId).update((found) => {
      requireOurs(found, taskQueue);
      return { spec, action, ...(policies && { policies }), state: found.state };
    });
  }
}

async function remove(client: Client, taskQueue: string): Promise<void> {
  const handle = client.schedule.getHandle(reconcileScheduleId(taskQueue));
  try {
    requireOurs(await handle.describe(), taskQueue);
    await handle.delete();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
  }
}

/**
 * Somebody has changed it manually: taking it over would silently leave the orders of the other task queue
 * unreconciled.
 */
function requireOurs({ scheduleId, action }: ScheduleDescription, taskQueue: string): void {
  if (action.type === 'startWorkflow' && action.taskQueue === taskQueue) return;
  throw new StartFailed(
    `The schedule ${scheduleId} starts its passes on another task queue than ${taskQueue}: correct TASK_QUEUE, ` +
      `or delete the schedule (temporal schedule delete --schedule-id '${scheduleId}').`,
  );
}
