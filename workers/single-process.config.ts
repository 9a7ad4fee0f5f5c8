import type { StorePlace } from '../store/health-data-store.js';
import { type IngressConfig, readIngressConfig, readWorkerConfig, type WorkerConfig } from './config.js';
import { ConfigInvalid, type SettingFault } from './setting-faults.js';
import { misspeltSettings } from './misspelt.js';
import { instructionOf, singleProcessSettings } from './settings.js';

/** A process for trying things out has no load balancer. */
const undrained = { INGRESS_DRAIN_SECONDS: '0' };

/** Worker and ingress in one process. */
export interface SingleProcessConfig {
  worker: WorkerConfig;
  ingress: IngressConfig;
  /** The store of health data and rejected events. Without it they are counted and dropped. */
  store?: StorePlace;
  /** The port on which the store can be read over HTTP, from this machine. 0: a free port. Without it: none. */
  healthDataPort?: number;
}

/**
 * For a process that is worker and ingress at once: it may keep the health data in a directory.
 * @throws ConfigInvalid with every fault of the settings that either reads
 */
export function readSingleProcessConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): SingleProcessConfig {
  const { HEALTH_DATA_DIRECTORY: given = '', HEALTH_DATA_PORT: port = '', ...others } = env;
  const directory = given.trim() === '' ? undefined : given.trim();
  const faults: SettingFault[] = [];
  const worker = collectFaults(() => readWorkerConfig(others), faults);
  const ingress = collectFaults(() => readIngressConfig({ ...undrained, ...others }), faults);
  if (directory !== undefined && (others['DATABASE_URL'] ?? '').trim() !== '') {
    const remedy = 'unset one of them';
    faults.push({ setting: 'HEALTH_DATA_DIRECTORY', problem: 'is set, and so is DATABASE_URL', remedy });
  }
  if (directory !== undefined && others['HEALTH_DATA'] === 'off') {
    const problem = 'is off, but HEALTH_DATA_DIRECTORY is set';
    faults.push({ setting: 'HEALTH_DATA', problem, remedy: 'unset one of them' });
  }
  const { HEALTH_DATA_PORT: portSchema } = singleProcessSettings;
  const { data: healthDataPort, error } = portSchema.safeParse(port.trim() === '' ? undefined : port.trim());
  for (const { message: problem } of error?.issues ?? []) {
    faults.push({ setting: 'HEALTH_DATA_PORT', problem, remedy: instructionOf(portSchema) });
  }
  if (faults.length > 0 || !worker || !ingress) throw new ConfigInvalid(faults, misspeltSettings(env));
  const { databaseUrl, databasePoolSize: poolSize } = ingress;
  const store = directory === undefined ? databaseUrl !== undefined && { databaseUrl, poolSize } : { directory };
  // One log for both: each warning once.
  const warnings = ingress.warnings.filter((warning) => !worker.warnings.includes(warning));
  return {
    worker,
    ingress: { ...ingress, warnings },
    ...(store && { store }),
    ...(healthDataPort !== undefined && { healthDataPort }),
  };
}

/** Each fault once: both read the common settings. */
function collectFaults<Config>(read: () => Config, faults: SettingFault[]): Config | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    const known = new Set(faults.map(({ setting }) => setting));
    faults.push(...error.faults.filter(({ setting }) => !known.has(setting)));
    return undefined;
  }
}
