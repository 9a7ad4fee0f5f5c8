/*
 * What a worker with keys makes of a value that came without encryption: the codec wraps it, because the codec sees a payload
 * and not what it is for, and the interceptors decide (workflows/interceptors.ts). It wraps it in either mode, because what one
 * worker dropped another must not take in a replay; the mode of the worker stands beside the value.
 */

export const unencryptedKey = 'labops-unencrypted';

interface Unencrypted {
  [unencryptedKey]: {
    /** Whether this worker refuses it. */
    refused: boolean;
    /** Absent where nothing came. */
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
