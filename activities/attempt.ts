import { activityInfo, ApplicationFailure, cancellationSignal, heartbeat } from '@temporalio/activity';
import type { CallOptions } from '../service/http.js';

/**
 * One attempt to create an order or a parsing job. The server gives an attempt up that shows no life or takes too long, and the next one
 * looks for its fruit; so an attempt that was held up must not create any more.
 */
export interface Attempt {
  /** Shows life, with how far it has come where that is told, and bounds the call that follows. */
  call(progress?: object): CallOptions;
  /** Throws when the server has given this attempt up, or will have before a creation can be answered. */
  demandFresh(): void;
}

/** @param creationTimeout milliseconds that one call may take */
export function startAttempt(creationTimeout: number): Attempt {
  const signal = cancellationSignal();
  const mustStartBy = givenUpAt() - creationTimeout;
  let shownAt = Date.now();
  const demandFresh = () => {
    const now = Date.now();
    if (!signal.aborted && now <= mustStartBy && now - shownAt <= creationTimeout) return;
    throw ApplicationFailure.retryable('This attempt was held up for too long to create anything', 'AttemptOutdated');
  };
  return {
    call(progress) {
      demandFresh();
      heartbeat(progress);
      shownAt = Date.now();
      return { timeoutMs: creationTimeout };
    },
    demandFresh,
  };
}

/** When the server gives this attempt up: its own time is over, or that of all attempts together. */
function givenUpAt(): number {
  const { startToCloseTimeoutMs, scheduleToCloseTimeoutMs, scheduledTimestampMs } = activityInfo();
  const ownEnd = Date.now() + startToCloseTimeoutMs;
  return scheduleToCloseTimeoutMs > 0 ? Math.min(ownEnd, scheduledTimestampMs + scheduleToCloseTimeoutMs) : ownEnd;
}
