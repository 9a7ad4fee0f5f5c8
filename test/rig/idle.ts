import type { Client } from '@temporalio/client';

/** True if a workflow waits for nothing but time or messages. A query that finds it so is answered on its own, not in a workflow task. */
export async function isIdle(temporal: Client, workflowId: string): Promise<boolean> {
  const { raw } = await temporal.workflow.getHandle(workflowId).describe();
  return raw.pendingWorkflowTask == null && (raw.pendingActivities ?? []).length === 0;
}
