import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { parsingJobId } from '../../protocol/ids.js';
import { parsingJobName, type ReportAttentionReason, type ReportPhase } from '../../protocol/report/messages.js';
import { submitReportName } from '../../protocol/report/submission-messages.js';
import type { supersededPhase } from '../../protocol/search-attributes.js';
import { listWorkflows, referenceOf, type WorkflowFilter, type WorkflowSummary } from '../workflow-list.js';
import { ReportInvalid } from './errors.js';

/** `superseded`: another job of the same file has taken its place. */
type Phase = ReportPhase | typeof supersededPhase;

export type ReportFilter = WorkflowFilter<Phase, ReportAttentionReason>;

/** One line of a list, read from search attributes. */
export interface ReportSummary extends WorkflowSummary<Phase, ReportAttentionReason> {
  /** Absent while the file is being uploaded, and so is the phase. */
  jobId?: string;
  reference?: string;
}

// A submission that has completed is its job, which has a workflow of its own.
const submissions = `(WorkflowType = '${submitReportName}' AND ExecutionStatus IN ('Running', 'Failed'))`;
const reports = {
  workflows: `(WorkflowType = '${parsingJobName}' OR ${submissions})`,
  repeated: submitReportName,
  invalid: ReportInvalid,
  own: (execution: WorkflowExecutionInfo) => ({
    ...(execution.type === parsingJobName && { jobId: execution.workflowId.slice(parsingJobId('').length) }),
    ...referenceOf(execution),
  }),
};

export function listReports(temporal: Client, filter: ReportFilter): AsyncGenerator<ReportSummary, void, undefined> {
  return listWorkflows(temporal, reports, filter);
}
