import { ApplicationFailure, WorkflowUpdateFailedError } from '@temporalio/client';
import type { FailureDetails } from '../../workflows/failure-details.js';
import { LabOperationsError, Refusal, ServiceDown, type Words } from '../errors.js';

/** No order with this reference or id is known to Temporal. It may be older than the namespace's retention. */
export class OrderNotFound extends Refusal {
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

/** The workflow was terminated, timed out or cancelled by an operator; the message says which. */
export class OrderInterrupted extends LabOperationsError {
  override readonly name = 'OrderInterrupted';
}

/** What the failures of the order workflows are called in the product. */
export const orderWords: Words = {
  notFound: OrderNotFound,
  interrupted: OrderInterrupted,
  refusals: {
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
    OrderNotFound,
    OrderNotInChain,
    // Attempts that the next one would have mended, had there been time for it.
    AttemptOutdated: ServiceDown,
    OrderUnclaimed: ServiceDown,
    // The run ended between accepting a command and carrying it out.
    AcceptedUpdateCompletedWorkflow: OrderEnded,
  },
};

/** The root order whose workflow took over, where a command was sent to one that only passes things on. */
export function forwardedTo(error: unknown): string | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'OrderForwarded') return undefined;
  const [details] = (cause.details ?? []) as Partial<FailureDetails>[];
  return details?.reason;
}
