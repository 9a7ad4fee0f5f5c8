import { defineSignal } from './definitions.js';

/*
 * A value that a worker with keys could not simply decrypt, as its codec wraps it. The codec sees a payload but not what it is for,
 * so the receiver decides: workflows/input-refusal.ts and activities/attempt.ts. A value that came without encryption is
 * wrapped whether the worker requires encryption or not, because a replay must not accept what another worker dropped.
 */

/**
 * Takes the place of a signal that cannot be decrypted (workflows/input-refusal.ts). Only a run that passes on what it receives
 * sends it.
 */
export const unreadableSignal = defineSignal('unreadable');

export const faults = ['unencrypted', 'unreadable'] as const;
export type Fault = (typeof faults)[number];

/**
 * The patch by which the history remembers a refusal.
 * @param what `start`, or `signal-`, `update-` or `result-` with the signal's event, the update's number in the run or the activity
 */
export const refusalPatch = (fault: Fault, what: string): string => `${fault}-${what}`;

export const markKey = 'labops-marked';

interface Marked {
  [markKey]: {
    fault: Fault;
    /** True if this worker refuses it. */
    refused: boolean;
    /** The key that this worker lacks. */
    keyId?: string;
    /** True if it was encrypted for another workflow or another namespace: no key makes it readable here. */
    misplaced?: boolean;
    /** Absent if nothing came, or if it cannot be decrypted. */
    value?: unknown;
  };
}

function isMarked(value: unknown): value is Marked {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, markKey);
}

export type Mark = Omit<Marked[typeof markKey], 'value'>;

/** How a message names the key that a worker lacks. */
export function missingKey({ keyId }: Pick<Mark, 'keyId'>): string {
  return keyId === undefined ? 'the key' : `the key "${keyId}"`;
}

export function markOf(value: unknown): Mark | undefined {
  return isMarked(value) ? value[markKey] : undefined;
}

export function unwrapped(value: unknown): unknown {
  return isMarked(value) ? value[markKey].value : value;
}

/** The metadata by which a workflow learns that its worker requires encryption: an answer that has no payload has no mark either. */
export const requiredMetadata = 'labops-encryption-required';
