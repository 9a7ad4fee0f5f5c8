import { isGrpcServiceError, isRetryableError, type Client, type Connection } from '@temporalio/client';
import { NamespaceNotFoundError, WorkflowNotFoundError } from '@temporalio/common';
import { wayOf } from './temporal-connection.js';
import type { LabOperationsError } from '../service/lab-operations-error.js';
import { TemporalRefused, TemporalUnreachable, WorkerFailing } from './errors.js';
import { DeadlinePassed } from './call-options.js';

/* Problems of Temporal itself, or of the connection to it, as errors with a remedy. */

/** The server that a client calls. */
interface Endpoint {
  address: string;
  namespace: string;
}

export function endpointOf(temporal: Client): Endpoint {
  const { options } = temporal.connection as Partial<Connection>;
  return { address: wayOf(options ?? {}), namespace: temporal.options.namespace };
}

/** Numbers of gRPC's status codes. */
export const code = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export type GrpcError = Error & Parameters<typeof isRetryableError>[0];

/** gRPC's own error inside those of Temporal's client. */
export function grpcErrorOf(error: unknown): GrpcError | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (isGrpcServiceError(each)) return each;
  return undefined;
}

/** gRPC's own words, which Temporal's native client has in the message alone. */
export function wordsOf({ details, message }: GrpcError): string {
  return details || message;
}

export function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  const grpcError = grpcErrorOf(error);
  return grpcError !== undefined && codes.includes(grpcError.code);
}

/**
 * True if the call may succeed later without a change of the configuration. Temporal's client does not retry these three
 * codes, because an immediate retry would not help.
 */
export function maySucceedLater(error: GrpcError): boolean {
  return isRetryableError(error) || hasCode(error, code.cancelled, code.deadlineExceeded, code.internal);
}

/** A query that Temporal did not even hand out, because no worker has asked for work recently. */
export function isWithoutPoller(error: unknown): boolean {
  const grpcError = grpcErrorOf(error);
  return grpcError?.code === code.failedPrecondition && /no poller/i.test(grpcError.details);
}

/**
 * The ways in which Temporal's server ends an update that its workflow has not answered, by the server's words and gRPC's code:
 * `unaccepted` updates are safe to send again under the same ID. Any other "not found" means that the workflow has ended, or never was.
 */
const updateEnds: readonly [number, RegExp, 'unaccepted' | 'failing' | 'paused' | 'unread'][] = [
  // The server failed the workflow task that took the update to a worker. Temporal's client does not repeat this one.
  [code.failedPrecondition, /unexpected workflow task failure/i, 'unaccepted'],
  // The server lost its memory of the update, say by a restart. If it had been accepted, the ID finds it again.
  [code.unavailable, /workflow update was aborted/i, 'unaccepted'],
  // The run is about to end, or to continue as new: the next attempt meets what comes after it.
  [code.resourceExhausted, /workflow is closing/i, 'unaccepted'],
  [code.failedPrecondition, /workflow task in failed state/i, 'failing'],
  [code.failedPrecondition, /workflow is paused/i, 'paused'],
  // It was accepted by a run that continued as new before the answer was read: Temporal's client asks the latest run for it.
  [code.notFound, /^update .*not found/i, 'unread'],
];

export function updateEndOf(error: unknown) {
  const grpcError = error instanceof WorkflowNotFoundError ? undefined : grpcErrorOf(error);
  const words = error instanceof WorkflowNotFoundError ? error.message : (grpcError?.details ?? '');
  const given = grpcError?.code ?? code.notFound;
  return updateEnds.find(([number, pattern]) => number === given && pattern.test(words))?.[2];
}

export function isDeadlineError(error: unknown): boolean {
  return error instanceof DeadlinePassed || hasCode(error, code.deadlineExceeded) || updateEndOf(error) === 'unread';
}

/** Temporal did not answer in time, or could not be reached: another attempt may succeed, and this one may have arrived. */
export function isPassing(error: unknown): boolean {
  const grpcError = grpcErrorOf(error);
  const isRetryable = grpcError !== undefined && isRetryableError(grpcError);
  return error instanceof TemporalUnreachable || isDeadlineError(error) || isRetryable;
}

