import { setTimeout as pause } from 'node:timers/promises';
import { isGrpcServiceError, isRetryableError, ServiceError } from '@temporalio/client';
import ms from 'ms';
import type { Duration } from '../workflows/policy-settings.js';
import { canonicalJson } from '../workflows/canonical-json.js';

/** How often a watched workflow is asked. Each question is a query: a billable action that wakes the workflow. */
export interface WatchOptions {
  /** The first pause, and the one after every change. Default 1 second. */
  minInterval?: Duration;
  /** The longest pause, reached by doubling while nothing changes. Default 1 minute. */
  maxInterval?: Duration;
  /** Ends the watching: the iterator rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** Every state that differs from the one before, until one has an outcome. */
export async function* watchState<State extends { outcome?: unknown }>(
  ask: () => Promise<State>,
  { minInterval = '1s', maxInterval = '1m', signal }: WatchOptions,
): AsyncGenerator<State, void, undefined> {
  const shortest = milliseconds(minInterval);
  const longest = milliseconds(maxInterval);
  let interval = shortest;
  let seen = '';
  for (;;) {
    signal?.throwIfAborted();
    const state = await ask().catch(unlessPassing);
    const said = canonicalJson(state ?? null);
    const isNews = state !== undefined && said !== seen;
    interval = isNews ? shortest : Math.min(interval * 2, longest);
    if (isNews) {
      seen = said;
      yield state;
      if (state.outcome !== undefined) return;
    }
    await pause(interval, undefined, signal && { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
  }
}

/** gRPC's numbers of DEADLINE_EXCEEDED and FAILED_PRECONDITION: what a query ends with while no worker polls. */
const withoutWorker: readonly number[] = [4, 9];

/** A worker that is away, a server that is busy: a watch that lasts weeks asks again. */
function unlessPassing(error: unknown): undefined {
  const cause = error instanceof ServiceError ? error.cause : error;
  if (isGrpcServiceError(cause) && (isRetryableError(cause) || withoutWorker.includes(cause.code))) return undefined;
  throw error;
}

/** A pause that is none would ask without end. */
function milliseconds(duration: Duration): number {
  const span = typeof duration === 'number' ? duration : ms(duration);
  if (span > 0) return span;
  throw new TypeError(`An interval must be a duration such as '5s' or milliseconds above 0, not ${duration}`);
}
