import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import {
  WorkflowNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
} from '@temporalio/client';
import type { QueryDefinition } from '@temporalio/common';
import { askAgain } from '../protocol/ask-again.js';
import { labAttentionKey } from '../protocol/search-attributes.js';
import { after, millisecondsOf, usualDeadline, type CallOptions, type Deadline } from './call-options.js';
import { toClientError, LabOperationsError, NoWorker, TimedOut, WorkerFailing, type ErrorMap } from './errors.js';
import {
  code,
  DeadlinePassed,
  endpointOf,
  grpcErrorOf,
  isPassing,
  isWithoutPoller,
  noAnswerFromTemporal,
  temporalErrorOf,
} from './temporal-errors.js';

/*
 * The one way of the client to Temporal. Every public method makes one `call`: whatever it does inside ends by one
 * deadline or signal, and only client errors leave it.
 */

/** What continues after a timeout, and what to do: the second sentence of `TimedOut`. */
export const underWay = {
  reading: 'Nothing was changed: ask again.',
  starting: 'It may have been started nevertheless: call again with the same input, which starts nothing twice.',
  command: 'The command was sent and may still be carried out: look at the state before you send it again.',
  service: 'The lab service may still carry out what was sent: read before you repeat anything that changes something.',
} as const;

/** For `underWay`: the waiting for an end that may be weeks away. */
export function goesOn(what: string): string {
  return `${what} has not ended yet and continues: ask again later, or give a longer deadline.`;
}

/** A question that names no workflow. */
export const isAsking: CallKind = {
  words: { refusals: {}, notFound: LabOperationsError, interrupted: LabOperationsError },
  underWay: underWay.reading,
};

export interface TemporalCallsOptions {
  taskQueue: string;
  /** Takes the place of the methods' own defaults. */
  deadline?: Deadline | undefined;
}

export interface CallKind {
  words: ErrorMap;
  /** What continues after a timeout; each wait inside may be more specific. */
  underWay: string;
  /** The method's own default. Default: 30 seconds. */
  usually?: Deadline;
}

export class TemporalCalls {
  readonly client: Client;
  readonly taskQueue: string;
  private readonly deadline: Deadline | undefined;
  private readonly unsettled = new Set<Promise<unknown>>();

  constructor(client: Client, { taskQueue, deadline }: TemporalCallsOptions) {
    if (deadline !== undefined) millisecondsOf(deadline);
    this.client = client;
    this.taskQueue = taskQueue;
    this.deadline = deadline;
  }

  /**
   * Does the work of one public method within its time.
   * @throws TimedOut, NoWorker, WorkerFailing, TemporalUnreachable, TemporalRefused, the signal's reason, and the
   * area's own errors
   */
  async call<T>(kind: CallKind, options: CallOptions, work: (call: OneCall) => Promise<T>): Promise<T> {
    const { deadline = this.deadline ?? kind.usually ?? usualDeadline, signal } = options;
    signal?.throwIfAborted();
    const call = new OneCall(this, kind.underWay, millisecondsOf(deadline));
    const isAborted = (): void => call.end(signal?.reason);
    signal?.addEventListener('abort', isAborted, { once: true });
    try {
      return await call.run(() => work(call));
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw await this.errorOf(error, call, kind.words);
    } finally {
      signal?.removeEventListener('abort', isAborted);
      call.end();
    }
  }

  /** The requests that a call has started and may have abandoned. */
  track(work: Promise<unknown>): void {
    const settled: Promise<unknown> = work.catch(() => undefined).finally(() => this.unsettled.delete(settled));
    this.unsettled.add(settled);
  }

  /**
   * Waits until no attempt of an abandoned call is still to come, a few seconds at most: one that finds its connection
   * closed would throw where nobody can catch it.
   */
  async settled(): Promise<void> {
    await Promise.all(this.unsettled);
  }

  /** Each step of an iteration is a call of its own: the deadline is that of a page. */
  async *iterate<T>(
    kind: CallKind,
    options: CallOptions,
    begin: () => AsyncIterable<T>,
    ask: <Page>(call: OneCall, next: () => Promise<Page>) => Promise<Page> = (_call, next) => next(),
  ): AsyncGenerator<T, void, undefined> {
    const iterator = begin()[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.call(kind, options, (call) => ask(call, () => iterator.next()));
      if (next.done === true) return;
      yield next.value;
    }
  }

  private async errorOf(error: unknown, call: OneCall, words: ErrorMap): Promise<unknown> {
    if (error instanceof LabOperationsError) return error;
    if (isDeadlineError(error) || isWithoutPoller(error)) return this.whyUnanswered(error, call);
    const known = toClientError(error, words);
    if (known !== error) return known;
    // A request that Temporal refused was not carried out.
    const sentence = isPassing(error) ? call.underWay : '';
    return temporalErrorOf(error, endpointOf(this.client), sentence) ?? causeOfOurs(error);
  }

