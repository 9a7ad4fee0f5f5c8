import { activityInfo } from '@temporalio/activity';
import { NotFound, RequestInvalid, ServiceRefused } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import { reportSnapshotOf, type ReportSnapshot } from '../service/report-snapshot.js';
import { parsingJobId, submitReportId } from '../workflows/report/address.js';
import {
  parsingJobName,
  reportSubmittedSignal,
  type ParsingJobResult,
  type ReportSubmitted,
} from '../workflows/report/messages.js';
import { parsingJobStart } from '../workflows/report/start.js';
import type { ActivityDependencies } from './activities.js';
import { lastResultOf, runsOf } from './earlier-runs.js';
import { asFailures } from './failures.js';
import { findLostJob, ownerOf, type JobOwner, type LostJob } from './report-claims.js';
import { demandUnsigned, uploadFile, type UploadedReport, type UploadReport } from './report-upload.js';

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
  /** The service does not know the job. */
  gone: boolean;
  notifies: boolean;
  /** What the last run for the same job ended with. */
  previous?: ParsingJobResult;
  owner: JobOwner;
}

/** Lab reports: uploading them, reading their jobs, and finding whose a job is. */
export function reportActivities(dependencies: ActivityDependencies) {
  const { service, temporal, taskQueue, target, encrypts } = dependencies;
  return {
    /** Uploads the file once. An earlier submission of the same reference that failed may have made a job already. */
    async uploadReport(wish: UploadReport): Promise<UploadedReport> {
      demandUnsigned(wish, encrypts);
      const earlier = await jobOfEarlierRuns(dependencies, wish);
      if (earlier !== undefined) return { snapshot: earlier, adopted: true };
      return { snapshot: await uploadFile(dependencies, wish), adopted: false };
    },

    /** The job that a lost answer was about, if exactly one can be it. */
    async findUnclaimedJob(lost: LostJob): Promise<{ found?: ReportSnapshot }> {
      const jobId = await findLostJob(temporal, lost);
      return jobId === undefined ? {} : { found: { jobId, userId: lost.userId } };
    },

    /** Hands an uploaded report over to the workflow that follows its job, which a webhook may have started already. */
    async handOverReport(submitted: Omit<ReportSubmitted, 'notifies'>): Promise<void> {
      const { snapshot, userId, reference } = submitted;
      await temporal.workflow.signalWithStart(parsingJobName, {
        ...parsingJobStart({ ...snapshot, userId }, reference),
        taskQueue,
        signal: reportSubmittedSignal,
        signalArgs: [{ ...submitted, notifies: target !== undefined }],
      });
    },

    /** The job as it is now; null when the service does not know it. */
    async readParsingJob(jobId: string): Promise<ReportSnapshot | null> {
      return asFailures('ServiceRefused', () => readIfKnown(service, jobId));
    },

    /**
     * Reads a job, the last run of its workflow, and whose it may be. An error rises as it is, which makes it retried: what
     * a run is for cannot be decided without an answer.
     */
    async identifyJob({ jobId, userId, since }: IdentifyJob): Promise<JobReading> {
      const { snapshot, gone } = await readIfReadable(service, jobId);
      const previous = await lastResultOf<ParsingJobResult>(temporal, parsingJobId(jobId));
      const whose = userId ?? previous?.userId ?? snapshot?.userId;
      const owner =
        previous ?? (await ownerOf(temporal, { jobId, since, ...(whose !== undefined && { userId: whose }) }));
      return {
        ...(snapshot && { snapshot }),
        gone,
        notifies: target !== undefined,
        ...(previous && { previous }),
        owner: 'kind' in owner ? owner : { kind: 'none' },
      };
    },
  };
}

async function readIfKnown(service: LabService, jobId: string): Promise<ReportSnapshot | null> {
  try {
    return reportSnapshotOf(await service.reports.getJob(jobId));
  } catch (error) {
    if (error instanceof NotFound) return null;
    throw error;
  }
}

/** A job whose id the service itself refuses (one that is no UUID) lives from its webhooks alone. */
async function readIfReadable(
  service: LabService,
  jobId: string,
): Promise<{ snapshot?: ReportSnapshot; gone: boolean }> {
  try {
    const snapshot = await readIfKnown(service, jobId);
    return snapshot ? { snapshot, gone: false } : { gone: true };
  } catch (error) {
    if (error instanceof RequestInvalid) return { gone: false };
    if (error instanceof ServiceRefused && [400, 422].includes(error.status)) return { gone: false };
    throw error;
  }
}

/** Runs of this reference that were ended from outside, or failed after an answer that could not be read. */
async function jobOfEarlierRuns(
  { temporal }: ActivityDependencies,
  { reference, userId }: UploadReport,
): Promise<ReportSnapshot | undefined> {
  const { workflowExecution } = activityInfo();
  const runs = await runsOf(temporal, submitReportId(reference));
  const earlier = runs.filter(
    ({ runId, status }) => runId !== workflowExecution?.runId && status.name !== 'CONTINUED_AS_NEW',
  );
  const [since] = earlier.map(({ startTime }) => startTime.toISOString()).toSorted();
  if (since === undefined) return undefined;
  const jobId = await findLostJob(temporal, { reference, userId, since });
  return jobId === undefined ? undefined : { jobId, userId };
}
