import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { ActivityDependencies } from '../activities/activities.js';
import { createReportFiles } from '../activities/report-file/report-files.js';
import { createLabService } from '../service/lab-service.js';
import type { StoreAccess } from '../store/store-access.js';
import type { WorkerConfig } from './config.js';
import { workerStore } from './worker-store.js';

/** The dependencies of this process's activities. Its `service` holds connections: close it after the last activity. */
export function activityDependencies(
  config: WorkerConfig,
  temporal: Client,
  log: Logger,
  store: StoreAccess | undefined,
): ActivityDependencies {
  return {
    service: createLabService({ ...config.service, warn: (warning) => log.warn(warning) }),
    temporal,
    taskQueue: config.taskQueue,
    echoesPassthrough: config.echoesPassthrough,
    reportFiles: createReportFiles(config.reportFiles),
    encrypts: temporal.options.loadedDataConverter.payloadCodecs.length > 0,
    ...(config.notify && { target: config.notify }),
    ...(store
      ? { workerStore: workerStore(store, temporal, config.taskQueue) }
      : config.healthData && { workerStore: config.healthData }),
  };
}
