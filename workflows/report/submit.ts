import ms from 'ms';
import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
  TimeoutFailure,
} from '@temporalio/workflow';
import type { UploadAnswer } from '../../activities/report/upload.js';
import type { Attention } from '../../protocol/attention.js';
import type { FailureDetails } from '../../protocol/failure-details.js';
import { canonicalId, isAddressable, parsingJobId, submitReportId, type OfActor } from '../../protocol/ids.js';
import { settlingAfter } from '../../protocol/settling.js';
import type { ReportAttentionReason } from '../../protocol/report/messages.js';
import * as messages from '../../protocol/report/submission-messages.js';
import type { ResolvedReportPolicy } from '../../protocol/report/policy.js';
import { labReferenceKey, ofUser } from '../../protocol/search-attributes.js';
import type { ReportSnapshot } from '../../service/report/snapshot.js';
import { activities, upload as uploadOptions } from '../activity-options.js';
import { setAttention } from '../entity/attention.js';
import {
  answeringCancellation,
  cancelAttempts,
  openAttempts,
  validateCancellation,
  type Attempting,
} from '../entity/attempts.js';
import { actorOf, askedPause, isAccessRefused, refusalOf, refuse, requireReference } from '../entity/commands.js';
import { continueInNewRun, isNewRunSuggested } from '../entity/loop.js';
import { byActor, setAbsentSearchAttributes } from '../entity/operators.js';
import { openPolicy, settlePolicy, type Governed } from '../entity/policy.js';
import { doubled, hour, minute, second, iso } from '../entity/spans.js';
import { carriedOn, firstVersion } from '../entity/versions.js';
import { omitNullish } from '../../protocol/json.js';

/** The state of a submission beside its input; it goes through continue-as-new. */
interface Submission extends Governed<ResolvedReportPolicy> {
  input: messages.SubmitReportInput;
  lostUploads: messages.LostUpload[];
  /** Uploads that failed so far. */
  failures: number;
  /** When it began; milliseconds since the epoch. */
  since: number;
  /** Earlier runs of the reference must still be read. */
  looksBack: boolean;
  /** Not carried into the next run: search attributes survive continue-as-new. */
  attention: readonly Attention<ReportAttentionReason>[];
}

interface SubmittedJob {
  snapshot: ReportSnapshot;
  adopted: boolean;
}

/** A run of the submission, which a command can end. */
interface SubmissionRun extends Attempting<messages.SubmissionEnd> {
  submission: Submission;
}

/**
 * Uploads the report of a reference and hands its job over to the workflow that follows it. However often it is started
 * and whatever fails on the way, one job is followed for the reference. It fails when the file has not been taken by
 * `submissionDeadline`, and when it is cancelled before.
 */
export async function submitReport(input: messages.SubmitReportInput): Promise<messages.SubmitReportResult> {
  const submission = begin(input);
  const run: SubmissionRun = { submission, ...openAttempts() };
  listen(run);
  const { reference, userId } = submission.input;
  // A backend that sets no search attributes at the start: a deletion finds a user's work by them.
  setAbsentSearchAttributes([{ key: labReferenceKey, value: reference }, ...ofUser(userId)]);
  return answeringCancellation(
    run,
    () => uploadAndHandOver(run).catch((error: unknown) => failWith(run, error)),
    (failure) => endOf(submission, failure),
  );
}

async function uploadAndHandOver(run: SubmissionRun): Promise<messages.SubmitReportResult> {
  const { submission, attempts } = run;
  setCurrentDetails('Uploads the report to the lab service.');
  const { snapshot, adopted } = await attempts.run(() => upload(submission));
  const { jobId } = snapshot;
  const { reference, userId } = submission.input;
  const submitted = { reference, userId, policy: submission.policy, snapshot, adopted };
  const summary = `hand over ${jobId}`;
  await CancellationScope.nonCancellable(() => activities.handOverReport.executeWithOptions({ summary }, [submitted]));
  setCurrentDetails(`Uploaded as job \`${jobId}\`. Workflow \`${parsingJobId(jobId)}\` follows it from here.`);
  run.end = { outcome: 'uploaded', jobId };
  return { version: messages.submissionResultVersion, jobId, adopted, lostUploads: submission.lostUploads };
}

function listen(run: SubmissionRun): void {
  const cancel = async (given: OfActor): Promise<messages.SubmissionEnd> => {
    if (!run.wasCancelled) setCurrentDetails(`The submission was cancelled${byActor(actorOf(given).by)}.`);
    return cancelAttempts(run);
  };
  setHandler(messages.cancelUpdate, cancel, {
    description: 'Ends the submission before there is a job. If there is one already, answers with its id.',
    validator: (given: OfActor) => validateCancellation(run, given),
  });
}

/** @throws the failure of the run, or its continue-as-new */
function failWith({ submission, wasCancelled }: SubmissionRun, error: unknown): never {
  if (wasCancelled && isCancellation(error)) {
    const message = 'The submission was cancelled before there was a job';
    throw withLost(refuse('ReportSubmissionCancelled', message), submission);
  }
  throw error instanceof ApplicationFailure ? withLost(error, submission) : error;
}

