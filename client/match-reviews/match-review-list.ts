import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { matchReviewId } from '../../protocol/ids.js';
import {
  matchReviewName,
  type MatchReviewAttentionReason,
  type MatchReviewPhase,
} from '../../protocol/match-review/messages.js';
import { listWorkflows, type WorkflowFilter, type WorkflowSummary } from '../workflow-list.js';
import { MatchReviewInvalid } from './errors.js';

export type MatchReviewFilter = WorkflowFilter<MatchReviewPhase, MatchReviewAttentionReason>;

/** One line of a list, read from search attributes. */
export interface MatchReviewSummary extends WorkflowSummary<MatchReviewPhase, MatchReviewAttentionReason> {
  rawResultId: string;
}

const reviews = {
  workflows: `WorkflowType = '${matchReviewName}'`,
  invalid: MatchReviewInvalid,
  own: ({ workflowId }: WorkflowExecutionInfo) => ({ rawResultId: workflowId.slice(matchReviewId('').length) }),
};

export function listMatchReviews(
  temporal: Client,
  filter: MatchReviewFilter,
): AsyncGenerator<MatchReviewSummary, void, undefined> {
  return listWorkflows(temporal, reviews, filter);
}
