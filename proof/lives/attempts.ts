import { asyncLocalStorage, CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { coresdk, google } from '@temporalio/proto';
import { asJson, fromPayload, type Failure, type JsonPayload } from './payloads.js';
import { long, minute, processes, second, type Life, type Process } from './life.js';
import type { Incoming } from './recorded-run.js';

export type ScheduledActivity = coresdk.workflow_commands.IScheduleActivity;

/** All activities by their names. */
export type Activities = Record<string, (...given: never[]) => Promise<unknown>>;

/** Of the protocol. It is also what an option that is left out means. */
const tryCancel = 0;
const abandon = 2;

interface Scheduled {
  seq: number;
  name: string;
  given: unknown[];
  scheduledAt: number;
  isOver: boolean;
  isCancelRequested: boolean;
  attempt: number;
  last?: Failure;
  heartbeatDetails?: unknown;
  /** Of the attempt that is running. */
  process?: Process;
  cancelAttempt?: (reason: string) => void;
  limits: {
    scheduleToClose: number;
    scheduleToStart: number;
    startToClose: number;
    heartbeat: number;
    cancellation: number;
  };
  retry: { initial: number; factor: number; longest: number; most: number; final: readonly string[] };
}

/** A worker's process: what it remembers between attempts is gone with it. */
export interface Worker {
  activities: Activities;
  renew: () => void;
}

interface Owner {
  workflowId: string;
  runId: string;
  type: string;
}

/** How soon a worker that is alive learns that its activity is cancelled: with its next heartbeat, which the SDK may hold back. */
const heartbeatsHeldBack = 32 * second;

/**
 * The activities of one run: attempts with the retries and timeouts that the workflow has asked for. Each attempt is the real activity, in a
 * process that may be lost before, in or after its calls.
 */
export class Attempts {
  private readonly life: Life;
  private readonly owner: Owner;
  private readonly worker: Worker;
  private readonly report: (incoming: Incoming) => void;
  private readonly open = new Map<number, Scheduled>();

  constructor(life: Life, owner: Owner, worker: Worker, report: (incoming: Incoming) => void) {
    this.life = life;
    this.owner = owner;
    this.worker = worker;
    this.report = report;
  }

  get areOpen(): boolean {
    return this.open.size > 0;
  }

  schedule(command: ScheduledActivity): void {
    const { life } = this;
    const scheduled = scheduledBy(command, life.now);
    this.open.set(scheduled.seq, scheduled);
    life.count('activities');
    const { scheduleToClose, scheduleToStart } = scheduled.limits;
    if (scheduleToClose < Infinity)
      life.after(scheduleToClose, () => this.end(scheduled, { ended: 'out_of_time', ...afterLast(scheduled) }));
    // A queue may be behind, all workers may be away.
    const wait = life.fails(0.1) ? life.span(second, 10 * minute) : life.between(1, 60);
    if (scheduleToStart < wait) life.after(scheduleToStart, () => this.end(scheduled, { ended: 'not_started' }));
    else life.after(wait, () => this.attempt(scheduled));
  }

  /** The workflow calls it back. */
  cancel(seq: number): void {
    const scheduled = this.open.get(seq);
    if (!scheduled || scheduled.limits.cancellation === abandon) return;
    scheduled.isCancelRequested = true;
    const { life } = this;
    if (scheduled.limits.cancellation === tryCancel) {
      scheduled.isOver = true;
      this.open.delete(seq);
    } else if (scheduled.process === undefined) {
      this.finish(scheduled, 'cancelled');
      return;
    }
    const { process } = scheduled;
    const whenKnown = life.between(10, heartbeatsHeldBack);
    if (process) life.after(whenKnown, () => scheduled.process === process && scheduled.cancelAttempt?.('CANCELLED'));
  }

  /** The run is closed: the server does not want to know any more. */
  abandon(): void {
    for (const scheduled of this.open.values()) {
      scheduled.isOver = true;
      const { process } = scheduled;
      this.life.after(
        this.life.between(10, heartbeatsHeldBack),
        () => scheduled.process === process && scheduled.cancelAttempt?.('NOT_FOUND'),
      );
    }
    this.open.clear();
  }

  private attempt(scheduled: Scheduled): void {
    if (scheduled.isOver) return;
    const { life } = this;
    const { limits, name } = scheduled;
    scheduled.attempt += 1;
    const process: Process = { isGone: false, ends: new Set() };
    scheduled.process = process;
    const startedAt = life.now;
    const run = this.worker.activities[name];
    if (!run) throw new TypeError(`no activity is called ${name}`);
    const { context, cancel } = this.contextOf(scheduled, startedAt);
    scheduled.cancelAttempt = cancel;
    if (limits.startToClose < Infinity) {
      life.after(limits.startToClose, () => {
        if (scheduled.process !== process) return;
        cancel('TIMED_OUT');
        this.failed(scheduled, process, { ended: 'too_long' });
      });
    }
    const isReportLost = life.fails(0.05);
    if (life.fails(0.1)) life.after(life.span(1, 40 * second), () => this.lose(scheduled, process, startedAt));
    const done = processes.run(process, () =>
      asyncLocalStorage.run(context, () => run(...(scheduled.given as never[]))),
    );
    done.then(
      (value) => {
        if (isReportLost) return this.lose(scheduled, process, startedAt);
        if (process.isGone || scheduled.process !== process) return;
        this.finish(scheduled, { value: fromPayload(asJson.toPayload(value)) });
      },
      (error: unknown) => {
        if (process.isGone || scheduled.process !== process) return;
        if (isReportLost) return this.lose(scheduled, process, startedAt);
        const isCalledBack = scheduled.isCancelRequested && (error instanceof CancelledFailure || isAbort(error));
        if (isCalledBack) this.finish(scheduled, 'cancelled');
        else this.failed(scheduled, process, failureBy(error), delayOf(error));
      },
    );
  }

  /** The worker dies: nothing that its attempt waits for comes any more, and the server waits for a sign of life. */
  private lose(scheduled: Scheduled, process: Process, startedAt: number): void {
    if (process.isGone || scheduled.process !== process) return;
    const { life } = this;
    const { startToClose, heartbeat } = scheduled.limits;
    process.isGone = true;
    this.worker.renew();
    for (const end of process.ends) end(new Error('the process is gone'));
    life.tell(`  [the worker of ${scheduled.name} is lost]`);
    const ownEnd = startedAt + startToClose;
    const noticedAt = heartbeat < Infinity ? Math.min(life.now + heartbeat, ownEnd) : ownEnd;
    const ended = heartbeat < Infinity ? 'worker_lost' : 'too_long';
    life.after(noticedAt - life.now, () => this.failed(scheduled, process, { ended }));
  }

  private failed(scheduled: Scheduled, process: Process, failure: Failure, delay?: number): void {
    const { life } = this;
    if (scheduled.isOver || scheduled.process !== process) return;
    delete scheduled.process;
    const { attempt, retry, limits, scheduledAt, name } = scheduled;
    scheduled.last = failure;
    const isFinal = failure.type !== undefined && (failure.isFinal !== false || retry.final.includes(failure.type));
    if (isFinal || scheduled.isCancelRequested || attempt >= retry.most) return this.end(scheduled, failure);
    const pause = delay ?? Math.min(retry.initial * retry.factor ** (attempt - 1), retry.longest);
    if (life.now + pause >= scheduledAt + limits.scheduleToClose) return this.end(scheduled, failure);
    if (attempt < 5)
      life.tell(`  [attempt ${attempt} of ${name}: ${failure.type ?? failure.ended}, again in ${long(pause)}]`);
    life.after(pause + life.between(1, 60), () => this.attempt(scheduled));
  }

  private end(scheduled: Scheduled, failure: Failure): void {
    if (scheduled.isOver) return;
    scheduled.cancelAttempt?.('TIMED_OUT');
    this.finish(scheduled, { failure });
  }

  private finish(scheduled: Scheduled, answer: Extract<Incoming, { kind: 'activity' }>['answer']): void {
    if (scheduled.isOver) return;
    scheduled.isOver = true;
    delete scheduled.process;
    const { seq, name } = scheduled;
    this.open.delete(seq);
    this.report({ kind: 'activity', seq, name, answer });
  }

  private contextOf(scheduled: Scheduled, startedAt: number) {
    const { life, owner } = this;
    const { limits, name, attempt } = scheduled;
    const controller = new AbortController();
    let reject: (reason: Error) => void = () => undefined;
    const cancelled = new Promise<never>((_resolve, fail) => (reject = fail));
    cancelled.catch(() => undefined);
    const info = {
      ...{ attempt, activityType: name, activityId: String(scheduled.seq), taskQueue: 'lives', isLocal: false },
      ...{ workflowType: owner.type, workflowExecution: { workflowId: owner.workflowId, runId: owner.runId } },
      scheduledTimestampMs: scheduled.scheduledAt,
      currentAttemptScheduledTimestampMs: attempt === 1 ? scheduled.scheduledAt : startedAt,
      startToCloseTimeoutMs: Math.min(limits.startToClose, 10 * 365 * 24 * 60 * minute),
      scheduleToCloseTimeoutMs: limits.scheduleToClose < Infinity ? limits.scheduleToClose : 0,
      heartbeatTimeoutMs: limits.heartbeat < Infinity ? limits.heartbeat : undefined,
      heartbeatDetails: scheduled.heartbeatDetails,
    };
    const heartbeat = (details: unknown) => {
      if (details !== undefined) scheduled.heartbeatDetails = fromPayload(asJson.toPayload(details));
    };
    const given = [info, cancelled, controller.signal, heartbeat, undefined, silent, undefined, {}];
    const context = new (Context as unknown as new (...all: unknown[]) => Context)(...given);
    Object.assign(context, { sleep: (milliseconds: number) => Promise.race([cancelled, life.pause(milliseconds)]) });
    const cancel = (reason: string) => {
      const failure = new CancelledFailure(reason);
      reject(failure);
      controller.abort(failure);
    };
    return { context, cancel };
  }
}

const nothing = () => undefined;
const silent = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function failureBy(error: unknown): Failure {
  if (!(error instanceof ApplicationFailure)) {
    return {
      type: error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 80) : String(error),
      isFinal: false,
    };
  }
  const [details] = error.details ?? [];
  return {
    type: error.type ?? 'Error',
    isFinal: error.nonRetryable === true,
    ...(details !== undefined && { details: details as object }),
  };
}

