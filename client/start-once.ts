import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { TypedSearchAttributes, type SearchAttributePair } from '@temporalio/common';
import type { TemporalCalls } from './workflow-calls.js';

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
}

/**
 * Starts a workflow unless one with its ID runs or has completed: the same input starts nothing twice, and another input under
 * the same ID is refused. A run that failed is followed by another.
 */
export async function startOnce(
  { client, taskQueue }: Pick<TemporalCalls, 'client' | 'taskQueue'>,
  workflowType: string,
  { workflowId, input, inputDigest, searchAttributes, staticSummary, staticDetails, conflict }: StartOnce,
): Promise<void> {
  try {
    await client.workflow.start(workflowType, {
      workflowId,
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
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
