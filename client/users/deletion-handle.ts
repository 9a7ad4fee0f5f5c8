import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';
import { deleteUserId } from '../../workflows/deletion/address.js';
import {
  stateQuery,
  undoUpdate,
  type DeleteUserResult,
  type DeletionState,
} from '../../workflows/deletion/messages.js';
import { inProductWords, Refusal } from '../errors.js';
import { watchState, type WatchOptions } from '../watching.js';
import { exists, inWords } from '../workflow-calls.js';
import { GraceEnded, NothingToUndo, userWords } from './errors.js';

/** The latest deletion of one user, while it can be undone and after. */
export class DeletionHandle {
  readonly userId: string;
  /**
   * What the request was answered with: the phase is `grace`, with the time until which it can be undone; or `requested`
   * where the service did not answer, and the deletion goes on by itself. Absent on a handle that was looked up.
   */
  readonly requested: DeletionState | undefined;
  private readonly workflow: WorkflowHandle;

  constructor(temporal: Client, userId: string, requested?: DeletionState) {
    this.userId = userId;
    this.requested = requested;
    this.workflow = temporal.workflow.getHandle(deleteUserId(userId));
  }

  /** Where the deletion stands now. Wakes the workflow and is billed as an action. */
  async state(): Promise<DeletionState> {
    return inWords(userWords, () => this.workflow.query(stateQuery));
  }

  /**
   * Restores the user and the data; `undo` of the state says what was not restored: connections have to be made anew.
   * While the service has not taken the deletion it withdraws it. Doing it again is success.
   * @throws GraceEnded, GraceNotBegun, NothingToUndo, UndoImpossible, UndoRefused, DeletionNotFound, DeletionInterrupted,
   * ServiceAccessDenied, FeatureNotEnabled, ServiceDown (the deletion goes on: try again; one that happened all the same
   * is seen when the service is back)
   */
  async undo(): Promise<DeletionState> {
    try {
      return await this.workflow.executeUpdate(undoUpdate);
    } catch (error) {
      // An update of a workflow that has ended is "not found", as one of a workflow that never was.
      if (error instanceof WorkflowNotFoundError && (await exists(this.workflow))) return this.undone();
      throw inProductWords(error, userWords);
    }
  }

  /** Every state that differs from the one before, the present one first, until the deletion has an outcome. */
  watch(options: WatchOptions = {}): AsyncGenerator<DeletionState, void, undefined> {
    return watchState(() => this.state(), options);
  }

  /**
   * Waits for the end, which normally is the grace's: `deleted`, `undone`, `unknown_user` or `running_work`.
   * @throws DeletionRefused, ServiceAccessDenied, DeletionInterrupted
   */
  async result(): Promise<DeleteUserResult> {
    return inWords(userWords, () => this.workflow.result() as Promise<DeleteUserResult>);
  }

  /** What an undo of a deletion that has ended is answered with. */
  private async undone(): Promise<DeletionState> {
    const result = await this.result().catch((error: unknown) => {
      throw error instanceof Refusal ? new NothingToUndo(`There is nothing to undo: ${error.message}`) : error;
    });
    if (result.outcome === 'undone') return result;
    if (result.outcome !== 'deleted') throw new NothingToUndo(`There is nothing to undo: ${result.outcome}`);
    throw new GraceEnded('The deletion has ended; it cannot be undone any more');
  }
}
