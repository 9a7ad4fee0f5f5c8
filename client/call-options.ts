import { inspect } from 'node:util';
import { durationMs, type Duration } from '../protocol/time.js';

/** How long something may take: a span of time, or `'none'` for no limit. */
export type Deadline = Duration | 'none';

/**
 * Options of every method of the client. Each may reject with TimedOut, and one that needs a workflow also with NoWorker,
 * WorkerFailing, TemporalUnreachable, TemporalRefused, CallTooLarge and UnexpectedFailure, in addition to the errors that it names.
 */
export interface CallOptions {
  /**
   * The time limit of the call, with its unit: `'5s'`. The call then rejects with `TimedOut`, or at most two
   * seconds later with `NoWorker`, `WorkerFailing` or `TemporalUnreachable` if one of them is the reason. `'none'`
   * waits without a limit. Default: 30 seconds, unless the method says otherwise or `LabOperations` has a `deadline`.
   */
  deadline?: Deadline;
  /** Ends the call: it rejects with the signal's reason. Anything sent by then may still be carried out. */
  signal?: AbortSignal;
}

/** Long enough for a command that the lab service answers slowly, and short enough for a request that a person waits for. */
export const defaultDeadline: Duration = '30s';

/** Infinity for `'none'`. */
export function millisecondsOf(deadline: Deadline): number {
  if (deadline === 'none') return Infinity;
  return millisecondsIn(deadline, "A deadline must be 'none',");
}

/** @param rule the beginning of the sentence that says what is wrong */
export function millisecondsIn(duration: Duration, rule: string, least = 1): number {
  const span = durationMs(duration);
  if (span !== undefined && span >= least) return span;
  throw new TypeError(
    `${rule} a duration with its unit, such as '5s', of at least ${least}ms, not ${inspect(duration)}`,
  );
}

/** Node fires a longer timer at once. */
export const longestTimer = 2 ** 31 - 1;

/** Calls back after a span of any length, unless cancelled by the function that this returns. */
export function after(milliseconds: number, callback: () => void): () => void {
  if (milliseconds === Infinity) return () => undefined;
  const endsAt = performance.now() + milliseconds;
  let timer: NodeJS.Timeout;
  const arm = (): void => {
    const left = endsAt - performance.now();
    timer = left > longestTimer ? setTimeout(arm, longestTimer) : setTimeout(callback, Math.max(0, left));
  };
  arm();
  return () => clearTimeout(timer);
}

/** The time of a call is up. */
export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

/** Rejects if the work takes longer; the work itself continues, and its result is ignored. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlinePassed(`No answer within ${milliseconds} ms`)), milliseconds);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The calls to Temporal that their caller no longer waits for. One may still pause before its next attempt; if that finds its
 * connection closed, it throws where nobody can catch it.
 */
export class AbandonedCalls {
  private readonly unsettled = new Set<Promise<unknown>>();

  /** Remembers a call until it settles. */
  track<T>(call: Promise<T>): Promise<T> {
    const settled: Promise<unknown> = call.catch(() => undefined).finally(() => this.unsettled.delete(settled));
    this.unsettled.add(settled);
    return call;
  }

  /** Waits until no attempt is still to come: a few seconds at most. */
  async settled(): Promise<void> {
    await Promise.all(this.unsettled);
  }
}
