import { isGrpcServiceError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';

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

function hasNoVisibility(error: unknown): boolean {
  // The client wraps what gRPC says.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === unimplemented;
}
