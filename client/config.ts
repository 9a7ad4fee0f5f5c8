import { type KeyRing, parseKeyRing } from './encryption/key-ring.js';

/**
 * The encryption keys of the setting LABOPS_ENCRYPTION_KEYS; a blank one counts as not set.
 * @throws KeyRingInvalid
 */
export function readKeyRing(env: Readonly<Record<string, string | undefined>> = process.env): KeyRing | undefined {
  const text = env['LABOPS_ENCRYPTION_KEYS']?.trim();
  return text ? parseKeyRing(text) : undefined;
}
