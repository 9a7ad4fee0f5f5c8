import { ApplicationFailure } from '@temporalio/activity';
import {
  AnswerLost,
  AnswerUnreadable,
  FeatureNotEnabled,
  RequestInvalid,
  ServiceError,
  ServiceRefused,
  ServiceUnavailable,
  TooManyRequests,
  Unauthorized,
} from '../service/errors.js';
import type { FailureDetails } from '../workflows/order/messages.js';

/*
 * What a failed call means to a workflow, in one place: the failure's type, whether the same call may be made again,
 * and how long to wait first. A failure's details are read by workflows and callers; neither they nor its message carry
 * personal data (service/errors.ts).
 */

/** The refusal's type by what was asked for: the caller of an update reads it. */
export type RefusedAs = 'RegistrationRefused' | 'CancelRefused' | 'OrderRefused' | 'ServiceRefused';

/** How long after a lost answer the service may still be at work on the request. */
const afterLostAnswer = '35 seconds';

/** Runs calls of the service; every `ServiceError` leaves as the `ApplicationFailure` that this table gives it. */
export async function asFailures<T>(refusedAs: RefusedAs, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw error instanceof ServiceError ? failureOf(error, refusedAs) : error;
  }
}

export function failureOf(error: ServiceError, refusedAs: RefusedAs): ApplicationFailure {
  const failure = (type: string, options: { nonRetryable: boolean; nextRetryDelay?: number | '35 seconds' }) =>
    ApplicationFailure.create({ message: error.message, type, details: [detailsOf(error)], cause: error, ...options });

  // The team's key or its features do not change by asking again; a person has to change them.
  if (error instanceof Unauthorized) return failure('Unauthorized', { nonRetryable: true });
  if (error instanceof FeatureNotEnabled) return failure('FeatureNotEnabled', { nonRetryable: true });
  if (error instanceof TooManyRequests) return failure('TooManyRequests', retryAfter(error.retryAfterMs));
  if (error instanceof ServiceRefused) return failure(refusedAs, { nonRetryable: true });
  if (error instanceof RequestInvalid) return failure(refusedAs, { nonRetryable: true });
  if (error instanceof ServiceUnavailable) return failure('ServiceUnavailable', retryAfter(error.retryAfterMs));
  if (error instanceof AnswerLost)
    return failure('AnswerLost', { nonRetryable: false, nextRetryDelay: afterLostAnswer });
  // What the service answers today it may answer better after its next release; until then nothing is lost by asking.
  if (error instanceof AnswerUnreadable) return failure('AnswerUnreadable', { nonRetryable: false });
  return failure('ServiceUnreachable', { nonRetryable: false });
}

function retryAfter(delay: number | undefined) {
  return { nonRetryable: false, ...(delay !== undefined && { nextRetryDelay: delay }) };
}

function detailsOf(error: ServiceError): FailureDetails {
  const status = error.status === undefined ? {} : { status: error.status };
  if (error instanceof RequestInvalid) {
    return { ...status, fields: error.fields.map(({ field, rule }) => ({ field, message: rule })) };
  }
  if (!(error instanceof ServiceRefused)) return { ...status, fields: [] };
  const fields = error.fields.map(({ field, message }) => ({ field, message }));
  return { ...status, fields, ...(error.reason !== undefined && { reason: error.reason }) };
}
