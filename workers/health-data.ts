import { setTimeout as sleep } from 'node:timers/promises';
import {
  isRejected,
  type HealthDataSink,
  type RejectedEventSink,
  type DeliveredMessages,
} from '../client/webhooks/sinks.js';
import { type HealthDataRead, readHealthData } from '../service/webhooks/health-data.js';
import { DatabaseNotUtf8, StoreFailed } from '../store/database.js';
import type { KeyRing } from '../client/encryption/key-ring.js';
import type { LiveKeys } from '../client/encryption/live-keys.js';
import type { HealthDataStore, StoreOptions } from '../store/health-data-store.js';
import type { Acceptance, ReceivedMessage } from '../store/messages.js';
import { openedStore, type StoreAccess, storeOnDemand } from '../store/store-access.js';
import { isAddressable } from '../protocol/ids.js';
import { StartFailed } from './process.js';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { WorkerStore } from '../activities/dependencies.js';
import { answers } from '../client/webhooks/answers.js';
import { route } from '../client/webhooks/route.js';
import { parse } from '../client/webhooks/verify.js';
import { AbandonedCalls } from '../client/call-options.js';
import type { WorkerConfig } from './settings/config.js';

/** A start does not wait longer for the database: orders do not need it. */
const openedAtStartWithinMs = 3_000;

/**
 * The store of a process: the one that the caller has opened, else that of DATABASE_URL, if it is set. The log says why that cannot
 * be used yet, such as tables that this user must not migrate.
 *
 * @param opened is closed by its opener
 * @throws StartFailed if the database answers, and can never be used
 */
export async function storeOf(
  config: StoreConfig & { databaseUrl?: string | undefined; databasePoolSize: number },
  opened: HealthDataStore | undefined,
  log: Pick<Logger, 'warn'>,
): Promise<StoreAccess | undefined> {
  if (opened) return openedStore(opened);
  const { databaseUrl, databasePoolSize: poolSize } = config;
  if (databaseUrl === undefined) return undefined;
  // Loaded only here, because a process without a database starts in nine tenths of the time without the drivers.
  const loading = import('../store/health-data-store.js');
  const store = storeOnDemand(async () => (await loading).openStore({ databaseUrl, poolSize }, storeOptions(config)));
  const tooLong = sleep(openedAtStartWithinMs, undefined, { ref: false });
  await Promise.race([store.get(), tooLong]).catch((error: unknown) => {
    if (error instanceof DatabaseNotUtf8) throw new StartFailed(error.message, { cause: error });
    if (error instanceof StoreFailed)
      log.warn({ reason: error.message }, 'the database for health data cannot be used yet');
  });
  return store;
}

interface StoreConfig {
  keys: LiveKeys | undefined;
  deletedUsersKeys?: KeyRing | undefined;
  rejectedEventsDays: number;
}

/** Without keys of their own the tombstones take those of payloads, which are outside the database as well. */
export function storeOptions({ keys, deletedUsersKeys, rejectedEventsDays }: StoreConfig): StoreOptions {
  return { rejectedEventsDays, referenceKeys: () => deletedUsersKeys ?? keys?.ring ?? [] };
}

/**
 * The webhook handler's sinks of the store.
 *
 * @param receivedAt when a replayed event was first received; default: now
 */
export function healthDataSinks(
  store: StoreAccess,
  receivedAt?: string,
): { healthData: HealthDataSink; rejected: RejectedEventSink } {
  const came = receivedAt === undefined ? {} : { receivedAt };
  return {
    healthData: async (event, id, body) => take(await store.get(), readHealthData(event), { id, body, ...came }),
    rejected: async ({ reason, problem, eventType, userId, body }, id) => {
      const why = problem === undefined ? reason : `${reason}: ${problem}`;
      return (await store.get()).setAside({ eventType, userId, reason: why }, { id, body, ...came });
    },
  };
}

/** The messages that all ingresses of the store have taken. */
export function deliveredMessages(store: StoreAccess): DeliveredMessages {
  return {
    has: async (id, withinSeconds) => (await store.get()).wasTaken(id, withinSeconds),
    add: async (id) => (await store.get()).rememberMessage(id),
  };
}

/** `stream_due` makes the webhook handler have the workout's stream fetched. */
async function take(
  store: HealthDataStore,
  read: HealthDataRead,
  message: ReceivedMessage,
): Promise<Acceptance | 'stream_due'> {
  if (read.kind !== 'stream_notice') return store.accept(read, message);
  const { eventType, userId, workoutId } = read;
  if (workoutId !== undefined && !isAddressable(workoutId)) {
    const reason = 'not_addressable: the workout_id cannot be part of a workflow ID';
    return store.setAside({ eventType, userId, reason }, message);
  }
  const acceptance = await store.accept(read, message);
  // Checked for a repeated notice too: it is repeated if Temporal could not be notified of it.
  const isKept = acceptance === 'stored' || acceptance === 'repeated';
  if (!isKept || userId === undefined || workoutId === undefined) return acceptance;
  const { standing } = await store.streamStanding({ userId, workoutId });
  return standing === 'due' ? 'stream_due' : acceptance;
}

/** As long as the ingress waits for Temporal or the store. */
const deadlineMs = 10_000;

/** The store of a worker's activities: rejected events take the route that webhooks take in the ingress. */
export function workerStore(
  store: StoreAccess,
  temporal: Client,
  { taskQueue, installation }: Pick<WorkerConfig, 'taskQueue' | 'installation'>,
): WorkerStore {
  return {
    store,
    route: async ({ id, body, receivedAt }) => {
      const { healthData } = healthDataSinks(store, receivedAt);
      const to = { temporal, taskQueue, installation, healthData, deadlineMs, abandoned: new AbandonedCalls() };
      const outcome = await route(parse({ id, bytes: Buffer.from(body) }), to);
      // What is rejected once more is stored nowhere: it would only become the same rejected event again.
      return { answer: outcome.name, isTaken: answers[outcome.name].status === 204 && !isRejected(outcome) };
    },
  };
}
