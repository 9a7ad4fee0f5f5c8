import { z } from 'zod';
import { KeyRingInvalid, parseKeyRing } from '../client/encryption/key-ring.js';
import { parseSecret, WebhookSecretInvalid } from '../service/webhook-signature.js';

/**
 * Every setting of the processes, one at a time: how its text is read, its default with the reason, and (in
 * `describe`) what to set when it is wrong. A message says what is wrong in words that follow the setting's name, and
 * never repeats a value: it may be a secret in the wrong place.
 */

const mebibyte = 1024 * 1024;

const missing = { error: 'is missing' };

function wholeNumber(least: number, most: number) {
  const error = `is not a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error, abort: true })
    .transform(Number)
    .refine((number) => number >= least && number <= most, { error });
}

function word(pattern: RegExp, error: string) {
  return z.string(missing).regex(pattern, { error });
}

const webAddress = z
  .string(missing)
  .refine(isWebAddress, { error: 'is not an http or https address without credentials', abort: true });

/** What paths are put behind. */
const baseAddress = webAddress.refine((text) => !/[?#]/.test(text), { error: 'has a query or a fragment' });

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username + url.password === '';
}

const path = word(/^\/[^?#\s{}]*$/, 'is not a path that begins with a slash');

/** Faults of a list are told by position, because the secret itself must not be shown. */
const secretList = z
  .string(missing)
  .transform((text) => text.split(',').map((secret) => secret.trim()))
  .transform((secrets) => secrets.filter((secret) => secret !== ''))
  .superRefine((secrets, context) => {
    if (secrets.length === 0) context.addIssue({ code: 'custom', message: 'holds no secret' });
    for (const [index, secret] of secrets.entries()) {
      const fault = secretFault(secret);
      const which = secrets.length === 1 ? '' : `(secret ${index + 1} of ${secrets.length}) `;
      if (fault !== undefined) context.addIssue({ code: 'custom', message: `${which}${fault}` });
    }
  });

const secret = z.string(missing).superRefine((text, context) => {
  const fault = secretFault(text);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

function secretFault(text: string): string | undefined {
  try {
    parseSecret(text);
    return undefined;
  } catch (error) {
    if (error instanceof WebhookSecretInvalid) return error.message;
    throw error;
  }
}

const keyRing = z.string(missing).transform((text, context) => {
  try {
    return parseKeyRing(text);
  } catch (error) {
    if (!(error instanceof KeyRingInvalid)) throw error;
    for (const message of error.faults) context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
});

const encryptionKeys = keyRing.describe(
  'give <key id>:<32 bytes in base64> (openssl rand -base64 32), the same to all who use the namespace; several with a comma between, the newest first',
);

/** What a browser sends as the origin of a page. */
const originList = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .transform((origins) => origins.filter((origin) => origin !== ''))
  .superRefine((origins, context) => {
    if (origins.length > 0 && origins.every(isOrigin)) return;
    context.addIssue({ code: 'custom', message: 'is not a list of origins such as https://temporal.example.com' });
  });

function isOrigin(text: string): boolean {
  // A `*` stands for itself in an address, and would never match.
  return isWebAddress(text) && new URL(text).origin === text && !text.includes('*');
}

const host = word(/^\S+$/, 'is not a host name or address');
const port = wholeNumber(0, 65_535);

const truth = z.enum(['true', 'false'], { error: 'is neither true nor false' });

/** Names or addresses, each with a port where only that one is meant. */
const hostList = z
  .string()
  .transform((text) => text.split(',').map((host) => host.trim().toLowerCase()))
  .transform((hosts) => hosts.filter((host) => host !== ''))
  .refine((hosts) => hosts.every((host) => /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/.test(host)), {
    error: 'is not a list of hosts such as files.internal:8443',
  });

export const environments = ['production-us', 'production-eu', 'sandbox-us', 'sandbox-eu'] as const;
export type Environment = (typeof environments)[number];

const urlRemedy = 'set the base address of that environment, for instance https://api.example.com';

/** PostgreSQL's own form of address; the password in it is never shown. */
const databaseAddress = z
  .string()
  .refine((text) => URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol), {
    error: 'is not the address of a PostgreSQL database',
  });

/** What every process reads. */
const processSettings = {
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { error: 'is not a level' })
    .default('info')
    .describe('use one of trace, debug, info, warn, error, fatal, silent; the default is info'),
  // Longer than a webhook's 15 s and most activities, shorter than the 30 s that container platforms usually wait.
  SHUTDOWN_GRACE_SECONDS: wholeNumber(0, 3600)
    .default(20)
    .describe('set how long running work may take to finish at shutdown; the default is 20'),
};

/** What the processes read that work with Temporal. */
export const commonSettings = {
  ...processSettings,
  TASK_QUEUE: word(/^\S(.{0,198}\S)?$/, 'is not a name of at most 200 characters')
    .default('lab-operations')
    .describe('use the same name for the worker, the ingress and the product; the default is lab-operations'),
  LABOPS_ENCRYPTION_KEYS: encryptionKeys.optional().describe(encryptionKeys.description ?? ''),
  DATABASE_URL: databaseAddress
    .optional()
    .describe(
      'set the PostgreSQL database for health data and rejected events, postgres://user:password@host:5432/name, or ' +
        'leave it unset to keep none',
    ),
  // PostgreSQL takes 100 connections by default, for all who use the server.
  DATABASE_POOL_SIZE: wholeNumber(1, 1000)
    .default(10)
    .describe('set the most connections that a process writes with, and reads with as many again; the default is 10'),
  // PGlite corrupts a directory that two processes have open; these processes are two.
  HEALTH_DATA_DIRECTORY: z
    .undefined({ error: 'is only for programs that run everything in one process' })
    .optional()
    .describe('unset it, and set DATABASE_URL to a PostgreSQL database'),
};

const keyPrefix = word(/^[\x21-\x7e]+$/, 'has characters that no key has').optional();

export const workerSettings = {
  ...commonSettings,
  SERVICE_BASE_URL: baseAddress
    .optional()
    .describe('set the base address of the lab service, for instance https://api.example.com'),
  SERVICE_ENVIRONMENT: z
    .enum(environments, { error: 'is not an environment' })
    .optional()
    .describe(`use one of ${environments.join(', ')}`),
  SERVICE_URL_PRODUCTION_US: baseAddress.optional().describe(urlRemedy),
  SERVICE_URL_PRODUCTION_EU: baseAddress.optional().describe(urlRemedy),
  SERVICE_URL_SANDBOX_US: baseAddress.optional().describe(urlRemedy),
  SERVICE_URL_SANDBOX_EU: baseAddress.optional().describe(urlRemedy),
  SERVICE_API_KEY: word(/^[\x21-\x7e]+$/, 'has characters that cannot stand in a header').describe(
    'set the team API key of the environment; a management key does not work here',
  ),
  SERVICE_BRAND: word(/^[a-z0-9-]+$/i, 'is not one word of letters, digits and hyphens')
    .default('service')
    .describe("set the deployment's word in x-<brand>-api-key; the default is service"),
  SERVICE_MANAGEMENT_KEY: word(/^[\x21-\x7e]+$/, 'has characters that cannot stand in a header')
    .optional()
    .describe('set the management key, which is no team API key, or leave it unset where nothing is managed'),
  SERVICE_MANAGEMENT_URL: baseAddress
    .optional()
    .describe('set the address of the management API, or leave it unset where it is that of the lab service'),
  SERVICE_TEAM_KEY_PREFIX: keyPrefix.describe('set how team API keys of the deployment begin, or leave it unset'),
  SERVICE_MANAGEMENT_KEY_PREFIX: keyPrefix.describe('set how management keys begin, or leave it unset'),
  SERVICE_DEPRECATED_MANAGEMENT_HEADER: truth
    .default('false')
    .transform((text) => text === 'true')
    .describe('say whether the management key goes in x-<brand>-org-key, its deprecated header; the default is false'),
  SERVICE_ORDERS_PATH: path
    .default('/orders')
    .describe('set the path of the order list, for instance /v3/orders; the default is /orders'),
  SERVICE_USERS_PATH: path.default('/v2/user/').describe('set the path of the user list; the default is /v2/user/'),
  SERVICE_CREATE_ORDER_PATH: path
    .default('/v3/order')
    .describe('set the path of order creation, /v3/order (the default) or /v3/order/create'),
  SERVICE_ECHOES_PASSTHROUGH: truth
    .default('true')
    .transform((text) => text === 'true')
    .describe("say whether the service shows an order's passthrough again; the default is true"),
  // Order creation talks to labs and couriers; giving up early makes an outcome unknown that was about to be known.
  SERVICE_TIMEOUT_SECONDS: wholeNumber(1, 600)
    .default(30)
    .describe('set how long the lab service may take to begin its answer; the default is 30'),
  NOTIFY_URL: webAddress
    .optional()
    .describe('set the address of the product that receives notifications, or leave it unset to send none'),
  NOTIFY_SECRET: secret
    .optional()
    .describe('set the secret that notifications are signed with: whsec_ and at least 24 random bytes in base64'),
  REPORT_ROOT: word(/^\//, 'is not an absolute path')
    .optional()
    .describe("set the folder that reports' files lie in, or leave it unset to take them from URLs only"),
  // The specification's limit of 10 MB, read generously; some deployments take 30 MiB (docs/lab-service.md).
  REPORT_MAX_BYTES: wholeNumber(1, 1024 * mebibyte)
    .default(10 * mebibyte)
    .describe("set the service's limit for a report's file, in bytes; the default is 10485760 (10 MiB)"),
  REPORT_URL_ALLOWED_HOSTS: hostList
    .default([])
    .describe('list hosts with private addresses that files may be fetched from, each as host or host:port'),
  REPORT_URL_HEADERS_FILE: path
    .optional()
    .describe(
      'set the path of a JSON file: {"<name>": {"hosts": ["files.example.com"], "headers": {"authorization": "…"}}}',
    ),
  // An update is told again for as long as it is in the overlap of an hour: every hour costs two signals at most.
  RECONCILE_EVERY_MINUTES: wholeNumber(0, 10_080)
    .default(60)
    .describe('set how often orders are compared with the service, in minutes, or 0 for never; the default is 60'),
  // A cached order holds 0.24 to 0.34 MB (measured) beside 235 MB of the process: 1,000 make 575 MB, so that any number
  // of open orders stays under 600 MB. Running out of memory kills the worker; an uncached order only takes longer.
  MAX_CACHED_WORKFLOWS: wholeNumber(2, 1_000_000)
    .default(1000)
    .describe('set how many orders the worker keeps in memory, 0.34 MB each; the default is 1000'),
};

export const ingressSettings = {
  ...commonSettings,
  WEBHOOK_SECRETS: secretList.describe(
    "copy the signing secret (whsec_…) from the service's webhook settings; during a rotation give both, with a comma between",
  ),
  // The largest webhook seen is 0.4 MB (docs/lab-service.md); an order with a long history still fits many times over.
  WEBHOOK_MAX_BYTES: wholeNumber(1024, 256 * mebibyte)
    .default(5 * mebibyte)
    .describe('set the largest webhook to accept, in bytes; the default is 5242880 (5 MiB)'),
  INGRESS_PORT: port.default(4000).describe('set a free port; the default is 4000'),
  INGRESS_HOST: host
    .default('0.0.0.0')
    .describe('set the address to listen on, 127.0.0.1 for this machine only; the default is 0.0.0.0'),
};

/** Of the codec server. It decrypts for whoever may ask, so by default only this machine can, and only the Web UI's page. */
export const codecServerSettings = {
  ...processSettings,
  LABOPS_ENCRYPTION_KEYS: encryptionKeys,
  CODEC_PORT: port.default(8234).describe('set a free port; the default is 8234'),
  CODEC_HOST: host
    .default('127.0.0.1')
    .describe('set the address to listen on; the default is 127.0.0.1, this machine only'),
  // Where `temporal server start-dev` and docker-compose.yml serve the Web UI.
  CODEC_ALLOWED_ORIGINS: originList
    .default(['http://localhost:8233', 'http://127.0.0.1:8233'])
    .describe('list the addresses of the Web UI without a path, for instance https://temporal.example.com'),
  CODEC_TOKEN: word(/^[\x21-\x7e]{16,}$/, 'is not 16 characters or more without spaces')
    .optional()
    .describe(
      'set the secret that requests bring as `Authorization: Bearer …`, or CODEC_OPEN=true where only those who may see payloads reach the port',
    ),
  CODEC_OPEN: truth
    .default('false')
    .transform((text) => text === 'true')
    .describe('say true only where nobody reaches the port but those who may see payloads; the default is false'),
};
