import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WorkflowFailedError, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { ReportHandle } from '../../client/report/report-handle.js';
import type { ReportSubmission } from '../../client/report/reports.js';
import type { SandboxControl } from '../../sandbox/control.js';
import { samplePdf } from '../../sandbox/sample-report.js';
import { parsingJobId, submitReportId } from '../../protocol/ids.js';
import {
  cancelUpdate as cancelReportUpdate,
  type ParsingJobResult,
  type ReportState,
} from '../../protocol/report/messages.js';
import type { Notification } from '../rig/notification-receiver.js';
import type { Stage } from './story.js';
import { Watched } from './watched.js';

export const uploadPath = '/lab_report/v1/parser/job';

type Move = Exclude<Parameters<SandboxControl['moveJob']>[1], string>;

/** A product backend's input to `reports.submit`: a small report below the stage's root, whose job the sandbox leaves to the story. */
export async function submission(stage: Stage, changes: Partial<ReportSubmission> = {}): Promise<ReportSubmission> {
  await stage.syncClock();
  const path = `${randomUUID()}.pdf`;
  await writeFile(join(stage.reportRoot, path), samplePdf(['labops-sandbox: stuck']));
  return { reference: `report-${randomUUID()}`, userId: await stage.newUser(), file: { path }, ...changes };
}

/** Submits a report through the public client; after the story nothing of it is left. */
export async function start(stage: Stage, given: ReportSubmission): Promise<ReportHandle> {
  const handle = await stage.product.reports.submit(given);
  stage.onClear(() => endSubmission(stage, given.reference));
  return handle;
}

/** Returns when the job's workflow has taken the report over. */
export async function submit(stage: Stage, changes: Partial<ReportSubmission> = {}): Promise<Report> {
  const given = await submission(stage, changes);
  const report = await follow(stage, await start(stage, given));
  await report.expectState({ reference: given.reference });
  return report;
}

/** A report whose job is known. */
export async function follow(stage: Stage, handle: ReportHandle): Promise<Report> {
  const jobId = await handle.jobId();
  stage.onClear(() => endJob(stage, jobId));
  return new Report(stage, handle, jobId);
}

/** One report in a story: what happens to its job at the service, and what the product is notified of. */
export class Report extends Watched<ReportState> {
  readonly handle: ReportHandle;
  readonly jobId: string;
  private readonly stage: Stage;

  constructor(stage: Stage, handle: ReportHandle, jobId: string) {
    super(handle);
    this.stage = stage;
    this.handle = handle;
    this.jobId = jobId;
  }

  /** Moves the job to these statuses in turn; returns when the workflow has received each that a webhook was sent for. */
  async move(...moves: (string | Move)[]): Promise<void> {
    for (const move of moves) {
      const { job } = await this.stage.sandbox.moveJob(this.jobId, move);
      if (typeof move === 'string' || move.webhook !== false) await this.expectState({ status: job.status });
    }
  }

  /** Waits for the job's result without letting time pass. */
  async result(): Promise<ParsingJobResult> {
    return this.handle.result();
  }

  /** The notifications about the job, in the order in which they came. */
  get notifications(): Notification[] {
    return this.stage.receiver.about(this.jobId);
  }

  /** `completed`, `attention_raised parsing_overdue`, `ended abandoned`. */
  get notified(): string[] {
    return this.notifications.map(({ type, data }) => [type, data['reason'] ?? data['outcome']].join(' ').trim());
  }
}

async function endSubmission(stage: Stage, reference: string): Promise<void> {
  try {
    const { jobId } = await stage.finish<{ jobId: string }>(submitReportId(reference));
    await endJob(stage, jobId);
  } catch (error) {
    // Some stories are about a submission that fails, or that is refused before it starts.
    if (!(error instanceof WorkflowNotFoundError || error instanceof WorkflowFailedError)) throw error;
  }
}

export async function endJob(stage: Stage, jobId: string): Promise<void> {
  const job = stage.temporal.workflow.getHandle(parsingJobId(jobId));
  try {
    await job.executeUpdate(cancelReportUpdate, { args: [{}] });
  } catch (error) {
    // It has ended, or is about to.
    if (!(error instanceof WorkflowNotFoundError || error instanceof WorkflowUpdateFailedError)) throw error;
  }
  await stage.finish(parsingJobId(jobId)).catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
}
