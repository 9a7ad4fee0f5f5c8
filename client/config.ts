import { type KeyRing, KeyRingInvalid, parseKeyRing } from './encryption/key-ring.js';
import { SecretFileInvalid, secretOf } from './secret-file.js';

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
