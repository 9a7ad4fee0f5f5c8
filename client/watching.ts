import { setTimeout as pause } from 'node:timers/promises';
import ms from 'ms';
import type { Duration } from '../protocol/policy-settings.js';
import { canonicalJson } from '../protocol/canonical-json.js';
import { millisecondsOf, type CallOptions, type Deadline } from './call-options.js';
import { NoWorker, TimedOut, WorkerFailing } from './errors.js';
import { code, grpcErrorOf, isPassing } from './temporal-errors.js';

/** How often a watched workflow is asked. Each question is a query: a billable action that wakes the workflow. */
export interface WatchOptions {
  /** The first pause, and the one after every change. Default 1 second. */
  minInterval?: Duration;
  /** The longest pause, reached by doubling while nothing changes. Default 1 minute. */
  maxInterval?: Duration;
  /**
   * The limit of watching; the iterator then rejects with TimedOut. Default `'none'`: until the watched workflow ends.
   */
  deadline?: Deadline;
  /** Ends the watching: the iterator rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Every state that differs from the one before, until one has an outcome. */
export async function* watchState<State extends { outcome?: unknown }>(
  ask: (options: CallOptions) => Promise<State>,
  { minInterval = '1s', maxInterval = '1m', deadline = 'none', signal }: WatchOptions,
): AsyncGenerator<State, void, undefined> {
  const endsAt = Date.now() + millisecondsOf(deadline);
  const shortest = milliseconds(minInterval);
  const longest = milliseconds(maxInterval);
  let interval = shortest;
  let seen = '';
  for (;;) {
    signal?.throwIfAborted();
    const left = endsAt - Date.now();
    if (left <= 0) throw new TimedOut('The deadline for watching has passed; what you watched continues.');
    const asking = { ...(left < longestQuestionMs && { deadline: left }), ...(signal && { signal }) };
    const state = await ask(asking).catch(rethrowUnlessTransient);
    const serialized = canonicalJson(state ?? null);
    const isNews = state !== undefined && serialized !== seen;
    interval = isNews ? shortest : Math.min(interval * 2, longest);
    if (isNews) {
      seen = serialized;
      yield state;
      if (state.outcome !== undefined) return;
    }
    await pause(Math.min(interval, Math.max(0, endsAt - Date.now())), undefined, signal && { signal }).catch(
      (error: unknown) => {
        signal?.throwIfAborted();
        throw error;
      },
    );
  }
}

/** A question that takes longer ends by its own default. */
const longestQuestionMs = 30_000;

/** A worker that is away, a Temporal that is busy or does not answer: a watch that lasts weeks asks again. */
function rethrowUnlessTransient(error: unknown): undefined {
  if (error instanceof TimedOut || error instanceof NoWorker || error instanceof WorkerFailing) return undefined;
  if (isPassing(error) || grpcErrorOf(error)?.code === code.failedPrecondition) return undefined;
  throw error;
}

/** A pause that is none would ask without end. */
function milliseconds(duration: Duration): number {
  const span = typeof duration === 'number' ? duration : ms(duration);
  if (span > 0) return span;
  throw new TypeError(`An interval must be a duration such as '5s' or milliseconds above 0, not ${duration}`);
}
