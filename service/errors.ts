import {
  type ErrorDetails,
  invalid,
  LabOperationsError,
  misconfigured,
  notFound,
  type RefusedField,
  refused,
  unavailable,
} from './lab-operations-error.js';

/**
 * The errors of calls to the lab service, one class for each thing that a caller would do differently.
 *
 * A failed call is one of three kinds, and the difference decides if it may be repeated: nothing was sent
 * (`RequestInvalid`, `ServiceUnreachable`), the service answered (`ServiceRefused` and its kinds, `ServiceUnavailable`,
 * `AnswerUnreadable`), or the outcome is unknown (`AnswerLost`).
 *
 * Messages carry no personal data: paths are templates without ids, and refusals name only fields and types of rules that are known
 * here. The service's own sentences may quote the person concerned, so they are only in `serviceSentence` and `fields`: log an
 * error's message, never these.
 */

/** The call that failed. `path` is the template, for instance `/v3/order/{order_id}`: ids stay out of logs. */
export interface CallFacts {
  method: string;
  path: string;
  /** HTTP status, if the service answered. */
  status?: number;
  /** The names of the fields that the request can have: a refusal's message names no others. Default: none. */
  knownFields?: ReadonlySet<string>;
}

/** A field that the service refused. */
export interface ReadField extends RefusedField {
  /** The service's name of the broken rule, for instance `string_pattern_mismatch`. */
  type?: string;
}

/** The content of a refusal, as far as it could be read. Each sentence has at most 300 characters. */
export interface Refusal {
  sentence?: string;
  fields: ReadField[];
}

/** Base class of the errors of direct calls: everything that a call of the lab service rejects with, except an aborted signal's reason. */
export class ServiceError extends LabOperationsError {
  static override readonly errorName: string = 'ServiceError';
  readonly method: string;
  readonly path: string;

  constructor({ method, path, status }: CallFacts, problem: string, details: ErrorDetails = {}) {
    super(`${method} ${path} ${problem}`, { ...details, ...(status !== undefined && { status }) });
    this.method = method;
    this.path = path;
  }
}

/** The request breaks a known rule, so it was not sent. Repeating it unchanged cannot help. */
export class RequestInvalid extends invalid('RequestInvalid', undefined, ServiceError) {
  constructor(call: CallFacts, fields: readonly RefusedField[]) {
    super(call, `was not sent: ${fields.map(({ field, message }) => `${field} ${message}`).join('; ')}`, { fields });
  }
}

/** The lab service answered with a 4xx status: it understood the request and will not carry it out. */
export class ServiceRefused extends refused<string, ConstructorParameters<typeof ServiceError>, ServiceError>(
  'ServiceRefused',
  "Read the status, the service's sentence and the fields.",
  ServiceError,
) {
  declare readonly status: number;

  constructor(call: CallFacts & { status: number }, refusal: Refusal) {
    super(call, `was refused with status ${call.status}${namedFields(refusal, call)}`, refusal);
  }
}

/** 404: the requested object does not exist, or is scheduled for deletion; also 400 for an order that has no appointment. */
export class NotFound extends notFound('NotFound', 'Check the id.', ServiceRefused) {}

/**
 * True if a 404 is the service's own answer that one of `things` does not exist: its bare "Not found", or a sentence about it. Anything
 * else may come from a proxy, or from a path that does not exist.
 */
export function isStatedAbsence(error: unknown, things: readonly string[]): boolean {
  if (!(error instanceof NotFound) || error.serviceSentence === undefined) return false;
  if (/^Not found\.?$/.test(error.serviceSentence)) return true;
  if (aboutRoute.test(error.serviceSentence)) return false;
  const thing = `\\b(?:${things.join('|')})\\b`;
  const absence = String.raw`${thing}.*(?:\b(?:not|no longer)\b|n['’]t\b)|\b(?:no|unknown) (?:such )?${thing}`;
  return new RegExp(absence, 'i').test(error.serviceSentence);
}

/** A server that does not know a path often quotes it, and the path may contain a word such as `order`. */
const aboutRoute = /\b(?:GET|POST|PUT|PATCH|DELETE)\b|\b[Rr]oute\b|\bv\d+\/|\/\w+\//;

/**
 * True if a 404 says nothing about anything of the service's: only that a page, a path or the like was not found, or nothing at all. A
 * proxy may have answered so.
 */
export function isForeignAbsence(error: unknown): boolean {
  if (!(error instanceof NotFound) || error.fields.length > 0) return false;
  const { serviceSentence: said = '' } = error;
  if (/^Not found\.?$/.test(said)) return false;
  return aboutRoute.test(said) || aboutProxy.test(said) || statusAlone.test(said);
}

const aboutProxy =
  /\b(?:page|route|backend|upstream|endpoint|path|url|resource|server|host|gateway|application|site)\b/i;
const statusAlone = /^\W*(?:404)?\W*(?:not found)?\W*$/i;