/** The answer to a cancellation when the run fails. If it fails with anything but the cancellation, it had failed before that. */
function endOf({ input, lostUploads }: Submission, failure: unknown): messages.SubmissionEnd | ApplicationFailure {
  if (failure instanceof ApplicationFailure && failure.type !== 'ReportSubmissionCancelled') {
    return refuse('ReportEnded', `The submission has failed: ${failure.type ?? ''}`);
  }
  return { outcome: 'cancelled', reference: input.reference, lostUploads };
}

/** The next run of the reference has to know what this one may have made. */
function withLost({ message, type, details }: ApplicationFailure, { lostUploads }: Submission): ApplicationFailure {
  const [first, ...rest] = details ?? [];
  const known = lostUploads.length > 0 ? [{ ...(first as FailureDetails | undefined), lostUploads }, ...rest] : details;
  return ApplicationFailure.nonRetryable(message, type, ...(known ?? []));
}

/** The state that a submission hands to its next run. */
interface CarriedSubmission {
  version: number;
  lostUploads: messages.LostUpload[];
  failures: number;
  since: number;
  looksBack: boolean;
}

/** No compiler checks the input of a backend in another language. */
function begin(input: Partial<messages.SubmitReportInput> | undefined): Submission {
  const { reference, userId, file, needsHumanReview, policy, carried } = input ?? {};
  requireReference(reference, submitReportId);
  if (!isAddressable(userId)) throw refuse('InvalidCommand', 'userId must be a user id');
  if (!isSource(file)) throw refuse('InvalidCommand', 'file must have either a path or a url');
  if (needsHumanReview != null && typeof needsHumanReview !== 'boolean') {
    throw refuse('InvalidCommand', 'needsHumanReview must be true or false');
  }
  const checked = omitNullish({ reference, userId: canonicalId(userId), file, needsHumanReview });
  const { lostUploads, failures, since, looksBack } =
    carried == null
      ? { lostUploads: [], failures: 0, since: Date.now(), looksBack: true }
      : carriedOn<CarriedSubmission>('state of the submission', carried);
  const opened = { ...openPolicy('report', policy), attention: [] };
  return { input: checked, ...opened, lostUploads, failures, since, looksBack };
}

function isSource(file: unknown): file is messages.SubmitReportInput['file'] {
  if (typeof file !== 'object' || file === null) return false;
  const { path, url, headersFrom } = file as Record<string, unknown>;
  if (headersFrom !== undefined && typeof headersFrom !== 'string') return false;
  return typeof path === 'string' ? url === undefined && headersFrom === undefined : typeof url === 'string';
}

/** Uploads until there is a job. Each failure decides how the next attempt begins. */
async function upload(submission: Submission): Promise<SubmittedJob> {
  await settlePolicy(submission, 'report');
  for (;;) {
    const from = iso(Date.now());
    const late = submission.lostUploads.length > 0 ? await findLostJob(submission, submission.lostUploads) : undefined;
    if (late) return recordJob(submission, late);
    const answer = await attempt(submission);
    if ('snapshot' in answer) return recordJob(submission, { snapshot: answer.snapshot, adopted: false });
    if ('lostBefore' in answer) {
      const found = await awaitLostJob(submission, answer.lostBefore, 'an earlier run ended');
      if (found) return recordJob(submission, found);
      submission.looksBack = false;
      continue;
    }
    const { failure } = answer;
    submission.failures += 1;
    const outcome = messages.uploadOutcomeOf(failure);
    if (outcome !== 'nothing_created') {
      const lost = { from, until: iso(Date.now()) };
      const found = await awaitLostJob(submission, [lost], failure?.type ?? 'WorkerLost');
      if (found) return recordJob(submission, found);
    }
    if (outcome === 'created_unreadably' && failure) throw failure;
    await pause(submission, failure);
    await continueIfLong(submission);
  }
}

/** The failure is undefined if the attempt's worker was lost. */
type Attempted = UploadAnswer | { failure: ApplicationFailure | undefined };

