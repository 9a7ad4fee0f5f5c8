import type { z } from 'zod';
import type { ReportFilesConfig } from '../activities/report-file/report-files.js';
import { defaultEncryption, type Encryption, isProduction, withoutBlanks } from '../client/config.js';
import type { KeyRing } from '../client/encryption/key-ring.js';
import type { ServiceConfig } from '../service/http.js';
import { type Installation, usualInstallation } from '../service/installation.js';
import { isLoopback } from '../service/proxy.config.js';
import { SecretFileInvalid, secretOf } from '../client/secret-file.js';
import { parseSecret } from '../service/webhook-signature.js';
import type { DeploymentConfig } from './deployment.js';
import { managementConfig, wrongKey } from './management-config.js';
import type { MonitoringConfig } from './monitoring/server.js';
import { misspeltSettings } from './misspelt.js';
import type { QueueOptions } from './polled-queues.js';
import { readHeaderSets, reportFilesConfig } from './report-files.js';
import { enoughSecretBytes } from './setting-values.js';
import { ConfigInvalid, type SettingFault } from './setting-faults.js';
import {
  codecServerSettings,
  type commonSettings,
  type Environment,
  ingressSettings,
  instructionOf,
  secretSettings,
  workerSettings,
} from './settings.js';
import { readTemporal, type TemporalConfig } from './temporal-config.js';
import { isProtected, transportWarnings } from './transport.js';

/**
 * All settings of the processes, read in one place. Each process requires only what it needs, and reports all faults at
 * once: a start that fails three times for three settings costs an operator three deployments.
 */

type Env = Readonly<Record<string, string | undefined>>;

interface ProcessConfig {
  logLevel: z.output<typeof commonSettings.LOG_LEVEL>;
  shutdownGraceSeconds: number;
  /** The address at which the process shows its metrics and health. Without it there is none. */
  monitoring?: MonitoringConfig;
  /** Warnings for an operator at start, as sentences without a value of a setting. */
  warnings: readonly string[];
}

interface CommonConfig extends ProcessConfig {
  temporal: TemporalConfig;
  taskQueue: string;
  installation: Installation;
  exportsTraces: boolean;
  /** The keys that encrypt payloads. Without them payloads are readable in Temporal. */
  keyRing?: KeyRing;
  /** The keys by which the store recognises references of deleted users. Default: `keyRing`. */
  deletedUsersKeys?: KeyRing;
  /** `required`: the process does not start without keys, and a worker refuses input that is not encrypted. */
  encryption: Encryption;
  /** The store of health data and rejected events. Without it they are counted and dropped. */
  databaseUrl?: string;
  databasePoolSize: number;
  /** How long a rejected event waits, in days. */
  rejectedEventsDays: number;
  /** The deployment keeps none on purpose. Without this and without a store nothing is erased either, and deletions wait. */
  healthData?: 'off';
}

export interface WorkerConfig extends CommonConfig {
  service: ServiceConfig;
  /** True if orders show the passthrough they were created with: it decides how a lost creation is found again. */
  echoesPassthrough: boolean;
  reportFiles: ReportFilesConfig;
  /** The product's endpoint; `off`: there is none on purpose. Without either, deliveries fail until a worker has it. */
  notify?: { url: string; secret: string; retryDays: number; namesClientUser: boolean } | 'off';
  /** The release, for Worker Versioning. Without it, workers of all releases share the work. */
  deployment?: DeploymentConfig;
  queues: QueueOptions;
  maxCachedWorkflows: number;
  /** 0: never. */
  reconcileEveryMinutes: number;
}

export interface IngressConfig extends CommonConfig {
  host: string;
  port: number;
  webhookSecrets: string[];
  webhookMaxBytes: number;
  /** Events of another team are counted and dropped. Without it every team's are taken. */
  teamId?: string;
  /** How long it continues to answer after `/ready` has announced the stop. */
  drainSeconds: number;
}

export interface CodecServerConfig extends ProcessConfig {
  keyRing: KeyRing;
  host: string;
  port: number;
  allowedOrigins: string[];
  /** The token that requests must carry; without it everybody who reaches the port may ask. */
  token?: string;
}