/** The server's word that it does not find the namespace; `whyNamespaceUnknown` finds out if that is so. */
export function isNamespaceUnknown(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof NamespaceNotFoundError ? error.cause : error;
  return cause instanceof NamespaceNotFoundError || /^namespace .*not found/i.test(grpcErrorOf(error)?.details ?? '');
}

/**
 * The client error for a call that Temporal did not answer, or refused; undefined for other errors.
 *
 * @param underWay what may continue nevertheless, and what to do: the last sentence
 */
export function temporalErrorOf(error: unknown, endpoint: Endpoint, underWay = ''): LabOperationsError | undefined {
  const { address, namespace } = endpoint;
  const options = { cause: error };
  const grpcError = grpcErrorOf(error);
  if (isNamespaceUnknown(error)) {
    const message = `Temporal at ${address} has no namespace ${namespace}: create it, or correct TEMPORAL_NAMESPACE`;
    return new TemporalRefused(sentences(message, underWay), options);
  }
  if (!grpcError) return undefined;
  const { details } = grpcError;
  if (grpcError.code === code.unauthenticated || grpcError.code === code.permissionDenied) {
    const remedy = `check TEMPORAL_API_KEY or the certificate, and that it may use the namespace ${namespace}`;
    const message = `Temporal at ${address} refuses the credentials (${details}): ${remedy}`;
    return new TemporalRefused(sentences(message, underWay), options);
  }
  const end = updateEndOf(error);
  if (end === 'failing') return new WorkerFailing(options);
  if (end === 'paused') {
    const remedy = 'an operator has paused the workflow; `temporal workflow unpause` lets it continue';
    return new TemporalRefused(`Temporal refuses the call (${details}): ${remedy}`, options);
  }
  if (grpcError.code === code.resourceExhausted) {
    return unreachable(`Temporal at ${address} is too busy (${details}): call again later`, underWay, error);
  }
  if (grpcError.code === code.invalidArgument && /search attribute/i.test(details)) {
    const message = `The search attributes are not registered in the namespace ${namespace} (${details})`;
    return new TemporalRefused(`${message}: start the worker, or restart one that runs: it registers them`, options);
  }
  if (isRetryableError(grpcError) || grpcError.code === code.deadlineExceeded) {
    return unreachable(`Temporal cannot be reached at ${address} ${whyUnreachable(details)}`, underWay, error);
  }
  return new TemporalRefused(`Temporal refuses the call (${details}): see its log`, options);
}

/** @param fault the reason, if `connectionFault` found one */
export function noAnswerFromTemporal(
  { address }: Endpoint,
  error: unknown,
  underWay = '',
  fault?: string,
): TemporalUnreachable {
  const reason = whyUnreachable(fault ?? grpcErrorOf(error)?.details ?? 'no answer');
  return unreachable(`Temporal cannot be reached at ${address} ${reason}`, underWay, error);
}

/** The namespace exists; only the server's look-up has failed. */
export function namespaceNotLookedUp({ address, namespace }: Endpoint, cause: unknown): TemporalUnreachable {
  const remedy = 'call again later; the log of the server may say why its database did not answer';
  return new TemporalUnreachable(`Temporal at ${address} could not look up its namespace ${namespace}: ${remedy}`, {
    cause,
  });
}

function unreachable(message: string, underWay: string, cause: unknown): TemporalUnreachable {
  return new TemporalUnreachable(sentences(message, underWay), { cause });
}

function sentences(message: string, underWay: string): string {
  return underWay === '' ? message : `${message}. ${underWay}`;
}

/** The cause, then the remedy. */
function whyUnreachable(details: string): string {
  return `(${details}): ${connectionRemedy(details)}`;
}

/** The remedy for a connection that fails, by its reason. */
export function connectionRemedy(reason: string): string {
  return /\b(ssl|tls|tlsv\d+|certificate|cert|wrong version number|EPROTO|HTTP2|protocol error)\b/i.test(reason)
    ? 'check TEMPORAL_TLS and the certificates: client and server must both use TLS, or neither'
    : 'start it, or correct TEMPORAL_ADDRESS (and TEMPORAL_TLS, if the server uses TLS)';
}
