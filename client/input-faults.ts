import type { z } from 'zod';
import { isAddressable, isReference, referencePattern } from '../protocol/ids.js';
import { PolicyInvalid, PolicyTooNew } from '../protocol/policy/resolution.js';
import { brokenRulesOf } from '../service/validation.js';
import { compareText } from '../protocol/json.js';
import { isText } from '../service/json-object.js';
import type { CallOptions } from './call-options.js';
import type { RefusedField } from '../service/lab-operations-error.js';
import { ReadInvalid, type RefusalClass } from './errors.js';

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
  if (isReference(reference)) return [];
  return [{ field: 'reference', message: `must be a string that matches ${referencePattern.source}` }];
}

/** @param of what the id is of, as `an order` */
export function serviceIdFaults(field: string, id: unknown, of: string): RefusedField[] {
  return isAddressable(id) ? [] : [{ field, message: `must be the service's id of ${of}` }];
}

/**
 * Refuses an input with everything that is wrong with it, at once. A caller in plain JavaScript is checked by no compiler.
 *
 * @param what names the input, as `The order`
 */
export function refuseFaulty(what: string, fields: RefusedField[], Invalid: RefusalClass): void {
  if (fields.length > 0) throw new Invalid(`${what} is not valid: ${joinFaults(fields)}`, { fields });
}

/** A fault for each unknown field: it may be misspelt, and the call would mean something else if it were ignored. */
export function unknownFaults(fields: object): RefusedField[] {
  return Object.keys(fields).map((field) => ({ field, message: 'is not known here' }));
}

/** @param options a call's input without the fields of its own */
export function optionFaults({ deadline: _deadline, signal: _signal, ...unknown }: CallOptions): RefusedField[] {
  return unknownFaults(unknown);
}

/**
 * @param what names the input, as `The search`
 * @throws ReadInvalid
 */
export function checkRead(what: string, input: unknown, schema: z.ZodType): void {
  refuseFaulty(what, brokenRulesOf(schema, input), ReadInvalid);
}

/**
 * The thing to read, if exactly one is named.
 *
 * @param variants the fields of each thing; every one of them is a string
 * @throws ReadInvalid
 */
export function namedThing<Variant extends string>(
  which: unknown,
  variants: readonly (readonly Variant[])[],
): Partial<Record<Variant, string>> {
  const given = Object.entries(which ?? {}).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name).toSorted(compareText);
  const isOne = variants.some((variant) => variant.toSorted(compareText).join() === names.join());
  if (isOne && given.every(([, value]) => isText(value)))
    return Object.fromEntries(given) as Partial<Record<Variant, string>>;
  const message = `must be one of: ${variants.map((variant) => variant.join(' with ')).join('; ')}`;
  throw new ReadInvalid(`What to read ${message}`, { fields: [{ field: 'which', message }] });
}

/** `reference must …; policy choiceWait must …`: the form used in messages. */
export function joinFaults(fields: readonly RefusedField[]): string {
  return fields.map(({ field, message }) => `${field} ${message}`).join('; ');
}
