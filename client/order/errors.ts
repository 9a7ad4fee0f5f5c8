import { ApplicationFailure, WorkflowUpdateFailedError } from '@temporalio/client';
import type { FailureDetails } from '../../protocol/failure-details.js';
import { type ErrorKind, invalid, notFound, refused } from '../../service/lab-operations-error.js';
import { type ErrorMap, ServiceDown } from '../errors.js';

/**
 * Temporal knows no order with this reference or id; it may be older than the namespace's retention. When an order is adopted: the lab
 * service does not know it.
 */
export class OrderNotFound extends notFound(
  'OrderNotFound',
  'Check the reference or the id: a command that takes an order id takes no reference.',
) {}

/** The reference was already used for another order, or for one with other details, such as another address. */
export class ReferenceConflict extends refused('ReferenceConflict', 'Use a reference that is still free.') {}

/** The order cannot be adopted for this reference: it has another one, or another installation placed it; the message says which. */
export class OrderTaken extends refused('OrderTaken', "Check the ids: the order's state shows its reference.") {}

/** A field of the order, its reference or its policy breaks a rule. Nothing was started. */
export class OrderInvalid extends invalid('OrderInvalid') {}

/**
 * The lab service refused to create the order or its replacement. Status 404: the service does not know the user, the lab test or another
 * id in the order; `sentence` says which.
 */
export class OrderRefused extends refused(
  'OrderRefused',
  'Fix what the error names, then send the same command again, with the same reference.',
) {}

/** The registration breaks a rule, or the lab service refused it. The order keeps waiting for one. */
export class RegistrationRefused extends refused(
  'RegistrationRefused',
  'Fix the fields named in the error and register again.',
) {
  /** One that breaks a rule never reaches the service, whose refusal has a status. */
  override get kind(): ErrorKind {
    return this.status === undefined ? 'invalid' : super.kind;
  }
}

/** The lab account's delegated flow needs a physician on the order. Nothing was sent. */
export class PhysicianRequired extends refused('PhysicianRequired', 'Add `physician` and send it again.') {}

/** The lab service no longer cancels the order, usually because it has shipped. The order continues. */
export class CancelRefused extends refused('CancelRefused', 'Let it continue, or replace the kit once it is lost.') {}

/** The sample id registered a different order than the one you named. The order asks for attention. */
export class RegisteredAnotherOrder extends refused('RegisteredAnotherOrder', 'Have a person compare the two kits.') {}

/**
 * The answer to a creation was lost, and it is not certain which of the user's orders is the created one, or if one is. Nothing more
 * was created; the message names the orders.
 */
export class AmbiguousOrder extends refused(
  'AmbiguousOrder',
  'Look at the named orders at the lab service. If one of them is the order, it exists and is followed already; if none is, place a new order with another reference.',
) {}

/** The placing was cancelled before there was an order. */
export class PlacingCancelled extends refused(
  'PlacingCancelled',
  'If you want the order after all, place it again with the same reference.',
) {}

/** There is nothing to replace: the kit has not shipped yet, its order is over, or the order is a visit or an import. */
export class NotReplaceable extends refused('NotReplaceable', 'Cancel the order instead, or place a new one.') {}

/** The kit has moved since you decided to replace it. Nothing was ordered. */
export class OrderMovedOn extends refused('OrderMovedOn', "Look at the order's state and decide again.") {}

/** The policy's `replacementLimit` is used up. */
export class ReplacementLimitReached extends refused('ReplacementLimitReached', 'Place a new order instead.') {}

/** The problem was already resolved in another way; the message says how. */
export class AlreadyResolved extends refused(
  'AlreadyResolved',
  "Look at the order's state. Only an earlier `wait` can be changed, with `insteadOf: 'wait'` (labops: `--instead-of wait`).",
) {}

/** The order needs no decision: it has missed no deadline. */
export class NothingToResolve extends refused('NothingToResolve', "Look at the order's state.") {}

/** No critical result of this order was reported, or not the alarm that you named. */
export class NothingToAcknowledge extends refused(
  'NothingToAcknowledge',
  "Check the ids: the order's state shows its critical results.",
) {}

/** The critical result was raised again after the alarm that you named. Nothing was acknowledged. */
export class AlarmOutdated extends refused(
  'AlarmOutdated',
  "Look at the result again, then acknowledge the latest alarm: the order's state names it.",
) {}

/** The order has ended and takes no more commands. */
export class OrderEnded extends refused('OrderEnded', "Look at the order's state.") {}

/** The command names an order that does not belong to this chain of replacements. */
export class OrderNotInChain extends notFound('OrderNotInChain', 'Check the order id.') {}

/** The order's workflow was terminated, timed out or was cancelled by an operator; the message says which. */
export class OrderInterrupted extends refused(
  'OrderInterrupted',
  "If it was still being placed, place it again with the same reference; otherwise the order's next webhook starts another run.",
) {}

/** The client error for each failure type of the order workflows. */
export const orderErrorMap: ErrorMap = {
  notFound: OrderNotFound,
  invalid: OrderInvalid,
  ended: OrderEnded,
  interrupted: OrderInterrupted,
  refusals: {
    ReferenceConflict,
    OrderTaken,
    OrderRefused,
    ServiceRefused: OrderRefused,
    RegistrationRefused,
    PhysicianRequired,
    CancelRefused,
    RegisteredAnotherOrder,
    AmbiguousOrder,
    PlacingCancelled,
    NotReplaceable,
    OrderMovedOn,
    ReplacementLimitReached,
    NothingToResolve,
    AlreadyResolved,
    NothingToAcknowledge,
    AlarmOutdated,
    OrderEnded,
    OrderNotFound,
    OrderNotInChain,
    // Failures of an attempt that a later one could have corrected, had there been time for it.
    OrderUnclaimed: ServiceDown,
    EarlierPlacingUnsettled: ServiceDown,
  },
};

/** The root order whose workflow took over, if a command was sent to a forwarder. */
export function forwardedTo(error: unknown): string | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || cause.type !== 'OrderForwarded') return undefined;
  const [details] = (cause.details ?? []) as Partial<FailureDetails>[];
  return details?.reason;
}
