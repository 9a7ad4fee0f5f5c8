import {
  ActivityFailure,
  ApplicationFailure,
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  sleep,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { UploadAnswer } from '../../activities/report-upload.js';
import type { ReportSnapshot } from '../../service/report-snapshot.js';
import type { FailureDetails } from '../failure-details.js';
import { isAddressable, referencePattern } from '../order/address.js';
import { settlingAfter } from '../order/policy.js';
import { PolicyInvalid } from '../policy-settings.js';
import { claiming, handingOver, uploading } from '../proxies.js';
import { labAttentionKey } from '../search-attributes.js';
import { canonicalUserId } from '../user-id.js';
import { parsingJobId, submitReportId } from './address.js';
import type { LostUpload, ReportAttentionReason, SubmitReportInput, SubmitReportResult } from './messages.js';
import { resolveReportPolicy, type ResolvedReportPolicy } from './policy.js';
import { uploadOutcomeOf } from './upload-outcome.js';

/** What a submission knows beside its input; it goes through continue-as-new. */
interface Submission {
  input: SubmitReportInput;
  policy: ResolvedReportPolicy;
  lostUploads: LostUpload[];
  /** Uploads that failed so far. */
  failures: number;
  /** When it began; milliseconds since the epoch. */
  since: number;
  /** Earlier runs of the reference are still to be asked about. */
  looksBack: boolean;
}

interface SubmittedJob {
  snapshot: ReportSnapshot;
  adopted: boolean;
}

/**
 * Uploads the report of a reference and hands its job over to the workflow that follows it. However often it is started
 * and whatever fails on the way, one job is followed for the reference.
 */
export async function submitReport(input: SubmitReportInput): Promise<SubmitReportResult> {
  const submission = begin(input);
  setCurrentDetails('Uploads the report to the lab service.');
  const { snapshot, adopted } = await upload(submission).catch((error: unknown) => {
    throw error instanceof ApplicationFailure ? withLost(error, submission) : error;
  });
  const { jobId } = snapshot;
  const { reference, userId } = submission.input;
  const submitted = { reference, userId, policy: submission.policy, snapshot, adopted };
  await handingOver.handOverReport.executeWithOptions({ summary: `hand over ${jobId}` }, [submitted]);
  setCurrentDetails(`Uploaded as job \`${jobId}\`. Workflow \`${parsingJobId(jobId)}\` follows it from here.`);
  return { jobId, adopted, lostUploads: submission.lostUploads };
}

/** The next run of the reference has to know what this one may have made. */
function withLost({ message, type, details }: ApplicationFailure, { lostUploads }: Submission): ApplicationFailure {
  const [first, ...rest] = details ?? [];
  const told = lostUploads.length > 0 ? [{ ...(first as FailureDetails | undefined), lostUploads }, ...rest] : details;
  return ApplicationFailure.nonRetryable(message, type, ...(told ?? []));
}

/** What another language's backend sends is not checked by any compiler. */
function begin(input: Partial<SubmitReportInput> | undefined): Submission {
  const { reference, userId, file, needsHumanReview, policy, carried } = input ?? {};
  if (typeof reference !== 'string' || !referencePattern.test(reference)) {
    throw refuse('ReferenceInvalid', `reference must match ${referencePattern}`);
  }
  if (workflowInfo().workflowId !== submitReportId(reference)) {
    throw refuse('ReferenceInvalid', 'the workflow ID must be submit-report/<reference>');
  }
  if (typeof userId !== 'string' || !isAddressable(userId)) throw refuse('InvalidCommand', 'userId must be a user id');
  if (!isSource(file)) throw refuse('InvalidCommand', 'file must have either a path or a url');
  if (needsHumanReview != null && typeof needsHumanReview !== 'boolean') {
    throw refuse('InvalidCommand', 'needsHumanReview must be true or false');
  }
  const checked = {
    reference,
    userId: canonicalUserId(userId),
    file,
    ...(needsHumanReview != null && { needsHumanReview }),
    ...(policy && { policy }),
  };
  const resolved = resolvedPolicy(policy);
  const known = (carried ?? {}) as Partial<Pick<Submission, 'lostUploads' | 'failures' | 'since' | 'looksBack'>>;
  const { lostUploads = [], failures = 0, since = Date.now(), looksBack = true } = known;
  return { input: checked, policy: resolved, lostUploads, failures, since, looksBack };
}

function resolvedPolicy(policy: SubmitReportInput['policy']): ResolvedReportPolicy {
  try {
    return resolveReportPolicy(policy);
  } catch (error) {
    throw error instanceof PolicyInvalid ? refuse('PolicyInvalid', error.message) : error;
  }
}

function isSource(file: unknown): file is SubmitReportInput['file'] {
  if (typeof file !== 'object' || file === null) return false;
  const { path, url, headersFrom } = file as Record<string, unknown>;
  if (headersFrom !== undefined && typeof headersFrom !== 'string') return false;
  return typeof path === 'string' ? url === undefined && headersFrom === undefined : typeof url === 'string';
}

/** Uploads until there is a job. Each failure decides how the next attempt begins. */
async function upload(submission: Submission): Promise<SubmittedJob> {
  for (;;) {
    const from = isoOf(Date.now());
    const late = submission.lostUploads.length > 0 ? await look(submission, submission.lostUploads) : undefined;
    if (late) return settle(late);
    const answer = await attempt(submission);
    if ('snapshot' in answer) return settle({ snapshot: answer.snapshot, adopted: false });
    if ('lostBefore' in answer) {
      const found = await awaitLostJob(submission, answer.lostBefore, 'an earlier run ended');
      if (found) return settle(found);
      submission.looksBack = false;
      continue;
    }
    const { failure } = answer;
    submission.failures += 1;
    const type = failure?.type ?? undefined;
    const outcome = uploadOutcomeOf(type);
    if (outcome !== 'nothing_created') {
      const lost = { from, until: isoOf(Date.now()) };
      const found = await awaitLostJob(submission, [lost], type ?? 'WorkerLost');
      if (found) return settle(found);
    }
    if (outcome === 'created_unreadably' && failure) throw failure;
    await pause(submission, failure);
    await continueIfLong(submission);
  }
}

/** The failure is undefined when the attempt's worker was not heard of any more. */
type Attempted = UploadAnswer | { failure: ApplicationFailure | undefined };

async function attempt({ input, policy, looksBack }: Submission): Promise<Attempted> {
  const { reference, userId, file, needsHumanReview = false } = input;
  const { uploadReport } = uploading(policy.creationTimeout, policy.uploadTimeout);
  const { creationTimeout, uploadTimeout } = policy;
  const wish = { reference, userId, file, needsHumanReview, creationTimeout, uploadTimeout, looksBack };
  try {
    return await uploadReport.executeWithOptions({ summary: `upload ${reference}` }, [wish]);
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** An answer that cannot be followed is as good as none, and would be the same next time. */
function settle(submitted: SubmittedJob): SubmittedJob {
  if (!isAddressable(submitted.snapshot.jobId)) {
    throw refuse('AnswerUnreadable', 'The service gave the job an id that cannot stand in a workflow ID');
  }
  askForAttention([]);
  return submitted;
}

/**
 * What will be the same next time fails the submission: a refusal, a file that is none of ours to send, a key that is
 * wrong. Undefined when the attempt's worker was not heard of any more.
 */
function failureOf(error: unknown): ApplicationFailure | undefined {
  if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (!(cause instanceof ApplicationFailure)) return undefined;
  if (cause.nonRetryable) throw ApplicationFailure.nonRetryable(cause.message, cause.type, ...(cause.details ?? []));
  return cause;
}

/**
 * The service may have made a job whose id never arrived. Its webhook starts a workflow that nobody claims: that one is
 * waited for, first as long as the service may still be at work, then at widening distance until `lostAnswerWait`. What
 * an earlier run lost long ago has appeared by now, or is not waited for.
 */
async function awaitLostJob(
  submission: Submission,
  lost: LostUpload[],
  why: string,
): Promise<SubmittedJob | undefined> {
  const { creationTimeout, lostAnswerWait } = submission.policy;
  setCurrentDetails(`The upload's answer was lost (${why}). Waits for the job that it may have made.`);
  let span = settlingAfter(creationTimeout);
  const since = Math.max(...lost.map(({ until }) => Date.parse(until)));
  const giveUpAt = since + Math.max(lostAnswerWait, span);
  for (let next = since + span; ; next = Date.now() + span) {
    const left = Math.min(next, giveUpAt) - Date.now();
    if (left > 0) await sleep(left, { summary: 'for the job of the lost answer' });
    const waited = Math.min(Date.now(), giveUpAt) - since;
    const losses = [
      ...submission.lostUploads,
      ...lost.map(({ from, until }) => ({ from, until: isoOf(Date.parse(until) + waited) })),
    ];
    const found = await look(submission, losses);
    if (found) return found;
    if (Date.now() >= giveUpAt) {
      submission.lostUploads = losses;
      return undefined;
    }
    span *= 2;
  }
}

/** Takes the one job over that can be the fruit of a lost answer, if there is one. */
async function look(submission: Submission, lostUploads: LostUpload[]): Promise<SubmittedJob | undefined> {
  const { reference, userId, needsHumanReview = false } = submission.input;
  const asked = { reference, userId, needsHumanReview, lostUploads };
  const answer = await claiming.findUnclaimedJob.executeWithOptions({ summary: 'look for the lost job' }, [asked]);
  if (!answer.found) return undefined;
  submission.lostUploads = answer.remaining;
  return { snapshot: answer.found, adopted: true };
}

function isoOf(time: number): string {
  return new Date(time).toISOString();
}

const firstPause = 2_000;
const longestPause = 10 * 60_000;
/** How long the file may not be taken before a person is asked to look. Uploading goes on all the same. */
const delayWorthAttention = 60 * 60_000;

/** Doubled each time, and not before the service wants to be asked again. */
async function pause(submission: Submission, failure: ApplicationFailure | undefined): Promise<void> {
  const { failures, since } = submission;
  const [details] = (failure?.details ?? []) as Partial<FailureDetails>[];
  const asked = details?.retryAfterMs ?? 0;
  const span = Math.max(Math.min(firstPause * 2 ** Math.min(failures - 1, 20), longestPause), asked);
  if (Date.now() + span - since >= delayWorthAttention) askForAttention(['upload_delayed']);
  setCurrentDetails(`The report was not uploaded: ${failure?.type ?? 'its worker was lost'}. It goes on trying.`);
  await sleep(span, { summary: 'before the next upload' });
}

async function continueIfLong({ input, lostUploads, failures, since, looksBack }: Submission): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await continueAsNew<typeof submitReport>({ ...input, carried: { lostUploads, failures, since, looksBack } });
}

function askForAttention(reasons: ReportAttentionReason[]): void {
  const present = workflowInfo().typedSearchAttributes.get(labAttentionKey) ?? [];
  if (present.join() !== reasons.join()) upsertSearchAttributes([{ key: labAttentionKey, value: reasons }]);
}

function refuse(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { fields: [] });
}