/** @throws ConfigInvalid with every fault of the settings that the worker reads */
export function readWorkerConfig(env: Env = process.env): WorkerConfig {
  const faults: SettingFault[] = [];
  const given = givenSettings(env, workerSettings, faults);
  const valid = parse(workerSettings, given, faults);
  const baseUrl = serviceAddress(given, faults);
  requireTls(given, faults);
  requireTogether(given, faults);
  checkOff(given, faults);
  const wrong = wrongKey(valid);
  if (wrong) faults.push({ ...wrong, remedy: remedyOf(wrong.setting) });
  const headerSets = readHeaderSets(valid.REPORT_URL_HEADERS_FILE, headersFileFault(faults));
  requireKeys(valid, given, faults);
  requireInstallation(given, faults);
  const temporal = readTemporal(given, faults);
  const settings = complete(valid, faults);
  if (!settings || !temporal || baseUrl === undefined) throw new ConfigInvalid(faults, misspeltSettings(given));
  const { NOTIFY_URL: url, NOTIFY_SECRET: secret, NOTIFY_RETRY_DAYS: retryDays } = settings;
  const namesClientUser = settings.NOTIFY_CLIENT_USER_ID;
  const deployment = deploymentOf(settings);
  return {
    ...commonOf(settings, temporal, given),
    // A call that the service has accepted can end, and its answer can reach Temporal.
    shutdownGraceSeconds: settings.SHUTDOWN_GRACE_SECONDS ?? settings.SERVICE_TIMEOUT_SECONDS + 5,
    service: serviceConfig(settings, baseUrl),
    echoesPassthrough: settings.SERVICE_ECHOES_PASSTHROUGH,
    reportFiles: reportFilesConfig(settings, headerSets),
    ...(settings.NOTIFICATIONS === 'off' && { notify: 'off' }),
    ...(url !== undefined && secret !== undefined && { notify: { url, secret, retryDays, namesClientUser } }),
    ...(deployment && { deployment }),
    queues: queueOptions(settings),
    maxCachedWorkflows: settings.MAX_CACHED_WORKFLOWS,
    reconcileEveryMinutes: settings.RECONCILE_EVERY_MINUTES,
  };
}

function deploymentOf(settings: WorkerSettings): DeploymentConfig | undefined {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = settings;
  return deploymentName === undefined || buildId === undefined ? undefined : { deploymentName, buildId };
}

/** If the first is set, the second must be. Half of a release's name would switch Worker Versioning off unnoticed. */
const together = [
  ['NOTIFY_URL', 'NOTIFY_SECRET'],
  ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'],
  ['TEMPORAL_WORKER_BUILD_ID', 'TEMPORAL_DEPLOYMENT_NAME'],
] as const;

function requireTogether(given: Env, faults: SettingFault[]): void {
  for (const [one, other] of together) {
    if (given[one] !== undefined && given[other] === undefined) faults.push(missing(other, `${one} is set`));
  }
}

function missing(setting: string, because: string): SettingFault {
  return { setting, problem: `is missing, but ${because}`, remedy: remedyOf(setting) };
}

function queueOptions(settings: WorkerSettings): QueueOptions {
  const { WORKER_QUEUES: polls, BACKGROUND_PER_SECOND: backgroundPerSecond } = settings;
  const { BACKGROUND_SLOTS: background, NOTIFICATION_SLOTS: notifications, FILE_SLOTS: files } = settings;
  return {
    polls,
    slots: { background, notifications, files },
    ...(backgroundPerSecond !== undefined && { backgroundPerSecond }),
  };
}

