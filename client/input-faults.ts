import { referencePattern } from '../protocol/ids.js';
import { PolicyInvalid, PolicyTooNew } from '../protocol/policy-settings.js';
import type { RefusedField } from './errors.js';

/* Faults of a caller's input, by field, before anything is started. */

/** @param resolve reads the policy, as the workflow will */
export function policyFaults(resolve: () => unknown): RefusedField[] {
  try {
    resolve();
    return [];
  } catch (error) {
    if (error instanceof PolicyTooNew) return [{ field: 'policy', message: 'was written by a later release' }];
    if (!(error instanceof PolicyInvalid)) throw error;
    return error.faults.map((message) => ({ field: 'policy', message }));
  }
}

export function referenceFaults(reference: unknown): RefusedField[] {
  if (typeof reference === 'string' && referencePattern.test(reference)) return [];
  return [{ field: 'reference', message: `must be a string that matches ${referencePattern.source}` }];
}

/** `reference must …; policy choiceWait must …`: the form used in messages. */
export function joinFaults(fields: readonly RefusedField[]): string {
  return fields.map(({ field, message }) => `${field} ${message}`).join('; ');
}
