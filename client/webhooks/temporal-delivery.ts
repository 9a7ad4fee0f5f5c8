import { type Client, isGrpcServiceError } from '@temporalio/client';
import { CallTooLarge, EncryptionKeysMissing } from '../errors.js';
import { code, maySucceedLater } from '../temporal-errors.js';
import { DeadlinePassed, within } from '../within.js';
import type { Destinations, Routed } from './destinations.js';

/** Sends a signal to Temporal within the deadline. Its refusals become the webhook's answers. */
export async function deliver(
  to: Destinations,
  ids: Pick<Routed, 'orderId' | 'jobId' | 'workflowId'>,
  signal: (workflow: Client['workflow'], taskQueue: string) => Promise<unknown>,
): Promise<Routed> {
  try {
    await withinDeadline(to, ({ workflow }) => signal(workflow, to.taskQueue));
    return { name: 'delivered', ...ids };
  } catch (error) {
    return { name: temporalAnswer(error), ...ids, error };
  }
}

/** @throws DeadlinePassed */
export async function withinDeadline<T>(to: Destinations, call: (temporal: Client) => Promise<T>): Promise<T> {
  const { temporal, deadlineMs, abandoned } = to;
  const called = temporal.withDeadline(Date.now() + deadlineMs, () => call(temporal));
  // The deadline holds for each attempt that the client makes, but not for its pauses between them.
  return within(deadlineMs, abandoned.track(called));
}

/** `event_refused`: the sender must not repeat it. The others are answered 503; all but `temporal_unavailable` need a person. */
export function temporalAnswer(
  error: unknown,
): 'event_refused' | 'temporal_unavailable' | 'temporal_refused' | 'encryption_keys_missing' {
  if (error instanceof EncryptionKeysMissing) return 'encryption_keys_missing';
  if (error instanceof DeadlinePassed) return 'temporal_unavailable';
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof CallTooLarge) return 'event_refused';
  if (!isGrpcServiceError(cause)) return 'temporal_refused';
  if (isOfTheEvent(cause)) return 'event_refused';
  return maySucceedLater(cause) || isOfTheRun(cause) ? 'temporal_unavailable' : 'temporal_refused';
}

/** A run takes ten thousand signals. It is about to continue in a new run, which takes more. */
function isOfTheRun(error: { code: number; details: string }): boolean {
  return error.code === code.invalidArgument && /limit for signal/i.test(error.details);
}

/**
 * INVALID_ARGUMENT refers to the message, so a retry would fail as well. There are two exceptions: search attributes
 * that the namespace does not have yet, which the worker registers, and a run that has had too many signals. A message
 * that is too large for gRPC itself has a code of its own.
 */
function isOfTheEvent(error: { code: number; details: string }): boolean {
  const { details } = error;
  if (error.code === code.invalidArgument) return !isOfTheRun(error) && !/search ?attribute/i.test(details);
  return error.code === code.resourceExhausted && /larger than max/.test(details);
}
