import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ActivityDependencies } from '../../activities/dependencies.js';
import { createPlacingCheck } from '../../activities/placing-stop.js';
import { createReportFiles } from '../../activities/report-file/report-files.js';
import { createLabService } from '../../service/lab-service.js';
import type { StoreAccess } from '../../store/store-access.js';
import type { WorkerConfig } from '../settings/config.js';
import { observeActivities, observeCalls } from '../monitoring/metrics.js';
import type { Tracing } from '../monitoring/otlp-tracing.js';
import { workerStore } from '../health-data.js';

interface Given {
  store: StoreAccess | undefined;
  registry?: Registry | undefined;
  tracing?: Tracing | undefined;
}

/** The dependencies of this process's activities. Its `service` holds connections: close it after the last activity. */
export function activityDependencies(
  config: WorkerConfig,
  temporal: Client,
  log: Logger,
  { store, registry, tracing }: Given,
): ActivityDependencies {
  const observers = [registry && observeCalls(registry), tracing?.observeCall].filter((each) => each !== undefined);
  return {
    service: createLabService({
      ...config.service,
      installation: config.installation,
      warn: (warning) => log.warn(warning),
      ...(observers.length > 0 && { observe: (call) => observers.forEach((observe) => observe(call)) }),
    }),
    temporal,
    taskQueue: config.taskQueue,
    requireNotStopped: createPlacingCheck(temporal, config.taskQueue),
    echoesPassthrough: config.echoesPassthrough,
    erasesHistories: config.erasesHistories,
    reportFiles: createReportFiles(config.reportFiles),
    encrypts: temporal.options.loadedDataConverter.payloadCodecs.length > 0,
    ...(config.receiptKey && { receiptKey: config.receiptKey }),
    ...(config.notify && { target: config.notify }),
    ...(registry && { observer: observeActivities(registry) }),
    ...(store
      ? { workerStore: workerStore(store, temporal, config) }
      : config.healthData === 'off' && { workerStore: config.healthData }),
  };
}
