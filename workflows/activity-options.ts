import {
  ActivityFailure,
  ApplicationFailure,
  proxyActivities,
  sleep,
  workflowInfo,
  type ActivityInterfaceFor,
  type ActivityOptions,
} from '@temporalio/workflow';
import type { Activities } from '../activities/activities.js';
import type { ResolvedOrderPolicy } from '../protocol/order/policy.js';
import { settlingAfter, defaultSettling } from '../protocol/settling.js';
import { sideQueueName, type SideQueue } from '../protocol/task-queues.js';
import { isFinalRefusal } from './entity/commands.js';

/**
 * The timeouts and retries of every activity, with their reasons; the timeouts of a single request are in service/http/http.ts, delays
 * that depend on how a call failed in activities/failures.ts. A call's options are merged into the row, nested fields included. Options that depend on a policy or
 * on who waits come from the functions below the table.
 */
interface Row extends ActivityOptions {
  /** Stated in every row: what the SDK documents as its default is not what it does. */
  cancellationType: 'TRY_CANCEL' | 'WAIT_CANCELLATION_COMPLETED';
  /** The task queue, if it is not the deployment's own: for what nobody waits for (protocol/task-queues.ts). */
  queue?: SideQueue;
}

/** Nobody waits for what is cancelled: it has no effect, or the next step first reads what came of it. */
const notAwaited = { cancellationType: 'TRY_CANCEL' } as const;

/** One call of the service takes seconds; an activity makes a few. If it takes longer, its worker is gone. */
const oneExchange = '2 minutes';

/**
 * Activities that change something send a heartbeat every 5 seconds: if none comes, their worker is gone. What it sent last may
 * be under way at the service for half a minute, and the next attempt must see what came of it.
 */
const workerGone = '40 seconds';

/** Each call of an attempt is preceded by a heartbeat and bounded by the creation's timeout; this is what a slow worker gets. */
const heartbeatMargin = 10_000;

/** For what should go on soon after an outage. */
const eachMinute = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' } as const;

/** Reads: nothing is lost by reading again soon; if the service stays down the order is read later. */
const read = {
  ...notAwaited,
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '2 minutes',
  retry: eachMinute,
} satisfies Row;

/**
 * Reads that nobody waits for. The time in a backlog is not an outage of the service, so it does not end them: the attempts do, which take
 * two minutes if the service refuses connections.
 */
const backgroundRead = {
  ...notAwaited,
  queue: 'background',
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '1 hour',
  retry: { ...eachMinute, maximumAttempts: 7 },
} satisfies Row;

/** The purpose of a run must be known before it does anything: repeated indefinitely, with the same pauses. It reads and searches in turn. */
const identification = {
  ...notAwaited,
  startToCloseTimeout: '2 minutes',
  retry: eachMinute,
} satisfies Row;

/**
 * Commands: somebody waits for the answer. After three minutes an outage is reported to the caller, who knows better
 * whether to try again; nothing is lost by that, because every command reads before it acts.
 */
const commandWithoutHeartbeat = {
  ...notAwaited,
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '3 minutes',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds' },
} satisfies Row;
const command = { ...commandWithoutHeartbeat, heartbeatTimeout: workerGone } satisfies Row;

/**
 * Changes of webhook endpoints that are not idempotent at the service: as patient as a command, but what a lost answer was
 * about may still be under way for half a minute, and the next attempt looks for it.
 */
const endpointChange = {
  ...notAwaited,
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '3 minutes',
  retry: { initialInterval: defaultSettling, backoffCoefficient: 1 },
} satisfies Row;

/** A person waits on a screen: after half a minute an outage is reported, and asking again is harmless. */
const screen = {
  ...notAwaited,
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '5 seconds' },
} satisfies Row;

/** Signals to our own workflows, and Temporal's own list: repeated indefinitely, because Temporal comes back and nothing must be lost. */
const temporal = {
  ...notAwaited,
  startToCloseTimeout: '30 seconds',
  retry: eachMinute,
} satisfies Row;

/** The store: an operator waits, so for half a minute; without a store they are not repeated at all. */
const store = {
  ...notAwaited,
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '30 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, nonRetryableErrorTypes: ['StoreNotConfigured'] },
} satisfies Row;

/** Calls about a user that is being deleted: repeated until the service answers, in rounds (`deletion/retrying.ts`). */
const userCall = {
  ...notAwaited,
  startToCloseTimeout: oneExchange,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' },
} satisfies Row;

