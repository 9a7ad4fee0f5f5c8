import { isAddressable, isReference, referencePattern } from '../protocol/ids.js';
import { PolicyInvalid, PolicyTooNew } from '../protocol/policy/resolution.js';
import { isObject, isText } from '../service/json-object.js';
import { compareText } from '../protocol/canonical-json.js';
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
 * Refuses fields that are unknown, or known and without a value: they would be ignored, and more would be read than was meant.
 *
 * @param what names the input, as `The search`
 * @param known the fields, each with what its value must be
 * @throws ReadInvalid
 */
export function checkRead(what: string, input: object, known: Readonly<Record<string, ValueRule>>): void {
  if (!isObject(input)) return refuseFaulty(what, [{ field: 'input', message: 'must be an object' }], ReadInvalid);
  const faults = Object.entries(input).flatMap(([field, value]) => {
    const rule = Object.hasOwn(known, field) ? known[field] : undefined;
    if (rule === undefined) return [{ field, message: 'is not known here' }];
    return rules[rule](value) ? [] : [{ field, message: `must be ${rule}` }];
  });
  refuseFaulty(what, faults, ReadInvalid);
}

type ValueRule = keyof typeof rules;

const rules = {
  'a non-empty string': isText,
  'a non-empty list of strings': isListOfTexts,
  'a list of numbers': (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every(Number.isSafeInteger),
  'a whole number': Number.isSafeInteger,
  'a whole number above 0': (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0,
  'true or false': (value: unknown) => typeof value === 'boolean',
  'a valid Date': (value: unknown) => value instanceof Date && !Number.isNaN(value.getTime()),
} as const;

export function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every(isText);
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
