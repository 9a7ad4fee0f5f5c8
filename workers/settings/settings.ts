import { z } from 'zod';
import { serviceDescriptionIn } from '../../client/files.js';
import { defaultWebhookBytes } from '../../client/webhooks/verify.js';
import { defaultRetryDays } from '../../protocol/notifications/delivery.js';
import {
  baseAddress,
  defaultBrand,
  knownPaths,
  type ServiceDescription,
  serviceFields,
  webAddress,
  word,
} from '../../service/description.js';
import { defaultInstallation } from '../../service/installation.js';
import { defaultTaskQueue, type SideQueue, sideQueues } from '../../protocol/task-queues.js';
import { defaultRejectedDays } from '../../store/rejected-events.js';
import * as values from './values.js';
import type { TemporalConfig } from './temporal.js';

/**
 * Every setting of the processes, one at a time: its schema, its default with the reason, and the texts for operators.
 * `npm run docs` writes docs/settings.md from this file; config.ts reads the environment by it. A fault is a text that follows the
 * setting's name, and never repeats a value: it may be a secret in the wrong place.
 */

declare module 'zod' {
  /** The texts of a setting. Its `description` is the instruction that follows a fault, and opens its entry on the page. */
  interface GlobalMeta {
    /** More about the setting, for the page only: whole sentences. */
    more?: string;
    /** The behaviour without the setting, if its schema has no default or the default needs an explanation. */
    without?: string;
    /** The setting may instead be in a file that `<name>_FILE` names. */
    isSecret?: true;
  }
}

