import { invalidFields, type FieldIssue } from './problems.js';
import { calendarDate, parseTimestamp } from './timestamps.js';

/**
 * The service's own request validation: rules from the contract's facts and schemas, wording from its recorded error
 * bodies. All faults of a request are gathered and answered at once.
 */

type Fault = Pick<FieldIssue, 'type' | 'msg' | 'ctx'>;
/** Returns the fault of a string, if it has one. */
export type StringRule = (value: string) => Fault | undefined;

const NAME = /^([a-zA-Z0-9]{1})([a-zA-Z0-9-.,']*(\s[a-zA-Z0-9-.,']+)*[a-zA-Z0-9-.,']?)$/;
const ZIP_PATTERN = '^\\d{5}(-\\d{4})?$';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export const uuid: StringRule = (value) => {
  if (isUuid(value)) return undefined;
  const error = `invalid length: expected length 32 for simple format, found ${value.length}`;
  return { type: 'uuid_parsing', msg: `Input should be a valid UUID, ${error}`, ctx: { error } };
};

export const zip: StringRule = (value) =>
  new RegExp(ZIP_PATTERN).test(value)
    ? undefined
    : {
        type: 'string_pattern_mismatch',
        msg: `String should match pattern '${ZIP_PATTERN}'`,
        ctx: { pattern: ZIP_PATTERN },
      };

export function maxLength(limit: number): StringRule {
  return (value) =>
    value.length <= limit
      ? undefined
      : {
          type: 'string_too_long',
          msg: `String should have at most ${limit} characters`,
          ctx: { max_length: limit },
        };
}

export const patientName: StringRule = (value) => {
  if (value === '')
    return { type: 'string_too_short', msg: 'String should have at least 1 character', ctx: { min_length: 1 } };
  const tooLong = maxLength(50)(value);
  if (tooLong !== undefined || NAME.test(value)) return tooLong;
  const rule =
    'The field must start with a letter (a-z or A-Z or 0-9) and can only contain -,. special characters, ' +
    'but cannot start with a space or hyphen.';
  return { type: 'value_error', msg: `Value error, ${rule}`, ctx: { error: {} } };
};

export const email: StringRule = (value) => {
  if (/^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value)) return undefined;
  const reason = value.includes('@')
    ? 'The part after the @-sign is not valid. It should have a period.'
    : 'An email address must have an @-sign.';
  return { type: 'value_error', msg: `value is not a valid email address: ${reason}`, ctx: { reason } };
};

/** A date, or a timestamp of which only the date counts. */
export const date: StringRule = (value) => {
  const time = parseTimestamp(value);
  // Date.parse moves 31 February into March; the service refuses it.
  if (!Number.isNaN(time) && calendarDate(Date.parse(value.slice(0, 10))) === value.slice(0, 10)) return undefined;
  const error = 'input is not a calendar date';
  return {
    type: 'date_from_datetime_parsing',
    msg: `Input should be a valid date or datetime, ${error}`,
    ctx: { error },
  };
};

export const datetime: StringRule = (value) => {
  if (!Number.isNaN(parseTimestamp(value))) return undefined;
  const error = 'input is not a timestamp';
  return {
    type: 'datetime_from_date_parsing',
    msg: `Input should be a valid datetime or date, ${error}`,
    ctx: { error },
  };
};

/** A date of birth not later than `now`. */
export function birthDate(now: number): StringRule {
  return (value) =>
    date(value) ??
    (Date.parse(value.slice(0, 10)) > now
      ? { type: 'value_error', msg: 'Value error, dob cannot be in the future', ctx: { error: {} } }
      : undefined);
}

