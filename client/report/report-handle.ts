import type { Client, WorkflowHandle } from '@temporalio/client';
import type { LabReportResult } from '../../service/report/reports.js';
import { withoutMemos, labReferenceKey } from '../../protocol/search-attributes.js';
import { isAddressable, parsingJobId, submitReportId, idIn } from '../../protocol/ids.js';
import {
  cancelUpdate as cancelReportUpdate,
  parsingJobName,
  type ParsingJobResult,
  type ReportState,
  stateQuery,
} from '../../protocol/report/messages.js';
import {
  cancelUpdate as cancelSubmissionUpdate,
  type SubmissionEnd,
  type SubmitReportResult,
} from '../../protocol/report/submission-messages.js';
import type { CallOptions, Deadline } from '../call-options.js';
import { toClientError } from '../errors.js';
import { requireService, type ServiceAccess } from '../service-calls.js';
import { watchState, type WatchOptions } from '../watching.js';
import type { OneCall } from '../one-call.js';
import { callKinds } from '../workflow-calls.js';
import { describe, goesOnOrCompleted } from '../workflow-runs.js';
import { ReportEnded, reportErrorMap, ReportNotFound, ReportNotRead, ReportSubmissionCancelled } from './errors.js';

export const reportCalls = callKinds(reportErrorMap, 'The report');

/** A submission that was cancelled before there was a job. */
export type CancelledSubmission = Extract<SubmissionEnd, { outcome: 'cancelled' }>;

/** An upload that is under way takes up to half a minute to be broken off. */
const cancelDeadline: Deadline = '60s';
const whileUploading =
  'The report is still being uploaded, which continues whatever fails; nothing else was sent. Ask again later, or give a longer deadline.';

/**
 * One lab report, from its upload until it was read. Everything but `cancel` waits for the upload first, if that is
 * still under way: as long as its deadline, 30 seconds by default. Every method also rejects with the errors
 * of {@link CallOptions}.
 */
export class ReportHandle {
  readonly reference: string | undefined;
  readonly #access: ServiceAccess;
  private knownJobId: string | undefined;

  constructor(access: ServiceAccess, known: { reference?: string; jobId?: string }) {
    this.#access = access;
    this.reference = known.reference;
    this.knownJobId = known.jobId;
  }

  /**
   * The service's id of the parsing job. Waits until the file is uploaded: 30 seconds, or the `deadline`. An outage can
   * last longer, and the upload continues.
   *
   * @throws ReportFileRefused, ReportRefused, SignedUrlRefused, ReportReferenceConflict and others: why it could not be
   * uploaded
   */
  async jobId(options: CallOptions = {}): Promise<string> {
    return this.#access.calls.call(reportCalls.reading, options, (call) => this.submitted(call));
  }

