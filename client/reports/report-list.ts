import type { Client } from '@temporalio/client';
import { parsingJobId } from '../../protocol/ids.js';
import {
  parsingJobName,
  submitReportName,
  type ReportAttentionReason,
  type ReportPhase,
} from '../../protocol/report/messages.js';
import { labReferenceKey, type supersededPhase } from '../../protocol/search-attributes.js';
import {
  listWorkflows,
  summaryOf,
  type ListedArea,
  type WorkflowFilter,
  type WorkflowSummary,
} from '../workflow-list.js';
import { ReportInvalid } from './errors.js';

/** `superseded`: another job of the same file has taken its place. */
type Phase = ReportPhase | typeof supersededPhase;

export type ReportFilter = WorkflowFilter<Phase, ReportAttentionReason>;

/** One line of a list, read from search attributes. */
export interface ReportSummary extends WorkflowSummary<Phase, ReportAttentionReason> {
  /** Absent while the file is being uploaded; there is no phase then. */
  jobId?: string;
  reference?: string;
}

// A submission that has completed is its job, which has a workflow of its own.
const submissions = `(WorkflowType = '${submitReportName}' AND ExecutionStatus IN ('Running', 'Failed'))`;
const reports: ListedArea = {
  workflows: `(WorkflowType = '${parsingJobName}' OR ${submissions})`,
  repeated: submitReportName,
  invalid: ReportInvalid,
};

export async function* listReports(
  temporal: Client,
  filter: ReportFilter,
): AsyncGenerator<ReportSummary, void, undefined> {
  for await (const execution of listWorkflows(temporal, reports, filter)) {
    const { workflowId, type, typedSearchAttributes: attributes } = execution;
    const reference = attributes.get(labReferenceKey);
    yield {
      ...(type === parsingJobName && { jobId: workflowId.slice(parsingJobId('').length) }),
      ...(reference !== undefined && { reference }),
      ...summaryOf<Phase, ReportAttentionReason>(execution),
    };
  }
}
