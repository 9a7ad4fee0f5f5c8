import { createHash } from 'node:crypto';
import { type Client, isGrpcServiceError } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { replayableSeconds } from '../../service/webhooks/signature.js';
import { signalOrStart, type WorkflowStart } from '../../protocol/signal-or-start.js';
import { CallTooLarge, EncryptionKeysMissing } from '../errors.js';
import { code, type GrpcError, maySucceedLater, wordsOf } from '../temporal-errors.js';
import { DeadlinePassed, within } from '../call-options.js';
import type { Outcome } from './answers.js';
import type { Destinations } from './sinks.js';
import type { Message } from './verify.js';

/**
 * The last step of a message: signals the workflow that it belongs to, which is started if it does not run. Nothing is sent if
 * `deliveredMessages` has the message.
 */
export async function signalWorkflow<Argument>(
  message: Message,
  to: Destinations,
  ids: Pick<Outcome, 'orderId' | 'jobId'>,
  start: WorkflowStart<object>,
  definition: SignalDefinition<[Argument]>,
  argument: Argument,
): Promise<Outcome> {
  return unlessDelivered(message, to, () =>
    send(to, { ...ids, workflowId: start.workflowId }, (workflow, taskQueue) =>
      signalOrStart(workflow, taskQueue, start, definition, argument),
    ),
  );
}

/**
 * How long the database may take to recognise or remember a message. Orders do not depend on it, so after that the message is
 * delivered without it.
 */
const rememberWithinMs = 1_000;

/**
 * Delivers a message to Temporal unless a process has delivered it in the last minutes. Later repeats, which somebody
 * requested from the service, are delivered again.
 */
export async function unlessDelivered(
  { id, body }: Message,
  { deliveredMessages: memory, temporal, taskQueue }: Destinations,
  deliver: () => Promise<Outcome>,
): Promise<Outcome> {
  if (!memory) return deliver();
  // Other bytes under a known id are another message.
  const digest = createHash('sha256').update(body).digest('base64url');
  const key = `${temporal.options.namespace}/${taskQueue}/${id}/${digest}`;
  const isKnown = await within(rememberWithinMs, memory.has(key, replayableSeconds)).catch(() => false);
  if (isKnown) return { name: 'repeated' };
  const outcome = await deliver();
  if (outcome.name === 'delivered') await within(rememberWithinMs, memory.add(key)).catch(() => undefined);
  return outcome;
}

/** Signals a workflow, and starts it in the same call if it does not run: for one whose earlier runs do not matter. */
export async function sendWithStart<Argument>(
  to: Destinations,
  start: WorkflowStart<object>,
  definition: SignalDefinition<[Argument]>,
  argument: Argument,
): Promise<Outcome> {
  const { name, workflowId } = start;
  return send(to, { workflowId }, (workflow, taskQueue) =>
    workflow.signalWithStart(name, { ...start, taskQueue, signal: definition, signalArgs: [argument] }),
  );
}

/** Sends a signal to Temporal within the deadline. Its refusals become the webhook's answers. */
export async function send(
  { temporal, taskQueue, deadlineMs, abandoned }: Destinations,
  ids: Pick<Outcome, 'orderId' | 'jobId' | 'workflowId'>,
  call: (workflow: Client['workflow'], taskQueue: string) => Promise<unknown>,
): Promise<Outcome> {
  const sent = temporal.withDeadline(Date.now() + deadlineMs, () => call(temporal.workflow, taskQueue));
  try {
    // The client's deadline holds for each attempt that it makes, but not for its pauses between them.
    await within(deadlineMs, abandoned.track(sent));
    return { name: 'delivered', ...ids };
  } catch (error) {
    return { name: temporalAnswer(error), ...ids, error };
  }
}

/** `event_refused`: the sender must not repeat it. The others are answered 503; all but `temporal_unavailable` need a person. */
function temporalAnswer(
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
function isOfTheRun(error: GrpcError): boolean {
  return error.code === code.invalidArgument && /limit for signal/i.test(wordsOf(error));
}

/**
 * INVALID_ARGUMENT refers to the message, so a retry would fail as well. There are two exceptions: search attributes
 * that the namespace does not have yet, which the worker registers, and a run that has had too many signals. A message
 * that is too large for gRPC itself has a code of its own.
 */
function isOfTheEvent(error: GrpcError): boolean {
  const words = wordsOf(error);
  if (error.code === code.invalidArgument) return !isOfTheRun(error) && !/search ?attribute/i.test(words);
  return error.code === code.resourceExhausted && /larger than max/.test(words);
}
