import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/**
 * True if an activity, or the workflow itself, said that no later attempt can succeed. A timeout never says that, whatever
 * its retry state: servers report one of schedule-to-close or schedule-to-start as not retryable, although all that is known
 * is that no answer came in time.
 */
export function isFinalRefusal(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  return cause instanceof ApplicationFailure && cause.nonRetryable === true;
}

/**
 * 401 or 403: the worker's key is wrong, or not for this user or account; the service does not say which. The same call
 * succeeds once a person has corrected that, and not before.
 */
export function isAccessRefused({ type }: ApplicationFailure): boolean {
  return type === 'Unauthorized';
}
