import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { inProductWords, type Words } from './errors.js';

/** Calls a workflow; what it fails with leaves in the product's words. */
export async function inWords<T>(words: Words, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw inProductWords(error, words);
  }
}

/** Whether there is or was a workflow. An update of one that has ended is "not found", as one of one that never was. */
export async function exists(workflow: WorkflowHandle): Promise<boolean> {
  try {
    await workflow.describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
