/*
 * A value that came without encryption, as a worker with keys wraps it: the codec sees a payload but not what it is
 * for, so the interceptors decide (workflows/interceptors.ts). It is wrapped in either mode, because a replay must not
 * accept what another worker dropped; the worker's mode is stored with the value.
 */

export const unencryptedKey = 'labops-unencrypted';

interface Unencrypted {
  [unencryptedKey]: {
    /** True if this worker refuses it. */
    refused: boolean;
    /** Absent if nothing came. */
    value?: unknown;
  };
}

export function isUnencrypted(value: unknown): value is Unencrypted {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, unencryptedKey);
}

/** True if this worker refuses a value because it came without encryption. */
export function isRefused(value: unknown): boolean {
  return isUnencrypted(value) && value[unencryptedKey].refused;
}

export function unwrapped(value: unknown): unknown {
  return isUnencrypted(value) ? value[unencryptedKey].value : value;
}
