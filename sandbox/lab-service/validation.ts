import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { calendarDate, parseTimestamp } from './clock.js';

/**
 * The service's own request validation: rules from the contract's facts and schemas, wording from its recorded error
 * bodies. Each reader throws the 422 with all faults of what it reads.
 */

/** No body at all counts as one without fields. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  return read(schema, body ?? {}, 'body');
}

export function readQuery<Schema extends z.ZodType>(schema: Schema, query: unknown): z.output<Schema> {
  return read(schema, query, 'query');
}

export function readPath<Schema extends z.ZodType>(schema: Schema, request: FastifyRequest): z.output<Schema> {
  return read(schema, request.params, 'path');
}

/** A path parameter as it is. */
export function pathText(request: FastifyRequest, name: string): string {
  const value = (request.params as Record<string, string>)[name];
  if (value === undefined) throw new Error(`the route has no parameter ${name}`);
  return value;
}

/** A path parameter that has to be a UUID; else the 422 whose detail is a sentence. */
export function pathUuid(request: FastifyRequest, name: string): string {
  const value = pathText(request, name);
  if (uuid.safeParse(value).success) return value.toLowerCase();
  const reason = value.length === 36 ? 'invalid UUID format' : `invalid UUID length: ${value.length}`;
  throw refusal(
    422,
    `Invalid format for parameter ${name}: error unmarshaling '${value}' text as *uuid.UUID: ${reason}`,
  );
}

/** A field that is null or left out is null. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullable().default(null);
}

/** A list in a query, where a single value may stand for a list of one. */
export function queryList<Schema extends z.ZodType>(item: Schema) {
  return optional(z.preprocess((value) => (typeof value === 'string' ? [value] : value), z.array(item)));
}

/** A whole number in a query. */
export function queryInteger(min: number, max: number) {
  return z
    .string()
    .transform((text) => (text === '' ? Number.NaN : Number(text)))
    .pipe(z.int().min(min).max(max));
}

/** `page` and `size` of a list. */
export const pageQuery = {
  page: queryInteger(1, Number.MAX_SAFE_INTEGER).default(1),
  size: queryInteger(1, 100).default(50),
};

export const cursorQuery = { next_cursor: optional(z.string()) };

/** A page of a list from a cursor on, and the cursor of the next page. */
export function cursorPage<T>(
  items: readonly T[],
  { next_cursor: cursor }: { next_cursor: string | null },
  size: number,
) {
  const place = cursor === null ? '0' : Buffer.from(cursor, 'base64url').toString();
  if (!/^\d{1,9}$/.test(place)) {
    const fault = valueError('the cursor is not one of this list');
    throw invalidFields([{ ...fault, loc: ['query', 'next_cursor'], input: cursor }]);
  }
  const end = Number(place) + size;
  const next = end < items.length ? Buffer.from(String(end)).toString('base64url') : null;
  return { items: items.slice(Number(place), end), next };
}

export const uuid = z.guid().toLowerCase();

export const zip = z.string().regex(/^\d{5}(-\d{4})?$/);

const namePattern = /^([a-zA-Z0-9]{1})([a-zA-Z0-9-.,']*(\s[a-zA-Z0-9-.,']+)*[a-zA-Z0-9-.,']?)$/;
const nameRule =
  'The field must start with a letter (a-z or A-Z or 0-9) and can only contain -,. special characters, ' +
  'but cannot start with a space or hyphen.';

export const patientName = withRule(z.string().min(1, { abort: true }).max(50, { abort: true }), (value) =>
  namePattern.test(value) ? undefined : valueError(nameRule),
);

export const email = withRule(z.string(), (value) => {
  if (/^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value)) return undefined;
  const reason = value.includes('@')
    ? 'The part after the @-sign is not valid. It should have a period.'
    : 'An email address must have an @-sign.';
  return { type: 'value_error', msg: `value is not a valid email address: ${reason}`, ctx: { reason } };
});

/** A date, or a timestamp of which only the date counts. */
export const date = withRule(z.string(), (value) => {
  const day = value.slice(0, 10);
  // Date.parse moves 31 February into March; the service refuses it.
  if (!Number.isNaN(parseTimestamp(value)) && calendarDate(Date.parse(day)) === day) return undefined;
  const error = 'input is not a calendar date';
  const msg = `Input should be a valid date or datetime, ${error}`;
  return { type: 'date_from_datetime_parsing', msg, ctx: { error } };
});

/** A moment, as milliseconds since 1970. */
export const datetime = withRule(z.string(), (value) => {
  if (!Number.isNaN(parseTimestamp(value))) return undefined;
  const error = 'input is not a timestamp';
  return {
    type: 'datetime_from_date_parsing',
    msg: `Input should be a valid datetime or date, ${error}`,
    ctx: { error },
  };
}).transform(parseTimestamp);

/** Somewhere on earth it may be tomorrow. */
const latestZoneMs = 14 * 3_600_000;

/** YYYY-MM-DD, and not later than today. */
export const birthDate = withRule(date, (value) =>
  Date.parse(value.slice(0, 10)) > Date.now() + latestZoneMs ? valueError('dob cannot be in the future') : undefined,
).transform((value) => value.slice(0, 10));

