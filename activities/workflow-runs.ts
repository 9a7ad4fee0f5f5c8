import { isGrpcServiceError, WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';

/** gRPC's number of UNIMPLEMENTED. */
const unimplemented = 12;

/** What a query finds. Visibility lags by moments. A server without it answers UNIMPLEMENTED: nothing is found there. */
export async function listed(temporal: Client, query: string): Promise<WorkflowExecutionInfo[]> {
  const runs: WorkflowExecutionInfo[] = [];
  try {
    for await (const run of temporal.workflow.list({ query })) runs.push(run);
  } catch (error) {
    if (!hasNoVisibility(error)) throw error;
  }
  return runs;
}

/** The runs that a workflow ID has had, as far as the namespace retains them; none where the server has no visibility. */
export async function runsOf(temporal: Client, workflowId: string): Promise<WorkflowExecutionInfo[]> {
  return listed(temporal, `WorkflowId = '${workflowId}'`);
}

type Run = Pick<WorkflowExecutionInfo, 'runId' | 'status' | 'startTime' | 'closeTime'>;

/** The same, each as it is now. */
export async function presentRunsOf(temporal: Client, workflowId: string): Promise<Run[]> {
  return Promise.all((await runsOf(temporal, workflowId)).map((run) => asItIs(temporal, run)));
}

/** Those of them that ended by themselves, the latest first. */
export async function endedRunsOf(temporal: Client, workflowId: string): Promise<Run[]> {
  const ended = (await presentRunsOf(temporal, workflowId)).filter(({ status }) => status.name === 'COMPLETED');
  return ended.toSorted((a, b) => (b.closeTime?.getTime() ?? 0) - (a.closeTime?.getTime() ?? 0));
}

/** Visibility may not have heard yet that a run has ended; the run itself knows. */
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
 * What the last run with this workflow ID that ended by itself ended with. One that was also started just now may not be
 * found; what it announced is announced once more with the same ids, which a receiver drops.
 */
export async function lastResultOf<Result>(temporal: Client, workflowId: string): Promise<Result | undefined> {
  const [last] = await endedRunsOf(temporal, workflowId);
  return last && (temporal.workflow.getHandle(workflowId, last.runId).result() as Promise<Result>);
}

function hasNoVisibility(error: unknown): boolean {
  // The client wraps what gRPC says.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === unimplemented;
}