  /** Asks Temporal, which may be the party that does not answer. */
  private async whyUnanswered(error: unknown, call: OneCall): Promise<LabOperationsError> {
    const { workflowId, underWay: sentence } = call;
    const cause = { cause: error };
    const waited = call.waitedUntil(error);
    let attention: string[] = [];
    const timedOut = (hint = ''): TimedOut => {
      const lookAt = attention.length > 0 ? `A person should look at it: ${attention.join(', ')}.` : hint;
      return new TimedOut(
        [`No answer within ${waited}.`, sentence, lookAt].filter(Boolean).join(' '),
        attention,
        cause,
      );
    };
    if (call.isWithService) return timedOut();
    const probe = new OneCall(this, '', diagnosisMs);
    try {
      return await probe.run(async () => {
        const workflow =
          workflowId === undefined ? undefined : await description(this.client.workflow.getHandle(workflowId));
        const taskQueue = workflow?.taskQueue ?? this.taskQueue;
        if ((workflow?.raw.pendingWorkflowTask?.attempt ?? 0) >= failingAttempts) return new WorkerFailing(cause);
        attention = workflow?.typedSearchAttributes.get(labAttentionKey) ?? [];
        const pollers = await this.pollersOf(taskQueue);
        if (isWithoutPoller(error)) return new NoWorker(taskQueue, sentence, cause);
        if (workflowId === undefined) return timedOut();
        if (pollers === 0) return new NoWorker(taskQueue, sentence, cause);
        return timedOut(`If this happens again, check that a worker still polls the task queue ${taskQueue}.`);
      });
    } catch (failed) {
      // Credentials that suffice for the call need not suffice for the question, and not every server can answer it.
      if (isDenied(failed)) return timedOut();
      const endpoint = endpointOf(this.client);
      return isDeadlineError(failed)
        ? noAnswerFromTemporal(endpoint, error, sentence)
        : (temporalErrorOf(failed, endpoint, sentence) ?? timedOut());
    } finally {
      probe.end();
    }
  }

  /** True if a worker has asked for work in the last two minutes. */
  async hasWorker(options: CallOptions): Promise<boolean> {
    return this.call(isAsking, options, async () => (await this.pollersOf(this.taskQueue)) > 0);
  }

  private async pollersOf(taskQueue: string): Promise<number> {
    const { pollers } = await this.client.workflowService.describeTaskQueue({
      namespace: this.client.options.namespace,
      taskQueue: { name: taskQueue },
      taskQueueType: workflowTasks,
    });
    const since = Date.now() - pollingMs;
    return (pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > since).length;
  }
}

/** To find out why there was no answer must not take noticeably longer than the deadline. */
const diagnosisMs = 2_000;

/** A workflow task fails once in the life of a healthy workflow, say because a worker is restarted. */
const failingAttempts = 3;

/** A worker's poll lasts a minute at most, and clocks may differ; the server lists its pollers for five minutes. */
const pollingMs = 120_000;

/** TASK_QUEUE_TYPE_WORKFLOW of Temporal's API. */
const workflowTasks = 1;

/** A wait consists of shorter ones, so nothing is held for weeks and a dead connection is noticed. */
const longestWaitMs = 60_000;

/** A few seconds in all, then a workflow that has moved on counts as one that cannot be read. */
const longestPauseMs = 2_000;

/** Temporal waits 10 seconds for the worker that has the workflow in memory, then asks any other. It hands out no query twice. */
const longestQueryMs = 20_000;

/** The server ends a long poll a second before its deadline. */
const catchMs = 2_000;

/** Everything that one call of a public method does. */
export class OneCall {
  underWay: string;
  /** The workflow that is waited for, if there is one. */
  workflowId: string | undefined;
  /** True if the lab service is waited for, not Temporal. */
  isWithService = false;
  private readonly calls: TemporalCalls;
  private readonly milliseconds: number;
  private readonly endsAt: number;
  private readonly begunAt = performance.now();
  private readonly ended = new AbortController();

  constructor(calls: TemporalCalls, sentence: string, milliseconds: number) {
    this.calls = calls;
    this.underWay = sentence;
    this.milliseconds = milliseconds;
    this.endsAt = Date.now() + milliseconds;
    // Every request of the call listens to it.
    setMaxListeners(0, this.ended.signal);
  }

  /** How long the call has waited, for messages: Temporal may end a request long before the call's own deadline. */
  waitedUntil(end: unknown): string {
    const span = end instanceof DeadlinePassed ? this.milliseconds : Math.round(performance.now() - this.begunAt);
    return span < 1_000 ? `${span} ms` : `${Math.round(span / 1_000)} s`;
  }

  /** Aborted at the end of the call, for requests that do not go to Temporal. */
  get signal(): AbortSignal {
    return this.ended.signal;
  }

  /**
   * From here on the call waits for a worker: the workflow that it must serve, and what continues if it does not
   * answer.
   */
  waitFor<T extends { workflowId: string }>(workflow: T, sentence: string = this.underWay): T {
    this.workflowId = workflow.workflowId;
    this.underWay = sentence;
    return workflow;
  }

