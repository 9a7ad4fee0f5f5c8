import {
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type SignalDefinition,
  type TypedSearchAttributes,
} from '@temporalio/common';

/* The one way by which a sender reaches a workflow that may have ended: webhooks, hand-overs, reconciliation and the client. */

/** The start of a workflow, the same for everybody who may start it: products, webhooks, other workflows and the reconciliation. */
export interface WorkflowStart<Input> {
  name: string;
  workflowId: string;
  args: [Input];
  typedSearchAttributes: TypedSearchAttributes;
  staticSummary: string;
  staticDetails: string;
}

/** The part of the SDK's client that is needed here: this folder does not import the client itself. */
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
  for (let looks = 1; ; looks += 1) {
    if (await signalIfRunning(workflow, start.workflowId, signal, ...signalArgs)) return;
    const earlierRun = await latestRunOf(workflow, start.workflowId);
    try {
      return await startAfter(earlierRun, workflow, taskQueue, start, signal, ...signalArgs);
    } catch (error) {
      if (looks === mostLooks || !(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
}

/** A run that began and ended between the look and the start is found by the next look. */
const mostLooks = 3;

/** Signals a workflow if it is running. False if it is not. */
export async function signalIfRunning<Args extends unknown[]>(
  workflow: WorkflowCalls,
  workflowId: string,
  signal: SignalDefinition<Args>,
  ...signalArgs: Args
): Promise<boolean> {
  try {
    await workflow.getHandle(workflowId).signal(signal, ...signalArgs);
    return true;
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    return false;
  }
}

/**
 * Starts a workflow, or signals it if it runs, in one call: for a sender that knows which run came before. The start may arrive late:
 * the server starts nothing if there was none before, and one has ended meanwhile.
 * @throws WorkflowExecutionAlreadyStartedError in that case
 */
export async function startAfter<Args extends unknown[]>(
  earlierRun: EarlierRun,
  workflow: WorkflowCalls,
  taskQueue: string,
  { name, args: [input], ...start }: WorkflowStart<object>,
  signal: SignalDefinition<Args>,
  ...signalArgs: Args
): Promise<void> {
  const reuse = earlierRun.runId === undefined ? { workflowIdReusePolicy: 'REJECT_DUPLICATE' } : {};
  const options = { ...start, ...reuse, args: [{ ...input, earlierRun }], taskQueue, signal, signalArgs };
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
