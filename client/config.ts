import { actorRule, isActor } from '../protocol/ids.js';
import { type Installation, isInstallationName, defaultInstallation } from '../service/installation.js';
import { invalid } from '../service/lab-operations-error.js';
import { type KeyRing, KeyRingInvalid, parseKeyRing } from './encryption/key-ring.js';
import { SecretFileInvalid, secretOf } from './files.js';

/**
 * The encryption keys of the setting LABOPS_ENCRYPTION_KEYS, or of the file LABOPS_ENCRYPTION_KEYS_FILE; blank counts as not set.
 * @throws KeyRingInvalid
 */
export function readKeyRing(env: Readonly<Record<string, string | undefined>> = process.env): KeyRing | undefined {
  const text = keysOf(env);
  return text === undefined ? undefined : parseKeyRing(text);
}

/** The path of the file that holds the encryption keys, if the setting LABOPS_ENCRYPTION_KEYS_FILE names one. */
export function keyRingFile(env: Env = process.env): string | undefined {
  return env['LABOPS_ENCRYPTION_KEYS_FILE']?.trim() || undefined;
}

/** The keys in a file, which must have at least one. @throws KeyRingInvalid */
export function keyRingIn(file: string): KeyRing {
  return parseKeyRing(keysOf({ LABOPS_ENCRYPTION_KEYS_FILE: file }) ?? '');
}

function keysOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    return secretOf(env, 'LABOPS_ENCRYPTION_KEYS');
  } catch (error) {
    if (!(error instanceof SecretFileInvalid)) throw error;
    throw new KeyRingInvalid([`cannot be read: ${error.message}`]);
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** The address of Temporal's Web UI, without a slash at its end: TEMPORAL_UI_URL. */
export function readWebUi(env: Env = process.env): string {
  return (env['TEMPORAL_UI_URL']?.trim() || 'http://localhost:8233').replace(/\/+$/, '');
}

/** States if unencrypted input is refused, or accepted during a migration. */
export type Encryption = 'required' | 'optional';

/** The value that counts if none is given; undefined: a client without keys asks if the workers encrypt. */
export function defaultEncryption(env: Env = process.env): Encryption | undefined {
  return isProduction(env) ? 'required' : undefined;
}

export function isProduction(env: Env = process.env): boolean {
  return env['NODE_ENV']?.trim() === 'production';
}

/**
 * The setting LABOPS_ENCRYPTION; undefined if it is not set and this is not production.
 * @throws EncryptionSettingInvalid
 */
export function readEncryption(env: Env = process.env): Encryption | undefined {
  const text = env['LABOPS_ENCRYPTION']?.trim() ?? '';
  if (text === 'required' || text === 'optional') return text;
  if (text !== '') throw new EncryptionSettingInvalid('LABOPS_ENCRYPTION is neither required nor optional');
  return defaultEncryption(env);
}

/** That of the settings LABOPS_INSTALLATION and LABOPS_FORMER_INSTALLATIONS; undefined without them. */
export function readInstallation(env: Env = process.env): Installation | undefined {
  const name = env['LABOPS_INSTALLATION']?.trim() ?? '';
  return name === '' ? undefined : [name, ...namesIn(env['LABOPS_FORMER_INSTALLATIONS'])];
}

/**
 * The given installation; without one the default, but not in production.
 * @throws InstallationInvalid
 */
export function installationOf(given: string | Installation | undefined, env: Env = process.env): Installation {
  const fallback = isProduction(env) ? ([''] as const) : defaultInstallation;
  const installation = typeof given === 'string' ? ([given] as const) : (given ?? fallback);
  if (installation.length < 1 || !installation.every(isInstallationName))
    throw new InstallationInvalid(installation[0] === '');
  return installation;
}

/** The setting LABOPS_ACTOR; blank counts as not set. */
export function readActor(env: Env = process.env): string | undefined {
  return env['LABOPS_ACTOR']?.trim() || undefined;
}

/** @throws ActorInvalid */
export function requireActor(actor: unknown): void {
  if (actor !== undefined && !isActor(actor)) throw new ActorInvalid();
}

/** The file of the setting LABOPS_READS_FILE; blank counts as not set. */
export function readReadsFile(env: Env = process.env): string | undefined {
  return env['LABOPS_READS_FILE']?.trim() || undefined;
}

/** The worker's database, DATABASE_URL or the content of its file: `labops users export` reads it. @throws SecretFileInvalid */
export function readDatabaseUrl(env: Env = process.env): string | undefined {
  return secretOf(env, 'DATABASE_URL');
}

/** A list with commas between. */
export function namesIn(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** The name of the installation is missing in production; or it, or a former one, breaks the rule: 1 to 32 letters, digits, dots, hyphens and underscores. */
export class InstallationInvalid extends invalid(
  'InstallationInvalid',
  "Give the option `installation` the worker's LABOPS_INSTALLATION; `LabOperations.connect` and the programs read that setting themselves.",
) {
  constructor(isMissing: boolean) {
    super(
      isMissing
        ? 'The name of the installation is missing, but this is production'
        : 'The name of an installation must be 1 to 32 letters, digits, dots, hyphens and underscores',
    );
  }
}

/** The actor is not an id: 1 to 128 letters, digits, dots, hyphens, underscores and colons. The message does not repeat the value, which may be a name. */
export class ActorInvalid extends invalid(
  'ActorInvalid',
  'Give `actor`, or the setting LABOPS_ACTOR, your id of the person or the program that calls, never a name.',
) {
  constructor() {
    super(`The actor ${actorRule}`);
  }
}

/** LABOPS_ENCRYPTION is neither `required` nor `optional`. */
export class EncryptionSettingInvalid extends invalid(
  'EncryptionSettingInvalid',
  'Set LABOPS_ENCRYPTION to required or optional, or leave it unset.',
) {}

/**
 * TEMPORAL_API_KEY_FILE names no file with a key, or TEMPORAL_API_KEY is set as well; a key or a header (TEMPORAL_GRPC_META_…) is not
 * printable ASCII on one line; TEMPORAL_CONFIG_FILE names no TOML file; TEMPORAL_TLS or TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is neither
 * true nor false; a client's certificate is given without its key, a key without its certificate, or the two do not match; or a
 * proxy's variable does not hold a proxy's address.
 */
export class TemporalSettingInvalid extends invalid(
  'TemporalSettingInvalid',
  'Correct the setting that the message names, or leave it unset.',
) {
  constructor(fault: string, setting = 'TEMPORAL_API_KEY_FILE') {
    super(`${setting} ${fault}`);
  }
}
