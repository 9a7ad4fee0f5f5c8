import { WorkflowNotFoundError, type SignalDefinition, type TypedSearchAttributes } from '@temporalio/common';

/*
 * Which run of the same workflow ID came before a run. Temporal has no call for that but its search, which lags and may be
 * away while everything else works. The sender that starts a run can learn it by ID, and the new run keeps it in its memo.
 */

/** The run of the same workflow ID before this one; without `runId` Temporal retained none when this one was started. */
export interface EarlierRun {
  runId?: string;
}

const memoKey = 'earlierRun';

/** Undefined if the sender that started the run did not look for it. */
export function earlierRunOf(memo: Record<string, unknown> | undefined): EarlierRun | undefined {
  const kept = memo?.[memoKey];
  if (typeof kept !== 'object' || kept === null) return undefined;
  const { runId } = kept as Record<string, unknown>;
  return typeof runId === 'string' ? { runId } : {};
}

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

interface SignalledStart<Args extends unknown[]> {
  workflowId: string;
  args: [unknown];
  taskQueue: string;
  signal: SignalDefinition<Args>;
  signalArgs: Args;
  typedSearchAttributes: TypedSearchAttributes;
  staticSummary: string;
  staticDetails: string;
}

/**
 * Signals a workflow, and starts it if it does not run: as atomic as signal-with-start, which does the starting. A signal
 * to a workflow that runs costs one call as well, a start three.
 */
export async function signalOrStart<Args extends unknown[]>(
  workflow: WorkflowCalls,
  name: string,
  start: SignalledStart<Args>,
): Promise<void> {
  try {
    await workflow.getHandle(start.workflowId).signal(start.signal, ...start.signalArgs);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    const earlierRun = await latestRunOf(workflow, start.workflowId);
    const options = { ...start, memo: { [memoKey]: earlierRun } };
    await workflow.signalWithStart(name, options as never);
  }
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
