import { setTimeout as pause } from 'node:timers/promises';
import ms from 'ms';
import type { OrderState } from '../workflows/order/messages.js';
import type { Duration } from '../workflows/order/policy.js';
import { canonicalJson } from '../workflows/canonical-json.js';

/** How often a watched order is asked. Each question is a query: a billable action that wakes the workflow. */
export interface WatchOptions {
  /** The first pause, and the one after every change. Default 1 second. */
  minInterval?: Duration;
  /** The longest pause, reached by doubling while nothing changes. Default 1 minute. */
  maxInterval?: Duration;
  /** Ends the watching: the iterator rejects with the signal's reason. */
  signal?: AbortSignal;
}

export async function* watchState(
  ask: () => Promise<OrderState>,
  { minInterval = '1s', maxInterval = '1m', signal }: WatchOptions,
): AsyncGenerator<OrderState, void, undefined> {
  const shortest = milliseconds(minInterval);
  let interval = shortest;
  let seen = '';
  for (;;) {
    signal?.throwIfAborted();
    const state = await ask();
    const said = canonicalJson(state);
    interval = said === seen ? Math.min(interval * 2, milliseconds(maxInterval)) : shortest;
    if (said !== seen) yield state;
    seen = said;
    if (state.outcome !== undefined) return;
    await pause(interval, undefined, signal && { signal });
  }
}

function milliseconds(duration: Duration): number {
  return typeof duration === 'number' ? duration : ms(duration);
}
