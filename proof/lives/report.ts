import { TypedSearchAttributes } from '@temporalio/common';
import { parsingJobId, submitReportId } from '../../protocol/ids.js';
import type { ParsingJobResult, ReportState } from '../../protocol/report/messages.js';
import type { ResolvedReportPolicy } from '../../protocol/report/policy.js';
import { parsingJobStart } from '../../protocol/starts.js';
import type { SubmissionEnd } from '../../protocol/report/submission-messages.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { reportSnapshotOf } from '../../service/report/snapshot.js';
import { parsingJobSchema } from '../../service/report/reports.js';
import { day, hour, minute, second } from './life.js';
import { Past, type Request, type ServiceAnswer } from './service.js';
import { claims, resultOf, webhook, type Stage, type World } from './stage.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

const userId = '00000000-0000-4000-8000-000000000001';

interface Job {
  id: string;
  /** Of the reference whose file it was made of; none is of somebody else's upload. */
  of?: string;
  status: string;
  at: number;
}

const ways: Readonly<Record<string, readonly string[]>> = {
  upload_pending: ['started'],
  started: ['processing', 'completed', 'failed'],
  processing: ['completed', 'pending_review', 'failed'],
  pending_review: ['completed'],
};

/** Jobs that were made elsewhere, or whose submission has ended before. */
export class JobWorld implements World {
  readonly spans = { disturbed: 8 * day, calm: 40 * day };
  readonly jobs: Job[] = [];
  protected readonly stage: Stage;
  protected readonly policy: ResolvedReportPolicy;
  private readonly past: Past<{ jobs: Job[] }>;

  constructor(stage: Stage) {
    const { life } = stage;
    this.stage = stage;
    this.past = new Past(life, { jobs: [] });
    this.policy = resolvePolicy('report', {
      ...resolvePolicy('report'),
      ...{ parsingDeadline: life.span(minute, day), reviewDeadline: life.span(hour, 4 * day) },
      ...{ giveUpAfter: life.span(hour, 5 * day), lostAnswerWait: life.span(30 * second, hour) },
      submissionDeadline: life.span(hour, 7 * day),
    });
  }

  private body({ id, status }: Job) {
    return { id, user_id: userId, status, needs_human_review: false, is_reviewed: status === 'completed' };
  }

  protected make(of?: string): Job {
    const { life } = this.stage;
    const id = `00000000-0000-4000-8000-00000000001${this.jobs.length}`;
    const job: Job = { id, status: 'upload_pending', at: life.now, ...(of !== undefined && { of }) };
    this.jobs.push(job);
    life.count('jobs');
    this.report(job);
    this.goOn(job);
    return job;
  }

  private report(job: Job): void {
    const { life, server } = this.stage;
    this.past.changed({ jobs: this.jobs });
    life.tell(`  the service: job ${job.id.slice(-2)} is ${job.status}`);
    const snapshot = reportSnapshotOf(parsingJobSchema.parse(this.body(job)));
    const start = parsingJobStart(snapshot, undefined, this.policy);
    webhook(this.stage, `job ${job.id.slice(-2)} ${job.status}`, () =>
      server.signalOrStart(start, 'jobChanged', snapshot),
    );
  }

  private goOn(job: Job): void {
    const { life } = this.stage;
    life.after(life.span(second, life.oneOf([minute, day])), () => {
      const next = ways[job.status];
      if (next === undefined || life.isCalm) return;
      job.status = life.oneOf(next);
      this.report(job);
      this.goOn(job);
    });
  }

  handle({ method, params, file }: Request): ServiceAnswer {
    if (method === 'POST') {
      const [, of] = /file of (\S+)/.exec(file ?? '') ?? [];
      return { status: 200, body: { job: this.body(this.make(of)), ...this.body(this.jobs.at(-1) as Job) } };
    }
    const job = this.past.seen(5 * second).jobs.find(({ id }) => id === params['job_id']);
    return job ? { status: 200, body: this.body(job) } : { status: 404, body: { detail: 'Job not found' } };
  }

  begin(): void {
    const { life, server } = this.stage;
    const soon = () => life.span(life.oneOf([second, minute]), 3 * day);
    this.open();
    for (let count = life.between(0, 3); count > 0; count -= 1) life.after(soon(), () => this.command());
    if (life.happens(0.05)) life.after(soon(), () => server.cancel(this.jobId(0)));
  }

  protected open(): void {
    const { life, server } = this.stage;
    const job = this.make();
    if (life.happens(0.3)) life.after(life.span(second, day), () => this.make());
    if (life.happens(0.5)) return;
    const snapshot = { ...reportSnapshotOf(parsingJobSchema.parse(this.body(job))), userId };
    const submitted = { reference: 'ref-1', userId, policy: this.policy, snapshot, adopted: false, notifies: true };
    const start = parsingJobStart(snapshot, 'ref-1', this.policy);
    life.after(life.span(10, hour), () => server.signalOrStart(start, 'reportSubmitted', submitted));
  }

