import { ApplicationFailure, log } from '@temporalio/activity';
import * as errors from '../service/errors.js';
import type { FailureDetails } from '../protocol/failure-details.js';
import { defaultSettling } from '../protocol/settling.js';
import { omitNullish } from '../service/json-object.js';

/*
 * Translates a failed call for a workflow, in one place: the failure's type, whether the call may be repeated, and how
 * long to wait first. The message is logged and contains nothing personal (service/errors.ts). The service's own
 * sentences may quote a person, so they are only in the details, which are a payload and encrypted like all others.
 */

/** The type of a refusal, by the kind of request: the caller of an update reads it. */
export type RefusedAs =
  | 'RegistrationRefused'
  | 'CancelRefused'
  | 'OrderRefused'
  | 'SearchRefused'
  | 'DeletionRefused'
  | 'UndoRefused'
  | 'LinkRefused'
  | 'ReportRefused'
  | 'WebhookRefused'
  | 'AvailabilityRefused'
  | 'BookingRefused'
  | 'RescheduleRefused'
  | 'CancellationRefused'
  | 'DecisionRefused'
  | 'ServiceRefused';

/**
 * Runs calls of the service and translates every `ServiceError` to the `ApplicationFailure` of this table.
 *
 * @param settling milliseconds that a creation may still be running after its answer was lost; it is not retried
 * before, even if the service asks for an earlier retry
 */
export async function asFailures<T>(refusedAs: RefusedAs, calls: () => Promise<T>, settling?: number): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw error instanceof errors.ServiceError ? failureOf(error, refusedAs, settling) : error;
  }
}

/**
 * Runs reads that come before a command. A refusal of such a read may come from a proxy, and must not be taken for a refusal of the command:
 * it counts as an answer that cannot be read. A refused key (401, 403), a feature that is off and a 429 mean the same
 * for every call, and a refusal that names fields is the service's own: these are rethrown.
 *
 * @param isAnswer true for the refusals that are the service's answer to the read
 */
export async function unreadableIfRefused<T>(
  reads: () => Promise<T>,
  isAnswer: (refusal: errors.ServiceRefused) => boolean = () => false,
): Promise<T> {
  try {
    return await reads();
  } catch (error) {
    const isForAll = [errors.Unauthorized, errors.FeatureNotEnabled, errors.TooManyRequests].some(
      (kind) => error instanceof kind,
    );
    if (!(error instanceof errors.ServiceRefused) || isForAll || error.fields.length > 0 || isAnswer(error))
      throw error;
    throw unreadable(error);
  }
}

export function unreadable(refusal: errors.ServiceRefused): errors.AnswerUnreadable {
  const { method, path, status } = refusal;
  const problem = `was refused with status ${status}, perhaps by a proxy`;
  return new errors.AnswerUnreadable({ method, path, status }, problem, { cause: refusal });
}

export function failureOf(error: errors.ServiceError, refusedAs: RefusedAs, settling?: number): ApplicationFailure {
  const failure = (type: string, retry: Retry, message = error.message) =>
    ApplicationFailure.create({ message, type, details: [detailsOf(error)], cause: error, ...retry });

  // The team's key or its features do not change by asking again; a person has to change them.
  if (error instanceof errors.Unauthorized) return failure('Unauthorized', never);
  if (error instanceof errors.FeatureNotEnabled) return failure('FeatureNotEnabled', never);
  if (error instanceof errors.TooManyRequests) return failure('TooManyRequests', after(error.retryAfterMs, settling));
  // Somebody has to choose again, whatever was requested.
  if (error instanceof errors.SlotUnavailable) return failure('SlotUnavailable', never);
  if (error instanceof errors.BookingKeyExpired) return failure('BookingKeyExpired', never);
  // A proxy answers so, for instance during a release: nobody has refused the creation.
  if (settling !== undefined && isCreation(refusedAs) && errors.isForeignAbsence(error))
    return failure('AnswerUnreadable', soon);
  // The ids of a creation are in its body, so the path in the message does not name the unknown one.
  if (error instanceof errors.NotFound && refusedAs === 'OrderRefused') {
    return failure(
      refusedAs,
      never,
      `${error.message}: the service does not know the user, the lab test or another id in the order`,
    );
  }
  if (error instanceof errors.ServiceRefused || error instanceof errors.RequestInvalid)
    return failure(refusedAs, never);
  if (error instanceof errors.ServiceUnavailable)
    return failure('ServiceUnavailable', after(error.retryAfterMs, settling));
  if (error instanceof errors.AnswerLost)
    return failure('AnswerLost', settling === undefined ? after(defaultSettling) : soon);
  // The service may answer better after its next release; until then a retry costs nothing.
  if (error instanceof errors.AnswerUnreadable) return failure('AnswerUnreadable', soon);
  return failure('ServiceUnreachable', soon);
}

/** For a read that holds nobody up: if the service does not answer it, the caller goes on without. @param ids for the log */
export async function ifAnswered<Answer>(
  what: string,
  ids: Record<string, string>,
  read: () => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof errors.ServiceError)) throw error;
    const { name, message, status } = error;
    log.warn(`${what} could not be read`, { ...ids, name, message, status });
    return undefined;
  }
}

function isCreation(refusedAs: RefusedAs): boolean {
  return ['OrderRefused', 'LinkRefused', 'ReportRefused'].includes(refusedAs);
}

type Retry = { nonRetryable: true } | { nonRetryable: false; nextRetryDelay?: number };

const never: Retry = { nonRetryable: true };

/** When the activity's own retry policy says; for creations never before the settling has passed. */
const soon: Retry = { nonRetryable: false };

/**
 * When the service asked for the retry, but not before the settling has passed. Without a time, or with one that is over by our clock,
 * the retry policy decides: a delay of 0 means to Temporal that the activity has no time left, and fails it for good.
 */
function after(asked: number | undefined, settling = 0): Retry {
  const delay = asked === undefined ? 0 : Math.max(asked, settling);
  return delay > 0 ? { nonRetryable: false, nextRetryDelay: delay } : soon;
}

function detailsOf(error: errors.ServiceError): FailureDetails {
  const { status, fields, serviceSentence: sentence } = error;
  return {
    ...omitNullish({ status, sentence }),
    ...retryAfterOf(error),
    fields: fields.map(({ field, message }) => ({ field, message })),
  };
}

/** For workflows that decide themselves when to try again: a failure's next retry delay does not reach them. */
function retryAfterOf(error: errors.ServiceError): Pick<FailureDetails, 'retryAfterMs'> {
  if (!(error instanceof errors.TooManyRequests || error instanceof errors.ServiceUnavailable)) return {};
  return error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
}
