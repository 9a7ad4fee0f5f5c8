import { readFileSync } from 'node:fs';
import { rootCertificates } from 'node:tls';
import { keyRingFile, defaultEncryption } from '../../client/config.js';
import { withoutBlanks } from '../../client/temporal.config.js';
import type { KeyRing } from '../../client/encryption/key-ring.js';
import { SecretFileInvalid, secretOf } from '../../client/files.js';
import type { AddressedConfig } from '../../service/http/http.js';
import { fieldOf } from '../../service/description.js';
import type { Installation } from '../../service/installation.js';
import { isLoopback } from '../../service/http/proxy.config.js';
import type { StorePlace } from '../../store/health-data-store.js';
import { misspeltSettings } from './misspelt.js';
import { ConfigInvalid, type SettingFault } from './values.js';
import { faultOf, faultsBetween, warningsOf } from './rules.js';
import { type Name, secretSettings, settings, type Values } from './settings.js';
import { readTemporal, type TemporalConfig } from './temporal.js';

/* The settings of each program: which ones it reads, and its configuration. */

/** The settings that a program reads, by the fields of its configuration. Fields may be in groups. */
interface List {
  readonly [field: string]: Name | List;
}

const everyProcess = {
  logLevel: 'LOG_LEVEL',
  logFormat: 'LOG_FORMAT',
  shutdownGraceSeconds: 'SHUTDOWN_GRACE_SECONDS',
  monitoring: { host: 'METRICS_HOST', port: 'METRICS_PORT' },
} as const;

const workerAndIngress = {
  ...everyProcess,
  traces: 'TRACES',
  temporal: 'TEMPORAL_*',
  taskQueue: 'TASK_QUEUE',
  installation: { name: 'LABOPS_INSTALLATION', formerNames: 'LABOPS_FORMER_INSTALLATIONS' },
  keyRing: 'LABOPS_ENCRYPTION_KEYS',
  encryption: 'LABOPS_ENCRYPTION',
  databaseUrl: 'DATABASE_URL',
  databasePoolSize: 'DATABASE_POOL_SIZE',
  deletedUsersKeys: 'DELETED_USERS_KEYS',
  healthData: 'HEALTH_DATA',
  rejectedEventsDays: 'REJECTED_EVENTS_DAYS',
  /** Before the settings that it may stand for. */
  description: 'SERVICE_DESCRIPTION',
} as const;

const worker = {
  ...workerAndIngress,
  auditKeys: 'AUDIT_KEYS',
  encryptionKeyDays: 'ENCRYPTION_KEY_DAYS',
  environment: 'SERVICE_ENVIRONMENT',
  allowsPlaintext: 'ALLOW_PLAINTEXT',
  service: {
    baseUrl: 'SERVICE_BASE_URL',
    apiKey: 'SERVICE_API_KEY',
    brand: 'SERVICE_BRAND',
    managementKey: 'SERVICE_MANAGEMENT_KEY',
    managementBaseUrl: 'SERVICE_MANAGEMENT_URL',
    keyPrefixes: { team: 'SERVICE_TEAM_KEY_PREFIX', management: 'SERVICE_MANAGEMENT_KEY_PREFIX' },
    deprecatedManagementHeader: 'SERVICE_DEPRECATED_MANAGEMENT_HEADER',
    ordersPath: 'SERVICE_ORDERS_PATH',
    usersPath: 'SERVICE_USERS_PATH',
    createOrderPath: 'SERVICE_CREATE_ORDER_PATH',
    orderRules: 'SERVICE_ORDER_RULES',
  },
  serviceSeconds: 'SERVICE_TIMEOUT_SECONDS',
  echoesPassthrough: 'SERVICE_ECHOES_PASSTHROUGH',
  erasesHistories: 'ERASE_HISTORIES',
  receiptKey: 'RECEIPT_KEY',
  notifications: 'NOTIFICATIONS',
  notify: {
    url: 'NOTIFY_URL',
    secret: 'NOTIFY_SECRET',
    retryDays: 'NOTIFY_RETRY_DAYS',
    namesClientUser: 'NOTIFY_CLIENT_USER_ID',
  },
  reportFiles: {
    root: 'REPORT_ROOT',
    maxBytes: 'REPORT_MAX_BYTES',
    allowedHosts: 'REPORT_URL_ALLOWED_HOSTS',
    headerSets: 'REPORT_URL_HEADERS_FILE',
  },
  reconcileEveryMinutes: 'RECONCILE_EVERY_MINUTES',
  deployment: { deploymentName: 'TEMPORAL_DEPLOYMENT_NAME', buildId: 'TEMPORAL_WORKER_BUILD_ID' },
  queues: {
    polls: 'WORKER_QUEUES',
    slots: { background: 'BACKGROUND_SLOTS', notifications: 'NOTIFICATION_SLOTS', files: 'FILE_SLOTS' },
    backgroundPerSecond: 'BACKGROUND_PER_SECOND',
  },
  maxCachedWorkflows: 'MAX_CACHED_WORKFLOWS',
} as const;