  protected command(): void {
    void this.stage.server.update(this.jobId(this.stage.life.between(0, this.jobs.length - 1)), 'cancel');
  }

  private jobId(index: number): string {
    return parsingJobId(this.jobs[index]?.id ?? 'none');
  }

  calmDown(): void {
    for (const job of this.jobs) {
      if (ways[job.status] !== undefined) job.status = 'completed';
      this.report(job);
    }
  }

  check(): void {
    const { life, server } = this.stage;
    for (const { name, value } of server.replies) {
      const { outcome, jobId } = (value ?? {}) as Partial<ReportState>;
      if (name === 'cancel' && jobId !== undefined && outcome === undefined)
        life.broken(claims.reflected, 'cancel, and the job is followed');
    }
    for (const job of this.jobs) {
      const { outcome } = resultOf<ParsingJobResult>(server.latest(parsingJobId(job.id)));
      if (['completed', 'failed'].includes(outcome ?? '') && outcome !== job.status)
        life.broken(claims.endsAreTrue, `${outcome}, and the job is ${job.status}`);
    }
  }
}

/** Reports of one user that are uploaded, perhaps two at once. */
export class SubmissionWorld extends JobWorld {
  readonly dependencies = { reportFiles: { open: this.openFile.bind(this) } } as never;
  private readonly references: string[] = [];

  private async openFile({ path }: { path?: string }) {
    const { life } = this.stage;
    await life.pause(life.between(5, 500));
    async function* bytes(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`%PDF- file of ${path}\n`);
      await life.pause(life.span(10, minute));
      yield Buffer.from('the end');
    }
    return { contentType: 'application/pdf', bytes: bytes(), close: () => Promise.resolve() };
  }

  protected override open(): void {
    const { life } = this.stage;
    this.submit('ref-1');
    const soon = () => life.span(second, life.oneOf([hour, day]));
    if (life.happens(0.3)) life.after(soon(), () => this.submit('ref-2'));
    if (life.happens(0.2)) life.after(soon(), () => this.submit('ref-1'));
  }

  private submit(reference: string): void {
    const { server } = this.stage;
    // A client starts no second run of a reference that has its job.
    if (server.latest(submitReportId(reference))?.status === 'COMPLETED') return;
    this.references.push(reference);
    const input = { reference, userId, file: { path: reference }, policy: this.policy };
    const typedSearchAttributes = new TypedSearchAttributes([{ key: labUserIdKey, value: userId }]);
    const memo = { inputDigest: reference };
    server.start({
      name: 'submitReport',
      workflowId: submitReportId(reference),
      args: [input],
      typedSearchAttributes,
      memo,
    });
  }

  protected override command(): void {
    const { life, server } = this.stage;
    if (life.happens(0.5)) void server.update(submitReportId(life.oneOf(this.references)), 'cancel');
    else super.command();
  }

  override check(): void {
    super.check();
    const { life, server } = this.stage;
    const owners = new Map<string, string>();
    for (const execution of server.executions.filter(({ type }) => type === 'submitReport')) {
      const reference = execution.workflowId.slice(submitReportId('').length);
      const { jobId } = resultOf<{ jobId: string }>(execution);
      if (jobId === undefined) continue;
      const job = this.jobs.find(({ id }) => id === jobId);
      const before = owners.get(jobId) ?? reference;
      if (before !== reference) life.broken('never two references for one job', `${before} and ${reference}`);
      owners.set(jobId, reference);
      if (job?.of !== reference)
        life.broken(
          'no reference gets the results of another file',
          `${reference} has the job of ${job?.of ?? 'somebody else'}`,
        );
      if (!server.latest(parsingJobId(jobId))) life.broken(claims.handedOver, 'nobody follows the job');
    }
    for (const { name, value, repliedAt = 0 } of server.replies) {
      const { outcome, lostUploads = [] } = (value ?? {}) as Partial<Extract<SubmissionEnd, { outcome: 'cancelled' }>>;
      const { reference } = (value ?? {}) as { reference?: string };
      const isAgain = server.executions.some(
        ({ workflowId, startedAt }) => workflowId === submitReportId(reference ?? '') && startedAt >= repliedAt,
      );
      const made = this.jobs.some(({ of }) => of !== undefined && of === reference);
      if (name === 'cancel' && outcome === 'cancelled' && made && lostUploads.length === 0 && !isAgain)
        life.broken(claims.endsAreTrue, 'the submission was cancelled with nothing sent, and there is a job');
    }
  }
}
