import { isGrpcServiceError, WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';

/** gRPC's number of UNIMPLEMENTED. */
const unimplemented = 12;

/**
 * The runs that match a query. Visibility lags by moments. A server without visibility answers UNIMPLEMENTED: the
 * result is empty then.
 */
export async function listed(temporal: Client, query: string): Promise<WorkflowExecutionInfo[]> {
  const runs: WorkflowExecutionInfo[] = [];
  try {
    for await (const run of temporal.workflow.list({ query })) runs.push(run);
  } catch (error) {
    if (!hasNoVisibility(error)) throw error;
  }
  return runs;
}

/** A workflow ID's runs, as far as the namespace retains them; none if the server has no visibility. */
export async function runsOf(temporal: Client, workflowId: string): Promise<WorkflowExecutionInfo[]> {
  return listed(temporal, `WorkflowId = '${workflowId}'`);
}

type Run = Pick<WorkflowExecutionInfo, 'runId' | 'status' | 'startTime' | 'closeTime'>;

/** The same, with each run's current state. */
export async function presentRunsOf(temporal: Client, workflowId: string): Promise<Run[]> {
  return Promise.all((await runsOf(temporal, workflowId)).map((run) => asItIs(temporal, run)));
}

/** Those of them that ended by themselves, the latest first. */
export async function endedRunsOf(temporal: Client, workflowId: string): Promise<Run[]> {
  const ended = (await presentRunsOf(temporal, workflowId)).filter(({ status }) => status.name === 'COMPLETED');
  return ended.toSorted((a, b) => (b.closeTime?.getTime() ?? 0) - (a.closeTime?.getTime() ?? 0));
}

/** Visibility may not know yet that a run has ended; the run itself does. */
async function asItIs(temporal: Client, listedAs: WorkflowExecutionInfo): Promise<Run> {
  const { workflowId, runId, status } = listedAs;
  if (status.name !== 'RUNNING') return listedAs;
  try {
    return await temporal.workflow.getHandle(workflowId, runId).describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return listedAs;
    throw error;
  }
}

/**
 * The result of the last completed run with this workflow ID. A run that was started and ended just now may be missing;
 * what it announced is then announced again with the same ids, which a receiver drops.
 */
export async function lastResultOf<Result>(temporal: Client, workflowId: string): Promise<Result | undefined> {
  const [last] = await endedRunsOf(temporal, workflowId);
  return last && (temporal.workflow.getHandle(workflowId, last.runId).result() as Promise<Result>);
}

function hasNoVisibility(error: unknown): boolean {
  // The client wraps gRPC's error.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === unimplemented;
}
