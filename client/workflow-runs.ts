import {
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import { TypedSearchAttributes, type SearchAttributePair } from '@temporalio/common';
import type { OfActor } from '../protocol/ids.js';

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

/** True unless the run was interrupted: somebody ended it, or it failed. One that is past its retention is not known. */
export function goesOnOrCompleted(run: WorkflowExecutionDescription | undefined): boolean {
  return run !== undefined && ['RUNNING', 'COMPLETED'].includes(run.status.name);
}

/** The status of the latest run; undefined if there is none. */
export async function statusOf(workflow: WorkflowHandle) {
  return (await describe(workflow))?.status.name;
}

/** True if there is or was a workflow. */
export async function exists(workflow: WorkflowHandle): Promise<boolean> {
  return (await describe(workflow)) !== undefined;
}

interface StartOnce {
  workflowId: string;
  input: object;
  /** Identifies the input without keeping its details readable. */
  inputDigest: string;
  searchAttributes: SearchAttributePair[];
  staticSummary: string;
  staticDetails: string;
  /** The error for an ID that another input has already used. */
  conflict: () => Error;
  /** True: the same input is carried out again, although it has completed. */
  again?: boolean;
}

/**
 * Starts a workflow unless one with its ID runs or has completed: the same input starts nothing twice, and another input under
 * the same ID is refused. A run that failed is followed by another.
 */
export async function startOnce(
  { client, taskQueue, actor }: { client: Client; taskQueue: string; actor: OfActor },
  workflowType: string,
  { workflowId, input, inputDigest, searchAttributes, staticSummary, staticDetails, conflict, again }: StartOnce,
): Promise<void> {
  try {
    await client.workflow.start(workflowType, {
      workflowId,
      taskQueue,
      args: [{ ...actor, ...input }],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: again === true ? 'ALLOW_DUPLICATE' : 'ALLOW_DUPLICATE_FAILED_ONLY',
      memo: { inputDigest },
      typedSearchAttributes: new TypedSearchAttributes(searchAttributes),
      staticSummary,
      staticDetails,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  const { memo } = await client.workflow.getHandle(workflowId).describe();
  if (memo?.['inputDigest'] !== inputDigest) throw conflict();
}
