import type { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import type { DeletionState } from '../../protocol/deletion/messages.js';
import type { EntityRun } from '../entity/loop.js';
import type { Deletion } from './deletion.js';

/** One run of `deleteUser`: the deletion it works on, and who waits for it. */
export interface DeletionRun extends EntityRun {
  deletion: Deletion;
  /** The callers that requested the deletion know enough: it is under way, or will not be, or takes longer than they can wait. */
  answered: boolean;
  /** Why no deletion is under way; what requests are answered with. */
  refusal?: ApplicationFailure;
  /** A new deletion, requested after this one had ended and before the product could be notified. */
  next?: Deletion;
  /** Requested while this one runs: begins if it turns out that the user had been restored by then. */
  nextIfRestored?: Deletion;
  /** It is not clear whether the user is still scheduled, because an undo got no answer, or a recheck at a new request. */
  doubt?: 'undo' | 'request';
  /** When the attempts of an undo without an answer ended: the last one may still take effect. In milliseconds since the epoch. */
  undoSentUntil?: number;
  /** The undo that waits or is being carried out; another one is the same. */
  undoing?: Promise<DeletionState>;
  /** A request waits for what comes of that undo. */
  isRequestedAgain?: true;
  /** Everything that precedes the grace; an undo stops it. */
  beginning?: CancellationScope;
  /** The service denies the user, whom it shows. */
  isDenied?: true;
  /** When the last round of requests to the service ended. */
  sentUntil?: number;
  /** When it is known that a request got no answer: it may still take effect after that, and after a later one was answered. */
  unansweredAt?: number;
}
