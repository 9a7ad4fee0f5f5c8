import {
  type ListRejectedEventsInput,
  progressQuery,
  type RejectedEventEntry,
  type ReplayRejectedEventsInput,
  type RejectedEventsPage,
  type ReplayRejectedEventsResult,
} from '../../protocol/operators/rejected-events.js';
import type { CallOptions } from '../call-options.js';
import type { TemporalCalls } from '../workflow-calls.js';
import { operate, type ProgressOptions } from './operator-calls.js';

/**
 * The verified events that could not be handled. They are in the worker's database; each command is a short workflow of
 * a worker that has one, and returns only ids, types, reasons and times. Every method waits for a worker, and throws
 * OperatorCallInvalid before anything is done, StoreNotConfigured, StoreUnavailable, OperatorCallInterrupted, and the errors of
 * {@link CallOptions}.
 */
export class RejectedEventOperations {
  readonly #calls: TemporalCalls;

  constructor(calls: TemporalCalls) {
    this.#calls = calls;
  }

  /**
   * A page of events, the latest first: by default the first hundred of those that wait. `next` is `before` of the next one.
   * Deadline: 30 seconds.
   */
  async listPage(input: ListRejectedEventsInput = {}, options: CallOptions = {}): Promise<RejectedEventsPage> {
    return operate(this.#calls, 'listRejectedEvents', input, options);
  }

  /** All of them, a run per page of `limit`. Deadline: 30 seconds a page. */
  async *list(
    input: ListRejectedEventsInput = {},
    options: CallOptions = {},
  ): AsyncGenerator<RejectedEventEntry, void, undefined> {
    for (let page = input; ;) {
      const { events, next } = await this.listPage(page, options);
      yield* events;
      if (next === undefined) return;
      page = { ...input, before: next };
    }
  }

  /** How many wait. Deadline: 30 seconds. */
  async count(options: CallOptions = {}): Promise<number> {
    return (await this.listPage({ limit: 1 }, options)).waiting;
  }

  /**
   * Handles events again after the cause has been fixed: one by its id, or waiting ones that match the filter, at most
   * `limit` (default 1,000, at most 10,000). An event that still cannot be handled keeps waiting, and is in `left`.
   * Deadline: 10 minutes; the replay itself may take a day.
   *
   * @throws RejectedEventNotFound, RejectedEventSettled for an id
   */
  async replay(
    which: ReplayRejectedEventsInput,
    options: ProgressOptions<ReplayRejectedEventsResult> = {},
  ): Promise<ReplayRejectedEventsResult> {
    return operate(this.#calls, 'replayRejectedEvents', which, options, progressQuery);
  }

  /**
   * Discards an event: its content is erased, its row stays with the reason. Repeating it is a success. Deadline: 30
   * seconds.
   *
   * @param input `reason`: for later readers, at most 500 characters; nothing personal
   * @throws RejectedEventNotFound, RejectedEventSettled
   */
  async discard(id: string, { reason }: { reason: string }, options: CallOptions = {}): Promise<void> {
    await operate(this.#calls, 'discardRejectedEvent', { id, reason }, options);
  }
}
