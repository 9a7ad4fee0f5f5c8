import { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { labDataConverter } from '../../client/encryption/payload-codec.js';
import { code, hasCode } from '../../client/temporal-errors.js';
import { readPlacingStop } from '../../protocol/placing-stop.js';
import { reconcileScheduleId } from '../../protocol/reconcile.js';
import { reportedProblemsKey } from '../../protocol/search-attributes.js';
import { ofTaskQueue, sideQueueName, sideQueues } from '../../protocol/task-queues.js';
import type { WorkerConfig } from '../settings/config.js';
import { currentReleaseCommand, hasCurrentRelease } from '../worker/deployment.js';
import { fault, ok, type Verdict, warning } from './findings.js';
import type { Temporal } from './server.js';

/* Do workers take what waits, and does reconciliation run? */

const { TaskQueueType, WorkflowExecutionStatus } = proto.temporal.api.enums.v1;

/** A worker polls again after a minute at the latest; Temporal remembers each poll for five. */
export const silentAfterMs = 2 * 60_000;

export async function pollers(temporal: Temporal, taskQueue: string): Promise<Verdict> {
  const activity = TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY;
  const queues = [
    { name: taskQueue, taskQueueType: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW },
    { name: taskQueue, taskQueueType: activity },
    ...sideQueues.map((queue) => ({ name: sideQueueName(taskQueue, queue), taskQueueType: activity })),
  ];
  const polled = await Promise.all(queues.map(async (queue) => ({ ...queue, at: await lastPoll(temporal, queue) })));
  const namesOf = (found: typeof polled) => [...new Set(found.map(({ name }) => name))].join(', ');
  const remedy = 'Start a worker, or correct TASK_QUEUE and the WORKER_QUEUES of the workers.';
  const none = polled.filter(({ at }) => at === undefined);
  if (none.length > 0) return fault(`No worker polls ${namesOf(none)}: what is on it waits.`, remedy);
  const silent = polled.filter(({ at = 0 }) => Date.now() - at > silentAfterMs);
  if (silent.length > 0) return warning(`No worker has polled ${namesOf(silent)} for two minutes.`, remedy);
  return ok('Workers poll all task queues.');
}

/** Workflows whose tasks fail again and again: they do nothing, not even about a critical result, and raise no attention. */
export async function failingWorkflows({ connection, namespace }: Temporal, taskQueue: string): Promise<Verdict> {
  const query = `${reportedProblemsKey.name} IS NOT NULL AND ExecutionStatus = 'Running' AND ${ofTaskQueue(taskQueue)}`;
  const { executions } = await connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: 100 });
  const [first] = executions;
  if (!first) return ok('No workflow is held up by tasks that fail.');
  const { length } = executions;
  const many = `${length === 100 ? 'At least ' : ''}${length} workflow${length === 1 ? '' : 's'}`;
  return fault(
    `${many} cannot go on, because workflow tasks fail: ${first.execution?.workflowId}.`,
    `Read the failure in the Web UI, and docs/failure.md, “A workflow cannot be replayed”. All of them: temporal workflow list --namespace ${namespace} --query "${query}"`,
  );
}

/** A stop that was forgotten looks like a service that takes no orders. */
export async function placingStop(
  { connection, namespace }: Temporal,
  { taskQueue, keyRing }: Pick<WorkerConfig, 'taskQueue' | 'keyRing'>,
): Promise<Verdict> {
  const client = new Client({ connection, namespace, ...(keyRing && { dataConverter: labDataConverter(keyRing) }) });
  const stop = await readPlacingStop(client.workflow, taskQueue);
  if (!stop) return ok('Placing is not stopped.');
  return warning(
    `Placing was stopped at ${stop.since}: ${stop.reason}.`,
    'Once the reason is gone: labops placing resume.',
  );
}

interface Queue {
  name: string;
  taskQueueType: proto.temporal.api.enums.v1.TaskQueueType;
}

