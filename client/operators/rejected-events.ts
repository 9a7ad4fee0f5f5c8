import {
  type ListedRejectedEvents,
  progressQuery,
  type RejectedEventEntry,
  type ReplayRejectedEventsInput,
  type ReplayRejectedEventsResult,
} from '../../protocol/operators/rejected-events.js';
import type { CallOptions } from '../call-options.js';
import type { TemporalCalls } from '../workflow-calls.js';
import type { ListOptions } from '../workflow-list.js';
import { operate, type ProgressOptions } from './operator-calls.js';

/** The most events in one answer. */
const longestAnswer = 1_000;

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

  /** Events, the latest first: by default those that wait. Each thousand of them is a run. Deadline: 30 seconds a run. */
  async *list(
    filter: ListedRejectedEvents = {},
    { page, ...options }: ListOptions = {},
  ): AsyncGenerator<RejectedEventEntry, void, undefined> {
    let left = page?.limit ?? Infinity;
    for (let next = page?.after; ;) {
      const part = { ...filter, ...(next !== undefined && { after: next }), limit: Math.min(left, longestAnswer) };
      const answer = await operate(this.#calls, 'listRejectedEvents', part, options);
      yield* answer.events;
      left -= answer.events.length;
      next = answer.next;
      if (next === undefined) return;
      if (left === 0) return page?.onNext(next);
    }
  }

  /** How many wait. Deadline: 30 seconds. */
  async count(options: CallOptions = {}): Promise<number> {
    const { waiting } = await operate(this.#calls, 'listRejectedEvents', { limit: 1 }, options);
    return waiting;
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
