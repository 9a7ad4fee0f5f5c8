import { NotFound, ServiceError } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import { reportSnapshotOf, type ReportSnapshot } from '../../service/report/snapshot.js';
import { isStatedUnknownJob } from '../../service/report/reports.js';
import { type EarlierRun, signalOrStart } from '../../protocol/signal-or-start.js';
import { parsingJobId } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import { reportSubmittedSignal, type ParsingJobResult, type ReportSubmitted } from '../../protocol/report/messages.js';
import type { LostUpload } from '../../protocol/report/submission-messages.js';
import { parsingJobStart } from '../../protocol/starts.js';
import type { ActivityDependencies } from '../dependencies.js';
import { hasEndpoint } from '../notifications/notifications.js';
import { lastResultOf, searching } from '../workflow-runs.js';
import { asFailures, ifAnswered } from '../failures.js';
import { findLostJob, ownerOf, type JobOwner, type LostJob } from './lost-uploads.js';
import { requireUnsigned, uploadFile, type UploadAnswer, type UploadReport } from './upload.js';

interface IdentifyJob {
  jobId: string;
  userId?: string;
  /** When the job was first reported, ISO 8601. */
  since: string;
}

/** Information that a run started by a webhook needs before it does anything. */
export interface JobReading {
  /** The job's current state, if it can be read. */
  snapshot?: ReportSnapshot;
  /** The service itself answered that it does not know the job. */
  gone: boolean;
  /** A 404 that may come from a proxy or a wrong path: it counts only if a later read repeats it. */
  unsure?: boolean;
  notifies: boolean;
  /** The result of the last run for the same job. */
  previous?: ParsingJobResult;
  owner: JobOwner;
}

/** A 404 that is not the service's own answer. */
interface UnsureAbsence {
  unsure: true;
}

/** The job of a lost answer, and the lost uploads that remain; neither if no job was found. */
type FoundReport = { found: ReportSnapshot; remaining: LostUpload[] } | { found?: undefined; remaining?: undefined };

/** Lab reports: uploads, reads of their jobs, and the search for a job's owner. */
export function reportActivities(dependencies: ActivityDependencies) {
  const { service, temporal, taskQueue, target, encrypts } = dependencies;
  return {
    /** Uploads the file once, unless an earlier submission of the same reference may have made a job already. */
    async uploadReport(input: UploadReport): Promise<UploadAnswer> {
      requireUnsigned(input, encrypts);
      return uploadFile(dependencies, input);
    },

    /** The job that a lost answer was about, if exactly one can be it. */
    async findUnclaimedJob(lost: LostJob): Promise<FoundReport> {
      const found = await findLostJob(temporal, lost);
      if (!found || !(await hasReviewOption(service, found.jobId, lost.needsHumanReview))) return {};
      return { found: { jobId: found.jobId, userId: lost.userId }, remaining: found.remaining };
    },

    /** Hands an uploaded report over to the workflow that follows its job, which a webhook may have started already. */
    async handOverReport(submitted: Omit<ReportSubmitted, 'notifies'>): Promise<void> {
      const { snapshot, userId, reference } = submitted;
      const start = parsingJobStart({ ...snapshot, userId }, reference, submitted.policy);
      const argument = { ...submitted, notifies: hasEndpoint(target) };
      await signalOrStart(temporal.workflow, taskQueue, start, reportSubmittedSignal, argument);
    },

    /**
     * The job's current state; null if the service does not know it, `unsure` if the answer may not be the service's
     * own.
     */
    async readParsingJob(jobId: string): Promise<ReportSnapshot | UnsureAbsence | null> {
      return asFailures('ServiceRefused', () => readIfKnown(service, jobId));
    },

    /**
     * Reads a job, the last run of its workflow, and its possible owners. An error of Temporal's is rethrown, so it is
     * retried: without these answers the run cannot know what to follow.
     */
    async identifyJob({ jobId, userId, since }: IdentifyJob, earlier?: EarlierRun): Promise<JobReading> {
      const previous = await lastResultOf<ParsingJobResult>(temporal, parsingJobId(jobId), earlier);
      const { snapshot, gone, unsure } = await readIfReadable(service, jobId);
      const known = userId ?? previous?.userId ?? snapshot?.userId;
      const whose = known === undefined ? {} : { userId: canonicalId(known) };
      const lookForOwner = () => ownerOf(temporal, { jobId, since, ...whose });
      const owner =
        previous ?? (await searching<JobOwner>(temporal, lookForOwner, { kind: 'ambiguous' }, ownerSearchMs));
      return {
        ...(snapshot && { snapshot }),
        gone,
        ...(unsure && { unsure }),
        notifies: hasEndpoint(target),
        ...(previous && { previous }),
        owner: 'kind' in owner ? owner : { kind: 'none' },
      };
    },
  };
}

async function readIfKnown(service: LabService, jobId: string): Promise<ReportSnapshot | UnsureAbsence | null> {
  try {
    return reportSnapshotOf(await service.reports.getJob(jobId));
  } catch (error) {
    if (error instanceof NotFound) return isStatedUnknownJob(error) ? null : { unsure: true };
    throw error;
  }
}

/** It asks Temporal for every upload of the last hour whose answer was lost. */
const ownerSearchMs = 20_000;

/** Shorter than the activity: a service that hangs must not keep the submission from going on. */
const jobTimeoutMs = 10_000;

/** True if the job was made with this option, as far as the service shows it. */
async function hasReviewOption(service: LabService, jobId: string, needsHumanReview: boolean): Promise<boolean> {
  try {
    const job = await service.reports.getJob(jobId, { timeoutMs: jobTimeoutMs });
    return job.needs_human_review == null || job.needs_human_review === needsHumanReview;
  } catch (error) {
    if (error instanceof ServiceError) return true;
    throw error;
  }
}

/**
 * A job that cannot be read now is followed by its webhooks, and is read again later: nothing waits for a wrong key or
 * a service that is down.
 */
async function readIfReadable(
  service: LabService,
  jobId: string,
): Promise<Pick<JobReading, 'snapshot' | 'gone' | 'unsure'>> {
  const read = await ifAnswered('parsing job', { jobId }, () => readIfKnown(service, jobId));
  if (read == null) return { gone: read === null };
  return 'unsure' in read ? { gone: false, unsure: true } : { snapshot: read, gone: false };
}
