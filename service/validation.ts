import { z } from 'zod';
import { type CallFacts, RequestInvalid } from './errors.js';
import { isObject } from './json-object.js';
import type { RefusedField } from './lab-operations-error.js';
import { isCalendarDate } from './timestamps.js';

/** Returns the request as its schema reads it, or throws `RequestInvalid` with every broken rule. */
export function checkedRequest<T>(call: CallFacts, schema: z.ZodType<T>, request: unknown): T {
  const result = schema.safeParse(request, { error: ruleOf });
  if (result.success) {
    if (typeof result.data === 'object' && result.data !== null) schemas.set(result.data, schema);
    return result.data;
  }
  throw new RequestInvalid(call, result.error.issues.flatMap(brokenRules));
}

/** The schemas of checked requests. */
const schemas = new WeakMap<object, z.ZodType>();

/** The names of the fields that a checked request can have, at any depth; none if it was not checked. */
export function fieldNamesOf(request: unknown): Set<string> {
  const schema = typeof request === 'object' && request !== null ? schemas.get(request) : undefined;
  const names = new Set<string>();
  if (schema === undefined) return names;
  const description = z.toJSONSchema(schema, { unrepresentable: 'any', reused: 'inline', cycles: 'ref' });
  JSON.stringify(description, (key, value: unknown) => {
    if (key === 'properties' && isObject(value)) for (const name of Object.keys(value)) names.add(name);
    return value;
  });
  return names;
}

/** Every rule that a request breaks; none when it may be sent. */
export function brokenRulesOf(schema: z.ZodType, request: unknown): RefusedField[] {
  const result = schema.safeParse(request, { error: ruleOf });
  return result.success ? [] : result.error.issues.flatMap(brokenRules);
}

/** The faults of an answer's shape, without its values: at most five places. */
export function shapeProblem(error: z.ZodError): string {
  const places = error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || 'body'}: ${issue.message}`);
  const more = error.issues.length - places.length;
  return places.join('; ') + (more > 0 ? `; and ${more} more` : '');
}

/** Texts for the rules that a schema does not name itself. */
function ruleOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'invalid_type') return undefined;
  return issue.input === undefined ? 'is required' : `must be of type ${issue.expected}`;
}

function brokenRules(issue: z.core.$ZodIssue): RefusedField[] {
  const field = issue.path.map(String).join('.');
  if (issue.code !== 'unrecognized_keys') return [{ field: field || 'request', message: issue.message }];
  const prefix = field === '' ? '' : `${field}.`;
  return issue.keys.map((key) => ({ field: prefix + key, message: 'is not a field of this request' }));
}

/* Fields of requests. */

/** For what means something else with a blank at its end: a password, a product's own key. */
export const exactTextSchema = z.string().regex(/\S/, 'must not be empty');

/** Scanners add a line end, and keyboards and clipboards a blank: they are not sent. */
export const requiredTextSchema = z.string().trim().regex(/\S/, 'must not be empty');

/** A condition of a filter: one without a value would be ignored, and more would be read than was meant. */
export const conditionSchema = z
  .string('must be a non-empty string')
  .trim()
  .min(1, 'must be a non-empty string')
  .exactOptional();

/** A number of things, such as the entries of a page. */
export const countSchema = z.int('must be a whole number above 0').positive('must be a whole number above 0');

export const conditionsSchema = z
  .array(requiredTextSchema, 'must be a non-empty list of strings')
  .min(1, 'must not be empty')
  .readonly()
  .exactOptional();

const emailPattern = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/** Not documented beyond "validated": one `@`, something before it and a dotted domain after; 254 is SMTP's limit. */
export const emailSchema = z
  .string()
  .trim()
  .max(254, { error: 'must be at most 254 characters long', abort: true })
  .regex(emailPattern, 'must be an e-mail address');

export const dateSchema = z
  .string()
  .refine(isCalendarDate, { error: 'must be a date that exists, written YYYY-MM-DD', abort: true });

/** The zone that is furthest ahead is 14 hours ahead of UTC: where a child has just been born, it may be tomorrow. */
export const birthDateSchema = dateSchema.refine(
  (dob) => dob <= new Date(Date.now() + 14 * 3_600_000).toISOString().slice(0, 10),
  'must not be in the future',
);

const longestComment = 1000;

/**
 * The specification's limit of 1,000 characters, counted in Unicode code points: an emoji of two UTF-16 units is one.
 * (Which unit the service counts is not documented.)
 */
export const commentSchema = z
  .string()
  .refine((text) => [...text].length <= longestComment, 'must be at most 1,000 characters long')
  .nullish();