const ingress = {
  ...workerAndIngress,
  webhookSecrets: 'WEBHOOK_SECRETS',
  webhookMaxBytes: 'WEBHOOK_MAX_BYTES',
  teamId: 'SERVICE_TEAM_ID',
  port: 'INGRESS_PORT',
  host: 'INGRESS_HOST',
  drainSeconds: 'INGRESS_DRAIN_SECONDS',
} as const;

const codecServer = {
  ...everyProcess,
  keyRing: 'LABOPS_ENCRYPTION_KEYS',
  /** Of the audit trail. Without it requests are only logged. */
  databaseUrl: 'DATABASE_URL',
  auditKeys: 'AUDIT_KEYS',
  port: 'CODEC_PORT',
  host: 'CODEC_HOST',
  allowedOrigins: 'CODEC_ALLOWED_ORIGINS',
  token: 'CODEC_TOKEN',
  encodeToken: 'CODEC_ENCODE_TOKEN',
  isOpen: 'CODEC_OPEN',
  userHeader: 'CODEC_USER_HEADER',
} as const;

const singleProcess = {
  worker,
  ingress,
  directory: 'HEALTH_DATA_DIRECTORY',
  healthDataPort: 'HEALTH_DATA_PORT',
} as const;

/** `labops audit`. */
const audit = {
  databaseUrl: 'DATABASE_URL',
  keyRing: 'LABOPS_ENCRYPTION_KEYS',
  auditKeys: 'AUDIT_KEYS',
  /** Signs heads and checkpoints. */
  receiptKey: 'RECEIPT_KEY',
  /** Of the workers whose histories `--histories` reads. */
  taskQueue: 'TASK_QUEUE',
} as const;

/** Of the user who owns the tables: the other processes need not know it. */
const migration = { databaseUrl: 'DATABASE_URL' } as const;

/** The names of the settings that each program reads. */
export const settingsOf = {
  worker: namesIn(worker),
  ingress: namesIn(ingress),
  codecServer: namesIn(codecServer),
  singleProcess: namesIn(singleProcess),
  migration: namesIn(migration),
  audit: namesIn(audit),
};

export type WorkerConfig = ReturnType<typeof readWorkerConfig>;
export type IngressConfig = ReturnType<typeof readIngressConfig>;
export type CodecServerConfig = ReturnType<typeof readCodecServerConfig>;
export type SingleProcessConfig = ReturnType<typeof readSingleProcessConfig>;

/** Shorter than the 30 s that container platforms usually wait. */
const defaultGraceSeconds = 20;

/** @throws ConfigInvalid with every fault of the settings that the worker reads */
export function readWorkerConfig(env: Env = process.env) {
  return workerConfig(read(worker, env));
}

function workerConfig({ notify, deployment, ...config }: Read<typeof worker>) {
  const { serviceSeconds } = config;
  const { url, secret } = notify;
  const { deploymentName, buildId } = deployment;
  const service: AddressedConfig = {
    ...config.service,
    // Without one there is a fault.
    baseUrl: config.service.baseUrl as string,
    headersTimeoutMs: serviceSeconds * 1000,
    // The answer's body gets as long again as the transport gives it by default: 30 s.
    timeoutMs: serviceSeconds * 1000 + 30_000,
  };
  return {
    ...config,
    // A call that the service has accepted can end, and its answer can reach Temporal.
    shutdownGraceSeconds: config.shutdownGraceSeconds ?? serviceSeconds + 5,
    installation: namesOf(config.installation),
    service,
    ...(config.notifications === 'off' && { notify: config.notifications }),
    ...(url !== undefined && secret !== undefined && { notify: { ...notify, url, secret } }),
    ...(deploymentName !== undefined && buildId !== undefined && { deployment: { deploymentName, buildId } }),
  };
}