/** @throws ConfigInvalid with every fault of the settings that the ingress reads */
export function readIngressConfig(env: Env = process.env): IngressConfig {
  const faults: SettingFault[] = [];
  const given = givenSettings(env, ingressSettings, faults);
  const valid = parse(ingressSettings, given, faults);
  checkOff(given, faults);
  requireKeys(valid, given, faults);
  requireInstallation(given, faults);
  const temporal = readTemporal(given, faults);
  const settings = complete(valid, faults);
  if (!settings || !temporal) throw new ConfigInvalid(faults, misspeltSettings(given));
  const common = commonOf(settings, temporal, given);
  return {
    ...common,
    warnings: [...common.warnings, ...secretWarnings(settings.WEBHOOK_SECRETS)],
    host: settings.INGRESS_HOST,
    port: settings.INGRESS_PORT,
    webhookSecrets: settings.WEBHOOK_SECRETS,
    webhookMaxBytes: settings.WEBHOOK_MAX_BYTES,
    drainSeconds: settings.INGRESS_DRAIN_SECONDS,
    ...(settings.SERVICE_TEAM_ID !== undefined && { teamId: settings.SERVICE_TEAM_ID }),
  };
}

/** @throws ConfigInvalid with every fault of the settings that the codec server reads */
export function readCodecServerConfig(env: Env = process.env): CodecServerConfig {
  const faults: SettingFault[] = [];
  const given = givenSettings(env, codecServerSettings, faults);
  const valid = parse(codecServerSettings, given, faults);
  const { CODEC_OPEN: isOpen, CODEC_HOST: host } = valid;
  if (given['CODEC_TOKEN'] === undefined && isOpen === false && host !== undefined && !isLoopback(host)) {
    faults.push(missing('CODEC_TOKEN', 'CODEC_HOST is not an address of this machine only'));
  }
  const settings = complete(valid, faults);
  if (!settings) throw new ConfigInvalid(faults, misspeltSettings(given));
  return {
    logLevel: settings.LOG_LEVEL,
    shutdownGraceSeconds: settings.SHUTDOWN_GRACE_SECONDS ?? defaultGraceSeconds,
    ...monitoringOf(settings),
    warnings: misspeltSettings(given),
    keyRing: settings.LABOPS_ENCRYPTION_KEYS,
    host: settings.CODEC_HOST,
    port: settings.CODEC_PORT,
    allowedOrigins: settings.CODEC_ALLOWED_ORIGINS ?? defaultOrigins(settings.CODEC_HOST),
    ...(settings.CODEC_TOKEN !== undefined && { token: settings.CODEC_TOKEN }),
  };
}

function requireKeys(valid: Partial<CommonSettings>, given: Env, faults: SettingFault[]): void {
  if (valid.ENCRYPTION !== 'required' || given['LABOPS_ENCRYPTION_KEYS'] !== undefined) return;
  faults.push(missing('LABOPS_ENCRYPTION_KEYS', 'ENCRYPTION is required (the default in production)'));
}

/** In production another installation may share the account at the lab service, now or later. */
function requireInstallation(given: Env, faults: SettingFault[]): void {
  if (!isProduction(given) || given['LABOPS_INSTALLATION'] !== undefined) return;
  faults.push(missing('LABOPS_INSTALLATION', 'this is production'));
}

/** Addresses that keys, patients and results go to. */
const serviceAddresses = [
  'SERVICE_BASE_URL',
  'SERVICE_URL_PRODUCTION_US',
  'SERVICE_URL_PRODUCTION_EU',
  'SERVICE_URL_SANDBOX_US',
  'SERVICE_URL_SANDBOX_EU',
  'SERVICE_MANAGEMENT_URL',
  'NOTIFY_URL',
];

function requireTls(given: Env, faults: SettingFault[]): void {
  if (given['ALLOW_PLAINTEXT'] === 'true') return;
  for (const setting of serviceAddresses) {
    const address = given[setting];
    if (address === undefined || !isPlainHttp(address) || isProtected(address)) continue;
    const problem = 'is plain http, which others can read in transit';
    faults.push({
      setting,
      problem,
      remedy: 'use https, or set ALLOW_PLAINTEXT=true if something else protects the connection',
    });
  }
}

/** Anything that is not a web address has a fault already. */
function isPlainHttp(address: string): boolean {
  return URL.canParse(address) && new URL(address).protocol === 'http:';
}

/** The addresses at which `temporal server start-dev` and docker-compose.yml serve the Web UI: pages of this machine, for this machine only. */
function defaultOrigins(host: string): string[] {
  return isLoopback(host) ? ['http://localhost:8233', 'http://127.0.0.1:8233'] : [];
}

