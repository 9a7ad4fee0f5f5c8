import type { WorkflowExecutionInfo } from '@temporalio/client';
import { createHash } from 'node:crypto';
import type { ParsingJob } from '../../service/report/reports.js';
import { canonicalJson } from '../../protocol/json.js';
import { isText } from '../../service/json-object.js';
import { parsingJobId, submitReportId, idIn } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import {
  type ReportSource,
  type SubmitReportInput,
  submitReportName,
} from '../../protocol/report/submission-messages.js';
import { isSignedUrl } from '../../protocol/report/signed-url.js';
import { labReferenceKey, labUserIdKey, type supersededPhase } from '../../protocol/search-attributes.js';
import type { CallOptions } from '../call-options.js';
import { hasKeys } from '../payload-limit.js';
import type { RefusedField } from '../../service/lab-operations-error.js';
import { policyFaults, referenceFaults, refuseFaulty, serviceIdFaults, unknownFaults } from '../input-faults.js';
import { askService, type ServiceAccess } from '../service-calls.js';
import { startOnce } from '../workflow-runs.js';
import { ReportInvalid, ReportReferenceConflict, SignedUrlRefused } from './errors.js';
import { findSubmission, reportCalls, ReportHandle, requireJob } from './report-handle.js';
import { parsingJobName, type ReportAttentionReason, type ReportPhase } from '../../protocol/report/messages.js';
import {
  listWorkflows,
  referenceOf,
  type ListOptions,
  type WorkflowFilter,
  type WorkflowSummary,
} from '../workflow-list.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

/** The product's input to `submit`. */
export type ReportSubmission = Omit<SubmitReportInput, 'carried' | 'by'>;

/**
 * Lab reports: files from which the service reads biomarkers. Every method also rejects with the errors of
 * {@link CallOptions}.
 */
