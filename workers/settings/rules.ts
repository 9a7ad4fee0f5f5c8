import { isProduction } from '../../client/config.js';
import { keyFault, type KeyFault } from '../../service/http/keys.js';
import { isLoopback } from '../../service/http/proxy.config.js';
import { parseSecret } from '../../service/webhooks/signature.js';
import { type SettingFault, enoughSecretBytes } from './values.js';
import { instructionOf, type Name, settings, type Values } from './settings.js';
import type { TemporalConfig } from './temporal.js';

/** If the first is set, the second must be. Half of a release's name would switch Worker Versioning off unnoticed. */
const together = [
  ['NOTIFY_URL', 'NOTIFY_SECRET'],
  ['TEMPORAL_DEPLOYMENT_NAME', 'TEMPORAL_WORKER_BUILD_ID'],
  ['TEMPORAL_WORKER_BUILD_ID', 'TEMPORAL_DEPLOYMENT_NAME'],
] as const;

/** If the first is `off`, the second must not be set. */
const switches = [
  ['NOTIFICATIONS', 'NOTIFY_URL'],
  ['HEALTH_DATA', 'DATABASE_URL'],
  ['HEALTH_DATA', 'HEALTH_DATA_DIRECTORY'],
] as const;

/** Only one of them can be set. */
const alternatives = [
  ['SERVICE_BASE_URL', 'SERVICE_ENVIRONMENT'],
  ['HEALTH_DATA_DIRECTORY', 'DATABASE_URL'],
] as const;

/** Addresses that keys, patients and results go to. */
const addresses = ['SERVICE_BASE_URL', 'SERVICE_MANAGEMENT_URL', 'NOTIFY_URL'] as const;

/** The setting that a fault of the keys is reported for. */
const keySettings = {
  apiKey: 'SERVICE_API_KEY',
  managementKey: 'SERVICE_MANAGEMENT_KEY',
  keyPrefixes: 'SERVICE_MANAGEMENT_KEY_PREFIX',
} as const;

/**
 * The faults that settings have together, of those that the program reads.
 *
 * @param names the settings that it reads
 * @param given what is set
 * @param valid the values without a fault of their own
 */
export function faultsBetween(
  names: ReadonlySet<Name>,
  given: Readonly<Record<string, string | undefined>>,
  valid: Partial<Values>,
): SettingFault[] {
  const faults: SettingFault[] = [];
  const report = (...fault: Parameters<typeof faultOf>) => void faults.push(faultOf(...fault));
  const isSet = (name: Name) => names.has(name) && given[name] !== undefined;
  const lacks = (name: Name) => names.has(name) && given[name] === undefined;
  const demand = (name: Name, because: string) => lacks(name) && report(name, `is missing, but ${because}`);
  for (const [one, other] of together) {
    if (isSet(one)) demand(other, `${one} is set`);
  }
  for (const [name, place] of switches) {
    if (valid[name] === 'off' && isSet(place)) report(name, `is off, but ${place} is set`, 'unset one of them');
  }
  for (const [one, other] of alternatives) {
    if (isSet(one) && isSet(other)) report(one, `is set, and so is ${other}`, 'unset one of them, or leave it blank');
  }
  const { SERVICE_ENVIRONMENT: environment, SERVICE_DESCRIPTION: description, CODEC_HOST: codecHost } = valid;
  if (isSet('SERVICE_ENVIRONMENT')) demand('SERVICE_DESCRIPTION', 'SERVICE_ENVIRONMENT is set');
  else if (lacks('SERVICE_BASE_URL')) {
    const remedy = 'set it, or set SERVICE_DESCRIPTION, and SERVICE_ENVIRONMENT to one of its addresses';
    report('SERVICE_BASE_URL', 'is missing', remedy);
  }
  if (description && environment !== undefined && description.addresses?.[environment] === undefined) {
    const names = Object.keys(description.addresses ?? {});
    const remedy = names.length > 0 ? `use one of ${names.join(', ')}` : 'give it `addresses`';
    report('SERVICE_ENVIRONMENT', 'is not in the `addresses` of the description', remedy);
  }
  for (const name of addresses) {
    const address = valid[name];
    if (address === undefined || isProtected(address) || valid.ALLOW_PLAINTEXT === true) continue;
    const remedy = 'use https, or set ALLOW_PLAINTEXT=true if something else protects the connection';
    report(name, 'is plain http, which others can read in transit', remedy);
  }
  // PGlite corrupts a directory that two processes have open; worker and ingress are two.
  if (names.has('HEALTH_DATA') && !names.has('HEALTH_DATA_DIRECTORY') && given['HEALTH_DATA_DIRECTORY'] !== undefined) {
    const problem = 'is only for programs that run everything in one process';
    report('HEALTH_DATA_DIRECTORY', problem, 'unset it, and set DATABASE_URL to a PostgreSQL database');
  }
  // In production another installation may share the account at the lab service, now or later.
  if (isProduction(given)) demand('LABOPS_INSTALLATION', 'this is production');
  if (valid.LABOPS_ENCRYPTION === 'required') {
    demand('LABOPS_ENCRYPTION_KEYS', 'LABOPS_ENCRYPTION is required (the default in production)');
  }
  if (names.has('CODEC_PORT') && lacks('LABOPS_ENCRYPTION_KEYS')) report('LABOPS_ENCRYPTION_KEYS', 'is missing');
  if (valid.CODEC_OPEN === false && codecHost !== undefined && !isLoopback(codecHost)) {
    demand('CODEC_TOKEN', 'CODEC_HOST is not an address of this machine only');
  }
  const wrong = wrongKey(valid);
  if (wrong) report(keySettings[wrong.key], wrong.problem);
  return faults;
}

