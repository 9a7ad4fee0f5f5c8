import { QueryRejectCondition, WorkflowClient, type Client } from '@temporalio/client';
import type { OfActor } from '../protocol/ids.js';
import { millisecondsOf, defaultDeadline, type CallOptions, type Deadline, AbandonedCalls } from './call-options.js';
import { LabOperationsError } from '../service/lab-operations-error.js';
import { toClientError, type ErrorMap } from './errors.js';
import { type TemporalAccess, OneCall } from './one-call.js';
import {
  endpointOf,
  isDeadlineError,
  isNamespaceUnknown,
  isPassing,
  isWithoutPoller,
  temporalErrorOf,
} from './temporal-errors.js';
import { pollersOf, whyNamespaceUnknown, whyUnanswered } from './unanswered.js';

/*
 * The one way of the client to Temporal. Every public method makes one `call`: whatever it does inside ends by one
 * deadline or signal, and only client errors leave it.
 */

/** The second sentence of `TimedOut`: what continues after a timeout, and what to do. */
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
export const asking: CallKind = {
  errors: { refusals: {}, notFound: LabOperationsError, interrupted: LabOperationsError },
  underWay: underWay.reading,
};

interface TemporalCallsOptions {
  taskQueue: string;
  /** Takes the place of the methods' own defaults. */
  deadline?: Deadline | undefined;
  actor?: OfActor;
  abandoned?: AbandonedCalls;
}

export interface CallKind {
  errors: ErrorMap;
  /** The sentence that says what continues after a timeout; each wait inside may be more specific. */
  underWay: string;
  /** The method's own default. Default: 30 seconds. */
  defaultDeadline?: Deadline;
}

/**
 * The usual kinds of one area's calls.
 *
 * @param what the subject of the sentence that says that its end is still to come
 */
export function callKinds(errors: ErrorMap, what: string) {
  const kind = (sentence: string): CallKind => ({ errors, underWay: sentence });
  return {
    reading: kind(underWay.reading),
    starting: kind(underWay.starting),
    command: kind(underWay.command),
    service: kind(underWay.service),
    waiting: kind(goesOn(what)),
  };
}

export class TemporalCalls implements TemporalAccess {
  readonly client: Client;
  readonly openWorkflows: WorkflowClient;
  readonly taskQueue: string;
  private readonly deadline: Deadline | undefined;
  readonly actor: OfActor;
  readonly abandoned: AbandonedCalls;

  constructor(
    client: Client,
    { taskQueue, deadline, actor = {}, abandoned = new AbandonedCalls() }: TemporalCallsOptions,
  ) {
    if (deadline !== undefined) millisecondsOf(deadline);
    this.client = client;
    this.openWorkflows = new WorkflowClient({
      ...client.workflow.options,
      connection: client.connection,
      dataConverter: client.options.loadedDataConverter,
      queryRejectCondition: QueryRejectCondition.NOT_OPEN,
    });
    this.taskQueue = taskQueue;
    this.deadline = deadline;
    this.actor = actor;
    this.abandoned = abandoned;
  }

  /**
   * Does the work of one public method within its time.
   * @throws TimedOut, NoWorker, WorkerFailing, TemporalUnreachable, TemporalRefused, CallTooLarge, the signal's reason, and the
   * area's own errors
   */
  async call<T>(kind: CallKind, options: CallOptions, work: (call: OneCall) => Promise<T>): Promise<T> {
    const { deadline = this.deadline ?? kind.defaultDeadline ?? defaultDeadline, signal } = options;
    signal?.throwIfAborted();
    const call = new OneCall(this, kind.underWay, millisecondsOf(deadline));
    const isAborted = (): void => call.end(signal?.reason);
    signal?.addEventListener('abort', isAborted, { once: true });
    try {
      return await call.run(() => work(call));
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw await this.errorOf(error, call, kind.errors);
    } finally {
      signal?.removeEventListener('abort', isAborted);
      call.end();
    }
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

  private async errorOf(error: unknown, call: OneCall, errors: ErrorMap): Promise<unknown> {
    if (error instanceof LabOperationsError) return error;
    if (isDeadlineError(error) || isWithoutPoller(error)) return whyUnanswered(this, call, error);
    const known = toClientError(error, errors);
    if (known !== error) return known;
    if (isNamespaceUnknown(error)) return (await whyNamespaceUnknown(this, error)) ?? error;
    // A request that Temporal refused was not carried out.
    const sentence = isPassing(error) ? call.underWay : '';
    return temporalErrorOf(error, endpointOf(this.client), sentence) ?? causeOfOurs(error);
  }

  /** True if a worker has asked for work in the last two minutes. */
  async hasWorker(options: CallOptions): Promise<boolean> {
    return this.call(asking, options, async () => (await pollersOf(this.client, this.taskQueue)) > 0);
  }
}

/** Unwraps our own errors that the SDK wraps, such as one of the encryption. */
function causeOfOurs(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof LabOperationsError ? cause : error;
}