/** Milliseconds since 1970. */
async function lastPoll(
  { connection, namespace }: Temporal,
  { name, taskQueueType }: Queue,
): Promise<number | undefined> {
  const { workflowService } = connection;
  const { pollers: all } = await workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType });
  if (all.length === 0) return undefined;
  return Math.max(...all.map(polledAt));
}

/** Milliseconds since 1970. */
export function polledAt({ lastAccessTime }: proto.temporal.api.taskqueue.v1.IPollerInfo): number {
  return Number(lastAccessTime?.seconds ?? 0) * 1000;
}

export async function currentRelease(
  { connection, namespace }: Temporal,
  deployment: WorkerConfig['deployment'],
): Promise<Verdict> {
  if (!deployment) return ok('Worker Versioning is off.');
  const { deploymentName } = deployment;
  if (await hasCurrentRelease(connection, namespace, deploymentName)) {
    return ok(`The deployment ${deploymentName} has a current version.`);
  }
  const found = `The deployment ${deploymentName} has no current version, so no worker gets new work.`;
  return fault(found, `Once a worker of this release polls, run: ${currentReleaseCommand(namespace, deployment)}`);
}

export async function reconciliation(
  temporal: Temporal,
  { taskQueue, reconcileEveryMinutes }: Pick<WorkerConfig, 'taskQueue' | 'reconcileEveryMinutes'>,
): Promise<Verdict> {
  const { connection, namespace } = temporal;
  if (reconcileEveryMinutes === 0) return ok('Reconciliation is off (RECONCILE_EVERY_MINUTES=0).');
  const scheduleId = reconcileScheduleId(taskQueue);
  const named = `--namespace ${namespace} --schedule-id '${scheduleId}'`;
  const described = await found(connection.workflowService.describeSchedule({ namespace, scheduleId }));
  if (!described) {
    const queue = { name: taskQueue, taskQueueType: TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW };
    const polledLast = await lastPoll(temporal, queue);
    // One that already ran when the schedule was deleted does not create it a second time.
    const isRunning = polledLast !== undefined && Date.now() - polledLast <= silentAfterMs;
    return fault(
      `The schedule ${scheduleId} does not exist.`,
      `${isRunning ? 'Restart' : 'Start'} a worker: it creates the schedule when it starts, or its log says why not.`,
    );
  }
  const { schedule, info } = described;
  if (schedule?.action?.startWorkflow?.taskQueue?.name !== taskQueue) {
    const remedy = `Correct TASK_QUEUE, or delete the schedule and restart a worker: temporal schedule delete ${named}`;
    return fault(`The schedule ${scheduleId} starts its passes on another task queue than ${taskQueue}.`, remedy);
  }
  if (schedule.state?.paused === true) {
    const remedy = `Resume it: temporal schedule toggle --unpause ${named}`;
    return fault(`The schedule ${scheduleId} is paused: webhooks that got lost are not caught up on.`, remedy);
  }
  const passes = (info?.recentActions ?? []).flatMap(({ startWorkflowResult: pass }) => pass?.workflowId ?? []);
  return lastPass(temporal, passes.toReversed());
}

const failedStatuses = new Map([
  [WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED, 'failed'],
  [WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TIMED_OUT, 'timed out'],
  [WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_TERMINATED, 'was terminated'],
]);

/** @param passes the latest first */
async function lastPass({ connection, namespace }: Temporal, passes: readonly string[]): Promise<Verdict> {
  for (const workflowId of passes) {
    const described = await found(
      connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } }),
    );
    const status = described?.workflowExecutionInfo?.status;
    if (status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING) continue;
    const failed = status == null ? undefined : failedStatuses.get(status);
    if (failed === undefined) return ok('The schedule is there, and its last pass succeeded.');
    const remedy = `See why: temporal workflow show --namespace ${namespace} --workflow-id '${workflowId}'`;
    return fault(`The last pass of the reconciliation ${failed}; the next one covers its time as well.`, remedy);
  }
  return ok('The schedule is there. No pass of it has ended yet.');
}

/** The answer, or undefined if the thing asked for does not exist. */
export async function found<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (hasCode(error, code.notFound)) return undefined;
    throw error;
  }
}