/** Rejected events are searched as a whole, and each history is read and deleted by itself. An attempt that is taken for lost and goes on is harmless. */
const erasure = {
  ...userCall,
  queue: 'background',
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: workerGone,
} satisfies Row;

/**
 * Creations are not idempotent at the service. Every attempt looks for the order first; the interval before an attempt
 * (`creation`) is longer than the request may take, so a creation whose answer was lost, or whose worker died, is seen by
 * the next search. The search and the creation together are one attempt: it may page for a minute and create once.
 */
const orderCreation = {
  ...notAwaited,
  startToCloseTimeout: oneExchange,
  retry: { backoffCoefficient: 1.5, maximumInterval: '10 minutes' },
} satisfies Row;

/**
 * Booking and moving an appointment is not idempotent at the service either. An attempt reads the appointment, then the
 * order and the slots, acts, and reads again if the answer was lost; each call is bounded. The interval before the next
 * one (`booking`) is longer than a call may take, so it sees what came of the one before. Somebody waits: after five
 * minutes an outage is reported, and the workflow reads before anything else is booked.
 */
const appointmentChange = {
  ...notAwaited,
  startToCloseTimeout: oneExchange,
  scheduleToCloseTimeout: '5 minutes',
  retry: { backoffCoefficient: 1.5 },
} satisfies Row;

/** Nothing outside is asked, so a second is long; it fails only while a worker of a later release is needed. */
const resolution = {
  ...notAwaited,
  startToCloseTimeout: '10 seconds',
  retry: eachMinute,
} satisfies Row;

