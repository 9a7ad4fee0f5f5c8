import { Client, isGrpcServiceError } from '@temporalio/client';
import {
  GracefulShutdownPeriodExpiredError,
  IllegalStateError,
  type NativeConnection,
  type Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { createActivities } from '../activities/activities.js';
import { takingMarkedInput } from '../activities/attempt.js';
import type { ActivityDependencies } from '../activities/dependencies.js';
import { auditHashes, auditSinks, startAuditWriter } from './audit-writer.js';
import type { LiveKeys } from '../client/encryption/live-keys.js';
import type { HealthDataStore } from '../store/health-data-store.js';
import { activityDependencies } from './worker/activity-dependencies.js';
import { workflowBundle } from './bundle.js';
import { readWorkerConfig, type WorkerConfig } from './settings/config.js';
import { followApiKey, type TemporalConfig } from './settings/temporal.js';
import { workerIdentity } from '../client/encryption/key-requirement.js';
import { deploymentOptions, warnWithoutCurrentRelease } from './worker/deployment.js';
import { dataConverterOf, liveKeys, markingUnencrypted } from './encryption.js';
import { storeOf } from './health-data.js';
import { createWorkers, runWorkers, shutDown } from './worker/queues.js';
import { createLog, temporalLogger } from './log.js';
import { connect, installRuntime, reasonOf } from './native-connection.js';
import { isProgram, runProgram, shutdownRequested, StartFailed, startTracing } from './process.js';
import { watchFleet } from './monitoring/fleet.js';
import { watchReconciliation } from './monitoring/last-reconciliation.js';
import { type SdkMetrics, sdkMetrics } from './monitoring/sdk-metrics.js';
import { type Monitoring, type Readiness, startMonitoring } from './monitoring/server.js';
import type { Tracing } from './monitoring/otlp-tracing.js';
import { ensureReconcileSchedule } from './worker/reconcile-schedule.js';
import { ensureSearchAttributes, SearchAttributesMissing } from './worker/search-attributes.js';
import { temporalHealth } from './monitoring/health.js';

/**
 * Activities that ignore their cancellation get this long, after the grace period, before the process leaves them
 * behind.
 */
const forceAfterGraceMs = 5_000;

interface RunningWorker {
  /** Settles when the worker has stopped; rejects when it broke. */
  ended: Promise<void>;
  /** Takes no more work, lets running work finish within the grace period, and resolves when all is closed. */
  stop(): Promise<void>;
}

/**
 * Starts the worker in this process: connects, ensures the search attributes, and polls the task queue. It also starts
 * without its database: work that needs it is retried.
 *
 * @param given `opened`: a store that the caller has opened, and closes, instead of the one of DATABASE_URL; `keys`: the encryption
 * keys, if the caller follows them already, which its end stops; `monitoring`: where
 * it shows its metrics and health, and with `sdk` those of the SDK; `tracing`: the traces that it adds to
 * @throws StartFailed in one line if Temporal cannot be reached or the namespace cannot be used
 */
export async function startWorker(
  config: WorkerConfig,
  log: Logger,
  given: { opened?: HealthDataStore | undefined; keys?: LiveKeys | undefined } & Observing = {},
): Promise<RunningWorker> {
  for (const warning of config.warnings) log.warn(warning);
  const connection = await connect(config.temporal);
  try {
    await checkNamespace(connection, config.temporal, log);
    return await poll(connection, config, log, given);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function poll(
  connection: NativeConnection,
  config: WorkerConfig,
  log: Logger,
  { opened, keys: followed, ...observing }: Parameters<typeof startWorker>[2] & object,
): Promise<RunningWorker> {
  const { namespace } = config.temporal;
  const keys = followed ?? (await liveKeys(config, log));
  const store = await storeOf({ ...config, keys }, opened, log);
  const conversion = dataConverterOf(keys, log);
  const { monitoring, tracing } = observing;
  const client = new Client({ connection, namespace, ...conversion, ...tracing?.client });
  const schedule = await ensureReconcileSchedule(client, config, log);
  const dependencies = activityDependencies(config, client, log, { store, registry: monitoring?.registry, tracing });
  warnOfGaps(dependencies, log);
  const hashes = auditHashes({ ...config, keys });
  const audit =
    store && hashes.keyId !== undefined
      ? startAuditWriter('worker', { store, hashes, log, registry: monitoring?.registry })
      : undefined;
  const shutdownGraceMs = config.shutdownGraceSeconds * 1000;
  const failures = config.keyRing ? 'encoded' : 'readable';
  const quiet = temporalLogger(log.child({}, { level: 'warn' })); // webpack's report is long
  const marking = markingUnencrypted(conversion, config.encryption, log);
  const options: WorkerOptions & { taskQueue: string } = {
    connection,
    namespace,
    taskQueue: config.taskQueue,
    ...(config.queues.polls.includes('main') && { workflowBundle: await workflowBundle(failures, quiet) }),
    ...marking,
    sinks: { ...marking.sinks, ...auditSinks(audit) },
    ...tracing?.worker,
    identity: workerIdentity(config.keyRing !== undefined),
    activities: takingMarkedInput(createActivities(dependencies)),
    maxCachedWorkflows: config.maxCachedWorkflows,
    shutdownGraceTime: shutdownGraceMs,
    shutdownForceTime: shutdownGraceMs + forceAfterGraceMs,
    ...deploymentOptions(config.deployment),
  };
  if (config.deployment) await warnWithoutCurrentRelease(connection, namespace, config.deployment, log);
  const workers = await createWorkers(options, config.queues);
  const unfollow = followApiKey(connection, config.temporal, log);
  observe(workers, { connection, client, config, log }, observing);
  const ended = runToEnd(workers, audit, async () => {
    await Promise.all([dependencies.service.close(), store?.close(), schedule.stop()]);
    unfollow();
    keys?.stop();
    await connection.close();
  });
  return {
    ended,
    stop: () => {
      shutDown(workers);
      return ended;
    },
  };
}

interface Observing {
  monitoring?: Monitoring | undefined;
  sdk?: SdkMetrics | undefined;
  tracing?: Tracing | undefined;
}

interface Observed {
  connection: NativeConnection;
  client: Client;
  config: WorkerConfig;
  log: Logger;
}

/** Shows the worker's health and metrics. It does not depend on the database: work that needs it waits, and orders do not. */
function observe(
  workers: readonly Worker[],
  { connection, client, config, log }: Observed,
  { monitoring, sdk }: Observing,
): void {
  const { address, namespace } = config.temporal;
  const isTemporalReady = temporalHealth(connection, { process: 'worker', address, namespace, log });
  const watched = { client, taskQueue: config.taskQueue, log, isOn: config.reconcileEveryMinutes > 0 };
  const refreshes = monitoring && [watchFleet, watchReconciliation].map((watch) => watch(monitoring.registry, watched));
  monitoring?.watch({
    ready: async (): Promise<Readiness> => {
      const state = workers.map((worker) => worker.getState()).find((each) => each !== 'RUNNING');
      if (state !== undefined) return { status: state === 'INITIALIZED' ? 'starting' : 'stopping' };
      if (await isTemporalReady()) return { status: 'ready' };
      return { status: 'not ready', reason: 'Temporal cannot be used; the log of the worker says why' };
    },
    refresh: async () => void (await Promise.all((refreshes ?? []).map((refresh) => refresh()))),
    ...(sdk && { page: () => sdk.page() }),
  });
}

/** A missing setting does not mean "none": work that needs it fails here, and waits for a worker that has it. */
function warnOfGaps({ target, workerStore }: ActivityDependencies, log: Logger): void {
  if (target === undefined) {
    log.warn(
      'NOTIFY_URL is not set: this worker delivers no notifications. Set it, or NOTIFICATIONS=off to send none.',
    );
  }
  if (workerStore === undefined) {
    log.warn(
      'DATABASE_URL is not set: deletions do not become final. Set it, or HEALTH_DATA=off if no health data are kept.',
    );
  }
}

async function runToEnd(
  workers: readonly Worker[],
  audit: { close(): Promise<void> } | undefined,
  close: () => Promise<void>,
): Promise<void> {
  try {
    try {
      await runWorkers(workers);
    } finally {
      await audit?.close();
    }
  } catch (error) {
    // The connection cannot be closed while an activity that was left behind still holds it.
    if (isLeftBehind(error)) throw new WorkLeftBehind({ cause: error });
    await close();
    throw error;
  }
  await close();
}

/** The SDK rejects with the one if nothing is in its way, and with the other if an activity still runs. */
function isLeftBehind(error: unknown): boolean {
  if (error instanceof GracefulShutdownPeriodExpiredError) return true;
  return error instanceof IllegalStateError && error.message.startsWith('Worker still in use');
}

/** An activity outlasted the shutdown. Nothing is lost: Temporal gives it to another worker. */
class WorkLeftBehind extends StartFailed {
  constructor(options: ErrorOptions) {
    super(
      'The worker stopped before all its work had finished; Temporal gives the rest to another worker. If that happens often, raise SHUTDOWN_GRACE_SECONDS.',
      options,
    );
  }
}

async function checkNamespace(connection: NativeConnection, temporal: TemporalConfig, log: Logger): Promise<void> {
  const { address, namespace } = temporal;
  try {
    const registered = await ensureSearchAttributes(connection, namespace);
    if (registered.length > 0) log.info({ namespace, registered }, 'registered search attributes');
  } catch (error) {
    if (error instanceof SearchAttributesMissing) throw new StartFailed(error.message, { cause: error });
    if (!isGrpcServiceError(error)) throw error;
    const remedy = 'create the namespace, or correct TEMPORAL_NAMESPACE and the credentials';
    const problem = `Temporal at ${address} does not let the worker use the namespace ${namespace}`;
    throw new StartFailed(`${problem} (${reasonOf(error)}): ${remedy}.`, { cause: error });
  }
}

async function main(): Promise<void> {
  const config = readWorkerConfig();
  const log = createLog(config, 'worker');
  const monitoring = await startMonitoring(config.monitoring, log, { task_queue: config.taskQueue });
  const sdk = monitoring && (await sdkMetrics());
  installRuntime(config, log, sdk);
  const requested = shutdownRequested();
  const tracing = await startTracing(config, 'worker', log);
  const worker = await startWorker(config, log, { monitoring, sdk, tracing });
  const { address, namespace } = config.temporal;
  const { taskQueue, maxCachedWorkflows, notify, keyRing, databaseUrl } = config;
  const encryption = keyRing ? { encryptsWithKey: keyRing[0].id } : { encrypts: false };
  const facts = {
    taskQueue,
    queues: config.queues.polls,
    ...config.deployment,
    maxCachedWorkflows,
    notifies: notify !== undefined && notify !== 'off',
    keepsHealthData: databaseUrl !== undefined,
    ...encryption,
    encryption: config.encryption,
  };
  log.info({ address, namespace, ...facts }, 'worker started');
  const signal = await Promise.race([requested, worker.ended]);
  if (signal === undefined) throw new StartFailed('The worker stopped unexpectedly.');
  log.info({ signal, graceSeconds: config.shutdownGraceSeconds }, 'worker stops: no new work, running work may finish');
  await worker.stop();
  await Promise.all([monitoring?.close(), tracing?.close()]);
  log.info('worker stopped');
}

if (isProgram('workers/worker')) await runProgram(main);
