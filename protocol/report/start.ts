import { TypedSearchAttributes } from '@temporalio/common';
import type { ReportSnapshot } from '../../service/report/snapshot.js';
import { labPhaseKey, labReferenceKey, ofUser } from '../search-attributes.js';
import { parsingJobId } from '../ids.js';
import { phaseOf } from './lifecycle.js';
import { parsingJobName, type ParsingJobInput } from './messages.js';
import type { ResolvedReportPolicy } from './policy.js';
import type { WorkflowStart } from '../signal-or-start.js';
import { resolvePolicy } from '../policy/policies.js';

/**
 * The start options for the workflow that follows a parsing job, to be used with signal-with-start.
 *
 * @param policy by default today's defaults, which become data of the history
 */
export function parsingJobStart(
  { jobId, status, userId }: ReportSnapshot,
  reference?: string,
  policy: ResolvedReportPolicy = resolvePolicy('report'),
): WorkflowStart<ParsingJobInput> {
  return {
    name: parsingJobName,
    workflowId: parsingJobId(jobId),
    args: [{ jobId, policy }],
    typedSearchAttributes: new TypedSearchAttributes([
      { key: labPhaseKey, value: phaseOf(status) },
      ...(reference === undefined ? [] : [{ key: labReferenceKey, value: reference }]),
      ...ofUser(userId),
    ]),
    staticSummary: `Lab report ${reference ?? jobId}`,
    staticDetails: 'Follows one lab report from its upload until its biomarkers were read.',
  };
}