/** Everything that a refusal says, in one text. It may quote a person: it belongs in no log. */
export function sentencesOf({ serviceSentence, fields }: ServiceRefused): string {
  return [serviceSentence ?? '', ...fields.map(({ message }) => message)].join(' ');
}

/** 401 or 403: the key is missing, wrong, or not for this. */
export class Unauthorized extends misconfigured(
  'Unauthorized',
  'Check SERVICE_API_KEY, SERVICE_BRAND and the environment.',
  ServiceRefused,
) {}

/** The team is not enabled for this endpoint (closed beta), whatever the status. A worker's commands reject with it, too. */
export class FeatureNotEnabled extends misconfigured(
  'FeatureNotEnabled',
  'Ask the operator of the lab service to enable it for the team.',
  ServiceRefused,
) {}

/** The slot of a booking is gone: somebody else took it. */
export class SlotUnavailable extends refused(
  'SlotUnavailable',
  'Request the availability again and choose another slot.',
  ServiceRefused,
) {}

/** The booking key is not good any more. The slot may still be free, under another key. */
export class BookingKeyExpired extends refused(
  'BookingKeyExpired',
  'Request the availability again.',
  ServiceRefused,
) {}

/** 429: too many requests. */
export class TooManyRequests extends unavailable(
  'TooManyRequests',
  'Wait `retryAfterMs` milliseconds (choose a pause if it is undefined), then send the same request again.',
  ServiceRefused,
) {
  /** Milliseconds from the moment of the answer; undefined if the service named none. */
  readonly retryAfterMs: number | undefined;

  constructor(call: CallFacts & { status: number }, refusal: Refusal, retryAfterMs: number | undefined) {
    super(call, refusal);
    this.retryAfterMs = retryAfterMs;
  }
}

const readFirst = 'Read before you repeat anything that changes something.';

/** 5xx, 408 or 425: the lab service, or something in front of it, failed. The request may have been carried out. */
export class ServiceUnavailable extends unavailable('ServiceUnavailable', readFirst, ServiceError) {
  declare readonly status: number;
  /** Milliseconds from the moment of the answer; undefined if the service named none. */
  readonly retryAfterMs: number | undefined;

  constructor(call: CallFacts & { status: number }, refusal: Refusal, retryAfterMs: number | undefined) {
    const problem = `failed at the service with status ${call.status}${namedFields(refusal, call)}`;
    super(call, problem, { ...refusal, fields: [] });
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * There was no connection (refused, unknown host, TLS, connect timeout, no free connection in time), or an upload
 * broke off before its end. The service has no complete request.
 */
export class ServiceUnreachable extends unavailable('ServiceUnreachable', 'Send the request again.', ServiceError) {}

/** The answer timed out or the connection broke after the request may have been sent: it may have been carried out. */
export class AnswerLost extends unavailable('AnswerLost', readFirst, ServiceError) {}

/**
 * The answer is too large, not JSON, not of the expected shape, about another object than was asked for, or a redirect. The
 * request was probably carried out.
 */
export class AnswerUnreadable extends unavailable('AnswerUnreadable', readFirst, ServiceError) {}

/** A longer log line would not be read; all of them are in `fields`. */
const fieldsInMessage = 10;

/**
 * ` (patient_details.dob: string_pattern_mismatch)`. Only words that are ours or the validator's: the service's may be a key of the
 * request, or quote it.
 */
function namedFields({ fields }: Refusal, { knownFields = new Set() }: CallFacts): string {
  const named = fields.flatMap(({ field, type = '' }) => {
    const parts = [isKnownPath(field, knownFields) ? field : '', ruleTypes.has(type) ? type : ''].filter(
      (part) => part !== '',
    );
    return parts.length === 0 ? [] : [parts.join(': ')];
  });
  return named.length === 0 ? '' : ` (${named.slice(0, fieldsInMessage).join(', ')})`;
}

/** A path in the body, or in another part of the request, which the first step names. */
function isKnownPath(field: string, knownFields: ReadonlySet<string>): boolean {
  const steps = field.replace(/^(?:query|path|header)\./, '').split('.');
  return steps.every((step) => knownFields.has(step) || /^\d{1,4}$/.test(step)) && Number.isNaN(Number(steps[0]));
}

/** The rules of pydantic, whose names the service uses, that a request of ours can break. */
const ruleTypes: ReadonlySet<string> = new Set(
  (
    'missing extra_forbidden json_invalid value_error assertion_error enum literal_error ' +
    'string_type string_too_short string_too_long string_pattern_mismatch ' +
    'int_type int_parsing int_from_float float_type float_parsing bool_type bool_parsing ' +
    'greater_than greater_than_equal less_than less_than_equal ' +
    'date_type date_parsing date_from_datetime_parsing date_from_datetime_inexact date_past date_future ' +
    'datetime_type datetime_parsing datetime_from_date_parsing datetime_past datetime_future timezone_naive timezone_aware ' +
    'uuid_type uuid_parsing uuid_version url_type url_parsing url_scheme url_too_long ' +
    'list_type too_short too_long dict_type model_type model_attributes_type union_tag_invalid union_tag_not_found'
  ).split(' '),
);
