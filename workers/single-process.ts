import type { LiveKeys } from '../client/encryption/live-keys.js';
import { type HealthDataStore, openStore } from '../store/health-data-store.js';
import { DirectoryInUse, DirectoryOpenToOthers } from '../store/directory-lock.js';
import { StoreFailed } from '../store/database.js';
import { liveKeys } from './encryption.js';
import { storeOptions } from './health-data.js';
import { startHealthDataReading } from './health-data-reading.js';
import { startIngress } from './ingress.js';
import { createLog } from './log.js';
import { installRuntime } from './native-connection.js';
import { sdkMetrics } from './monitoring/sdk-metrics.js';
import { startMonitoring } from './monitoring/server.js';
import { isProgram, runProgram, shutdownRequested, StartFailed, startTracing } from './process.js';
import { readSingleProcessConfig, type SingleProcessConfig } from './settings/config.js';
import { startWorker } from './worker.js';

/** Worker and ingress in one process: for trying things out. Only so can health data be kept in a directory. */
async function main(): Promise<void> {
  const config = readSingleProcessConfig();
  const log = createLog(config.worker, 'single process');
  const monitoring = await startMonitoring(config.worker.monitoring, log, { task_queue: config.worker.taskQueue });
  const sdk = monitoring && (await sdkMetrics());
  installRuntime(config.worker, log, sdk);
  const requested = shutdownRequested();
  const keys = await liveKeys(config.worker, log);
  const store = await openedStore(config, keys);
  const tracing = await startTracing(config.worker, 'single-process', log);
  const worker = await startWorker(config.worker, log, { opened: store, keys, monitoring, sdk, tracing });
  const ingress = await startIngress(config.ingress, log, { opened: store, keys, monitoring, tracing });
  const { healthDataPort } = config;
  const reading =
    store && healthDataPort !== undefined ? await startHealthDataReading(store, healthDataPort) : undefined;
  const facts = { keepsHealthData: store !== undefined, ...(reading && { healthDataUrl: reading.url }) };
  log.info({ url: `${ingress.url}/webhooks`, ...facts }, 'worker and ingress started');
  const signal = await Promise.race([requested, worker.ended]);
  if (signal === undefined) throw new StartFailed('The worker stopped unexpectedly.');
  log.info({ signal }, 'worker and ingress stop');
  await Promise.all([ingress.close(), reading?.close()]);
  await worker.stop();
  await store?.close();
  await Promise.all([monitoring?.close(), tracing?.close()]);
  log.info('worker and ingress stopped');
}

async function openedStore(
  { store, worker }: SingleProcessConfig,
  keys: LiveKeys | undefined,
): Promise<HealthDataStore | undefined> {
  if (!store) return undefined;
  try {
    return await openStore(store, storeOptions({ ...worker, keys }));
  } catch (error) {
    const isKnown = [StoreFailed, DirectoryInUse, DirectoryOpenToOthers].some((known) => error instanceof known);
    if (!(error instanceof Error && isKnown)) throw error;
    throw new StartFailed(error.message, { cause: error });
  }
}

if (isProgram('workers/single-process')) await runProgram(main);