export const activityOptions = {
  resolvePolicy: resolution,
  readOrder: backgroundRead,
  readParsingJob: backgroundRead,
  // Read between two steps of a workflow, whose commands wait meanwhile.
  readAppointment: read,
  readMatchReview: read,
  // In rounds: after each, operators see that the order cannot be read.
  readChain: { ...identification, scheduleToCloseTimeout: '1 day' },
  identifyJob: { ...identification, queue: 'background' },
  identifyMatchReview: identification,
  identifyAppointment: identification,
  registerKit: command,
  cancelOrder: command,
  undoDeletion: command,
  cancelAppointment: command,
  // The service may still be at work on an attempt that failed: the next one reads when it has settled.
  decideMatchReview: { ...command, retry: { initialInterval: defaultSettling, backoffCoefficient: 1 } },
  listWebhooks: commandWithoutHeartbeat,
  readWebhookSecret: commandWithoutHeartbeat,
  fingerprintWebhookSecret: commandWithoutHeartbeat,
  readWebhook: commandWithoutHeartbeat,
  updateWebhook: commandWithoutHeartbeat,
  readWebhookHeaders: commandWithoutHeartbeat,
  setWebhookHeaders: commandWithoutHeartbeat,
  deleteWebhook: commandWithoutHeartbeat,
  registerWebhook: endpointChange,
  rotateWebhookSecret: endpointChange,
  createLinkToken: screen,
  findSlots: screen,
  // It reads and signals, so repeating it is harmless. Somebody waits for it.
  adoptOrder: commandWithoutHeartbeat,
  handOver: temporal,
  // Any of them may be, or show, a critical result.
  forwardOrder: temporal,
  forwardCriticalResult: temporal,
  forwardUnreadable: temporal,
  joinChain: { ...temporal, queue: 'background' },
  handOverReport: temporal,
  // Without this signal the run can neither end nor begin what comes next, so it does not wait behind deliveries.
  handOverNotifications: temporal,
  findRunningWork: temporal,
  findEarlierDeletion: temporal,
  listRejectedEvents: store,
  discardRejectedEvent: store,
  createKitOrder: {
    ...orderCreation,
    // What a cancelled attempt has come to must be known: it may have created the order.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  },
  replaceKitOrder: orderCreation,
  /** Looks for the order of a cancelled placing: no order may get lost, so until the service answers. */
  findKitOrder: {
    ...notAwaited,
    startToCloseTimeout: oneExchange,
    retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  },
  bookSlot: appointmentChange,
  requestAppointment: appointmentChange,
  rescheduleAppointment: appointmentChange,
  /** Commands wait meanwhile, and a read that gets no answer now is repeated by the link itself. */
  findConnection: {
    ...notAwaited,
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '25 seconds',
    // More than five do not fit into that time. Set all the same, because the time-skipping server can lose track of the timeout.
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumAttempts: 5 },
  },
  /**
   * A code works once, so nothing here is tried twice: the activity itself waits for a service that refuses connections, and
   * after any other failure the code may have been used. At most 20 seconds of waiting and five refused connections of
   * 5 seconds, 65 for the call, and 10 to read the user.
   */
  completeMfa: {
    ...notAwaited,
    // What has not begun by then has certainly not been sent, and must not begin beside the next code.
    scheduleToStartTimeout: '30 seconds',
    startToCloseTimeout: '150 seconds',
    // It sends a heartbeat every 5 seconds: if none comes, its worker is gone.
    heartbeatTimeout: '20 seconds',
    retry: { maximumAttempts: 1 },
  },
  /**
   * Another workflow's command, which reports an outage of the service after three minutes; half a minute more is for
   * Temporal. Somebody may wait for the deletion: a second attempt is for a worker that was lost, not for an outage.
   */
  cancelWork: {
    ...notAwaited,
    startToCloseTimeout: '210 seconds',
    scheduleToCloseTimeout: '5 minutes',
    retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '20 seconds' },
  },
  readUser: userCall,
  scheduleDeletion: {
    ...userCall,
    heartbeatTimeout: workerGone,
    // What is under way must have ended before the deletion is withdrawn: else it would arrive after that.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  },
  eraseHealthData: erasure,
  findHistories: erasure,
  eraseHistories: erasure,
  writeReceipt: { ...userCall, queue: 'background' },
  /**
   * Reconciliation: nobody waits, and a pass that fails is taken up by the next one. A page has 50 signals at ten a second
   * and one or two calls of the service, or some more to find the last page of a list without a total; it sends a heartbeat at every one.
   */
  reconcilePage: {
    ...notAwaited,
    queue: 'background',
    startToCloseTimeout: '10 minutes',
    scheduleToCloseTimeout: '6 hours',
    heartbeatTimeout: '2 minutes',
    retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  },
  /** The whole list is read by the next pass again, so orders are not kept waiting for it. */
  reconcileMatchReviews: {
    ...notAwaited,
    queue: 'background',
    startToCloseTimeout: '10 minutes',
    scheduleToCloseTimeout: '15 minutes',
    heartbeatTimeout: '2 minutes',
    retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
  },
  /**
   * A workout's stream: nobody waits for it, and it stays at the service. So the pauses grow to an hour (some thirty attempts
   * a day), and a round of a day costs no history.
   */
  fetchStream: {
    ...notAwaited,
    queue: 'background',
    startToCloseTimeout: oneExchange,
    scheduleToCloseTimeout: '1 day',
    retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '1 hour' },
  },
  /**
   * Rejected events, up to fifty in one activity: each takes milliseconds, or 20 seconds if database and Temporal are slow.
   * It sends a heartbeat before each. Repeating it is harmless, because what was replayed waits no longer.
   */
  replayRejectedEvents: {
    ...notAwaited,
    queue: 'background',
    startToCloseTimeout: '20 minutes',
    scheduleToCloseTimeout: '30 minutes',
    heartbeatTimeout: '1 minute',
    retry: {
      initialInterval: '1 second',
      backoffCoefficient: 2,
      // An operator waits: an outage is reported within half a minute.
      maximumAttempts: 5,
      nonRetryableErrorTypes: ['StoreNotConfigured'],
    },
  },
  /**
   * A part works for a minute, after it has listed all open workflows. A retry sends some notifications again, with the same ids.
   */
  replayNotifications: {
    ...notAwaited,
    queue: 'background',
    startToCloseTimeout: '1 hour',
    scheduleToCloseTimeout: '2 hours',
    heartbeatTimeout: workerGone,
    retry: { ...eachMinute, nonRetryableErrorTypes: ['NotificationsNotConfigured'] },
  },
  /**
   * Uploads: one attempt at a time (`upload`). How an attempt failed says whether there may be a job already, and an attempt
   * does not learn how the one before it failed; so it is the workflow that decides whether the file is sent again.
   */
  uploadReport: {
    queue: 'files',
    startToCloseTimeout: oneExchange,
    // A submission that is cancelled has to know whether there is a job: an attempt that learns of it sends no more bytes.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { maximumAttempts: 1 },
  },
  /**
   * Looking for the job of a lost answer asks our own workflows: repeated indefinitely, because Temporal comes back. Not on the queue of files: the
   * workers that upload may be gone, and the submission must still end in time.
   */
  findUnclaimedJob: { ...temporal, startToCloseTimeout: '1 minute' },
  /**
   * Notifications: the receiver may be down for days. Retried gently until the policy's deadline (`delivery`); then a person
   * is asked to look and the same batch is tried again.
   */
  notify: {
    queue: 'notifications',
    startToCloseTimeout: oneExchange,
    // Between two heartbeats a delivery makes calls of 15 and 5 seconds, or of 10 and 5, at most: if it takes longer, its worker is gone.
    heartbeatTimeout: '45 seconds',
    // An attempt that is running may arrive, so what is urgent goes after it; one that waits for its turn ends at once.
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    retry: { initialInterval: '2 seconds', backoffCoefficient: 2, maximumInterval: '10 minutes' },
  },
} satisfies Record<keyof Activities, Row>;