async function attempt(submission: Submission): Promise<Attempted> {
  const { input, policy, looksBack } = submission;
  const { reference, userId, file, needsHumanReview = false } = input;
  const { creationTimeout, uploadTimeout } = policy;
  const request = { reference, userId, file, needsHumanReview, creationTimeout, uploadTimeout, looksBack };
  try {
    return await activities.uploadReport.executeWithOptions(
      { ...uploadOptions(policy, startsWithin(submission)), summary: `upload ${reference}` },
      [request],
    );
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** How long an upload waits for a worker: until a person is asked to look, then for an hour at a time, and hardly beyond the deadline. */
function startsWithin(submission: Submission): number {
  const now = Date.now();
  const delayedAt = submission.since + delayWorthAttention;
  const until = now < delayedAt ? delayedAt : now + delayWorthAttention;
  // Less than a minute would give up on workers that are only busy.
  return Math.max(Math.min(until, endsAt(submission)) - now, minute);
}

/** Takes the job over, and withdraws the attention. A job without a usable id cannot be followed, and another attempt would get the same. */
function recordJob(submission: Submission, submitted: SubmittedJob): SubmittedJob {
  if (!isAddressable(submitted.snapshot.jobId)) {
    throw refuse('AnswerUnreadable', 'The service gave the job an id that cannot be part of a workflow ID');
  }
  setAttention(submission);
  return submitted;
}

/**
 * A failure that would come again fails the submission: a refusal, or a file that must not be sent. A key that is
 * refused can be changed. Undefined if the attempt's worker was lost.
 */
function failureOf(error: unknown): ApplicationFailure | undefined {
  if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
  const { cause } = error;
  if (cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START')
    return ApplicationFailure.retryable('No worker has started the upload in time', 'UploadNotStarted');
  if (!(cause instanceof ApplicationFailure)) return undefined;
  if (cause.nonRetryable && !isAccessRefused(cause)) throw refusalOf(error);
  return cause;
}

/**
 * The service may have made a job whose id never arrived. Its webhook starts a workflow that nobody claims: that one is
 * waited for, first as long as the service may still be at work, then at widening distance until `lostAnswerWait`. What
 * an earlier run lost long ago has appeared by now, or is not waited for.
 */
async function awaitLostJob(
  submission: Submission,
  lost: messages.LostUpload[],
  why: string,
): Promise<SubmittedJob | undefined> {
  const { creationTimeout, lostAnswerWait } = submission.policy;
  const before = submission.lostUploads;
  setCurrentDetails(`The answer to the upload was lost (${why}). Waits for the job that the upload may have created.`);
  let span = settlingAfter(creationTimeout);
  const since = Math.max(...lost.map(({ until }) => Date.parse(until)));
  const giveUpAt = Math.min(since + Math.max(lostAnswerWait, span), Math.max(endsAt(submission), since));
  // Known before it is waited for: a run that is cancelled meanwhile says so.
  submission.lostUploads = [...before, ...lost];
  for (let next = since + span; ; next = Date.now() + span) {
    const left = Math.min(next, giveUpAt) - Date.now();
    if (left > 0) await sleep(left, { summary: 'for the job of the lost answer' });
    const waited = Math.min(Date.now(), giveUpAt) - since;
    const waitedFor = lost.map(({ from, until }) => ({ from, until: iso(Date.parse(until) + waited) }));
    submission.lostUploads = [...before, ...waitedFor];
    const found = await findLostJob(submission, submission.lostUploads);
    if (found) return found;
    if (Date.now() >= giveUpAt) return undefined;
    span *= 2;
  }
}

/** Takes over the one job that an upload with a lost answer may have made, if there is one. */
async function findLostJob(
  submission: Submission,
  lostUploads: messages.LostUpload[],
): Promise<SubmittedJob | undefined> {
  const { reference, userId, needsHumanReview = false } = submission.input;
  const asked = { reference, userId, needsHumanReview, lostUploads };
  const answer = await activities.findUnclaimedJob.executeWithOptions({ summary: 'look for the lost job' }, [asked]);
  if (!answer.found) return undefined;
  submission.lostUploads = answer.remaining;
  return { snapshot: answer.found, adopted: true };
}

const firstPause = 2 * second;
const longestUploadPause = 10 * minute;
/** How long the service may fail to take the file before a person is asked to look. Uploading goes on all the same. */
const delayWorthAttention = hour;

/** When it ends at the latest, unless an upload is under way then; milliseconds since the epoch. */
function endsAt({ since, policy }: Submission): number {
  return since + policy.submissionDeadline;
}

/** Doubled each time, and at least as long as the service asks for. The deadline ends it. */
async function pause(submission: Submission, failure: ApplicationFailure | undefined): Promise<void> {
  const { failures, since, policy } = submission;
  const span = Math.max(doubled(firstPause, failures - 1, longestUploadPause), askedPause(failure));
  const isRefused = failure !== undefined && isAccessRefused(failure);
  if (isRefused || Date.now() + span - since >= delayWorthAttention) setAttention(submission, 'upload_delayed');
  const type = failure?.type ?? 'WorkerLost';
  setCurrentDetails(`The report is not uploaded yet (${type}). The upload is retried.`);
  const left = endsAt(submission) - Date.now();
  if (left > 0) await sleep(Math.min(span, left), { summary: 'before the next upload' });
  if (Date.now() < endsAt(submission)) return;
  const limit = ms(policy.submissionDeadline, { long: true });
  const message = `The report was not uploaded within ${limit} (submissionDeadline); the last attempt ended with ${type}`;
  throw refuse('ReportSubmissionExpired', message);
}

async function continueIfLong({ input, policy, lostUploads, failures, since, looksBack }: Submission): Promise<void> {
  // A cancellation is answered by the run that accepted it.
  if (!isNewRunSuggested() || CancellationScope.current().consideredCancelled) return;
  const carried: CarriedSubmission = { version: firstVersion, lostUploads, failures, since, looksBack };
  await continueInNewRun({ ...input, policy, carried } satisfies messages.SubmitReportInput);
}
