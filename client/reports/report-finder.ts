import type { Client } from '@temporalio/client';
import type { LabService } from '../../service/lab-service.js';
import { isAddressable, parsingJobId, submitReportId } from '../../protocol/ids.js';
import { parsingJobName } from '../../protocol/report/messages.js';
import { labReferenceKey } from '../../protocol/search-attributes.js';
import type { TemporalCalls } from '../workflow-calls.js';
import { describe } from '../workflow-status.js';
import { ReportNotFound } from './errors.js';

/** The key of a search for a report. */
export interface ReportFinder {
  calls: TemporalCalls;
  service?: LabService;
}

/** @throws ReportNotFound when no workflow has followed the job */
export async function requireJob({ calls }: ReportFinder, jobId: string): Promise<void> {
  if (!isAddressable(jobId)) throw new ReportNotFound('This is not a valid job id');
  if (await describe(calls.client.workflow.getHandle(parsingJobId(jobId)))) return;
  throw new ReportNotFound(`No workflow follows parsing job ${jobId}`);
}

/**
 * The workflow of a reference: its own, or, if that is past retention or was interrupted, the job's, which is named then.
 *
 * @throws ReportNotFound if the reference was not submitted
 */
export async function findSubmission({ calls }: ReportFinder, reference: string): Promise<{ jobId?: string }> {
  const submission = await describe(calls.client.workflow.getHandle(submitReportId(reference)));
  if (submission && ['RUNNING', 'COMPLETED'].includes(submission.status.name)) return {};
  const jobId = await jobByReference(calls.client, reference);
  if (jobId !== undefined) return { jobId };
  if (submission) return {};
  throw new ReportNotFound(`No report was submitted with the reference ${reference}`);
}

/** A reference contains only what its pattern allows, so never a quote. */
async function jobByReference(temporal: Client, reference: string): Promise<string | undefined> {
  const query = `WorkflowType = '${parsingJobName}' AND ${labReferenceKey.name} = '${reference}'`;
  for await (const { workflowId } of temporal.workflow.list({ query }))
    return workflowId.slice(parsingJobId('').length);
  return undefined;
}
