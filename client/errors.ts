import { ApplicationFailure, WorkflowFailedError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { FailureDetails } from '../workflows/order/messages.js';

/*
 * The product's words for what went wrong. Every error that a caller can do something about has a class of its own;
 * its docstring says when it is thrown and what helps.
 */

/** Base of everything below. */
export class LabOperationsError extends Error {
  override readonly name: string = 'LabOperationsError';
}

/** A field and what is wrong with it: a rule of ours, or the service's own sentence. Never the value. */
export interface RefusedField {
  field: string;
  message: string;
}

/** Something was refused for reasons that its fields name. */
class Refusal extends LabOperationsError {
  readonly fields: readonly RefusedField[];
  /** The service's HTTP status, where it was the service that refused. */
  readonly status: number | undefined;

  constructor(message: string, details: Partial<FailureDetails> = {}) {
    super(message);
    this.fields = details.fields ?? [];
    this.status = details.status;
  }
}

/** No order with this reference or id is known to Temporal. It may be older than the namespace's retention. */
export class OrderNotFound extends LabOperationsError {
  override readonly name = 'OrderNotFound';
}

/** The reference was already used for an order with other details. Use a new reference for a new order. */
export class ReferenceConflict extends LabOperationsError {
  override readonly name = 'ReferenceConflict';
}

/** The order, its reference or its policy breaks a rule that is known here; nothing was started. */
export class OrderInvalid extends Refusal {
  override readonly name = 'OrderInvalid';
}

/** The service refused to create the order, or its replacement. Mend the fields and place it again with the same reference. */
export class OrderRefused extends Refusal {
  override readonly name = 'OrderRefused';
}

/** The service refused the registration, or it breaks a rule that is known here. The order still waits: mend the fields and try again. */
export class RegistrationRefused extends Refusal {
  override readonly name = 'RegistrationRefused';
}

/** The lab account's delegated flow needs a physician on the order. Nothing was sent: give one. */
export class PhysicianRequired extends Refusal {
  override readonly name = 'PhysicianRequired';
}

/** The service does not cancel the order any more, usually because it has shipped. The order goes on. */
export class CancelRefused extends Refusal {
  override readonly name = 'CancelRefused';
}

/** The sample id registered another order than the one meant. Attention is raised; a person has to compare the kits. */
export class RegisteredAnotherOrder extends Refusal {
  override readonly name = 'RegisteredAnotherOrder';
}

/** Several orders could be the one that a lost answer created; nothing was created. The message names them. */
export class AmbiguousOrder extends Refusal {
  override readonly name = 'AmbiguousOrder';
}

/** The kit has not shipped, or its order is over: it can be cancelled, or there is nothing to replace. */
export class NotReplaceable extends Refusal {
  override readonly name = 'NotReplaceable';
}

/** The policy's `replacementLimit` is used up. Place a new order instead. */
export class ReplacementLimitReached extends Refusal {
  override readonly name = 'ReplacementLimitReached';
}

/** `wait` was decided though the order has missed no limit. */
export class NothingToResolve extends Refusal {
  override readonly name = 'NothingToResolve';
}

/** The order has ended; it takes no command any more. */
export class OrderEnded extends Refusal {
  override readonly name = 'OrderEnded';
}

/** The command names an order that is not of this chain. */
export class OrderNotInChain extends Refusal {
  override readonly name = 'OrderNotInChain';
}

/** The worker's key for the lab service is missing or wrong: check SERVICE_API_KEY, SERVICE_BRAND and the environment. */
export class ServiceAccessDenied extends Refusal {
  override readonly name = 'ServiceAccessDenied';
}

/** The team is not enabled for this feature of the lab service; its operator has to enable it. */
export class FeatureNotEnabled extends Refusal {
  override readonly name = 'FeatureNotEnabled';
}

/** The lab service could not be reached or did not answer in time. Nothing is lost: send the same command again. */
export class ServiceDown extends Refusal {
  override readonly name = 'ServiceDown';
}

/** Lab values are read from the service itself: give `service` to `LabOperations`. */
export class ServiceNotConfigured extends LabOperationsError {
  override readonly name = 'ServiceNotConfigured';
}

/** The workflow was terminated, timed out or cancelled by an operator; the message says which. */
export class OrderInterrupted extends LabOperationsError {
  override readonly name = 'OrderInterrupted';
}

type RefusalClass = new (message: string, details?: Partial<FailureDetails>) => Refusal;

/** The failure types of workflows and activities, in the product's words. */
const refusals: Readonly<Record<string, RefusalClass>> = {
  OrderRefused,
  ServiceRefused: OrderRefused,
  ReferenceInvalid: OrderInvalid,
  PolicyInvalid: OrderInvalid,
  InvalidCommand: OrderInvalid,
  RegistrationRefused,
  PhysicianRequired,
  CancelRefused,
  RegisteredAnotherOrder,
  AmbiguousOrder,
  NotReplaceable,
  ReplacementLimitReached,
  NothingToResolve,
  OrderEnded,
  OrderNotInChain,
  Unauthorized: ServiceAccessDenied,
  FeatureNotEnabled,
  ServiceUnavailable: ServiceDown,
  ServiceUnreachable: ServiceDown,
  TooManyRequests: ServiceDown,
  AnswerLost: ServiceDown,
  AnswerUnreadable: ServiceDown,
  CommandTimedOut: ServiceDown,
  // Attempts that the next one would have mended, had there been time for it.
  AttemptOutdated: ServiceDown,
  OrderUnclaimed: ServiceDown,
  // The run ended between accepting a command and carrying it out.
  AcceptedUpdateCompletedWorkflow: OrderEnded,
};

/** The root order whose workflow took over, where a command was sent to one that only passes things on. */
export function forwardedTo(error: unknown): string | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'OrderForwarded') return undefined;
  const [details] = (cause.details ?? []) as Partial<FailureDetails>[];
  return details?.reason;
}

/** Turns what Temporal's client rejects with into the product's words; what it has no word for stays as it is. */
export function inProductWords(error: unknown): unknown {
  if (!(error instanceof WorkflowUpdateFailedError) && !(error instanceof WorkflowFailedError)) return error;
  const { cause } = error;
  if (cause instanceof ApplicationFailure) {
    if (cause.type === 'OrderNotFound') return new OrderNotFound(cause.message);
    const type = cause.type ?? '';
    const known = Object.hasOwn(refusals, type) ? refusals[type] : undefined;
    const [details] = cause.details ?? [];
    return known ? new known(cause.message, details as Partial<FailureDetails> | undefined) : error;
  }
  return error instanceof WorkflowFailedError
    ? new OrderInterrupted(`${error.message}: ${cause?.message ?? ''}`)
    : error;
}
