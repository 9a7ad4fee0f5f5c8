import { WorkflowNotFoundError, type SignalDefinition } from '@temporalio/common';
import type { WorkflowStart } from './workflow-start.js';

/*
 * Which run of the same workflow ID came before a run. Temporal has no call for that but its search, which lags and may
 * be away while everything else works. The sender that starts a run can learn it by ID, and the new run has it in its
 * input: a memo would be decoded with every list and description, by clients without keys too.
 */

/** The run of the same workflow ID before this one; without `runId` Temporal retained none when this one was started. */
export interface EarlierRun {
  runId?: string;
}

/**
 * Reads the field of an input. Undefined if the sender that started the run did not look for an earlier one, or names none
 * that Temporal can have.
 */
export function readEarlierRun(given: unknown): EarlierRun | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { runId, ...others } = given as Record<string, unknown>;
  if (typeof runId === 'string' && uuid.test(runId)) return { runId };
  return runId === undefined && Object.keys(others).length === 0 ? {} : undefined;
}

/** Temporal writes them in lower case, and compares them as text. */
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Of the SDK's client, which is not known here, what is needed of it. */
interface WorkflowCalls {
  options: { namespace: string };
  workflowService: {
    describeWorkflowExecution(request: {
      namespace: string;
      execution: { workflowId: string };
    }): Promise<{ workflowExecutionInfo?: { execution?: { runId?: string | null } | null } | null }>;
  };
  getHandle(workflowId: string): {
    signal<Args extends unknown[]>(signal: SignalDefinition<Args>, ...args: Args): Promise<void>;
  };
  signalWithStart(workflow: string, options: never): Promise<unknown>;
}

/**
 * Signals a workflow, and starts it if it does not run: as atomic as signal-with-start, which does the starting. A signal
 * to a workflow that runs costs one call as well, a start three.
 */
export async function signalOrStart<Args extends unknown[]>(
  workflow: WorkflowCalls,
  taskQueue: string,
  start: WorkflowStart<object>,
  signal: SignalDefinition<Args>,
  ...signalArgs: Args
): Promise<void> {
  try {
    await workflow.getHandle(start.workflowId).signal(signal, ...signalArgs);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    const earlierRun = await latestRunOf(workflow, start.workflowId);
    await startAfter(earlierRun, workflow, taskQueue, start, signal, ...signalArgs);
  }
}

/** Starts a workflow, or signals it if it runs, in one call: for a sender that knows which run came before. */
export async function startAfter<Args extends unknown[]>(
  earlierRun: EarlierRun,
  workflow: WorkflowCalls,
  taskQueue: string,
  { name, args: [input], ...start }: WorkflowStart<object>,
  signal: SignalDefinition<Args>,
  ...signalArgs: Args
): Promise<void> {
  const options = { ...start, args: [{ ...input, earlierRun }], taskQueue, signal, signalArgs };
  await workflow.signalWithStart(name, options as never);
}

/** gRPC's NOT_FOUND. */
const notFound = 5;

/** Asked without decoding anything: a sender need not be able to read what the earlier run was started with. */
async function latestRunOf({ options, workflowService }: WorkflowCalls, workflowId: string): Promise<EarlierRun> {
  try {
    const { namespace } = options;
    const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({
      namespace,
      execution: { workflowId },
    });
    const runId = workflowExecutionInfo?.execution?.runId;
    return runId == null || runId === '' ? {} : { runId };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === notFound) return {};
    throw error;
  }
}
