import { inspect } from 'node:util';
import ms from 'ms';
import type { Duration } from '../protocol/policy-settings.js';

/** How long something may take: a span of time, or `'none'` for no limit. */
export type Deadline = Duration | 'none';

/**
 * Options of every method of the client. Each may reject with TimedOut, and one that needs a workflow also with NoWorker,
 * WorkerFailing, TemporalUnreachable, TemporalRefused and UnexpectedFailure, in addition to the errors that it names.
 */
export interface CallOptions {
  /**
   * The time limit of the call, in milliseconds or as `'5s'`. The call then rejects with `TimedOut`, or at most two
   * seconds later with `NoWorker`, `WorkerFailing` or `TemporalUnreachable` if one of them is the reason. `'none'`
   * waits without a limit. Default: 30 seconds, unless the method says otherwise or `LabOperations` has a `deadline`.
   */
  deadline?: Deadline;
  /** Ends the call: it rejects with the signal's reason. Anything sent by then may still be carried out. */
  signal?: AbortSignal;
}

/** Long enough for a command that the lab service answers slowly, and short enough for a request that a person waits for. */
export const usualDeadline: Duration = '30s';

/** Infinity for `'none'`. */
export function millisecondsOf(deadline: Deadline): number {
  if (deadline === 'none') return Infinity;
  return millisecondsIn(deadline, "A deadline must be 'none',");
}

/** @param rule the beginning of the sentence that says what is wrong */
export function millisecondsIn(duration: Duration, rule: string): number {
  // In JavaScript it may be anything, such as a variable that was never set: `ms` throws its own error for that.
  const span = typeof duration === 'string' && duration.length > 0 ? ms(duration) : duration;
  if (typeof span === 'number' && span > 0) return span;
  throw new TypeError(`${rule} a duration such as '5s' or milliseconds above 0, not ${inspect(duration)}`);
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
