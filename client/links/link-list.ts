import type { Client } from '@temporalio/client';
import { linkProviderName, type LinkAttentionReason, type LinkPhase } from '../../protocol/link/messages.js';
import {
  listWorkflows,
  summaryOf,
  type ListedArea,
  type WorkflowFilter,
  type WorkflowSummary,
} from '../workflow-list.js';
import { LinkInvalid } from './errors.js';

export type LinkFilter = WorkflowFilter<LinkPhase, LinkAttentionReason>;

/** One line of a list, read from search attributes. */
export interface LinkSummary extends WorkflowSummary<LinkPhase, LinkAttentionReason> {
  /** The provider, in the spelling of its source in webhooks. */
  provider: string;
}

const links: ListedArea = { workflows: `WorkflowType = '${linkProviderName}'`, invalid: LinkInvalid };

export async function* listLinks(temporal: Client, filter: LinkFilter): AsyncGenerator<LinkSummary, void, undefined> {
  for await (const execution of listWorkflows(temporal, links, filter)) {
    const provider = execution.workflowId.slice(execution.workflowId.lastIndexOf('/') + 1);
    yield { provider, ...summaryOf<LinkPhase, LinkAttentionReason>(execution) };
  }
}
