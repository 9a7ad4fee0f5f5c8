import { WorkflowNotFoundError, type WorkflowExecutionDescription, type WorkflowHandle } from '@temporalio/client';

/** The latest run; undefined if there is none. */
export async function describe(workflow: WorkflowHandle): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await workflow.describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

export async function isRunning(workflow: WorkflowHandle): Promise<boolean> {
  return (await statusOf(workflow)) === 'RUNNING';
}

/** The status of the latest run; undefined if there is none. */
export async function statusOf(workflow: WorkflowHandle) {
  return (await describe(workflow))?.status.name;
}

/** True if there is or was a workflow. */
export async function exists(workflow: WorkflowHandle): Promise<boolean> {
  return (await describe(workflow)) !== undefined;
}

/**
 * The answer to an update, or that of `ended` if the workflow has ended. An update of an ended workflow is "not found", as is
 * one of a workflow that never existed.
 */
export async function orIfEnded<Answer>(
  workflow: WorkflowHandle,
  send: () => Promise<Answer>,
  ended: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError && (await exists(workflow))) return ended();
    throw error;
  }
}
