import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import type { LabReportResult } from '../../service/reports.js';
import { parsingJobId, submitReportId } from '../../workflows/report/address.js';
import {
  cancelReportUpdate,
  reportStateQuery,
  type ParsingJobResult,
  type ReportState,
  type SubmitReportResult,
} from '../../workflows/report/messages.js';
import { inProductWords, ServiceNotConfigured } from '../errors.js';
import { watchState, type WatchOptions } from '../watching.js';
import { exists, inWords } from '../workflow-calls.js';
import { ReportEnded, ReportNotRead, reportWords } from './errors.js';
import type { ReportFinder } from './report-finder.js';

/** One lab report, from its upload until it was read. Everything waits for the upload first, if that is still under way. */
export class ReportHandle {
  readonly reference: string | undefined;
  private readonly finder: ReportFinder;
  private knownJobId: string | undefined;

  constructor(finder: ReportFinder, known: { reference?: string; jobId?: string }) {
    this.finder = finder;
    this.reference = known.reference;
    this.knownJobId = known.jobId;
  }

  /**
   * The service's id of the parsing job. Waits until the file is uploaded, however long an outage lasts.
   * @throws ReportFileRefused, ReportRefused, SignedUrlRefused, ReportReferenceConflict and others: why it could not be uploaded
   */
  async jobId(): Promise<string> {
    this.knownJobId ??= await this.submitted();
    return this.knownJobId;
  }

  /** Where the report stands now. Wakes the workflow and is billed as an action. */
  async state(): Promise<ReportState> {
    const workflow = await this.workflow();
    return inWords(reportWords, () => workflow.query(reportStateQuery));
  }

  /** Every state that differs from the one before, the present one first, until the report has ended. */
  watch(options: WatchOptions = {}): AsyncGenerator<ReportState, void, undefined> {
    return watchState(() => this.state(), options);
  }

  /**
   * Waits for the end: minutes, or days where a person reviews. A report that could not be read is an outcome, not an
   * error: `failure` has a sentence for whoever uploaded it. Biomarkers are not in it, see `biomarkers`.
   * @throws ReportFileRefused and others when it could not be uploaded, ReportInterrupted when an operator ended a workflow
   */
  async result(): Promise<ParsingJobResult> {
    const workflow = await this.workflow();
    return inWords(reportWords, () => workflow.result() as Promise<ParsingJobResult>);
  }

  /**
   * What was read from the report, with ranges, LOINC matches and their confidence, straight from the service; it is never
   * in Temporal.
   * @throws ReportNotRead while there is nothing, ServiceNotConfigured, and the service's own errors
   */
  async biomarkers(): Promise<LabReportResult[]> {
    const { service } = this.finder;
    if (!service)
      throw new ServiceNotConfigured('Biomarkers are read from the service: give `service` to LabOperations');
    const jobId = await this.jobId();
    const { status, data } = await service.reports.getJob(jobId);
    if (data == null) throw new ReportNotRead(`Parsing job ${jobId} has no biomarkers: it is ${status ?? 'unknown'}`);
    return data.results;
  }

  /**
   * Stops following the report, with the outcome `abandoned`. The service cannot cancel a job: it is read all the same.
   * @throws ReportEnded
   */
  async cancel(): Promise<ReportState> {
    const workflow = await this.workflow();
    try {
      return await workflow.executeUpdate(cancelReportUpdate);
    } catch (error) {
      // An update of a workflow that has ended is "not found", as one of a workflow that never was.
      if (error instanceof WorkflowNotFoundError && (await exists(workflow))) {
        throw new ReportEnded('The report has ended; there is nothing to stop');
      }
      throw inProductWords(error, reportWords);
    }
  }

  private async submitted(): Promise<string> {
    const submission = this.finder.temporal.workflow.getHandle(submitReportId(this.reference ?? ''));
    const { jobId } = await inWords(reportWords, () => submission.result() as Promise<SubmitReportResult>);
    return jobId;
  }

  private async workflow(): Promise<WorkflowHandle> {
    return this.finder.temporal.workflow.getHandle(parsingJobId(await this.jobId()));
  }
}
