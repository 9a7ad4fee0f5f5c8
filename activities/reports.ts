import { log } from '@temporalio/activity';
import { NotFound, ServiceError } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import { reportSnapshotOf, type ReportSnapshot } from '../service/report-snapshot.js';
import { isStatedUnknownJob } from '../service/reports.js';
import { parsingJobId, canonicalUserId } from '../protocol/ids.js';
import {
  parsingJobName,
  reportSubmittedSignal,
  type LostUpload,
  type ParsingJobResult,
  type ReportSubmitted,
} from '../protocol/report/messages.js';
import { parsingJobStart } from '../protocol/report/start.js';
import type { ActivityDependencies } from './activities.js';
import { hasEndpoint } from './notifications.js';
import { lastResultOf } from './workflow-runs.js';
import { asFailures } from './failures.js';
import { findLostJob, ownerOf, type JobOwner, type LostJob } from './report-claims.js';
import { requireUnsigned, uploadFile, type UploadAnswer, type UploadReport } from './report-upload.js';

export interface IdentifyJob {
  jobId: string;
  userId?: string;
  /** When the job was first heard of, ISO 8601. */
  since: string;
}

/** What a run that a webhook started learns before it does anything. */
export interface JobReading {
  /** The job as it is now, where it can be read. */
  snapshot?: ReportSnapshot;
  /** The service does not know the job, and says so in its own words. */
  gone: boolean;
  /** A 404 that may be a proxy's, or a path's: it is believed only when a later read says the same. */
  unsure?: boolean;
  notifies: boolean;
  /** What the last run for the same job ended with. */
  previous?: ParsingJobResult;
  owner: JobOwner;
}

/** A 404 that is not in the service's own words. */
export interface UnsureAbsence {
  unsure: true;
}

/** The job of a lost answer, and the lost uploads that remain; neither where there is none. */
export type FoundReport =
  { found: ReportSnapshot; remaining: LostUpload[] } | { found?: undefined; remaining?: undefined };

/** Lab reports: uploading them, reading their jobs, and finding whose a job is. */
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
      await temporal.workflow.signalWithStart(parsingJobName, {
        ...parsingJobStart({ ...snapshot, userId }, reference),
        taskQueue,
        signal: reportSubmittedSignal,
        signalArgs: [{ ...submitted, notifies: hasEndpoint(target) }],
      });
    },

    /** The job as it is now; null when the service does not know it, `unsure` when somebody else may say so. */
    async readParsingJob(jobId: string): Promise<ReportSnapshot | UnsureAbsence | null> {
      return asFailures('ServiceRefused', () => readIfKnown(service, jobId));
    },

    /**
     * Reads a job, the last run of its workflow, and whose it may be. An error of Temporal's rises as it is, which makes it
     * retried: what a run is for cannot be decided without those answers.
     */
    async identifyJob({ jobId, userId, since }: IdentifyJob): Promise<JobReading> {
      const { snapshot, gone, unsure } = await readIfReadable(service, jobId);
      const previous = await lastResultOf<ParsingJobResult>(temporal, parsingJobId(jobId));
      const known = userId ?? previous?.userId ?? snapshot?.userId;
      const whose = known === undefined ? {} : { userId: canonicalUserId(known) };
      const owner = previous ?? (await ownerOf(temporal, { jobId, since, ...whose }));
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

/** Shorter than the activity: a service that hangs must not keep the submission from going on. */
const jobTimeoutMs = 10_000;

/** Whether the job was made with this wish, as far as the service tells. */
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
 * A job that cannot be read now lives from its webhooks, and is read again in time: nothing that is heard of it waits for a
 * key that is wrong, or for a service that is down.
 */
async function readIfReadable(
  service: LabService,
  jobId: string,
): Promise<Pick<JobReading, 'snapshot' | 'gone' | 'unsure'>> {
  try {
    const read = await readIfKnown(service, jobId);
    if (read === null) return { gone: true };
    return 'unsure' in read ? { gone: false, unsure: true } : { snapshot: read, gone: false };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { name, message, status } = error;
    log.warn('parsing job could not be read', { jobId, name, message, status });
    return { gone: false };
  }
}