  /** The report's current state. Wakes the workflow and is billed as an action. Deadline: 30 seconds. */
  async state(options: CallOptions = {}): Promise<ReportState> {
    return this.#access.calls.call(reportCalls.reading, options, async (call) =>
      call.state(await this.workflow(call), stateQuery),
    );
  }

  /** Every state that differs from the one before, the present one first, until the report has ended. */
  watch(options: WatchOptions = {}): AsyncGenerator<ReportState, void, undefined> {
    return watchState(this, options, ({ jobId }) => parsingJobId(jobId));
  }

  /**
   * Waits for the end, which is minutes away, or days with a review: 30 seconds, or the `deadline`, which may be
   * `'none'`. A report that could not be read is an outcome, not an error: `failure` has a sentence for the person who
   * uploaded it. For biomarkers see `biomarkers`.
   *
   * @throws ReportFileRefused and others if it could not be uploaded, ReportInterrupted if an operator ended a workflow
   */
  async result(options: CallOptions = {}): Promise<ParsingJobResult> {
    return this.#access.calls.call(reportCalls.waiting, options, async (call) =>
      call.result<ParsingJobResult>(await this.workflow(call), reportCalls.waiting.underWay),
    );
  }

  /**
   * The report's values with ranges, LOINC matches and their confidence, straight from the service; they are never in
   * Temporal. Deadline: 30 seconds.
   *
   * @throws ReportNotRead while there are none, ServiceNotConfigured, and the service's own errors
   */
  async biomarkers(options: CallOptions = {}): Promise<LabReportResult[]> {
    const service = requireService(this.#access);
    return this.#access.calls.call(reportCalls.reading, options, async (call) => {
      const jobId = await this.submitted(call);
      const { status, data } = await call.service((abort) => service.reports.getJob(jobId, abort));
      if (data == null) throw new ReportNotRead(jobId, status ?? undefined);
      return data.results;
    });
  }

  /**
   * Stops the report at any stage. Before there is a job, nothing more is uploaded, and the answer is a
   * `CancelledSubmission`; a running upload is cancelled, which takes up to half a minute. A job is no longer followed
   * and ends `abandoned`, with the state as answer: the service cannot cancel a job and parses it nevertheless.
   * Repeating it is a success. Deadline: 60 seconds.
   *
   * @throws ReportEnded, and the submission's failure if it had failed before
   */
  async cancel(options: CallOptions = {}): Promise<ReportState | CancelledSubmission> {
    return this.#access.calls.call(
      { ...reportCalls.command, defaultDeadline: cancelDeadline },
      options,
      async (call) => {
        if (this.knownJobId === undefined) {
          const end = await this.cancelSubmission(call);
          if (end.outcome === 'cancelled') return end;
          this.knownJobId = end.jobId;
        }
        const workflow = await this.workflow(call);
        return call.update(workflow, cancelReportUpdate, {}, async () => {
          const state = await call.state(workflow, stateQuery);
          if (state.outcome === 'abandoned') return state;
          throw new ReportEnded('The report has ended; there is nothing to stop');
        });
      },
    );
  }

  private async cancelSubmission(call: OneCall): Promise<SubmissionEnd> {
    return call.update(this.submission(), cancelSubmissionUpdate, {}, () => this.endedSubmission(call));
  }

  /** The outcome of an ended submission. */
  private async endedSubmission(call: OneCall): Promise<SubmissionEnd> {
    try {
      return { outcome: 'uploaded', jobId: await this.submitted(call) };
    } catch (error) {
      const cancelled = toClientError(error, reportErrorMap);
      if (!(cancelled instanceof ReportSubmissionCancelled)) throw error;
      return { outcome: 'cancelled', reference: this.reference ?? '', lostUploads: [...cancelled.lostUploads] };
    }
  }

  private submission(): WorkflowHandle {
    return this.#access.calls.client.workflow.getHandle(submitReportId(this.reference ?? ''));
  }

  private async submitted(call: OneCall): Promise<string> {
    if (this.knownJobId !== undefined) return this.knownJobId;
    const { jobId } = await call.result<SubmitReportResult>(this.submission(), whileUploading);
    this.knownJobId = jobId;
    return jobId;
  }

  /** The workflow that follows the job; from here on the call waits for that one. */
  private async workflow(call: OneCall): Promise<WorkflowHandle> {
    return call.waitFor(this.#access.calls.client.workflow.getHandle(parsingJobId(await this.submitted(call))));
  }
}

/** @throws ReportNotFound when no workflow has followed the job */
export async function requireJob({ calls }: ServiceAccess, jobId: string): Promise<void> {
  if (!isAddressable(jobId)) throw new ReportNotFound('This is not a valid job id');
  if (await describe(calls.client.workflow.getHandle(parsingJobId(jobId)))) return;
  throw new ReportNotFound(`No workflow follows parsing job ${jobId}`);
}

/**
 * The workflow of a reference: its own, or, if that is past retention or was interrupted, the job's, which is named then.
 *
 * @throws ReportNotFound if the reference was not submitted
 */
export async function findSubmission({ calls }: ServiceAccess, reference: string): Promise<{ jobId?: string }> {
  const submission = await describe(calls.client.workflow.getHandle(submitReportId(reference)));
  if (goesOnOrCompleted(submission)) return {};
  const jobId = await jobByReference(calls.client, reference);
  if (jobId !== undefined) return { jobId };
  if (submission) return {};
  throw new ReportNotFound(`No report was submitted with the reference ${reference}`);
}

/** A reference contains only what its pattern allows, so never a quote. */
async function jobByReference(temporal: Client, reference: string): Promise<string | undefined> {
  const query = `WorkflowType = '${parsingJobName}' AND ${labReferenceKey.name} = '${reference}'`;
  for await (const { workflowId } of withoutMemos(temporal.workflow).list({ query }))
    return idIn(workflowId, parsingJobId);
  return undefined;
}
