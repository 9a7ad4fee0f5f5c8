import { randomUUID } from 'node:crypto';
import {
  discardRejectedEventName,
  listRejectedEventsName,
  rejectedEventsId,
  replayRejectedEventsName,
  type DiscardRejectedEventInput,
  type ListRejectedEventsInput,
  type RejectedEventEntry,
  type RejectedEventFilter,
  type RejectedEventsPage,
  type ReplayRejectedEventsInput,
  type ReplayRejectedEventsResult,
} from '../../protocol/rejected-events.js';
import type { Duration } from '../../protocol/durations.js';
import type { CallOptions, Deadline } from '../call-options.js';
import type { TemporalCalls } from '../workflow-calls.js';
import { rejectedEventErrorMap } from './errors.js';

/** Somebody waits: a command that no worker has taken by then must not run hours later. */
const quickly: Duration = '10 minutes';

/** A page of fifty may take twenty minutes where everything is slow, and there may be many. */
const patiently: Duration = '1 day';

const whileListing = 'The list is read within ten minutes, or not at all; nothing is changed by it: ask again.';
const whileDiscarding =
  'The event is discarded within ten minutes, or not at all: send the same command again, which is success if it was.';
const whileReplaying = 'The replay continues, for a day at most: list what is still waiting before you replay again.';

/** A hundred events are handled in seconds, ten thousand in minutes. */
const replayDeadline: Deadline = '10 minutes';

/**
 * The verified events that could not be handled. They are in the worker's database; each command is a short workflow of
 * a worker that has one, and returns only ids, types, reasons and times. Every method waits for a worker, and throws
 * StoreNotConfigured, StoreUnavailable, RejectedEventsInterrupted, and the errors of {@link CallOptions}.
 */
export class RejectedEventOperations {
  readonly #calls: TemporalCalls;

  constructor(calls: TemporalCalls) {
    this.#calls = calls;
  }

  /**
   * A page of events, the latest first: by default the first hundred of those that wait. `next` is `before` of the next one.
   * Deadline: 30 seconds.
   * @throws RejectedEventsInvalid
   */
  async list(input: ListRejectedEventsInput = {}, options: CallOptions = {}): Promise<RejectedEventsPage> {
    const run = { name: listRejectedEventsName, command: 'list', within: quickly, underWay: whileListing } as const;
    return this.run<RejectedEventsPage>(run, input, options);
  }

  /** All of them, a run per page of `limit`. Deadline: 30 seconds a page. */
  async *all(
    input: ListRejectedEventsInput = {},
    options: CallOptions = {},
  ): AsyncGenerator<RejectedEventEntry, void, undefined> {
    for (let page = input; ;) {
      const { events, next } = await this.list(page, options);
      yield* events;
      if (next === undefined) return;
      page = { ...input, before: next };
    }
  }

  /** How many wait. Deadline: 30 seconds. */
  async count(options: CallOptions = {}): Promise<number> {
    return (await this.list({ limit: 1 }, options)).waiting;
  }

  /**
   * Handles events again after the cause has been fixed: one by its id, or waiting ones that match the filter, at most
   * `limit` (default 1,000, at most 10,000). An event that still cannot be handled keeps waiting, and is in `left`.
   * Deadline: 10 minutes; the replay itself may take a day.
   *
   * @throws RejectedEventNotFound, RejectedEventSettled for an id; RejectedEventsInvalid
   */
  async replay(
    which: string | (RejectedEventFilter & { limit?: number }),
    options: CallOptions = {},
  ): Promise<ReplayRejectedEventsResult> {
    const input: ReplayRejectedEventsInput = typeof which === 'string' ? { id: which } : which;
    const run = {
      name: replayRejectedEventsName,
      command: 'replay',
      within: patiently,
      underWay: whileReplaying,
    } as const;
    return this.run<ReplayRejectedEventsResult>({ ...run, defaultDeadline: replayDeadline }, input, options);
  }

  /**
   * Discards an event: its content is erased, its row stays with the reason. Repeating it is a success. Deadline: 30
   * seconds.
   *
   * @param reason for later readers, at most 500 characters; nothing personal
   * @throws RejectedEventNotFound, RejectedEventSettled, RejectedEventsInvalid
   */
  async discard(id: string, reason: string, options: CallOptions = {}): Promise<void> {
    const input: DiscardRejectedEventInput = { id, reason };
    const run = {
      name: discardRejectedEventName,
      command: 'discard',
      within: quickly,
      underWay: whileDiscarding,
    } as const;
    await this.run(run, input, options);
  }

  private async run<Result>(
    { name, command, within, ...kind }: Run,
    input: object,
    options: CallOptions,
  ): Promise<Result> {
    const { client, taskQueue } = this.#calls;
    return this.#calls.call({ errors: rejectedEventErrorMap, ...kind }, options, async (call) => {
      const started = await client.workflow.start(name, {
        workflowId: rejectedEventsId(command, randomUUID()),
        taskQueue,
        args: [input],
        workflowExecutionTimeout: within,
        staticSummary: `Rejected events: ${command}`,
      });
      return call.result<Result>(started, kind.underWay);
    });
  }
}

interface Run {
  name: string;
  command: Parameters<typeof rejectedEventsId>[0];
  /** How long the workflow may run. */
  within: Duration;
  underWay: string;
  defaultDeadline?: Deadline;
}
