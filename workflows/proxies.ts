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
export const reading = proxyActivities<Pick<Activities, 'readOrder' | 'readParsingJob' | 'readAppointment'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** What a run is for must be known before it does anything: for ever, with the same pauses. */
export const readingPatiently = proxyActivities<Pick<Activities, 'readChain' | 'identifyJob' | 'identifyAppointment'>>({
  startToCloseTimeout: oneExchange,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Commands: somebody waits for the answer. After three minutes an outage is reported to the caller, who knows better
 * whether to try again; nothing is lost by that, because every command looks before it acts.
 */
export const commanding = proxyActivities<
  Pick<
    Activities,
    | 'registerKit'
    | 'cancelOrder'
    | 'undoDeletion'
    | 'listWebhooks'
    | 'readWebhookSecret'
    | 'fingerprintWebhookSecret'
    | 'deleteWebhook'
  >
>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '3 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds' },
});

/**
 * Changes of webhook endpoints that are not idempotent at the service: as patient as a command, but what a lost answer was
 * about may still be under way for half a minute, and the next attempt looks for it.
 */
export const settingWebhooks = proxyActivities<Pick<Activities, 'registerWebhook' | 'rotateWebhookSecret'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '3 minutes',
  retry: { initialInterval: '35 seconds', backoffCoefficient: 1 },
});

/** A person waits for the link on a screen: after half a minute an outage is reported, and asking again is harmless. */
export const linking = proxyActivities<Pick<Activities, 'createLinkToken'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

/** Looks for a connection: commands wait meanwhile, and what is not answered now is asked again by the link itself. */
export const looking = proxyActivities<Pick<Activities, 'findConnection'>>({
  startToCloseTimeout: '20 seconds',
  scheduleToCloseTimeout: '25 seconds',
  // More than five do not fit into that time. Said all the same, because the server that skips time can lose sight of it.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 5 },
});

/**
 * A code works once, so that nothing here is tried twice: the activity itself waits for a service that refuses
 * connections, and whatever else goes wrong leaves it open whether the code was used. At most 20 seconds of waiting and
 * five refused connections of 5 seconds, 65 for the call, and 10 for the look at the user.
 */
export const completingMfa = proxyActivities<Pick<Activities, 'completeMfa'>>({
  // What has not begun by then has certainly not been sent, and must not begin beside the next code.
  scheduleToStartTimeout: '30 seconds',
  startToCloseTimeout: '150 seconds',
  // It shows life every 5 seconds: longer, and its worker is gone.
  heartbeatTimeout: '20 seconds',
  retry: { maximumAttempts: 1 },
});

/** Signals to our own workflows: Temporal comes back, and the signal must not be lost; so for ever. */
export const handingOver = proxyActivities<
  Pick<Activities, 'handOver' | 'forwardOrder' | 'joinChain' | 'handOverReport'>
>({
  startToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Temporal's own list: it comes back, and what runs must be known before anything is deleted; so for ever, but only half a
 * minute while somebody waits.
 */
export function searching(someoneWaits: boolean) {
  return proxyActivities<Pick<Activities, 'findRunningWork' | 'findEarlierDeletion'>>({
    startToCloseTimeout: '30 seconds',
    ...(someoneWaits && { scheduleToCloseTimeout: '30 seconds' }),
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });
}

/**
 * Another workflow's command, which reports an outage of the service after three minutes; half a minute more is for
 * Temporal. Somebody may wait for the deletion: a second attempt is for a worker that was lost, not for an outage.
 */
export const cancellingWork = proxyActivities<Pick<Activities, 'cancelWork'>>({
  startToCloseTimeout: '210 seconds',
  scheduleToCloseTimeout: '5 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds' },
});

/** How long one round of attempts lasts. */
export type Patience = '30 seconds' | '1 hour' | '1 day';

/**
 * Calls about a user that are repeated until the service answers: half a minute while somebody waits, then an hour until
 * a person is asked to look, then a day, because a round costs history and an outage of that length has its people.
 */
export function callingAboutUser(patience: Patience) {
  const patiently = {
    startToCloseTimeout: oneExchange,
    scheduleToCloseTimeout: patience,
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  } as const;
  // A look that is not needed any more holds nobody up.
  const { readUser } = proxyActivities<Pick<Activities, 'readUser'>>({ ...patiently, cancellationType: 'TRY_CANCEL' });
  // What is under way must have ended before the deletion is withdrawn: else it would arrive after that.
  const { scheduleDeletion } = proxyActivities<Pick<Activities, 'scheduleDeletion'>>({
    ...patiently,
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  });
  // Temporal may take an attempt for lost whose worker goes on: repeating it is harmless.
  const { eraseHealthData } = proxyActivities<Pick<Activities, 'eraseHealthData'>>(patiently);
  return { readUser, scheduleDeletion, eraseHealthData };
}

/**
 * Reconciliation: nobody waits, and a pass that fails is taken up by the next one. A page has 50 signals at ten a second
 * and two calls of the service; it shows life at every one.
 */
export const reconciling = proxyActivities<Pick<Activities, 'reconcilePage'>>({
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '6 hours',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes' },
});

/**
 * A workout's stream: nobody waits for it, and it stays at the service. So the pauses grow to an hour (some thirty attempts
 * a day), and a round of a day costs no history.
 */
export const fetchingStreams = proxyActivities<Pick<Activities, 'fetchStream'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '1 hour' },
});