/** The service chooses these secrets, so a short one is taken. */
function secretWarnings(secrets: readonly string[]): string[] {
  const isShort = secrets.some((secret) => parseSecret(secret).length < enoughSecretBytes);
  return isShort
    ? [
        `WEBHOOK_SECRETS holds a secret of fewer than ${enoughSecretBytes} bytes, which can be guessed: have the service make another.`,
      ]
    : [];
}

function givenSettings(env: Env, shape: object, faults: SettingFault[]): Record<string, string> {
  const given = withoutBlanks(env);
  for (const name of secretSettings) {
    try {
      const secret = secretOf(given, name);
      if (secret !== undefined) given[name] = secret;
    } catch (error) {
      if (!(error instanceof SecretFileInvalid)) throw error;
      const remedy = `name a file that holds the value of ${name}, or leave it unset`;
      faults.push({ setting: `${name}_FILE`, problem: error.message, remedy });
    }
  }
  unquote(given, shape, faults);
  return given;
}

/** `docker run --env-file` leaves quotes on, so a key would be sent with them, and NODE_ENV would not mean production. */
function unquote(given: Record<string, string>, shape: object, faults: SettingFault[]): void {
  for (const [setting, value] of Object.entries(given)) {
    const isRead = setting in shape || /^(TEMPORAL_(?!GRPC_META_|CODEC_)|NODE_ENV$)/.test(setting);
    const [, inner] = /^(?:"(.*)"|'(.*)')$/s.exec(value)?.filter((part) => part !== undefined) ?? [];
    if (!isRead || inner === undefined) continue;
    faults.push({ setting, problem: 'is in quotes', remedy: 'remove them, because they count as part of the value' });
    given[setting] = inner;
  }
}

/** The settings without a fault. Each is parsed by itself, so a wrong one does not hide the rules between others. */
function parse<Shape extends Record<string, z.ZodType>>(
  shape: Shape,
  given: Env,
  faults: SettingFault[],
): Partial<z.output<z.ZodObject<Shape>>> {
  const usual: Env = { ENCRYPTION: defaultEncryption(given), ...given };
  const valid: [string, unknown][] = [];
  for (const [setting, schema] of Object.entries(shape)) {
    const { data, error } = schema.safeParse(usual[setting]);
    const problems = (error?.issues ?? []).map(({ message }) => message);
    faults.push(...problems.map((problem) => ({ setting, problem, remedy: remedyOf(setting) })));
    if (!error) valid.push([setting, data]);
  }
  return Object.fromEntries(valid) as Partial<z.output<z.ZodObject<Shape>>>;
}

/** The settings, unless there are faults: without any, none is missing. */
function complete<Settings>(valid: Partial<Settings>, faults: readonly SettingFault[]): Settings | undefined {
  return faults.length === 0 ? (valid as Settings) : undefined;
}

const knownSettings: Readonly<Record<string, z.ZodType | undefined>> = {
  ...workerSettings,
  ...ingressSettings,
  ...codecServerSettings,
};

function remedyOf(setting: string): string {
  const schema = knownSettings[setting];
  return schema ? instructionOf(schema) : 'see docs/settings.md';
}

type WorkerSettings = z.output<z.ZodObject<typeof workerSettings>>;
type CommonSettings = z.output<z.ZodObject<typeof commonSettings>>;

/** Shorter than the 30 s that container platforms usually wait. */
const defaultGraceSeconds = 20;

