import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { linkProviderName, type LinkAttentionReason, type LinkPhase } from '../../protocol/link/messages.js';
import { listWorkflows, type WorkflowFilter, type WorkflowSummary } from '../workflow-list.js';
import { LinkInvalid } from './errors.js';

export type LinkFilter = WorkflowFilter<LinkPhase, LinkAttentionReason>;

/** One line of a list, read from search attributes. */
export interface LinkSummary extends WorkflowSummary<LinkPhase, LinkAttentionReason> {
  /** The provider, in the spelling of its source in webhooks. */
  provider: string;
}

const links = {
  workflows: `WorkflowType = '${linkProviderName}'`,
  invalid: LinkInvalid,
  own: ({ workflowId }: WorkflowExecutionInfo) => ({ provider: workflowId.slice(workflowId.lastIndexOf('/') + 1) }),
};

export function listLinks(temporal: Client, filter: LinkFilter): AsyncGenerator<LinkSummary, void, undefined> {
  return listWorkflows(temporal, links, filter);
}
