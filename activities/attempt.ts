import {
  activityInfo,
  ApplicationFailure,
  cancellationSignal,
  CancelledFailure,
  Context,
  heartbeat,
} from '@temporalio/activity';
import type { CallOptions } from '../service/http/calls.js';
import { defaultSettling } from '../protocol/settling.js';
import { markOf, missingKey, unwrapped } from '../protocol/unencrypted.js';

/**
 * One attempt to create an order or a parsing job. The server gives up an attempt that sends no heartbeats or takes too
 * long, and the next one looks for what it may have created. So an attempt that was delayed must not create anything
 * any more.
 */
export interface Attempt {
  /** The details of the previous attempt's last heartbeat. Undefined if there was none, or its worker died. */
  readonly earlier: unknown;
  /** Sends a heartbeat, with the progress given last, and bounds the call that follows. */
  call(progress?: object): CallOptions;
  /** Throws when the server has given this attempt up, or will have before a creation can be answered. */
  requireFresh(): void;
}

/** @param creationTimeout milliseconds that one call may take */
export function startAttempt(creationTimeout: number): Attempt {
  const signal = cancellationSignal();
  const mustStartBy = givenUpAt() - creationTimeout;
  const earlier = lastHeartbeat();
  let shownAt = Date.now();
  let latest = earlier;
  const requireFresh = () => {
    const now = Date.now();
    if (!signal.aborted && now <= mustStartBy && now - shownAt <= creationTimeout) return;
    throw ApplicationFailure.retryable('This attempt was delayed for too long to be sent', 'AttemptOutdated');
  };
  return {
    earlier,
    call(progress) {
      requireFresh();
      latest = progress ?? latest;
      heartbeat(latest);
      shownAt = Date.now();
      return { timeoutMs: creationTimeout };
    },
    requireFresh,
  };
}

/**
 * True if no attempt of this activity can have come before. A reset by an operator counts attempts from 1 again, but it keeps the last
 * heartbeat's details, or at least the time at which the activity was first scheduled.
 */
export function isFirstOfActivity(): boolean {
  const { attempt, scheduledTimestampMs, currentAttemptScheduledTimestampMs } = activityInfo();
  const heartbeatDetails: unknown = activityInfo().heartbeatDetails;
  const isScheduledOnce = currentAttemptScheduledTimestampMs - scheduledTimestampMs < sameMomentMs;
  return attempt === 1 && heartbeatDetails === undefined && isScheduledOnce;
}

/** A server may note both times one after the other. */
const sameMomentMs = 1_000;

/**
 * A reset skips the pause in which what an earlier attempt has sent settles: this makes up for it.
 * @param settling milliseconds
 * @throws ApplicationFailure `AttemptReset`, to be retried after that time
 */
export function requireNoReset(settling: number): void {
  if (activityInfo().attempt > 1 || isFirstOfActivity()) return;
  throw ApplicationFailure.create({
    message: 'An operator has reset this activity, and its last request may still be in progress',
    type: 'AttemptReset',
    nonRetryable: false,
    nextRetryDelay: settling,
  });
}

/**
 * When this attempt was due, by the server's clock, in milliseconds since the epoch. The times of workflows and runs are the server's, too,
 * so a comparison with them does not depend on the clock of this worker.
 */
export function attemptDueAt(): number {
  return activityInfo().currentAttemptScheduledTimestampMs;
}

/** When the server gives this attempt up: its own time is over, or that of all attempts together. */
function givenUpAt(): number {
  const info = activityInfo();
  const { startToCloseTimeoutMs, scheduleToCloseTimeoutMs } = info;
  const ownEnd = Date.now() + startToCloseTimeoutMs;
  if (scheduleToCloseTimeoutMs <= 0) return ownEnd;
  const end = info.scheduledTimestampMs + scheduleToCloseTimeoutMs;
  // The clock of this worker may be behind; the difference of two of the server's times does not depend on it.
  const passedMs = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
  return Math.min(ownEnd, end, Date.now() + scheduleToCloseTimeoutMs - passedMs);
}

/** Milliseconds between two heartbeats, also between two that reach the server (workers/worker/queues.ts). */
export const heartbeatEvery = 5_000;

/** Sends heartbeats until the work has ended. */
export async function heartbeating<T>(work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  context.heartbeat();
  const timer = setInterval(() => context.heartbeat(), heartbeatEvery);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * Sends heartbeats until the calls have ended, and ends them when their activity is cancelled, when the server has given
 * it up, and when the worker stops.
 *
 * @throws ApplicationFailure `AnswerLost` when the worker stops: the service may still be at work, as after any lost
 * answer, so the next attempt comes when it has settled
 */
export async function endingWithActivity<T>(calls: (options: CallOptions) => Promise<T>): Promise<T> {
  const signal = cancellationSignal();
  try {
    return await heartbeating(() => calls({ signal }));
  } catch (error) {
    if (!(error instanceof CancelledFailure) || error.message !== 'WORKER_SHUTDOWN') throw error;
    throw ApplicationFailure.create({
      message: 'The worker stopped before the service had answered',
      type: 'AnswerLost',
      nonRetryable: false,
      nextRetryDelay: defaultSettling,
    });
  }
}

/**
 * Activities whose input may have been marked (protocol/unencrypted.ts). Unencrypted input is taken in either mode: only workers write
 * it, and what was scheduled before there were keys must still be done.
 */
export function takingMarkedInput<Activities extends object>(activities: Activities): Activities {
  const taking = Object.entries(activities).map(([name, activity]: [string, (...input: unknown[]) => unknown]) => [
    name,
    (...input: unknown[]) => activity(...input.map(taken)),
  ]);
  return Object.fromEntries(taking) as Activities;
}

function taken(input: unknown): unknown {
  const mark = markOf(input);
  if (mark?.fault !== 'unreadable') return unwrapped(input);
  const message = `The input cannot be decrypted with the keys of this worker: the activity waits for a worker with ${missingKey(mark)}`;
  throw ApplicationFailure.retryable(message, 'EncryptionKeyUnknown');
}

/** The details of the previous attempt's last heartbeat; undefined unless somebody with the keys has written them. */
function lastHeartbeat(): unknown {
  const details: unknown = activityInfo().heartbeatDetails;
  return markOf(details)?.refused ? undefined : unwrapped(details);
}