/** All activities, each with its options. A call adds its summary by `executeWithOptions`. */
export const activities = Object.defineProperties(
  {},
  Object.fromEntries(
    Object.entries<Row>(activityOptions).map(([name, row]) => [name, { get: () => proxy(name, row) }]),
  ),
) as ActivityInterfaceFor<Activities>;

/** Made when it is called: only a running workflow knows its task queue. */
function proxy(name: string, { queue, ...its }: Row) {
  const taskQueue = queue && sideQueueName(workflowInfo().taskQueue, queue);
  const proxied = proxyActivities<Record<string, (...args: unknown[]) => Promise<unknown>>>({
    ...its,
    ...(taskQueue && { taskQueue }),
  })[name];
  if (!proxied || its.retry?.maximumAttempts !== undefined) return proxied;
  const once = proxied.executeWithOptions.bind(proxied);
  const executeWithOptions: typeof once = (options, args) => {
    const isBounded = { ...its, ...options }.scheduleToCloseTimeout !== undefined;
    return isBounded ? once(options, args) : untilAnswered(() => once(options, args));
  };
  return Object.assign(proxied, { executeWithOptions });
}

/**
 * An activity without a time limit fails for good only with a final failure of its own. Anything else is an answer that was refused, because
 * nobody with the keys wrote it (`workflows/input-refusal.ts`). Then the activity is carried out again, as Temporal does after any other
 * failure: its workflow does not expect it to fail, and would end.
 */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isRefusedAnswer = error instanceof ActivityFailure && error.cause instanceof ApplicationFailure;
      if (!isRefusedAnswer || isFinalRefusal(error)) throw error;
      await sleep('1 minute', { summary: 'until a refused answer is asked for again' });
    }
  }
}

/** For a read of the background that somebody waits for all the same: it joins no backlog, and does not take long. */
export function aheadOfBacklog(): Pick<ActivityOptions, 'taskQueue' | 'scheduleToCloseTimeout'> {
  return { taskQueue: workflowInfo().taskQueue, scheduleToCloseTimeout: read.scheduleToCloseTimeout };
}

/**
 * An attempt to create an order.
 * @param policy both in milliseconds, see `OrderPolicy`
 * @param giveUpAfterMs until the activity fails
 */
export function creation(
  { creationTimeout, creationSettling }: Pick<ResolvedOrderPolicy, 'creationTimeout' | 'creationSettling'>,
  giveUpAfterMs: number,
): ActivityOptions {
  return {
    ...orderSearch({ creationTimeout }),
    scheduleToCloseTimeout: giveUpAfterMs,
    retry: { initialInterval: creationSettling },
  };
}

/** A search for an order that may have been created. */
export function orderSearch({ creationTimeout }: Pick<ResolvedOrderPolicy, 'creationTimeout'>): ActivityOptions {
  return { startToCloseTimeout: creationTimeout + 120_000, heartbeatTimeout: creationTimeout + heartbeatMargin };
}

/** @param bookingTimeout milliseconds, see `AppointmentPolicy` */
export function booking(bookingTimeout: number): ActivityOptions {
  return {
    ...orderSearch({ creationTimeout: bookingTimeout }),
    retry: { initialInterval: settlingAfter(bookingTimeout) },
  };
}

/**
 * @param policy both in milliseconds, see `ReportPolicy`; an attempt is silent for `creationTimeout` at most
 * @param startsWithin milliseconds; an attempt that no worker has started by then has sent nothing
 */
export function upload(
  { creationTimeout, uploadTimeout }: Record<'creationTimeout' | 'uploadTimeout', number>,
  startsWithin: number,
): ActivityOptions {
  return {
    scheduleToStartTimeout: startsWithin,
    startToCloseTimeout: uploadTimeout,
    heartbeatTimeout: creationTimeout + heartbeatMargin,
  };
}

/** Somebody waits for the answer, for half a minute at most. */
export const whileSomebodyWaits = { scheduleToCloseTimeout: '30 seconds' } satisfies ActivityOptions;
