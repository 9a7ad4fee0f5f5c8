import { createSecretKey, type KeyObject } from 'node:crypto';
import { invalid } from '../../service/lab-operations-error.js';

/** A key with the name that payloads carry. Node's crypto holds the bytes, so no log can show them. */
export interface EncryptionKey {
  /** Stored in plain text with every payload that the key encrypted. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The first key encrypts; every key decrypts. */
export type KeyRing = readonly [EncryptionKey, ...EncryptionKey[]];

/** The text of a key ring is not valid. Faults name keys by position and show no part of them. */
export class KeyRingInvalid extends invalid('KeyRingInvalid', 'Correct LABOPS_ENCRYPTION_KEYS.') {
  /** The faults, each a text that follows the setting's name. */
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The key ring ${faults.join('; ')}`);
    this.faults = faults;
  }
}

/** AES-256. */
const keyBytes = 32;

/**
 * Of 32 random bytes about 30 differ; only one key in 10^25 has fewer than 12 different ones. A key of zeros, or of a
 * repeated word, has fewer.
 */
const leastDistinctBytes = 12;

/** Short, and free of the characters that separate ids and keys. */
const idPattern = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Reads `<key id>:<32 bytes in base64>`, comma-separated; 32 bytes: `openssl rand -base64 32`. To change keys, add the
 * new one at the end everywhere, so all can read it, and then move it to the front. Keep old keys as long as there are
 * histories encrypted with them.
 *
 * @throws KeyRingInvalid with every fault; also if `text` is undefined, because an environment variable is not set
 */
export function parseKeyRing(text: string): KeyRing {
  if (typeof text !== 'string') throw new KeyRingInvalid(['is missing']);
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const read = parts.map((part) => readKey(part));
  const faults = read.flatMap((key, index) => {
    const fault = typeof key === 'string' ? key : repeated(key, index, read);
    return fault === undefined ? [] : [`${parts.length === 1 ? '' : `(key ${index + 1} of ${parts.length}) `}${fault}`];
  });
  const [first, ...others] = read.filter((key) => typeof key !== 'string');
  if (faults.length > 0 || !first) throw new KeyRingInvalid(faults.length > 0 ? faults : ['holds no key']);
  return [first, ...others];
}

/** The key, or its fault. */
function readKey(text: string): EncryptionKey | string {
  const [, id, base64] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  if (id === undefined || base64 === undefined) return 'is not <key id>:<32 bytes in base64>';
  if (!idPattern.test(id)) return 'has a key id that is not 1 to 64 letters, digits, dots, hyphens or underscores';
  // Node's decoder skips characters that are not base64, so a damaged key would become a different one.
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) return 'has a key that is not base64';
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== keyBytes) return `has a key of ${bytes.length} bytes instead of ${keyBytes}`;
  if (new Set(bytes).size < leastDistinctBytes) return 'has a key that is not random: use openssl rand -base64 32';
  return { id, key: createSecretKey(bytes) };
}

function repeated({ id }: EncryptionKey, index: number, all: readonly (EncryptionKey | string)[]): string | undefined {
  const first = all.findIndex((key) => typeof key !== 'string' && key.id === id);
  return first === index ? undefined : `has the key id of key ${first + 1}`;
}
