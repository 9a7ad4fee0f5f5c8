/*
 * The base of every error that the client rejects with or throws. An error is one line: its kind, its name and what to do.
 * Its doc comment says when it is thrown. `npm run docs` writes docs/errors.md from them, and labops shows the remedy.
 */

/**
 * The answer to "would it help to repeat the call?":
 * - `invalid`: no. What was given, an argument or a setting, breaks a rule, and nothing was done.
 * - `not_found`: no. It does not exist, or no longer.
 * - `refused`: no. The lab service or a rule of ours says no as things stand.
 * - `unavailable`: later. The service, Temporal, the worker or the database does not answer as it should, or time is up. A call to the
 *   lab service itself that changes something may have been carried out: read first.
 * - `misconfigured`: once an operator has corrected a key, a setting or a right of the team.
 */
export type ErrorKind = 'invalid' | 'not_found' | 'refused' | 'unavailable' | 'misconfigured';

/** A field and its fault: a rule of ours, or the service's own sentence, which may quote the person. */
export interface RefusedField {
  /** Path of the field, for instance `patient_details.first_name`. */
  field: string;
  /** The fault, for instance `must be 1 to 50 characters long`. */
  message: string;
}

export interface ErrorDetails {
  /** The lab service's HTTP status, if it answered. */
  status?: number;
  fields?: readonly RefusedField[];
  /** The service's own sentence. */
  sentence?: string;
  cause?: unknown;
}

/**
 * Base class of all errors of the client. `message` can be logged: it holds nothing about a person. The service's own sentences, in
 * `serviceSentence`, `fields` and `sentence`, may quote one: show them to the person or the operator. Loggers and `JSON.stringify` leave them out.
 */
export class LabOperationsError extends Error {
  static readonly errorName: string = 'LabOperationsError';
  static readonly kind: ErrorKind = 'refused';
  /** What to do. */
  static readonly remedy: string = '';
  /** True if the message itself says what to do: the sentence does not repeat it. */
  static readonly advises: boolean = false;
  /** The lab service's HTTP status, if it answered. */
  readonly status: number | undefined;
  readonly #details: ErrorDetails;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.status = details.status;
    this.#details = details;
  }

  override get name(): string {
    return classOf(this).errorName;
  }

  /** The name in snake case, such as `order_refused`: the same in every release. */
  get code(): string {
    return this.name.replaceAll(/(?<!^)[A-Z]/g, '_$&').toLowerCase();
  }

  get kind(): ErrorKind {
    return classOf(this).kind;
  }

  get remedy(): string {
    return classOf(this).remedy;
  }

  /** The fields at fault; empty if the error is about none. */
  get fields(): readonly RefusedField[] {
    return this.#details.fields ?? [];
  }

  /** The service's own sentence, if it was the service that refused and it gave one. */
  get serviceSentence(): string | undefined {
    return this.#details.sentence;
  }

  /** Everything in one text, as a person reads it: the message, the service's sentence, the fields and what to do. */
  get sentence(): string {
    const unmentioned = this.fields.filter(({ message }) => !this.message.includes(message));
    const named = unmentioned.map(({ field, message }) => `${field} ${message}`).join('; ');
    const parts = [this.message, this.serviceSentence ?? '', named].filter((part) => part !== '');
    const text = parts.join('; ').replaceAll(/\s+/g, ' ');
    return `${text.replace(/[. ]*$/, '')}. ${classOf(this).advises ? '' : this.remedy}`.trim();
  }

  /** Without what may quote a person: if the service refused, the message has those names of fields that are known here. */
  toJSON(): Pick<LabOperationsError, 'name' | 'code' | 'kind' | 'message' | 'remedy' | 'fields' | 'status'> {
    const { name, code, kind, message, remedy, status } = this;
    return { name, code, kind, message, remedy, fields: status === undefined ? this.fields : [], status };
  }
}

function classOf(error: LabOperationsError): typeof LabOperationsError {
  return error.constructor as typeof LabOperationsError;
}

type Constructor<Given extends unknown[], Made> = new (...given: Given) => Made;

type Usual = [message: string, details?: ErrorDetails];

export type ErrorClass<
  Name extends string = string,
  Given extends unknown[] = Usual,
  Base extends LabOperationsError = LabOperationsError,
> = Constructor<Given, Base & { readonly name: Name }> & Pick<typeof LabOperationsError, 'kind' | 'remedy' | 'advises'>;

/** The base of an error of one kind. A bundler may rename the class itself, so its name is given. */
function ofKind(kind: ErrorKind, defaultRemedy = '') {
  return <Name extends string, Given extends unknown[] = Usual, Base extends LabOperationsError = LabOperationsError>(
    errorName: Name,
    remedy = defaultRemedy,
    base?: Constructor<Given, Base>,
  ) => {
    class Named extends ((base as typeof LabOperationsError | undefined) ?? LabOperationsError) {
      static override readonly errorName = errorName;
      static override readonly kind = kind;
      static override readonly remedy = remedy;
    }
    return Named as unknown as ErrorClass<Name, Given, Base>;
  };
}

export const invalid = ofKind('invalid', 'Fix the fields named in the error.');
export const notFound = ofKind('not_found');
export const refused = ofKind('refused');
export const unavailable = ofKind('unavailable');
export const misconfigured = ofKind('misconfigured');
