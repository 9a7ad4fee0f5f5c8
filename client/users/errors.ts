import type { FailureDetails } from '../../workflows/failure-details.js';
import type { FoundWork, RunningWork } from '../../workflows/deletion/messages.js';
import { LabOperationsError, Refusal, type Words } from '../errors.js';

/** The user id, the grace or the policy breaks a rule that is known here; nothing was started. */
export class DeletionInvalid extends Refusal {
  override readonly name = 'DeletionInvalid';
}

/**
 * The user has running kit orders, links, reports or appointments, and the policy says `refuse`: nothing was deleted. Wait for them,
 * or ask again with `policy: { onRunningWork: 'cancel' }` or `'leave'`.
 */
export class UserHasRunningWork extends Refusal {
  override readonly name = 'UserHasRunningWork';
  /** The workflows that run. */
  readonly workflows: readonly RunningWork[];

  constructor(message: string, details: Partial<FailureDetails> & { workflows?: RunningWork[] } = {}) {
    super(message, details);
    this.workflows = details.workflows ?? [];
  }
}

/**
 * The service does not know the user: there never was one with this id, or its data is erased already, or it was deleted
 * through here for good.
 */
export class UserUnknown extends Refusal {
  override readonly name = 'UserUnknown';
}

/** The service refused to delete the user, for the reason in the message, and the user is still there. */
export class DeletionRefused extends Refusal {
  override readonly name = 'DeletionRefused';
  /** Running work that was found before, and what became of it: what was cancelled stays so. */
  readonly work: readonly FoundWork[];

  constructor(message: string, details: Partial<FailureDetails> & { work?: FoundWork[] } = {}) {
    super(message, details);
    this.work = details.work ?? [];
  }
}

/** The request itself is not answered yet, so that there is nothing to undo. Ask again once it is. */
export class GraceNotBegun extends Refusal {
  override readonly name = 'GraceNotBegun';
}

/** The deletion cannot be undone any more: its grace is over. */
export class GraceEnded extends Refusal {
  override readonly name = 'GraceEnded';
}

/** The deletion did not happen: it was refused, or the service does not know the user. */
export class NothingToUndo extends Refusal {
  override readonly name = 'NothingToUndo';
}

/** A new user has taken the same `client_user_id` meanwhile, so that the service cannot restore the old one. */
export class UndoImpossible extends Refusal {
  override readonly name = 'UndoImpossible';
}

/** The service refused the undo, for instance because its own grace was over. The deletion goes on. */
export class UndoRefused extends Refusal {
  override readonly name = 'UndoRefused';
}

/** No deletion of this user is known to Temporal. It may be older than the namespace's retention. */
export class DeletionNotFound extends Refusal {
  override readonly name = 'DeletionNotFound';
}

/** The workflow was terminated, timed out or cancelled by an operator; the service was told nothing of that. */
export class DeletionInterrupted extends LabOperationsError {
  override readonly name = 'DeletionInterrupted';
}

/** What the failures of a deletion are called in the product. */
export const userWords: Words = {
  notFound: DeletionNotFound,
  interrupted: DeletionInterrupted,
  refusals: {
    InvalidCommand: DeletionInvalid,
    PolicyInvalid: DeletionInvalid,
    UserHasRunningWork,
    UserUnknown,
    DeletionRefused,
    GraceNotBegun,
    GraceEnded,
    NothingToUndo,
    UndoImpossible,
    UndoRefused,
    // The run ended between accepting a command and carrying it out.
    AcceptedUpdateCompletedWorkflow: GraceEnded,
  },
};