/** The path of a description. Each fault of the file is one of the setting, and names the field. */
const descriptionFile = z.string().transform((file, context): ServiceDescription => {
  const description = serviceDescriptionIn(file);
  if (!Array.isArray(description)) return description;
  for (const message of description) context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/**
 * The queues that a process can poll: the deployment's own queue, with the workflows, and those of protocol/task-queues.ts. They are not
 * with their workers, because not every process that reads settings needs Temporal's native core.
 */
export const queues = ['main', ...sideQueues] as const;

/**
 * Calls of the service are made by the main queue, `background` and `files`. The last two together have fewer slots than a process
 * has connections to the service (32), so a call that somebody waits for finds one. A delivery waits for the product most of its time.
 */
export const defaultSlots = { background: 16, notifications: 50, files: 4 } as const satisfies Record<
  SideQueue,
  number
>;

const queueList = values.list.pipe(
  z.array(z.enum(queues, { error: 'is not a list of task queues' })).min(1, { error: 'names no task queue' }),
);

function slots(queue: SideQueue, work: string) {
  return values
    .wholeNumber(1, 10_000)
    .default(defaultSlots[queue])
    .meta({ description: `set how many ${work} this process runs at once` });
}

const keyPrefix = word(/^[\x21-\x7e]+$/, 'has characters that no key has').optional();

export const settings = {
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { error: 'is not a level' })
    .default('info')
    .meta({ description: 'use one of trace, debug, info, warn, error, fatal, silent' }),
  LOG_FORMAT: z.enum(['names', 'numbers'], { error: 'is neither names nor numbers' }).default('names').meta({
    description: 'set names or numbers',
    more: "A line of the log has the level's name and the time in ISO 8601, or, as pino itself writes them, the level's number (30 for info) and milliseconds since 1970.",
  }),
  // The default is longer than a webhook's 15 s; the worker's is longer than a call of the service.
  SHUTDOWN_GRACE_SECONDS: values.wholeNumber(0, 3600).optional().meta({
    description: 'set for how many seconds running work may continue at shutdown',
    more: 'Five seconds after that the process exits and leaves the rest unfinished.',
    without: '20; in the worker, SERVICE_TIMEOUT_SECONDS plus 5',
  }),
  METRICS_PORT: values.port.optional().meta({
    description: 'set a free port for /metrics, /health and /ready, for instance 9464, or leave it unset',
    more: 'Prometheus reads the metrics there ([monitoring.md](monitoring.md)). Each process on one machine needs its own port.',
    without: 'the process shows no metrics, and a worker opens no port',
  }),
  // Metrics name no person, but show how much business there is.
  METRICS_HOST: values.host.default('127.0.0.1').meta({
    description: 'set the address that METRICS_PORT listens on, 0.0.0.0 for every address of the machine',
    more: 'Anyone who reaches the port can read the metrics: let only Prometheus and the probes of your platform reach it.',
  }),
  TRACES: z.enum(['otlp', 'off'], { error: 'is neither otlp nor off' }).default('off').meta({
    description: 'set otlp to export traces by OTLP over HTTP, or off',
    more: "OpenTelemetry's own variables, such as OTEL_EXPORTER_OTLP_ENDPOINT, set the destination and the share of traces ([Traces](monitoring.md#traces)).",
  }),
  TASK_QUEUE: word(/^\S(.{0,198}\S)?$/, 'is not a name of at most 200 characters')
    .default(defaultTaskQueue)
    .meta({
      description: 'use the same task queue for worker and ingress',
      more: 'A client and a mounted webhook handler take it as `taskQueue`, with the same default.',
    }),
  LABOPS_INSTALLATION: values.installationName.default(defaultInstallation[0]).meta({
    description:
      'set a name for this installation, 1 to 32 letters, digits, dots, hyphens and underscores, which no other installation on the same account at the lab service has',
    more: 'It signs the orders that are created, so another installation does not take them for its own. Worker, ingress and backends need the same. Keep it when the namespace or a key changes.',
    without: '`default`; in production the process does not start',
  }),
  LABOPS_FORMER_INSTALLATIONS: values.installationNames.default([]).meta({
    description: 'list the former names of this installation, separated by commas, so their orders stay its own',
    without: 'none',
  }),
  LABOPS_ENCRYPTION_KEYS: values.keyRing.optional().meta({
    description:
      'set <key id>:<32 bytes in base64> (openssl rand -base64 32), the same for every process and client of the namespace; separate several with commas, the newest first',
    more: 'What Temporal holds is [encrypted](operations.md#encryption) with the first key, and decrypted with any. Clients (`labops`, `LabOperations.connect`) read this setting too. The codec server requires it. The ingress may have [a key of its own](operations.md#an-ingress-that-can-decrypt-little).',
    without: 'payloads are readable in Temporal; with LABOPS_ENCRYPTION=required nothing starts',
    isSecret: true,
  }),
  LABOPS_ENCRYPTION: z.enum(['required', 'optional'], { error: 'is neither required nor optional' }).meta({
    description: 'set required, or optional while some process or client has no keys yet',
    more: 'With `required` nothing starts without keys, and unencrypted input is refused ([Encryption](operations.md#encryption)). Clients read this setting too.',
    without: '`required` if NODE_ENV is `production`, else `optional`',
  }),
  ENCRYPTION_KEY_DAYS: values.wholeNumber(1, 3650).default(90).meta({
    description: 'set after how many days `labops doctor` warns that the encryption key should be changed',
  }),
  DATABASE_URL: values.databaseAddress.optional().meta({
    description:
      'set the PostgreSQL database for health data and rejected events, postgres://user:password@host:5432/name, or ' +
      'HEALTH_DATA=off to keep none',
    more: '[Health data](health-data.md) describes its tables. The codec server only writes to the [audit trail](operations.md#the-audit-trail) there.',
    without:
      'the ingress counts health data and rejected events without keeping them, and deletions do not become final',
    isSecret: true,
  }),
  DELETED_USERS_KEYS: values.keyRing.optional().meta({
    description:
      'set <key id>:<32 bytes in base64>, the same for worker and ingress; separate several with commas, the newest first',
    more: 'By these keys the database recognises your own id of a deleted user. They let the ingress have [an encryption key of its own](operations.md#an-ingress-that-can-decrypt-little).',
    without: 'LABOPS_ENCRYPTION_KEYS serve for this as well',
    isSecret: true,
  }),
  AUDIT_KEYS: values.keyRing.optional().meta({
    description:
      'set <key id>:<32 bytes in base64>, the same for worker, codec server and `labops audit`; separate several with commas, the newest first',
    more: 'The [audit trail](operations.md#the-audit-trail) is verified by these keys: the first one makes new rows; keep each as long as its rows.',
    without:
      'LABOPS_ENCRYPTION_KEYS serve for this as well, and must be kept as long; without either there is no audit trail',
    isSecret: true,
  }),
  HEALTH_DATA: values.onOff.meta({
    description:
      'set off if the deployment keeps no health data on purpose; otherwise deletions wait until DATABASE_URL is set',
    more: 'With `off` DATABASE_URL must stay unset.',
  }),
  // PostgreSQL takes 100 connections by default, for all who use the server.
  DATABASE_POOL_SIZE: values.wholeNumber(1, 1000).default(10).meta({
    description:
      'set the largest number of database connections that a process writes with; it reads with as many more',
  }),
  REJECTED_EVENTS_DAYS: values.wholeNumber(1, 3650).default(defaultRejectedDays).meta({
    description: 'set after how many days the content of an unsettled rejected event is erased',
    more: 'Its row stays.',
  }),
  ERASE_HISTORIES: values.flag(true).meta({
    description: "set false to keep a deleted user's histories in Temporal until its retention is over",
    more: '[What remains after a deletion](operations.md#what-remains-after-a-deletion-and-until-when).',
  }),
  RECEIPT_KEY: values.ed25519Key.optional().meta({
    description: 'set an Ed25519 private key as PEM (openssl genpkey -algorithm ed25519)',
    more: 'The receipts of final deletions are signed with it ([What remains](operations.md#what-remains-after-a-deletion-and-until-when)). If you replace it, keep the old public key: receipts under it need it.',
    without: 'final deletions have no receipt',
    isSecret: true,
  }),
  SERVICE_DESCRIPTION: descriptionFile.optional().meta({
    description: 'set the path of the JSON file that describes how the deployment differs from the defaults',
    more: '`npm run service-check` writes it from an OpenAPI description ([fit.md](fit.md)). The settings below take precedence over its fields.',
    without: 'the defaults apply',
  }),
  SERVICE_BASE_URL: baseAddress.optional().meta({
    description: 'set the base address of the lab service, for instance https://api.example.com',
    without: 'SERVICE_ENVIRONMENT must be set',
  }),
  ALLOW_PLAINTEXT: values.flag(false).meta({
    description: 'set true only if something else protects the connection',
    more: 'Plain http to this machine and to single host names, such as those of a compose network, is always allowed. Applies to the lab service, its management API and NOTIFY_URL.',
  }),
  SERVICE_ENVIRONMENT: z.string().optional().meta({
    description: 'name an environment in the `addresses` of the description, for instance sandbox-us',
    more: 'It replaces SERVICE_BASE_URL, which must stay unset.',
    without: 'SERVICE_BASE_URL must be set',
  }),
  SERVICE_API_KEY: word(/^[\x21-\x7e]+$/, 'has characters that a header cannot contain').meta({
    description: 'set the team API key of the environment; a management key does not work here',
    isSecret: true,
  }),
  SERVICE_BRAND: serviceFields.brand.default(defaultBrand).meta({
    description: 'set the <brand> in the name of the x-<brand>-api-key header',
  }),
  SERVICE_MANAGEMENT_KEY: word(/^[\x21-\x7e]+$/, 'has characters that a header cannot contain')
    .optional()
    .meta({
      description: 'set the management key, which is not a team API key, or leave it unset if nothing is managed',
      without: 'webhook endpoints cannot be managed',
      isSecret: true,
    }),
  SERVICE_MANAGEMENT_URL: serviceFields.managementBaseUrl.optional().meta({
    description: "set the management API's address, or leave it unset if it is the lab service's",
    without: "the lab service's address",
  }),
  SERVICE_TEAM_KEY_PREFIX: keyPrefix.meta({
    description: "set the prefix of the deployment's team API keys, or leave it unset",
    more: 'At start, a key is refused if it does not begin with its own prefix, or begins with that of the other kind.',
    without: 'the kind of a key is not checked',
  }),
  SERVICE_MANAGEMENT_KEY_PREFIX: keyPrefix.meta({
    description: "set the prefix of the deployment's management keys, or leave it unset",
    without: 'the kind of a key is not checked',
  }),
  SERVICE_DEPRECATED_MANAGEMENT_HEADER: values.flag(false).meta({
    description: 'set true if the deployment takes the management key in x-<brand>-org-key, its deprecated header',
  }),
  SERVICE_ORDERS_PATH: serviceFields.ordersPath.default(knownPaths.ordersPath[0]).meta({
    description: 'set the path of the order list, for instance /v3/orders',
  }),
  SERVICE_USERS_PATH: serviceFields.usersPath.default(knownPaths.usersPath[0]).meta({
    description: 'set the path of the user list',
  }),
  SERVICE_CREATE_ORDER_PATH: serviceFields.createOrderPath.default(knownPaths.createOrderPath[0]).meta({
    description: 'set the path of order creation, /v3/order or /v3/order/create',
    more: "The service's specification lists both.",
  }),
  SERVICE_ORDER_RULES: z
    .enum(['service', 'documented'], { error: 'is neither service nor documented' })
    .default('service')
    .meta({
      description:
        'set to `documented` to refuse orders and registrations whose names, zip codes or countries laboratories are documented to reject',
      more: 'The rules: names in ASCII, US zip codes, two-letter country codes in capitals (docs/internals/lab-service.md). By default the service decides.',
    }),
  SERVICE_ECHOES_PASSTHROUGH: values.flag(true).meta({
    description: 'set false if the service does not return the passthrough that an order was created with',
    more: 'It decides how the worker finds an order whose creation got no answer.',
  }),
  // Order creation talks to labs and couriers; giving up early makes an outcome unknown that was about to be known.
  SERVICE_TIMEOUT_SECONDS: values.wholeNumber(1, 600).default(30).meta({
    description: 'set how many seconds the lab service may take to begin its answer',
  }),
  NOTIFY_URL: webAddress.optional().meta({
    description: 'set the address of the product that receives notifications, or NOTIFICATIONS=off to send none',
    without: 'notifications wait, and ask for attention',
  }),
  NOTIFY_SECRET: values.secret.optional().meta({
    description: 'set the secret that notifications are signed with: whsec_ and at least 24 random bytes in base64',
    more: 'The product verifies notifications with the same secret.',
    without: 'NOTIFY_URL must be unset',
    isSecret: true,
  }),
  NOTIFY_RETRY_DAYS: values.wholeNumber(1, 365).default(defaultRetryDays).meta({
    description: 'set for how many days a notification is retried after its workflow has ended',
    more: 'During that time `labops notifications` lists, resends and discards it.',
  }),
  NOTIFY_CLIENT_USER_ID: values.flag(false).meta({
    description: "set true to add the user's client_user_id to notifications",
    more:
      'The worker reads it from the service when it sends one, remembers it in memory for ten minutes, and does not store it; ' +
      'if it cannot be read, the notification is sent without it ([Messages](messages.md#notifications)).',
  }),
  NOTIFICATIONS: values.onOff.meta({
    description:
      'set off if the deployment sends no notifications on purpose; otherwise they wait until NOTIFY_URL is set',
    more: 'With `off` NOTIFY_URL must stay unset.',
  }),
  REPORT_ROOT: word(/^\//, 'is not an absolute path').optional().meta({
    description: "set the folder that contains reports' files, or leave it unset",
    without: 'files are taken from URLs only',
  }),
  // The specification's limit of 10 MB, read generously; some deployments take 30 MiB (docs/internals/lab-service.md).
  REPORT_MAX_BYTES: values
    .wholeNumber(1, 1024 * values.mebibyte)
    .default(10 * values.mebibyte)
    .meta({ description: "set the service's limit for a report's file, in bytes" }),
  REPORT_URL_ALLOWED_HOSTS: values.hostList.default([]).meta({
    description:
      'list the hosts with private addresses that files may be fetched from, each as host or host:port, with commas between',
    without: 'files are fetched from public addresses only',
  }),
  REPORT_URL_HEADERS_FILE: values.headerSetsFile.optional().meta({
    description:
      'set the path of a JSON file: {"<name>": {"hosts": ["files.example.com"], "headers": {"authorization": "…"}}}',
    more: 'A submission names one of these sets in `headersFrom` ([Operations](operations.md#lab-reports)).',
    without: 'files are fetched without extra headers',
  }),
  // An update is announced again while it is in the overlap of an hour: every hour costs two signals at most.
  RECONCILE_EVERY_MINUTES: values.wholeNumber(0, 10_080).default(60).meta({
    description: 'set how often orders are compared with the service, in minutes, or 0 for never',
    more: 'This catches up on webhooks that never arrived.',
  }),
  TEMPORAL_DEPLOYMENT_NAME: word(/^[^.:\s]{1,200}$/, 'is not 1 to 200 characters without dots, colons or spaces')
    .optional()
    .meta({
      description: 'set the name of the worker deployment, together with TEMPORAL_WORKER_BUILD_ID',
      more: "Both switch [Worker Versioning](releases.md) on. Temporal's worker controller for Kubernetes sets them.",
      without: 'workers of all releases share the work',
    }),
  TEMPORAL_WORKER_BUILD_ID: word(/^[^:\s]{1,200}$/, 'is not 1 to 200 characters without colons or spaces')
    .optional()
    .meta({
      description: 'set the id of this build, such as the hash of its commit, together with TEMPORAL_DEPLOYMENT_NAME',
      without: 'workers of all releases share the work',
    }),
  WORKER_QUEUES: queueList.default([...queues]).meta({
    description: `list the task queues that this process polls, out of ${queues.join(', ')}, with commas between`,
    more: 'Each must be polled by some process ([Operations](operations.md#task-queues)).',
    without: 'all',
  }),
  BACKGROUND_SLOTS: slots('background', 'background activities (reads, reconciliation, erasure, streams)'),
  NOTIFICATION_SLOTS: slots('notifications', 'deliveries of notifications'),
  FILE_SLOTS: slots('files', 'uploads of reports'),
  BACKGROUND_PER_SECOND: values.wholeNumber(1, 100_000).optional().meta({
    description: 'set how many background activities all processes together start in a second, or leave it unset',
    more: 'It bounds what reconciliation and repeated reads ask of the lab service. Give all processes the same number.',
    without: 'each starts as soon as a slot is free',
  }),
  // A cached order takes some 0.4 MB in addition to 200 MB of the process, so 1,000 make 600 MB (docs/internals/performance.md#open-orders).
  // Running out of memory kills the worker; an uncached order only takes longer.
  MAX_CACHED_WORKFLOWS: values.wholeNumber(2, 1_000_000).default(1000).meta({
    description: 'set how many workflows the worker keeps in memory, about 0.4 MB each',
  }),
  WEBHOOK_SECRETS: values.secretList.meta({
    description:
      "copy the signing secret (whsec_…) from the service's webhook settings; during a rotation give both, with a comma between",
    more: 'A secret of fewer than 24 bytes can be guessed: the process warns, and refuses one of fewer than 16.',
    isSecret: true,
  }),
  WEBHOOK_MAX_BYTES: values
    .wholeNumber(1024, 256 * values.mebibyte)
    .default(defaultWebhookBytes)
    .meta({ description: 'set the largest webhook to accept, in bytes' }),
  SERVICE_TEAM_ID: serviceFields.teamId.optional().meta({
    description: "set the service's id of your team, or leave it unset",
    more: 'Events that name another team are counted and ignored.',
    without: 'the events of every team are taken',
  }),
  INGRESS_PORT: values.port.default(4000).meta({ description: 'set a free port' }),
  INGRESS_HOST: values.host.default('0.0.0.0').meta({
    description: 'set the address to listen on, 127.0.0.1 for this machine only',
  }),
  // A few probes of a load balancer. With the grace of 20 s it stays below the 30 s that container platforms usually wait.
  INGRESS_DRAIN_SECONDS: values.wholeNumber(0, 600).default(5).meta({
    description: 'set for how many seconds the ingress keeps answering after /ready says that it is stopping',
    more: 'In a single process the default is `0`.',
  }),
  // The codec server decrypts for anyone allowed to ask: by default only this machine, and only the Web UI's page.
  CODEC_PORT: values.port.default(8234).meta({
    description: 'set a free port',
    more: "Give the Web UI the server's address as its codec endpoint.",
  }),
  CODEC_HOST: values.host.default('127.0.0.1').meta({
    description: 'set the address to listen on; 127.0.0.1 is this machine only',
    more: 'Any other address needs CODEC_TOKEN, or CODEC_OPEN=true.',
  }),
  CODEC_ALLOWED_ORIGINS: values.originList.optional().meta({
    description: 'list the addresses of the Web UI without a path, for instance https://temporal.example.com',
    without: '`http://localhost:8233` and `http://127.0.0.1:8233`; none if CODEC_HOST is open to other machines',
  }),
  CODEC_TOKEN: values.bearerToken.optional().meta({
    description:
      'set the secret that requests bring as `Authorization: Bearer …`, or set CODEC_OPEN=true if the port is reachable only by people allowed to see payloads',
    without: 'anyone who can reach the port can read payloads',
    isSecret: true,
  }),
  CODEC_ENCODE_TOKEN: values.bearerToken.optional().meta({
    description: 'set the secret of people who may also write payloads, brought as CODEC_TOKEN is',
    more: 'The `temporal` command line with a codec endpoint encodes what it sends.',
    without: 'the server only decodes',
    isSecret: true,
  }),
  CODEC_OPEN: values.flag(false).meta({
    description: 'set true only if the port is reachable only by people allowed to see payloads',
    more: 'It replaces CODEC_TOKEN if CODEC_HOST is open to other machines.',
  }),
  CODEC_USER_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be the name of a header')
    .optional()
    .meta({
      description: 'name the header in which a proxy says who asks, for instance X-Forwarded-User: the log shows it',
      more: 'The proxy must replace what callers send in it. The audit trail has it if it is an id in the form of an actor, not an address or a name.',
      without: 'the log does not say who asked',
    }),
  HEALTH_DATA_DIRECTORY: z.string().optional().meta({
    description: 'set the directory for health data and rejected events, instead of DATABASE_URL',
    more: 'The process creates it closed to other users of the machine, and refuses one that is open to them and contains something else. Its `labops.lock` must stay: it keeps a second process out.',
    without: 'DATABASE_URL applies',
  }),
  HEALTH_DATA_PORT: values.port.optional().meta({
    description: 'set a free port, or leave it unset',
    more: 'Health data can be read over HTTP at this port, from the same machine only.',
    without: 'health data cannot be read over HTTP',
  }),
};

/** The values of the settings. `TEMPORAL_*` stands for the many that Temporal's own tools read, too. */
export type Values = z.output<z.ZodObject<typeof settings>> & { 'TEMPORAL_*': TemporalConfig };
export type Name = keyof Values;

/** The settings that may be in files. */
export const secretSettings = [
  ...Object.entries<z.ZodType>(settings).flatMap(([name, schema]) => (schema.meta()?.isSecret ? [name] : [])),
  'TEMPORAL_API_KEY',
];

/** The instruction that follows a fault: how to set it right, and the default. */
export function instructionOf(schema: z.ZodType): string {
  const { description = '' } = schema.meta() ?? {};
  const defaultValue = defaultOf(schema);
  return defaultValue === undefined ? description : `${description}; the default is ${defaultValue}`;
}

/** The default of a setting as text; undefined if there is none. */
export function defaultOf(schema: z.ZodType): string | undefined {
  if (schema.meta()?.without !== undefined) return undefined;
  const defaultValue: unknown = schema.safeParse(undefined).data;
  return typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue);
}