  /** Waits for the lab service, which gets the signal of the call. */
  async service<T>(ask: (ends: { signal: AbortSignal }) => Promise<T>): Promise<T> {
    this.isWithService = true;
    const answer = await ask({ signal: this.signal });
    this.isWithService = false;
    return answer;
  }

  /**
   * Asks the workflow, and asks again while no answer comes, or none that counts: a worker that stops may take a query along, and
   * one that reads the workflow's history may find that it has moved on.
   */
  async query<T, Arguments extends unknown[]>(
    workflow: WorkflowHandle,
    definition: QueryDefinition<T, Arguments>,
    ...args: Arguments
  ): Promise<T> {
    this.waitFor(workflow);
    for (let pauseMs = 100; ; pauseMs *= 2) {
      try {
        return await this.inParts(longestQueryMs, () => workflow.query(definition, ...args));
      } catch (error) {
        const movedOn = error instanceof Error && error.message.includes(askAgain);
        // A workflow that was terminated just then stays as it is.
        if (!movedOn || pauseMs > longestPauseMs) throw error;
        await pause(pauseMs, undefined, { signal: this.signal });
      }
    }
  }

  /** Waits for the end of a workflow, as long as the call may take. */
  async result<T>(workflow: Pick<WorkflowHandle, 'workflowId' | 'result'>, sentence: string): Promise<T> {
    const before = { workflowId: this.workflowId, underWay: this.underWay };
    this.waitFor(workflow, sentence);
    const result: unknown = await this.inParts(longestWaitMs, () => workflow.result());
    Object.assign(this, before);
    return result as T;
  }

  /** Rejects when the time is up, or the call was ended; its requests are then abandoned. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.ended;
    let stop = (): void => undefined;
    const early = new Promise<never>((_resolve, reject) => {
      const disarm = after(this.endsAt - Date.now(), () => reject(new DeadlinePassed('The deadline has passed')));
      const isEnded = (): void => reject(signal.reason as Error);
      signal.addEventListener('abort', isEnded, { once: true });
      stop = () => {
        disarm();
        signal.removeEventListener('abort', isEnded);
      };
    });
    // gRPC's deadline ends the pauses between attempts, which the signal does not reach. It is a little later, because
    // the server answers a long poll shortly before the deadline, and Temporal's client would then ask again at once,
    // over and over.
    const whole = this.calls.client.connection.withAbortSignal(signal, () =>
      this.endsAt === Infinity ? work() : this.calls.client.withDeadline(this.endsAt + catchMs, work),
    );
    this.calls.track(whole);
    try {
      return await Promise.race([whole, early]);
    } finally {
      stop();
    }
  }

  /** Abandons the requests that are still running. */
  end(reason?: unknown): void {
    this.ended.abort(reason);
  }

  /** Begins the work again whenever it has taken so long, until the call ends. */
  private async inParts<T>(longestMs: number, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const part = new AbortController();
      try {
        return await this.during(part, longestMs, work);
      } catch (error) {
        if (!part.signal.aborted || !isCutOff(error)) throw error;
        this.signal.throwIfAborted();
      }
    }
  }

  private async during<T>(part: AbortController, longestMs: number, work: () => Promise<T>): Promise<T> {
    const isEnded = (): void => part.abort(this.signal.reason);
    this.signal.addEventListener('abort', isEnded, { once: true });
    const disarm = after(longestMs, () => part.abort());
    try {
      return await this.calls.client.connection.withAbortSignal(part.signal, () =>
        this.calls.client.withDeadline(Date.now() + longestMs + catchMs, work),
      );
    } finally {
      disarm();
      this.signal.removeEventListener('abort', isEnded);
    }
  }
}

function isDeadlineError(error: unknown): boolean {
  return error instanceof DeadlinePassed || grpcErrorOf(error)?.code === code.deadlineExceeded;
}

/** By the abort of a request; a pause between its attempts is ended by the deadline only. */
function isCutOff(error: unknown): boolean {
  const status = grpcErrorOf(error)?.code;
  return status === code.cancelled || status === code.deadlineExceeded;
}

function isDenied(error: unknown): boolean {
  const answer = grpcErrorOf(error)?.code;
  return answer === code.permissionDenied || answer === code.unimplemented;
}

/** Unwraps our own errors that the SDK wraps, such as one of the encryption. */
function causeOfOurs(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof LabOperationsError ? cause : error;
}

async function description(workflow: WorkflowHandle): Promise<WorkflowExecutionDescription | undefined> {
  try {
    return await workflow.describe();
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

export async function isRunning(workflow: WorkflowHandle): Promise<boolean> {
  return (await statusOf(workflow)) === 'RUNNING';
}

/** The status of the latest run; undefined if there is none. */
export async function statusOf(workflow: WorkflowHandle) {
  return (await description(workflow))?.status.name;
}

/**
 * True if there is or was a workflow. An update of an ended one is "not found", as is one of a workflow that never
 * existed.
 */
export async function exists(workflow: WorkflowHandle): Promise<boolean> {
  return (await description(workflow)) !== undefined;
}