function delayOf(error: unknown): number | undefined {
  const delay = error instanceof ApplicationFailure ? error.nextRetryDelay : undefined;
  return typeof delay === 'number' ? delay : undefined;
}

function afterLast({ last }: Scheduled): { after?: Failure } {
  return last ? { after: last } : {};
}

function scheduledBy(command: ScheduledActivity, now: number): Scheduled {
  const { seq, activityType, retryPolicy, cancellationType } = command;
  const initial = msOf(retryPolicy?.initialInterval, second);
  return {
    ...{
      seq: seq ?? 0,
      name: activityType ?? '',
      scheduledAt: now,
      isOver: false,
      isCancelRequested: false,
      attempt: 0,
    },
    given: ((command.arguments ?? []) as JsonPayload[]).map(fromPayload),
    limits: {
      scheduleToClose: msOf(command.scheduleToCloseTimeout),
      scheduleToStart: msOf(command.scheduleToStartTimeout),
      startToClose: msOf(command.startToCloseTimeout),
      heartbeat: msOf(command.heartbeatTimeout),
      cancellation: cancellationType ?? tryCancel,
    },
    retry: {
      initial,
      factor: retryPolicy?.backoffCoefficient || 2,
      longest: msOf(retryPolicy?.maximumInterval, 100 * initial),
      most: retryPolicy?.maximumAttempts || Infinity,
      final: retryPolicy?.nonRetryableErrorTypes ?? [],
    },
  };
}

function msOf(duration: google.protobuf.IDuration | null | undefined, otherwise = Infinity): number {
  if (!duration) return otherwise;
  return Number(duration.seconds ?? 0) * 1_000 + (duration.nanos ?? 0) / 1e6 || otherwise;
}