export function oneOf(...allowed: readonly string[]): StringRule {
  const quoted = allowed.map((value) => `'${value}'`);
  const expected = quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`;
  return (value) =>
    allowed.includes(value) ? undefined : { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads the fields of one object of a request and remembers every fault. A reader gives a harmless value where a fault
 * was found; `finish` on the outermost object then throws the 422.
 */
export class Fields {
  readonly #values: Record<string, unknown>;
  readonly #loc: readonly (string | number)[];
  readonly #issues: FieldIssue[];

  private constructor(values: Record<string, unknown>, loc: readonly (string | number)[], issues: FieldIssue[]) {
    this.#values = values;
    this.#loc = loc;
    this.#issues = issues;
  }

  /** The body of a request; no body at all counts as one without fields. */
  static ofBody(body: unknown): Fields {
    const issues: FieldIssue[] = [];
    if (body !== undefined && body !== null && !isRecord(body)) issues.push(notAnObject(['body'], body));
    return new Fields(isRecord(body) ? body : {}, ['body'], issues);
  }

  static ofQuery(query: unknown): Fields {
    return new Fields(isRecord(query) ? query : {}, ['query'], []);
  }

  /** All faults found so far. */
  get issues(): readonly FieldIssue[] {
    return this.#issues;
  }

  /** Throws the 422 with all faults found so far. */
  finish(): void {
    if (this.#issues.length > 0) throw invalidFields(this.#issues);
  }

  has(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== null;
  }

  string(name: string, ...rules: readonly StringRule[]): string {
    const value = this.#values[name];
    if (value === undefined) {
      this.#report(name, { type: 'missing', msg: 'Field required' }, this.#values);
      return '';
    }
    return this.#checked(name, value, rules);
  }

  optionalString(name: string, ...rules: readonly StringRule[]): string | null {
    return this.has(name) ? this.#checked(name, this.#values[name], rules) : null;
  }

  optionalBoolean(name: string): boolean | null {
    if (!this.has(name)) return null;
    const value = this.#values[name];
    if (typeof value === 'boolean') return value;
    this.#report(name, { type: 'bool_type', msg: 'Input should be a valid boolean' }, value);
    return null;
  }

  optionalInteger(name: string, bounds: { min: number; max: number }): number | null {
    if (!this.has(name)) return null;
    const value = this.#values[name];
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      this.#report(name, { type: 'int_type', msg: 'Input should be a valid integer' }, value);
    } else if (value < bounds.min) {
      const msg = `Input should be greater than or equal to ${bounds.min}`;
      this.#report(name, { type: 'greater_than_equal', msg, ctx: { ge: bounds.min } }, value);
    } else if (value > bounds.max) {
      const msg = `Input should be less than or equal to ${bounds.max}`;
      this.#report(name, { type: 'less_than_equal', msg, ctx: { le: bounds.max } }, value);
    } else return value;
    return null;
  }

  /** A list of strings; in a query also a single value. */
  optionalStrings(name: string, ...rules: readonly StringRule[]): string[] | null {
    if (!this.has(name)) return null;
    const value = this.#values[name];
    const list = this.#loc[0] === 'query' && !Array.isArray(value) ? [value] : value;
    if (Array.isArray(list)) return list.map((item, index) => this.#checked(name, item, rules, index));
    this.#report(name, { type: 'list_type', msg: 'Input should be a valid list' }, value);
    return null;
  }

  /** A whole number in a query, between two bounds. */
  queryInteger(name: string, otherwise: number, bounds: { min: number; max: number }): number {
    if (!this.has(name)) return otherwise;
    const raw = this.#values[name];
    const value = Number(raw);
    if (!Number.isInteger(value) || raw === '') {
      const msg = 'Input should be a valid integer, unable to parse string as an integer';
      this.#report(name, { type: 'int_parsing', msg }, raw);
    } else if (value < bounds.min) {
      const msg = `Input should be greater than or equal to ${bounds.min}`;
      this.#report(name, { type: 'greater_than_equal', msg, ctx: { ge: bounds.min } }, raw);
    } else if (value > bounds.max) {
      const msg = `Input should be less than or equal to ${bounds.max}`;
      this.#report(name, { type: 'less_than_equal', msg, ctx: { le: bounds.max } }, raw);
    } else return value;
    return otherwise;
  }

  object(name: string): Fields {
    if (this.#values[name] === undefined) {
      this.#report(name, { type: 'missing', msg: 'Field required' }, this.#values);
      return new Fields({}, [...this.#loc, name], []);
    }
    return this.#nested(name, this.#values[name]);
  }

  optionalObject(name: string): Fields | null {
    return this.has(name) ? this.#nested(name, this.#values[name]) : null;
  }

  optionalObjects(name: string): Fields[] | null {
    if (!this.has(name)) return null;
    const value = this.#values[name];
    if (Array.isArray(value)) return value.map((item, index) => this.#nested(name, item, index));
    this.#report(name, { type: 'list_type', msg: 'Input should be a valid list' }, value);
    return null;
  }

  #nested(name: string, value: unknown, index?: number): Fields {
    const loc = [...this.#loc, name, ...(index === undefined ? [] : [index])];
    if (isRecord(value)) return new Fields(value, loc, this.#issues);
    this.#issues.push(notAnObject(loc, value));
    // Its fields cannot be judged, so their faults go nowhere.
    return new Fields({}, loc, []);
  }

  #checked(name: string, value: unknown, rules: readonly StringRule[], index?: number): string {
    if (typeof value !== 'string') {
      this.#report(name, { type: 'string_type', msg: 'Input should be a valid string' }, value, index);
      return '';
    }
    for (const rule of rules) {
      const fault = rule(value);
      if (fault === undefined) continue;
      this.#report(name, fault, value, index);
      return '';
    }
    return value;
  }

  #report(name: string, fault: Fault, input: unknown, index?: number): void {
    const { type, msg, ctx } = fault;
    const loc = [...this.#loc, name, ...(index === undefined ? [] : [index])];
    this.#issues.push({ type, loc, msg, input, ...(ctx === undefined ? {} : { ctx }) });
  }
}

function notAnObject(loc: readonly (string | number)[], input: unknown): FieldIssue {
  const msg = 'Input should be a valid dictionary or object to extract fields from';
  return { type: 'model_attributes_type', loc, msg, input };
}
