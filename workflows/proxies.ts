import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/activities.js';
import { settlingAfter } from './order/policy.js';

/**
 * Every timeout and retry number, with its reason. What may be repeated at all is decided where the call fails
 * (activities/failures.ts); here is only how patiently.
 */

/** One call of the service takes seconds; an activity makes a few. Longer than that, its worker is gone. */
const oneExchange = '2 minutes';

/** Reads: nothing is lost by asking again soon, and commands wait meanwhile; if the service stays down the order is read later. */
export const reading = proxyActivities<Pick<Activities, 'readOrder' | 'findConnection'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** What a run is for must be known before it does anything: for ever, with the same pauses. */
export const readingPatiently = proxyActivities<Pick<Activities, 'readChain'>>({
  startToCloseTimeout: oneExchange,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Commands: somebody waits for the answer. After three minutes an outage is reported to the caller, who knows better
 * whether to try again; nothing is lost by that, because every command looks before it acts.
 */
export const commanding = proxyActivities<Pick<Activities, 'registerKit' | 'cancelOrder'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '3 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds' },
});

/** A person waits for the link on a screen: after half a minute an outage is reported, and asking again is harmless. */
export const linking = proxyActivities<Pick<Activities, 'createLinkToken'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

/**
 * A code works once, so that nothing here is tried twice: the activity itself waits for a service that refuses
 * connections, and whatever else goes wrong leaves it open whether the code was used. The call may take 65 seconds
 * after 20 of waiting, and the look at the user a moment more.
 */
export const completingMfa = proxyActivities<Pick<Activities, 'completeMfa'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '3 minutes',
  // It shows life every 5 seconds: longer, and its worker is gone.
  heartbeatTimeout: '20 seconds',
  retry: { maximumAttempts: 1 },
});

/** Signals to our own workflows: Temporal comes back, and the signal must not be lost; so for ever. */
export const handingOver = proxyActivities<Pick<Activities, 'handOver' | 'forwardOrder' | 'joinChain'>>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Reconciliation: nobody waits, and a pass that fails is taken up by the next one. A page has 100 signals at ten a second
 * and two calls of the service; it shows life at every one.
 */
export const reconciling = proxyActivities<Pick<Activities, 'reconcilePage'>>({
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes' },
});

/** Each call of an attempt is preceded by a heartbeat and bounded by the creation's timeout; this is what a slow worker gets. */
const heartbeatMargin = 10_000;

/**
 * Creations are not idempotent at the service. Every attempt looks for the order first; the interval before an attempt
 * is longer than the request may take, so that a creation whose answer was lost, or whose worker died, is seen by the
 * next look. The looking and the creation together are one attempt: it may page for a minute and create once.
 *
 * @param creationTimeout milliseconds, see `OrderPolicy`
 * @param patience milliseconds until the workflow is told that it did not succeed
 */
export function creating(creationTimeout: number, patience: number) {
  return proxyActivities<Pick<Activities, 'createKitOrder' | 'replaceKitOrder'>>({
    startToCloseTimeout: creationTimeout + 120_000,
    scheduleToCloseTimeout: patience,
    heartbeatTimeout: creationTimeout + heartbeatMargin,
    retry: { initialInterval: settlingAfter(creationTimeout), backoffCoefficient: 1.5, maximumInterval: '10 minutes' },
  });
}

/**
 * Notifications: the receiver may be down for days. Retried gently until the policy's deadline; then a person is asked
 * to look and the same batch is tried again.
 */
export function notifying(deadline: number) {
  return proxyActivities<Pick<Activities, 'notify'>>({
    startToCloseTimeout: oneExchange,
    scheduleToCloseTimeout: deadline,
    // A delivery makes two calls of 15 seconds at most, and shows life before each: longer, and its worker is gone.
    heartbeatTimeout: '45 seconds',
    // Nobody waits for a delivery that is given up: the run is ending, and what comes in meanwhile must not be lost.
    cancellationType: 'TRY_CANCEL',
    retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  });
}