/** Looks into the store: an operator waits, so half a minute, and not at all where there is no store. */
export const askingTheStore = proxyActivities<Pick<Activities, 'listRejected' | 'discardRejected'>>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, nonRetryableErrorTypes: ['StoreNotConfigured'] },
});

/**
 * Rejected events, up to fifty in one activity: each takes milliseconds, or 20 seconds where database and Temporal are
 * slow. It shows life before each. Repeating it is harmless, because what was replayed waits no longer.
 */
export const replaying = proxyActivities<Pick<Activities, 'replayRejected'>>({
  startToCloseTimeout: '20 minutes',
  scheduleToCloseTimeout: '30 minutes',
  heartbeatTimeout: '1 minute',
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    // An operator waits: an outage is told within half a minute.
    maximumAttempts: 5,
    nonRetryableErrorTypes: ['StoreNotConfigured'],
  },
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

/** A person waits for the list on a screen: after half a minute an outage is reported, and asking again is harmless. */
export const findingSlots = proxyActivities<Pick<Activities, 'findSlots'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

/**
 * Booking and moving an appointment is not idempotent at the service either. An attempt reads the appointment, then the
 * order and the slots, acts, and reads again where the answer was lost; each call is bounded. The interval before the next
 * one is longer than a call may take, so that it sees what came of the one before. Somebody waits: after five minutes an
 * outage is reported, and the workflow reads before anything else is booked.
 *
 * @param bookingTimeout milliseconds, see `AppointmentPolicy`
 */
export function arranging(bookingTimeout: number) {
  return proxyActivities<Pick<Activities, 'bookSlot' | 'requestAppointment' | 'rescheduleAppointment'>>({
    startToCloseTimeout: bookingTimeout + 120_000,
    scheduleToCloseTimeout: '5 minutes',
    heartbeatTimeout: bookingTimeout + heartbeatMargin,
    retry: { initialInterval: settlingAfter(bookingTimeout), backoffCoefficient: 1.5 },
  });
}

/** Somebody waits, or a deletion does: as with commands. It looks first, and cancels only the appointment that was meant. */
export const cancellingAppointment = proxyActivities<Pick<Activities, 'cancelAppointment'>>({
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '3 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds' },
});

/**
 * Uploads: one attempt at a time. How an attempt failed says whether there may be a job already, and an attempt does not
 * learn how the one before it failed; so it is the workflow that decides whether the file is sent again.
 *
 * @param creationTimeout milliseconds, see `ReportPolicy`; nothing is heard of an attempt for as long at most
 * @param uploadTimeout milliseconds, see `ReportPolicy`
 */
export function uploading(creationTimeout: number, uploadTimeout: number) {
  return proxyActivities<Pick<Activities, 'uploadReport'>>({
    startToCloseTimeout: uploadTimeout,
    heartbeatTimeout: creationTimeout + heartbeatMargin,
    retry: { maximumAttempts: 1 },
  });
}

/** Looking for the job of a lost answer asks our own workflows: Temporal comes back, so for ever. */
export const claiming = proxyActivities<Pick<Activities, 'findUnclaimedJob'>>({
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

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
