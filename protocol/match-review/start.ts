import { TypedSearchAttributes } from '@temporalio/common';
import { matchReviewId } from '../ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import { labPhaseKey, ofUser } from '../search-attributes.js';
import { openPhaseOf, outcomeOf } from './lifecycle.js';
import { matchReviewName, type MatchReviewInput, type MatchReviewReported } from './messages.js';
import type { ResolvedMatchReviewPolicy } from './policy.js';
import type { WorkflowStart } from '../signal-or-start.js';
import { resolvePolicy } from '../policy/policies.js';

/**
 * The start options for the workflow of an unmatched result, to be used with signal-with-start.
 *
 * @param policy by default today's defaults, which become data of the history
 */
export function matchReviewStart(
  report: MatchReviewReported,
  policy: ResolvedMatchReviewPolicy = resolvePolicy('match review'),
): WorkflowStart<MatchReviewInput> {
  const { status, userId } = report;
  const rawResultId = canonicalId(report.rawResultId);
  return {
    name: matchReviewName,
    workflowId: matchReviewId(rawResultId),
    args: [{ rawResultId, policy }],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: labPhaseKey, value: outcomeOf(report) ?? openPhaseOf(status) },
      ...ofUser(userId),
    ]),
    staticSummary: `Review of unmatched result ${rawResultId}`,
    staticDetails: 'Follows a result that the service could not match with an order, until somebody has decided.',
  };
}
