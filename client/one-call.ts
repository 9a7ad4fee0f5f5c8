import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Client,
  QueryRejectedError,
  type WorkflowClient,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { QueryDefinition, UpdateDefinition } from '@temporalio/common';
import type { OfActor } from '../protocol/ids.js';
import type { Attention, RaisedAttention } from '../protocol/attention.js';
import { askAgain } from '../protocol/failure-details.js';
import { after, type AbandonedCalls, DeadlinePassed } from './call-options.js';
import { code, hasCode, updateEndOf } from './temporal-errors.js';
import { exists } from './workflow-runs.js';

/** A wait consists of shorter ones, so nothing is held for weeks and a dead connection is noticed. */
const longestWaitMs = 60_000;

/** A few seconds in all, then a workflow that has moved on counts as one that cannot be read. */
const longestPauseMs = 2_000;

/** Temporal waits 10 seconds for the worker that has the workflow in memory, then asks any other. It hands out no query twice. */
const longestQueryMs = 20_000;

/** The server ends a long poll a second before its deadline. */
const latePollMs = 2_000;

/** The part of Temporal that a call uses. */
export interface TemporalAccess {
  readonly client: Client;
  /** Its queries are refused at once if the workflow has ended. */
  readonly openWorkflows: WorkflowClient;
  readonly taskQueue: string;
  /** The sender of every command. */
  readonly actor: OfActor;
  /** The requests of calls that have ended early. */
  readonly abandoned: AbandonedCalls;
}

/** Everything that one call of a public method does. */
export class OneCall {
  underWay: string;
  /** The workflow that is waited for, if there is one. */
  workflowId: string | undefined;
  /** True if the lab service is waited for, not Temporal. */
  isWithService = false;
  /** How often Temporal has ended the call's update because it failed the workflow task that took it to a worker. */
  failedTasks = 0;
  private readonly calls: TemporalAccess;
  private readonly milliseconds: number;
  private readonly endsAt: number;
  private readonly begunAt = performance.now();
  private readonly ended = new AbortController();

  constructor(calls: TemporalAccess, sentence: string, milliseconds: number) {
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
  async service<T>(ask: (abort: { signal: AbortSignal }) => Promise<T>): Promise<T> {
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

  /**
   * Sends a command to the workflow, with its actor, and waits for its answer.
   * @param ended the answer if the workflow has ended: an update is then "not found", as is one of a workflow that never existed
   */
  async update<Answer, Argument>(
    workflow: WorkflowHandle,
    definition: UpdateDefinition<Answer, [Argument]>,
    argument: Argument,
    ended?: () => Promise<Answer>,
  ): Promise<Answer> {
    this.waitFor(workflow);
    // Also without an actor there is an argument: a worker that requires encryption refuses an update with nothing that could be encrypted.
    const command = { ...this.calls.actor, ...argument };
    try {
      return await this.untilAccepted((updateId) =>
        workflow.executeUpdate(definition.name, { args: [command], updateId }),
      );
    } catch (error) {
      if (ended && error instanceof WorkflowNotFoundError && (await exists(workflow))) return ended();
      throw error;
    }
  }

  /** Sends an update, and sends it again under the same ID while Temporal ends it before the workflow has accepted it. */
  async untilAccepted<Answer>(send: (updateId: string) => Promise<Answer>): Promise<Answer> {
    const updateId = randomUUID();
    for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await send(updateId);
      } catch (error) {
        if (updateEndOf(error) !== 'unaccepted') throw error;
        if (hasCode(error, code.failedPrecondition)) this.failedTasks += 1;
        await pause(pauseMs, undefined, { signal: this.signal });
      }
    }
  }

  /**
   * Asks the workflow for its state. That of a completed one is its result, without what only a later run needs: no worker has to read
   * it, and perhaps none of its release is left.
   */
  async state<State extends object>(workflow: WorkflowHandle, definition: QueryDefinition<State>): Promise<State> {
    const { workflowId } = workflow;
    try {
      return await this.query(this.calls.openWorkflows.getHandle(workflowId), definition);
    } catch (error) {
      if (!(error instanceof QueryRejectedError)) throw error;
      const { status, runId } = await workflow.describe();
      if (status.name !== 'COMPLETED') return this.query(workflow, definition);
      const ended = this.calls.client.workflow.getHandle(workflowId, runId);
      return stateIn(await this.result<Result<State>>(ended, this.underWay));
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
      this.endsAt === Infinity ? work() : this.calls.client.withDeadline(this.endsAt + latePollMs, work),
    );
    void this.calls.abandoned.track(whole);
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
      // Every request of the part listens to it, and Temporal's client never stops listening.
      setMaxListeners(0, part.signal);
      try {
        return await this.during(part, longestMs, work);
      } catch (error) {
        // By the abort of a request; a pause between its attempts is ended by the deadline only.
        if (!part.signal.aborted || !hasCode(error, code.cancelled, code.deadlineExceeded)) throw error;
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
        this.calls.client.withDeadline(Date.now() + longestMs + latePollMs, work),
      );
    } finally {
      disarm();
      this.signal.removeEventListener('abort', isEnded);
    }
  }
}

type ForLaterRuns = (typeof forLaterRuns)[number];

const forLaterRuns = [
  'version',
  'policy',
  'handedOver',
  'announced',
  'cancelled',
  'raised',
  'replacements',
  'answers',
  'criticalResults',
  'reminded',
  'labTestId',
  'labAccountId',
  'madeElsewhere',
] as const;

type Result<State> = State &
  Partial<Record<ForLaterRuns, unknown>> & { attention?: (Attention<string> & Partial<RaisedAttention<string>>)[] };

/** The last state, from the result of a workflow. */
export function stateIn<State extends object>(result: Result<State>): State {
  const state = { ...result };
  for (const name of forLaterRuns) delete state[name];
  const { attention } = state;
  return attention ? { ...state, attention: attention.map(({ key: _key, time: _time, ...shown }) => shown) } : state;
}