/** A key in the other's place is reported at start, not by a refusal hours later. */
function wrongKey(valid: Partial<Values>): KeyFault | undefined {
  const { SERVICE_API_KEY: apiKey, SERVICE_MANAGEMENT_KEY: managementKey } = valid;
  const { SERVICE_TEAM_KEY_PREFIX: team, SERVICE_MANAGEMENT_KEY_PREFIX: management } = valid;
  return apiKey === undefined ? undefined : keyFault({ apiKey, managementKey, keyPrefixes: { team, management } });
}

/** Warnings about settings that may be intended. */
export function warningsOf({
  'TEMPORAL_*': temporal,
  DATABASE_URL: databaseUrl,
  WEBHOOK_SECRETS: secrets = [],
}: Partial<Values>): string[] {
  // The service chooses these secrets, so a short one is taken.
  const isShort = secrets.some((secret) => parseSecret(secret).length < enoughSecretBytes);
  const short = `WEBHOOK_SECRETS holds a secret of fewer than ${enoughSecretBytes} bytes, which can be guessed: have the service make another.`;
  return [...transportWarnings(temporal, databaseUrl), ...(isShort ? [short] : [])];
}

export function faultOf(setting: Name, problem: string, remedy = remedyOf(setting)): SettingFault {
  return { setting, problem, remedy };
}

/** The instruction of its setting. Temporal's are not in the table. */
function remedyOf(setting: Name): string {
  return setting === 'TEMPORAL_*' ? 'see docs/settings.md' : instructionOf(settings[setting]);
}

/*
 * Connections that anybody on the way can read. Plain text to the machine itself, or to a single name, which only a network
 * of containers resolves, passes nobody else.
 */

/** False for an address that is plain http, unless it is of this machine or of the containers' own network. */
function isProtected(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || isNear(hostname);
}

function isNear(host: string): boolean {
  const name = host.toLowerCase();
  return isLoopback(name.replace(/^\[|\]$/g, '')) || /^[a-z0-9_-]+$/.test(name);
}

/** Modes in which PostgreSQL's client refuses to continue without TLS. */
const protectedModes = ['require', 'verify-ca', 'verify-full'];

/** Warnings, not faults: a mesh or a tunnel may protect a connection that looks plain from here. */
function transportWarnings(temporal: TemporalConfig | undefined, databaseUrl: string | undefined): string[] {
  const warnings: string[] = [];
  if (temporal && !temporal.connection.tls && !isNear(hostOf(temporal.address))) {
    warnings.push(
      'Temporal is reached without TLS: set TEMPORAL_TLS=true, unless a mesh or tunnel encrypts on the way.',
    );
  }
  if (databaseUrl !== undefined && !isProtectedDatabase(databaseUrl)) {
    warnings.push(
      'The database is reached without TLS: add ?sslmode=verify-full to DATABASE_URL, unless a tunnel encrypts on the way.',
    );
  }
  return warnings;
}

function isProtectedDatabase(address: string): boolean {
  const { hostname, searchParams } = new URL(address);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  // Without a host, or with a path in its place, it is a socket of this machine.
  return (
    host === '' || host.startsWith('/') || isNear(host) || protectedModes.includes(searchParams.get('sslmode') ?? '')
  );
}

function hostOf(address: string): string {
  const text = `temporal://${address}`;
  return URL.canParse(text) ? new URL(text).hostname : address;
}
