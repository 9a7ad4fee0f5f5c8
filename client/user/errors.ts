import type { FailureDetails } from '../../protocol/failure-details.js';
import type { FoundWork, RunningWork } from '../../protocol/deletion/messages.js';
import { invalid, notFound, refused, unavailable } from '../../service/lab-operations-error.js';
import { type ErrorMap } from '../errors.js';

/** The user id, the grace period or the policy breaks a rule. Nothing was started. */
export class DeletionInvalid extends invalid('DeletionInvalid') {}

/** The user has running orders, links, reports or appointments; `workflows` lists them. Nothing was deleted. */
export class UserHasRunningWork extends refused(
  'UserHasRunningWork',
  "Wait for them, or request the deletion with `policy: { onRunningWork: 'cancel' }` or `'leave'` (labops: `--running-work`).",
) {
  /** The workflows that run. */
  readonly workflows: readonly RunningWork[];

  constructor(message: string, details: Partial<FailureDetails> & { workflows?: RunningWork[] } = {}) {
    super(message, details);
    this.workflows = details.workflows ?? [];
  }
}

/**
 * The lab service does not know the user: the id is wrong, the data is already erased, or a deletion has ended for
 * good.
 */
export class UserUnknown extends notFound('UserUnknown', 'Check the user id.') {}

/**
 * The lab service refused to delete the user, for the reason in the message. The user still exists; `work` lists what
 * was already cancelled.
 */
export class DeletionRefused extends refused('DeletionRefused', 'Remove the reason and request the deletion again.') {
  /** Running work that was found before, with its fate: cancelled work stays cancelled. */
  readonly work: readonly FoundWork[];

  constructor(message: string, details: Partial<FailureDetails> & { work?: FoundWork[] } = {}) {
    super(message, details);
    this.work = details.work ?? [];
  }
}

/** The deletion has just been requested, and it is not known yet whether there will be anything to undo. */
export class GraceNotBegun extends unavailable('GraceNotBegun', 'Try again once the request is answered.') {}

/** The deletion can no longer be undone: its grace period is over. */
export class GraceEnded extends refused('GraceEnded', 'Create a new user; nothing restores this one.') {}

/** The deletion is not final, or its worker had no key to sign a receipt with. */
export class ReceiptMissing extends refused(
  'ReceiptMissing',
  'Wait until the deletion has ended as `deleted`. If the workers had no RECEIPT_KEY, set it: later deletions then have a receipt.',
) {}

/** The receipt is not signed with the key that was given, or was changed. */
export class ReceiptInvalid extends invalid(
  'ReceiptInvalid',
  'Give the public key of the worker that signed it, and the receipt as `labops users receipt` printed it.',
) {}

/** The deletion did not happen: it was refused, or the lab service does not know the user. */
export class NothingToUndo extends refused('NothingToUndo', "Look at the deletion's state.") {}

/**
 * The lab service refused the undo, for example because its own grace period was over, or because a new user has taken the same
 * `client_user_id`. The deletion continues.
 */
export class UndoRefused extends refused(
  'UndoRefused',
  "Read the service's sentence in the error. If a new user has the client_user_id, give that user another one and undo again. If the service's own grace period is over, nothing restores the user.",
) {}

/** Temporal knows no deletion of this user. It may be older than the namespace's retention. */
export class DeletionNotFound extends notFound('DeletionNotFound', 'Check the user id.') {}

/**
 * The deletion's workflow was terminated, timed out or was cancelled by an operator. The lab service was not notified
 * and continues to count down.
 */
export class DeletionInterrupted extends refused(
  'DeletionInterrupted',
  'Request the deletion again to be able to undo it.',
) {}

/** The client error for each failure type of a deletion. */
export const userErrorMap: ErrorMap = {
  notFound: DeletionNotFound,
  invalid: DeletionInvalid,
  ended: GraceEnded,
  interrupted: DeletionInterrupted,
  refusals: {
    UserHasRunningWork,
    UserUnknown,
    DeletionRefused,
    GraceNotBegun,
    GraceEnded,
    NothingToUndo,
    UndoRefused,
  },
};
