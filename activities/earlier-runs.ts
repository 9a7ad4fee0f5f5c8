import { isGrpcServiceError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';

/** gRPC's number of UNIMPLEMENTED. */
const unimplemented = 12;

/**
 * The runs that a workflow ID has had, as far as the namespace retains them. Visibility lags by moments. A server without
 * visibility answers UNIMPLEMENTED: nothing is known of earlier runs there.
 */
export async function runsOf(temporal: Client, workflowId: string): Promise<WorkflowExecutionInfo[]> {
  const runs: WorkflowExecutionInfo[] = [];
  try {
    for await (const run of temporal.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs.push(run);
  } catch (error) {
    if (!hasNoVisibility(error)) throw error;
  }
  return runs;
}

function hasNoVisibility(error: unknown): boolean {
  // The client wraps what gRPC says.
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return isGrpcServiceError(cause) && cause.code === unimplemented;
}
