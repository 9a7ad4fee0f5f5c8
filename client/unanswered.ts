import type { Client } from '@temporalio/client';
import { labAttentionKey } from '../protocol/search-attributes.js';
import type { LabOperationsError } from '../service/lab-operations-error.js';
import { NoWorker, TimedOut, WorkerFailing } from './errors.js';
import { type TemporalAccess, OneCall } from './one-call.js';
import {
  code,
  endpointOf,
  grpcErrorOf,
  isDeadlineError,
  isWithoutPoller,
  namespaceNotLookedUp,
  noAnswerFromTemporal,
  temporalErrorOf,
} from './temporal-errors.js';
import { describe } from './workflow-runs.js';

/*
 * The reason why a call got no answer: no worker polls, the worker fails, Temporal does not answer, or it takes longer. The class of
 * each in `errors.ts` says what to do.
 */

/** To find out why there was no answer must not take noticeably longer than the deadline. */
const diagnosisMs = 2_000;

/** A workflow task fails once in the life of a healthy workflow, say because a worker is restarted. */
const failingAttempts = 3;

/** A worker's poll lasts a minute at most, and clocks may differ; the server lists its pollers for five minutes. */
const pollingMs = 120_000;

/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's API. */
const workflowTasks = 1;

/** Asks Temporal, which may be the party that does not answer. */
export async function whyUnanswered(calls: TemporalAccess, call: OneCall, error: unknown): Promise<LabOperationsError> {
  const { client } = calls;
  const { workflowId, underWay: sentence } = call;
  const cause = { cause: error };
  const waited = call.waitedUntil(error);
  let attention: string[] = [];
  const timedOut = (hint = ''): TimedOut => {
    const lookAt = attention.length > 0 ? `A person should look at it: ${attention.join(', ')}.` : hint;
    return new TimedOut([`No answer within ${waited}.`, sentence, lookAt].filter(Boolean).join(' '), attention, cause);
  };
  if (call.isWithService) return timedOut();
  if (call.failedTasks > 1) return new WorkerFailing(cause);
  const probe = new OneCall(calls, '', diagnosisMs);
  try {
    return await probe.run(async () => {
      const workflow = workflowId === undefined ? undefined : await describe(client.workflow.getHandle(workflowId));
      const taskQueue = workflow?.taskQueue ?? calls.taskQueue;
      if ((workflow?.raw.pendingWorkflowTask?.attempt ?? 0) >= failingAttempts) return new WorkerFailing(cause);
      attention = workflow?.typedSearchAttributes.get(labAttentionKey) ?? [];
      const pollers = await pollersOf(client, taskQueue);
      if (isWithoutPoller(error)) return new NoWorker(taskQueue, sentence, cause);
      if (workflowId === undefined) return timedOut();
      if (pollers === 0) return new NoWorker(taskQueue, sentence, cause);
      return timedOut(`If this happens again, check that a worker still polls the task queue ${taskQueue}.`);
    });
  } catch (failed) {
    // Credentials that suffice for the call need not suffice for the question, and not every server can answer it.
    if (isDenied(failed)) return timedOut();
    const endpoint = endpointOf(client);
    return isDeadlineError(failed)
      ? noAnswerFromTemporal(endpoint, error, sentence)
      : (temporalErrorOf(failed, endpoint, sentence) ?? timedOut());
  } finally {
    probe.end();
  }
}

/**
 * Says if the namespace does not exist: a server whose database fails says the same of one that does (getNamespaceByNamePersistence
 * in its source; seen after a restart). Asked for the namespace itself, it tells the two apart.
 */
export async function whyNamespaceUnknown(
  calls: TemporalAccess,
  error: unknown,
): Promise<LabOperationsError | undefined> {
  const { client } = calls;
  const endpoint = endpointOf(client);
  const probe = new OneCall(calls, '', diagnosisMs);
  try {
    await probe.run(() => client.workflowService.describeNamespace({ namespace: endpoint.namespace }));
    return namespaceNotLookedUp(endpoint, error);
  } catch (failed) {
    if (isDeadlineError(failed)) return namespaceNotLookedUp(endpoint, error);
    return (isDenied(failed) ? undefined : temporalErrorOf(failed, endpoint)) ?? temporalErrorOf(error, endpoint);
  } finally {
    probe.end();
  }
}

/** How many workers have asked the task queue for work in the last two minutes. */
export async function pollersOf(client: Client, taskQueue: string): Promise<number> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: workflowTasks,
  });
  const since = Date.now() - pollingMs;
  return (pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > since).length;
}

function isDenied(error: unknown): boolean {
  const answer = grpcErrorOf(error)?.code;
  return answer === code.permissionDenied || answer === code.unimplemented;
}