/** @throws ConfigInvalid with every fault of the settings that the ingress reads */
export function readIngressConfig(env: Env = process.env) {
  return ingressConfig(read(ingress, env), env);
}

function ingressConfig(config: Read<typeof ingress>, env: Env) {
  const { shutdownGraceSeconds = defaultGraceSeconds } = config;
  const temporal = trustingNode(config.temporal, env);
  return { ...config, temporal, shutdownGraceSeconds, installation: namesOf(config.installation) };
}

/** With the store that is built into Node, and NODE_EXTRA_CA_CERTS, unless the settings name another: the native client would read the system's. */
function trustingNode(temporal: TemporalConfig, { NODE_EXTRA_CA_CERTS: file = '' }: Env): TemporalConfig {
  const { tls = false } = temporal.connection;
  const { serverRootCACertificate: named, ...given } = tls === true ? {} : tls || {};
  if (tls === false || named !== undefined) return temporal;
  const trusted = Buffer.from([...rootCertificates, readable(file)].join('\n'));
  return { ...temporal, connection: { ...temporal.connection, tls: { ...given, serverRootCACertificate: trusted } } };
}

/** Node itself warns of a file that it cannot read, and goes on without it. */
function readable(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function namesOf({ name, formerNames }: Config<typeof ingress>['installation']): Installation {
  return [name, ...formerNames];
}

/** @throws ConfigInvalid with every fault of the settings that the codec server reads */
export function readCodecServerConfig(env: Env = process.env) {
  const config = read(codecServer, env);
  const { shutdownGraceSeconds = defaultGraceSeconds, allowedOrigins = defaultOrigins(config.host) } = config;
  return { ...config, shutdownGraceSeconds, allowedOrigins, keyRing: config.keyRing as KeyRing }; // without it there is a fault
}

/** The addresses at which `temporal server start-dev` and docker-compose.yml serve the Web UI: pages of this machine, for this machine only. */
function defaultOrigins(host: string): string[] {
  return isLoopback(host) ? ['http://localhost:8233', 'http://127.0.0.1:8233'] : [];
}

/**
 * For a process that is worker and ingress at once: it may keep the health data in a directory.
 * @throws ConfigInvalid with every fault of the settings that either reads
 */
export function readSingleProcessConfig(env: Env = process.env) {
  // A process for trying things out has no load balancer.
  const {
    directory,
    warnings,
    keyRingFile: file,
    ...config
  } = read(singleProcess, { INGRESS_DRAIN_SECONDS: '0', ...env });
  const { databaseUrl, databasePoolSize: poolSize } = config.ingress;
  const database = databaseUrl === undefined ? undefined : { databaseUrl, poolSize };
  const store: StorePlace | undefined = directory === undefined ? database : { directory };
  return {
    ...config,
    // One log for both: each warning once.
    worker: workerConfig({ ...config.worker, warnings, keyRingFile: file }),
    ingress: ingressConfig({ ...config.ingress, warnings: [], keyRingFile: file }, env),
    ...(store && { store }),
  };
}

/** @throws ConfigInvalid if `labops migrate` has no database */
export function readMigrationConfig(env: Env = process.env) {
  const { databaseUrl, warnings } = read(migration, env);
  if (databaseUrl !== undefined) return { databaseUrl, warnings };
  throw new ConfigInvalid([faultOf('DATABASE_URL', 'is missing', 'set it to that of the user who owns the tables')]);
}

/** @throws ConfigInvalid if `labops audit` has no database or no keys */
export function readAuditConfig(env: Env = process.env) {
  const { databaseUrl, keyRing, auditKeys = keyRing, ...config } = read(audit, env);
  if (databaseUrl !== undefined && auditKeys) return { ...config, databaseUrl, auditKeys };
  throw new ConfigInvalid([
    ...(databaseUrl === undefined ? [faultOf('DATABASE_URL', 'is missing', 'set it to that of lab_auditor')] : []),
    ...(auditKeys ? [] : [faultOf('AUDIT_KEYS', 'is missing')]),
  ]);
}

type Env = Readonly<Record<string, string | undefined>>;

type Config<L> = { [field in keyof L]: L[field] extends Name ? Values[L[field]] : Config<L[field]> };
/** With the warnings for an operator at start: sentences without a value of a setting. */
type Read<L> = Config<L> & {
  warnings: readonly string[];
  /** The file that the encryption keys come from, which is read again. */
  keyRingFile?: string | undefined;
};

/**
 * The settings that a program's list names, arranged as the list is.
 * @throws ConfigInvalid with every fault: a start that fails three times for three settings costs an operator three deployments
 */
function read<const L extends List>(list: L, env: Env): Read<L> {
  const faults: SettingFault[] = [];
  const names = new Set(namesIn(list));
  const given = givenTexts(names, env, faults);
  const texts: Env = { LABOPS_ENCRYPTION: defaultEncryption(given) ?? 'optional', ...given };
  const valid: Partial<Values> = {};
  for (const name of names) {
    if (name === 'TEMPORAL_*') {
      Object.assign(valid, { [name]: readTemporal(given, faults) });
      continue;
    }
    // Each by itself, so a wrong one does not hide the rules between others.
    const { data, error } = settings[name].safeParse(texts[name] ?? describedText(name, valid));
    for (const { message } of error?.issues ?? []) faults.push(faultOf(name, message));
    if (!error) Object.assign(valid, { [name]: data });
  }
  faults.push(...faultsBetween(names, given, valid));
  const hints = misspeltSettings(given);
  if (faults.length > 0) throw new ConfigInvalid(faults, hints);
  const warnings = [...hints, ...warningsOf(valid)];
  return { ...arranged(list, valid), warnings, keyRingFile: keyRingFile(given) };
}

/** The description's value of a setting that is not set. */
function describedText(name: keyof typeof settings, valid: Partial<Values>): string | undefined {
  const { SERVICE_DESCRIPTION: description = {}, SERVICE_ENVIRONMENT: environment = '' } = valid;
  if (name === 'SERVICE_BASE_URL') return description.addresses?.[environment];
  const field = fieldOf(name);
  const value = field && description[field];
  return value === undefined ? undefined : String(value);
}

function namesIn(list: List): Name[] {
  return Object.values(list).flatMap((each) => (typeof each === 'string' ? [each] : namesIn(each)));
}

/** A setting that is not set has no field. */
function arranged<L extends List>(list: L, values: Partial<Values>): Config<L> {
  const fields = Object.entries<Name | List>(list)
    .map(([field, each]) => [field, typeof each === 'string' ? values[each] : arranged(each, values)])
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as Config<L>;
}

/** The texts of the settings that are set. Those that the program reads are without quotes, and come from their files. */
function givenTexts(names: ReadonlySet<string>, env: Env, faults: SettingFault[]): Record<string, string> {
  const given = withoutBlanks(env);
  const isRead = (variable: string) =>
    names.has(variable) || (names.has('TEMPORAL_*') && /^(TEMPORAL_(?!GRPC_META_|CODEC_)|NODE_ENV$)/.test(variable));
  for (const name of secretSettings.filter(isRead)) {
    try {
      const secret = secretOf(given, name);
      if (secret !== undefined) given[name] = secret;
    } catch (error) {
      if (!(error instanceof SecretFileInvalid)) throw error;
      const remedy = `name a file that holds the value of ${name}, or leave it unset`;
      faults.push({ setting: `${name}_FILE`, problem: error.problem, remedy });
    }
  }
  // `docker run --env-file` leaves quotes on, so a key would be sent with them, and NODE_ENV would not mean production.
  for (const [setting, value] of Object.entries(given).filter(([name]) => isRead(name))) {
    const [, inner] = /^(?:"(.*)"|'(.*)')$/s.exec(value)?.filter((part) => part !== undefined) ?? [];
    if (inner === undefined) continue;
    faults.push({ setting, problem: 'is in quotes', remedy: 'remove them, because they count as part of the value' });
    given[setting] = inner;
  }
  return given;
}
