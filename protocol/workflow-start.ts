import type { TypedSearchAttributes } from '@temporalio/common';

/** The start of a workflow, the same for everybody who may start it: products, webhooks, other workflows and the reconciliation. */
export interface WorkflowStart<Input> {
  name: string;
  workflowId: string;
  args: [Input];
  typedSearchAttributes: TypedSearchAttributes;
  staticSummary: string;
  staticDetails: string;
}