type Fault = Pick<FieldIssue, 'type' | 'msg' | 'ctx'>;

/** Adds a rule with a wording of its own, which is applied to what has no fault so far. */
export function withRule(schema: z.ZodString, faultOf: (value: string) => Fault | undefined): z.ZodString {
  return schema.superRefine((value, context) => {
    const fault = faultOf(value);
    if (fault !== undefined) context.addIssue({ code: 'custom', params: fault, continue: false });
  });
}

function read<Schema extends z.ZodType>(schema: Schema, value: unknown, where: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidFields(result.error.issues.map((issue) => fieldIssue(issue, value, where)));
}

/** A fault in the service's words. A field that is missing is reported with the object that lacks it. */
function fieldIssue(issue: z.core.$ZodIssue, root: unknown, where: string): FieldIssue {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  const input = valueAt(root, path);
  const isMissing = input === undefined;
  const { type, msg, ctx } = isMissing ? { type: 'missing', msg: 'Field required' } : faultOf(issue, where);
  return {
    type,
    loc: [where, ...path],
    msg,
    input: isMissing ? valueAt(root, path.slice(0, -1)) : input,
    ...(ctx !== undefined && { ctx }),
  };
}

function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce((value, part) => (value as Record<string, unknown> | undefined)?.[part], root);
}

const wrongTypes: Readonly<Record<string, Fault>> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  number: { type: 'int_type', msg: 'Input should be a valid integer' },
  int: { type: 'int_type', msg: 'Input should be a valid integer' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
};
const notAnObject: Fault = {
  type: 'model_attributes_type',
  msg: 'Input should be a valid dictionary or object to extract fields from',
};
/** A query has only texts. */
const notANumber: Fault = {
  type: 'int_parsing',
  msg: 'Input should be a valid integer, unable to parse string as an integer',
};

function faultOf(issue: z.core.$ZodIssue, where: string): Fault {
  switch (issue.code) {
    case 'custom':
      return issue.params as unknown as Fault;
    case 'invalid_type':
      if (where === 'query' && ['number', 'int'].includes(issue.expected)) return notANumber;
      return wrongTypes[issue.expected] ?? notAnObject;
    case 'invalid_value': {
      const expected = alternatives.format(issue.values.map((value) => `'${String(value)}'`));
      return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } };
    }
    case 'invalid_format':
      return wrongFormat(issue.format, issue.pattern ?? '', String(issue.input));
    case 'too_big':
      return issue.origin === 'string' ? tooLong(Number(issue.maximum)) : tooLarge(Number(issue.maximum));
    case 'too_small':
      return issue.origin === 'string' ? emptyString : tooSmall(Number(issue.minimum));
    default:
      throw new Error(`no wording for ${issue.code}`);
  }
}

/** "'a', 'b' or 'c'". */
const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

const emptyString: Fault = {
  type: 'string_too_short',
  msg: 'String should have at least 1 character',
  ctx: { min_length: 1 },
};

function tooLong(max_length: number): Fault {
  return { type: 'string_too_long', msg: `String should have at most ${max_length} characters`, ctx: { max_length } };
}

function tooLarge(le: number): Fault {
  return { type: 'less_than_equal', msg: `Input should be less than or equal to ${le}`, ctx: { le } };
}

function tooSmall(ge: number): Fault {
  return { type: 'greater_than_equal', msg: `Input should be greater than or equal to ${ge}`, ctx: { ge } };
}

function wrongFormat(format: string, regex: string, value: string): Fault {
  if (format === 'guid') {
    const error = `invalid length: expected length 32 for simple format, found ${value.length}`;
    return { type: 'uuid_parsing', msg: `Input should be a valid UUID, ${error}`, ctx: { error } };
  }
  const pattern = regex.slice(1, -1);
  return { type: 'string_pattern_mismatch', msg: `String should match pattern '${pattern}'`, ctx: { pattern } };
}

/** A field fault as the service reports it. `ctx` is there only for the kinds that carry one. */
interface FieldIssue {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** Any answer of the service other than success; routes throw it, the server writes it. A string body is plain text. */
export class ServiceProblem extends Error {
  override readonly name = 'ServiceProblem';
  readonly status: number;
  readonly body: object | string;

  constructor(status: number, body: object | string) {
    super(`the stand-in answers ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** `{detail}` with a sentence. */
export function refusal(status: number, detail: string): ServiceProblem {
  return new ServiceProblem(status, { detail });
}

/** 422 with the list of field faults. */
export function invalidFields(issues: readonly FieldIssue[]): ServiceProblem {
  return new ServiceProblem(422, { detail: issues });
}

/** The fault of a value that is well formed and still cannot be accepted. */
export function valueError(message: string): Pick<FieldIssue, 'type' | 'msg' | 'ctx'> {
  return { type: 'value_error', msg: `Value error, ${message}`, ctx: { error: {} } };
}

/** 422 for one field with such a fault. */
export function unacceptable(loc: readonly (string | number)[], message: string, input: unknown): ServiceProblem {
  return invalidFields([{ ...valueError(message), loc, input }]);
}
