import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { deleteUserId } from '../../protocol/ids.js';
import { stateQuery, undoUpdate, type DeleteUserResult, type DeletionState } from '../../protocol/deletion/messages.js';
import { withoutMemos } from '../../protocol/search-attributes.js';
import type { CallOptions } from '../call-options.js';
import { LabOperationsError } from '../../service/lab-operations-error.js';
import { EncryptionKeysMissing, toClientError, UnexpectedFailure } from '../errors.js';
import { watchState, type WatchOptions } from '../watching.js';
import type { OneCall } from '../one-call.js';
import { callKinds, underWay, type TemporalCalls } from '../workflow-calls.js';
import { DeletionInterrupted, GraceEnded, NothingToUndo, ReceiptMissing, userErrorMap } from './errors.js';

export const userCalls = callKinds(userErrorMap, 'The deletion');

/** An undo may wait for a request of the deletion that got no answer (`deletionSettlingMs`). */
const undoing = { ...userCalls.command, defaultDeadline: '150s' } as const;

/**
 * The latest deletion of one user, while it can be undone and after. Every method also rejects with the errors of
 * {@link CallOptions}.
 */
export class DeletionHandle {
  readonly userId: string;
  /**
   * The answer to the request: the phase is `grace`, with the end of the grace period; or `requested` if the service
   * did not answer, and the deletion continues by itself. Absent on a handle that was looked up.
   */
  readonly requested: DeletionState | undefined;
  readonly #calls: TemporalCalls;
  readonly #workflow: WorkflowHandle;

  constructor(calls: TemporalCalls, userId: string, requested?: DeletionState) {
    this.userId = userId;
    this.requested = requested;
    this.#calls = calls;
    this.#workflow = calls.client.workflow.getHandle(deleteUserId(userId));
  }

  /** The deletion's current state. Wakes the workflow and is billed as an action. Deadline: 30 seconds. */
  async state(options: CallOptions = {}): Promise<DeletionState> {
    return this.#calls.call(userCalls.reading, options, (call) => call.state(this.#workflow, stateQuery));
  }

  /**
   * Restores the user and the data; the state's `undo` lists what was not restored: connections have to be linked
   * again. Before the service has accepted the deletion, it asks the service, unless the user was read as present and nothing was
   * sent since. If a request to the service got no answer, it first waits until that can no longer arrive. Repeating it is a success. Deadline: 150 seconds.
   *
   * @throws GraceEnded, GraceNotBegun, NothingToUndo, UndoRefused, DeletionNotFound,
   * DeletionInterrupted, ServiceAccessDenied, FeatureNotEnabled, ServiceDown (the deletion continues: try again; an
   * undo that happened nevertheless is noticed when the service is back)
   */
  async undo(options: CallOptions = {}): Promise<DeletionState> {
    return this.#calls.call(undoing, options, (call) =>
      call.update(this.#workflow, undoUpdate, {}, () => this.undone(call)),
    );
  }

  /** Every state that differs from the one before, the present one first, until the deletion has an outcome. */
  watch(options: WatchOptions = {}): AsyncGenerator<DeletionState, void, undefined> {
    return watchState(this, options, () => this.#workflow.workflowId);
  }

  /**
   * Waits for the end, which normally is the grace's: `deleted`, `undone`, `unknown_user` or `running_work`. Waits 30
   * seconds, or the `deadline`, which may be `'none'`.
   * @throws DeletionRefused, ServiceAccessDenied, DeletionInterrupted
   */
  async result(options: CallOptions = {}): Promise<DeleteUserResult> {
    return this.#calls.call(userCalls.waiting, options, (call) =>
      call.result(this.#workflow, userCalls.waiting.underWay),
    );
  }

  /**
   * The signed receipt of a final deletion, a compact JWS: what was erased, what was found afterwards, what remains and until when. It
   * lasts as long as Temporal retains the deletion; keep it elsewhere. Deadline: as for `result`.
   *
   * @throws ReceiptMissing, and what `result` throws
   */
  async receipt(options: CallOptions = {}): Promise<string> {
    const latest = this.result(options);
    const { receipt = await this.earlierReceipt(options) } = await latest.catch(() => ({ receipt: undefined }));
    if (receipt !== undefined) return receipt;
    const { outcome } = await latest;
    throw new ReceiptMissing(
      outcome === 'deleted'
        ? `The deletion of user ${this.userId} has no receipt: RECEIPT_KEY was not set for the worker`
        : `The deletion of user ${this.userId} has no receipt: its outcome is ${outcome}`,
    );
  }

  /** A request after a final deletion is a run of its own, which has no receipt. */
  private async earlierReceipt(options: CallOptions): Promise<string | undefined> {
    const { workflow } = this.#calls.client;
    const { workflowId } = this.#workflow;
    return this.#calls.call(userCalls.reading, options, async () => {
      const query = `WorkflowId = '${workflowId}' AND ExecutionStatus = 'Completed'`;
      for await (const { runId } of withoutMemos(workflow).list({ query })) {
        const { receipt } = (await workflow.getHandle(workflowId, runId).result()) as DeleteUserResult;
        if (receipt !== undefined) return receipt;
      }
      return undefined;
    });
  }

  /** The answer to an undo of an ended deletion. */
  private async undone(call: OneCall): Promise<DeletionState> {
    const ended = call.result<DeleteUserResult>(this.#workflow, underWay.command);
    const { version: _, ...state } = await ended.catch((error: unknown) => {
      throw answerToUndo(error);
    });
    if (state.outcome === 'undone') return state;
    if (state.outcome !== 'deleted') throw new NothingToUndo(`There is nothing to undo: ${state.outcome}`);
    throw new GraceEnded('The deletion has ended and can no longer be undone');
  }
}

/** A deletion that failed, for whatever reason, did not happen: there is nothing to undo. Only another end says nothing about that. */
export function answerToUndo(error: unknown): unknown {
  if (!(error instanceof WorkflowFailedError)) return error;
  const failure = toClientError(error, userErrorMap);
  const isUnknown = [DeletionInterrupted, UnexpectedFailure, EncryptionKeysMissing].some(
    (end) => failure instanceof end,
  );
  return failure instanceof LabOperationsError && !isUnknown ? nothingToUndo(failure) : error;
}

function nothingToUndo({ message, fields, serviceSentence: sentence, status }: LabOperationsError): NothingToUndo {
  return new NothingToUndo(`There is nothing to undo: ${message}`, {
    fields: [...fields],
    ...(sentence !== undefined && { sentence }),
    ...(status !== undefined && { status }),
  });
}
