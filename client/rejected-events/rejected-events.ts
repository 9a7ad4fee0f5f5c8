import { randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
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
} from '../../workflows/rejected-events/messages.js';
import type { Duration } from '../../workflows/policy-settings.js';
import { inWords } from '../workflow-calls.js';
import { rejectedEventWords } from './errors.js';

/** Somebody waits: what no worker takes by then is not done behind their back hours later. */
const quickly: Duration = '10 minutes';

/** A page of fifty may take twenty minutes where everything is slow, and there may be many. */
const patiently: Duration = '1 day';

/**
 * The verified events that could not be handled. They are in the worker's database; each command is a short workflow of a
 * worker that has one, and tells ids, types, reasons and times alone. Every method waits for a worker, and throws
 * StoreNotConfigured, StoreUnavailable and RejectedEventsInterrupted.
 */
export class RejectedEventOperations {
  private readonly temporal: Client;
  private readonly taskQueue: string;

  constructor(temporal: Client, taskQueue: string) {
    this.temporal = temporal;
    this.taskQueue = taskQueue;
  }

  /**
   * A page of events, the latest first: by default the first hundred of those that wait. `next` is `before` of the next one.
   * @throws RejectedEventsInvalid
   */
  async list(input: ListRejectedEventsInput = {}): Promise<RejectedEventsPage> {
    return this.run<RejectedEventsPage>(listRejectedEventsName, 'list', input, quickly);
  }

  /** All of them, a run per page of `limit`. */
  async *all(input: ListRejectedEventsInput = {}): AsyncGenerator<RejectedEventEntry, void, undefined> {
    for (let page = input; ;) {
      const { events, next } = await this.list(page);
      yield* events;
      if (next === undefined) return;
      page = { ...input, before: next };
    }
  }

  /** How many wait. */
  async count(): Promise<number> {
    return (await this.list({ limit: 1 })).waiting;
  }

  /**
   * Handles events once more, after what was wrong has been mended: one by its id, or those that wait and fit the filter,
   * at most `limit` (default 1,000, at most 10,000). One that nobody takes goes on waiting, and is in `left`.
   * @throws RejectedEventNotFound, RejectedEventSettled for an id; RejectedEventsInvalid
   */
  async replay(which: string | (RejectedEventFilter & { limit?: number })): Promise<ReplayRejectedEventsResult> {
    const input: ReplayRejectedEventsInput = typeof which === 'string' ? { id: which } : which;
    return this.run<ReplayRejectedEventsResult>(replayRejectedEventsName, 'replay', input, patiently);
  }

  /**
   * Gives an event up: what it held is erased, its row stays with the reason. The same once more is success.
   * @param reason for whoever looks later, at most 500 characters; nothing personal
   * @throws RejectedEventNotFound, RejectedEventSettled, RejectedEventsInvalid
   */
  async discard(id: string, reason: string): Promise<void> {
    const input: DiscardRejectedEventInput = { id, reason };
    await this.run(discardRejectedEventName, 'discard', input, quickly);
  }

  private async run<Result>(
    name: string,
    command: Parameters<typeof rejectedEventsId>[0],
    input: object,
    within: Duration,
  ): Promise<Result> {
    return inWords(rejectedEventWords, async () => {
      const started = await this.temporal.workflow.start(name, {
        workflowId: rejectedEventsId(command, randomUUID()),
        taskQueue: this.taskQueue,
        args: [input],
        workflowExecutionTimeout: within,
        staticSummary: `Rejected events: ${command}`,
      });
      return (await started.result()) as Result;
    });
  }
}
