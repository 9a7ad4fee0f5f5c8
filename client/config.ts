import { existsSync } from 'node:fs';
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import { type KeyRing, KeyRingInvalid, parseKeyRing } from './encryption/key-ring.js';
import { SecretFileInvalid, secretOf } from './secret-file.js';
import { headerFault } from './temporal-key-file.js';

/**
 * The encryption keys of the setting LABOPS_ENCRYPTION_KEYS, or of the file LABOPS_ENCRYPTION_KEYS_FILE; blank counts as not set.
 * @throws KeyRingInvalid
 */
export function readKeyRing(env: Readonly<Record<string, string | undefined>> = process.env): KeyRing | undefined {
  const text = keysOf(env);
  return text === undefined ? undefined : parseKeyRing(text);
}

function keysOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    return secretOf(env, 'LABOPS_ENCRYPTION_KEYS');
  } catch (error) {
    if (!(error instanceof SecretFileInvalid)) throw error;
    throw new KeyRingInvalid([`cannot be read: LABOPS_ENCRYPTION_KEYS_FILE ${error.message}`]);
  }
}

/** States if unencrypted input is refused, or accepted during a migration. */
export type Encryption = 'required' | 'optional';

type Env = Readonly<Record<string, string | undefined>>;

export function defaultEncryption(env: Env): Encryption {
  return env['NODE_ENV']?.trim() === 'production' ? 'required' : 'optional';
}

/**
 * The setting ENCRYPTION; undefined if it is not set and this is not production.
 * @throws EncryptionSettingInvalid
 */
export function readEncryption(env: Env = process.env): Encryption | undefined {
  const text = env['ENCRYPTION']?.trim() ?? '';
  if (text === 'required' || text === 'optional') return text;
  if (text !== '') throw new EncryptionSettingInvalid();
  return defaultEncryption(env) === 'required' ? 'required' : undefined;
}

/** ENCRYPTION is neither `required` nor `optional`. */
export class EncryptionSettingInvalid extends Error {
  static readonly remedy = 'Correct ENCRYPTION, or leave it unset.';
  override readonly name = 'EncryptionSettingInvalid';

  constructor() {
    super('ENCRYPTION is neither required nor optional');
  }
}

/**
 * Temporal's standard settings and configuration file; the API key may also be in the file TEMPORAL_API_KEY_FILE.
 * @throws TemporalSettingInvalid
 */
export function readTemporalSettings(env: Env = process.env): ClientConnectConfig {
  const apiKey = temporalKeyOf(env);
  const overrideEnvVars = { ...withoutBlanks(env), ...(apiKey !== undefined && { TEMPORAL_API_KEY: apiKey }) };
  const misread = misreadFault(overrideEnvVars);
  if (misread !== undefined) throw new TemporalSettingInvalid(misread.problem, misread.setting);
  const config = loadClientConnectConfig({ overrideEnvVars });
  const fault = temporalHeaderFault(config);
  if (fault !== undefined) throw new TemporalSettingInvalid(fault.problem, fault.setting);
  return config;
}

/** A blank setting counts as not set: compose files and CI systems pass on settings that they do not have. */
export function withoutBlanks(env: Env): Record<string, string> {
  const entries = Object.entries(env).flatMap(([name, value]) => {
    // Only for these does a blank mean something: it removes a header of the profile.
    if (name.startsWith('TEMPORAL_GRPC_META_') && value !== undefined) return [[name, value] as const];
    return value === undefined || value.trim() === '' ? [] : [[name, value.trim()] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * A setting that the SDK's reader would silently misread: it ignores a file that does not exist, so a process would work in another
 * namespace, and it takes anything but `true` and `1` for false, so an API key would be sent without TLS.
 */
export function misreadFault(given: Env): { setting: string; problem: string } | undefined {
  const file = given['TEMPORAL_CONFIG_FILE'];
  if (file !== undefined && !existsSync(file))
    return { setting: 'TEMPORAL_CONFIG_FILE', problem: 'names a file that does not exist' };
  const setting = ['TEMPORAL_TLS', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'].find(
    (name) => !/^(true|false|1|0)$/.test(given[name] ?? 'false'),
  );
  return setting === undefined ? undefined : { setting, problem: 'is neither true nor false' };
}

/** The file that TEMPORAL_API_KEY_FILE names; blank counts as not set. */
export function temporalKeyFile(env: Env = process.env): string | undefined {
  const file = env['TEMPORAL_API_KEY_FILE']?.trim() ?? '';
  return file === '' ? undefined : file;
}

/** A key or a header of the profile that gRPC cannot send; the fault does not repeat it. */
export function temporalHeaderFault({
  connectionOptions: { apiKey = '', metadata = {} },
}: ClientConnectConfig): { setting: string; problem: string } | undefined {
  const headers = Object.entries(metadata).map(([name, value]) => [`TEMPORAL_GRPC_META_${name}`, String(value)]);
  for (const [setting = '', value = ''] of [['TEMPORAL_API_KEY', apiKey], ...headers]) {
    const problem = headerFault(value);
    if (problem !== undefined) return { setting, problem };
  }
  return undefined;
}

function temporalKeyOf(env: Env): string | undefined {
  try {
    return secretOf(env, 'TEMPORAL_API_KEY');
  } catch (error) {
    if (!(error instanceof SecretFileInvalid)) throw error;
    throw new TemporalSettingInvalid(error.message);
  }
}

/**
 * TEMPORAL_API_KEY_FILE names no file with a key, or TEMPORAL_API_KEY is set as well; a key or a header (TEMPORAL_GRPC_META_…) is not
 * printable ASCII on one line; TEMPORAL_CONFIG_FILE names no file; or TEMPORAL_TLS or TEMPORAL_TLS_DISABLE_HOST_VERIFICATION is neither
 * true nor false.
 */
export class TemporalSettingInvalid extends Error {
  static readonly remedy = 'Correct the setting that the message names, or leave it unset.';
  override readonly name = 'TemporalSettingInvalid';

  constructor(fault: string, setting = 'TEMPORAL_API_KEY_FILE') {
    super(`${setting} ${fault}`);
  }
}