export class ReportOperations {
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#access = access;
  }

  /**
   * Submits one report for a reference and returns as soon as that is started: from then on it happens, whatever fails.
   * Only where the file lies goes to Temporal; the worker streams it to the service. The same reference with the same
   * input gives the report that is already there, also after it has ended. Deadline: 30 seconds.
   *
   * @throws ReportInvalid naming each field and its rule, SignedUrlRefused, before anything is started
   * @throws ReportReferenceConflict when the reference was used for another report
   */
  async submit(submission: ReportSubmission, options: CallOptions = {}): Promise<ReportHandle> {
    check(submission);
    this.requireUnsigned(submission);
    const { reference, file, needsHumanReview, policy } = submission;
    const userId = canonicalId(submission.userId);
    const input: SubmitReportInput = {
      reference,
      userId,
      file,
      ...(needsHumanReview !== undefined && { needsHumanReview }),
      policy: resolvePolicy('report', policy),
    };
    const inputDigest = submissionDigest({ ...submission, userId });
    return this.#access.calls.call(reportCalls.starting, options, () => this.startSubmitting(input, inputDigest));
  }

  /**
   * The report with a reference, or the one of a parsing job. Deadline: 30 seconds.
   * @throws ReportNotFound
   */
  async getHandle(which: { reference: string } | { jobId: string }, options: CallOptions = {}): Promise<ReportHandle> {
    const access = this.#access;
    const { jobId, reference = '' }: { jobId?: string; reference?: string } = { ...which };
    if (jobId !== undefined) {
      await access.calls.call(reportCalls.reading, options, () => requireJob(access, jobId));
      return new ReportHandle(access, { jobId });
    }
    refuseFaulty('The report', referenceFaults(reference), ReportInvalid);
    const found = await access.calls.call(reportCalls.reading, options, () => findSubmission(access, reference));
    return new ReportHandle(access, { reference, ...found });
  }

  /**
   * Reports by their search attributes, a page per call to Temporal; no workflow is woken. Lags by moments. Deadline: 30 seconds a
   * page. @throws ReportInvalid
   */
  list(filter: ReportFilter, options: ListOptions = {}): AsyncGenerator<ReportSummary, void, undefined> {
    return this.#access.calls.iterate(reportCalls.reading, options, () =>
      listWorkflows(this.#access.calls.client, reports, filter, options),
    );
  }

  /**
   * A parsing job as the service has it now, with its values if it is completed. Needs neither a worker nor a history. `NotFound`
   * if the service does not know it. Deadline: 30 seconds.
   *
   * @throws ServiceNotConfigured, and the service's own errors
   */
  async read(jobId: string, options: CallOptions = {}): Promise<ParsingJob> {
    return askService(this.#access, reportCalls.reading, options, ({ reports }, abort) => reports.getJob(jobId, abort));
  }

  private async startSubmitting(input: SubmitReportInput, inputDigest: string): Promise<ReportHandle> {
    const { reference, userId } = input;
    await startOnce(this.#access.calls, submitReportName, {
      workflowId: submitReportId(reference),
      input,
      inputDigest,
      searchAttributes: [
        { key: labReferenceKey, value: reference },
        { key: labUserIdKey, value: userId },
      ],
      staticSummary: `Submit lab report ${reference}`,
      staticDetails: 'Uploads the report of its reference and hands its job over to the workflow that follows it.',
      conflict: () => new ReportReferenceConflict(`The reference ${reference} was used for another report`),
    });
    return new ReportHandle(this.#access, { reference });
  }

  /** Refuses a signed URL unless this client encrypts its payloads: it must not reach Temporal unencrypted. */
  private requireUnsigned({ file }: ReportSubmission): void {
    if (!('url' in file) || !isSignedUrl(file.url)) return;
    if (hasKeys(this.#access.calls.client)) return;
    const message = 'is a credential by itself, and payloads are not encrypted: use headersFrom, or encryption keys';
    throw new SignedUrlRefused(`The file's url ${message}`, { fields: [{ field: 'file.url', message }] });
  }
}

function check({ reference, userId, file, needsHumanReview, policy, ...unknown }: ReportSubmission): void {
  const faults = [
    ...unknownFaults(unknown),
    ...referenceFaults(reference),
    ...fileFaults(file),
    ...policyFaults(() => resolvePolicy('report', policy)),
    ...serviceIdFaults('userId', userId, 'a user'),
  ];
  if (needsHumanReview !== undefined && typeof needsHumanReview !== 'boolean') {
    faults.push({ field: 'needsHumanReview', message: 'must be true or false' });
  }
  refuseFaulty('The report', faults, ReportInvalid);
}

function fileFaults(file: unknown): RefusedField[] {
  const { path, url, headersFrom } = (typeof file === 'object' && file !== null ? file : {}) as Record<string, unknown>;
  if ((path === undefined) === (url === undefined)) return [{ field: 'file', message: 'must have a path or a url' }];
  const faults: RefusedField[] = [];
  if (path !== undefined && !isText(path)) faults.push({ field: 'file.path', message: 'must be a non-empty string' });
  if (url !== undefined && !(isText(url) && /^https?:\/\//i.test(url) && URL.canParse(url))) {
    faults.push({ field: 'file.url', message: 'must be an http or https address' });
  }
  if (headersFrom !== undefined && (url === undefined || !isText(headersFrom))) {
    faults.push({ field: 'file.headersFrom', message: 'must name a set of headers, and goes with a url' });
  }
  return faults;
}

/** Identifies a report without keeping its details readable. The policy counts as it was given: defaults may change. */
function submissionDigest({ userId, file, needsHumanReview = false, policy }: SubmitReportInput): string {
  const isUsual = Object.values(policy ?? {}).every((setting) => setting === undefined);
  const identity = { userId, file: identityOf(file), needsHumanReview, ...(!isUsual && { policy }) };
  return createHash('sha256').update(canonicalJson(identity)).digest('hex');
}

/** A URL that is signed again for each submission names the same file by the part before its signature. */
function identityOf(file: ReportSource): ReportSource {
  return 'url' in file && isSignedUrl(file.url) ? { ...file, url: file.url.replace(/[?#].*$/s, '') } : file;
}

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
    ...(execution.type === parsingJobName && { jobId: idIn(execution.workflowId, parsingJobId) }),
    ...referenceOf(execution),
  }),
};
