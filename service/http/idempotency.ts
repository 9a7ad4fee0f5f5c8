import { AnswerLost, FeatureNotEnabled, ServiceRefused, Unauthorized } from '../errors.js';
import type { ServiceCall } from './http.js';

/* Requests that carry an idempotency key: the service gives the same key the first answer again. */

/**
 * The headers of a request with a key. The service is asked not to keep failures, which the key would repeat. Without a key there are none.
 *
 * @param key printable ASCII
 */
export function idempotencyHeaders(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { 'x-idempotency-key': key, 'x-idempotency-error': 'no-cache' };
}

/**
 * Two requests with one key at once: the later one is refused while the service still works on the first, so its outcome is unknown.
 * Neither the status nor the sentence is documented. 409 is such a refusal unless its sentence is about something else; other statuses
 * only if the sentence says so; 425 is an outage anyway.
 */
export function collisionOf(error: unknown, { headers = {} }: Pick<ServiceCall, 'headers'>): AnswerLost | undefined {
  if (!Object.hasOwn(headers, 'x-idempotency-key')) return undefined;
  if (!(error instanceof ServiceRefused) || error.status === 422) return undefined;
  if (error instanceof FeatureNotEnabled || error instanceof Unauthorized) return undefined;
  const { status, fields, serviceSentence: said = '' } = error;
  const isImplied = status === 409 && fields.length === 0;
  const isCollision = atWorkPattern.test(said)
    ? isImplied || /idempoten/i.test(said)
    : isImplied && saysNothingPattern.test(said);
  if (!isCollision) return undefined;
  return new AnswerLost(error, 'is still being carried out for an earlier request with the same idempotency key');
}

/** A key that is not allowed, or not valid, is refused for good. */
const atWorkPattern = /\b(?:in.progress|running|processing|being processed|concurrent|under ?way|outstanding)/i;
/** Nothing, or the words of the status alone. */
const saysNothingPattern = /^\W*(?:409\W*)?(?:conflict)?\W*$/i;