function commonOf(settings: CommonSettings, temporal: TemporalConfig, given: Env): CommonConfig {
  return {
    temporal,
    taskQueue: settings.TASK_QUEUE,
    installation: [settings.LABOPS_INSTALLATION ?? usualInstallation[0], ...settings.LABOPS_FORMER_INSTALLATIONS],
    logLevel: settings.LOG_LEVEL,
    shutdownGraceSeconds: settings.SHUTDOWN_GRACE_SECONDS ?? defaultGraceSeconds,
    ...monitoringOf(settings),
    warnings: [...misspeltSettings(given), ...transportWarnings(temporal, settings.DATABASE_URL)],
    encryption: settings.ENCRYPTION,
    exportsTraces: settings.TRACES === 'otlp',
    ...(settings.LABOPS_ENCRYPTION_KEYS && { keyRing: settings.LABOPS_ENCRYPTION_KEYS }),
    ...(settings.DELETED_USERS_KEYS && { deletedUsersKeys: settings.DELETED_USERS_KEYS }),
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    rejectedEventsDays: settings.REJECTED_EVENTS_DAYS,
    ...(settings.DATABASE_URL !== undefined && { databaseUrl: settings.DATABASE_URL }),
    ...(settings.HEALTH_DATA === 'off' && { healthData: 'off' }),
  };
}

function monitoringOf({
  METRICS_HOST: host,
  METRICS_PORT: port,
}: Pick<CommonSettings, 'METRICS_HOST' | 'METRICS_PORT'>): Pick<ProcessConfig, 'monitoring'> {
  return port === undefined ? {} : { monitoring: { host, port } };
}

function serviceConfig(settings: WorkerSettings, baseUrl: string): ServiceConfig {
  const headersTimeoutMs = settings.SERVICE_TIMEOUT_SECONDS * 1000;
  return {
    baseUrl,
    apiKey: settings.SERVICE_API_KEY,
    brand: settings.SERVICE_BRAND,
    ...managementConfig(settings),
    ordersPath: settings.SERVICE_ORDERS_PATH,
    usersPath: settings.SERVICE_USERS_PATH,
    createOrderPath: settings.SERVICE_CREATE_ORDER_PATH,
    orderRules: settings.SERVICE_ORDER_RULES,
    headersTimeoutMs,
    // The answer's body gets as long again as the transport gives it by default: 30 s.
    timeoutMs: headersTimeoutMs + 30_000,
  };
}

const addressSettings = {
  'production-us': 'SERVICE_URL_PRODUCTION_US',
  'production-eu': 'SERVICE_URL_PRODUCTION_EU',
  'sandbox-us': 'SERVICE_URL_SANDBOX_US',
  'sandbox-eu': 'SERVICE_URL_SANDBOX_EU',
} as const satisfies Record<Environment, string>;

/** SERVICE_BASE_URL, or the address of SERVICE_ENVIRONMENT. None is built in: a missing one is a fault, and so are two. */
function serviceAddress(given: Env, faults: SettingFault[]): string | undefined {
  const environment = given['SERVICE_ENVIRONMENT'];
  if (given['SERVICE_BASE_URL'] !== undefined) {
    const problem = 'is set, and so is SERVICE_ENVIRONMENT';
    if (environment !== undefined)
      faults.push({ setting: 'SERVICE_BASE_URL', problem, remedy: 'unset one of them, or leave it blank' });
    return given['SERVICE_BASE_URL'];
  }
  if (environment === undefined) {
    const remedy = 'set it, or set SERVICE_ENVIRONMENT and the address of that environment';
    faults.push({ setting: 'SERVICE_BASE_URL', problem: 'is missing', remedy });
    return undefined;
  }
  const setting = Object.entries(addressSettings).find(([name]) => name === environment)?.[1];
  if (setting === undefined) return undefined; // an unknown environment is a fault already
  if (given[setting] === undefined) faults.push(missing(setting, `SERVICE_ENVIRONMENT is ${environment}`));
  return given[setting];
}

const switches = { NOTIFICATIONS: 'NOTIFY_URL', HEALTH_DATA: 'DATABASE_URL' } as const;

function checkOff(given: Env, faults: SettingFault[]): void {
  for (const [setting, place] of Object.entries(switches)) {
    if (given[setting] !== 'off' || given[place] === undefined) continue;
    faults.push({ setting, problem: `is off, but ${place} is set`, remedy: 'unset one of them' });
  }
}

function headersFileFault(faults: SettingFault[]): (problem: string) => void {
  const setting = 'REPORT_URL_HEADERS_FILE';
  return (problem) => faults.push({ setting, problem, remedy: remedyOf(setting) });
}

/** The standard TEMPORAL_* settings and the TOML profiles of the Temporal command line. */
