import type { UpdateDefinition, WorkflowHandle } from '@temporalio/client';
import { matchReviewId, ofCanonicalIds } from '../../protocol/ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import {
  acceptUpdate,
  markUnsureUpdate,
  stateQuery,
  rejectUpdate,
  type Acceptance,
  type MatchReviewDecision,
  type MatchReviewResult,
  type MatchReviewState,
  type Rejection,
} from '../../protocol/match-review/messages.js';
import type { CallOptions } from '../call-options.js';
import { refuseFaulty } from '../input-faults.js';
import { watchState, type WatchOptions } from '../watching.js';
import { stateIn, type OneCall } from '../one-call.js';
import { callKinds, underWay, type TemporalCalls } from '../workflow-calls.js';
import { MatchReviewEnded, matchReviewErrorMap, MatchReviewInvalid } from './errors.js';

export const matchReviewCalls = callKinds(matchReviewErrorMap, 'The review');

/**
 * The review of one unmatched result. A decision is sent to the service once: the same one again answers with the state.
 * Each decision rejects with DecisionNotAllowed, DecisionRefused, MatchReviewInvalid, MatchReviewEnded, FeatureNotEnabled,
 * ServiceAccessDenied, or ServiceDown: then send the same decision again, because the review is read first. Every method also rejects
 * with the errors of {@link CallOptions}. The default deadline of each is 30 seconds.
 */
export class MatchReviewHandle {
  readonly rawResultId: string;
  readonly #calls: TemporalCalls;
  readonly #workflow: WorkflowHandle;

  constructor(calls: TemporalCalls, rawResultId: string) {
    this.rawResultId = canonicalId(rawResultId);
    this.#calls = calls;
    this.#workflow = calls.client.workflow.getHandle(matchReviewId(rawResultId));
  }

  /**
   * Gives the result to an order: `resolvedOrderId` of the answer, which may be a new one. Without `orderId` the service takes the
   * only candidate that fits, and refuses if there is a choice.
   *
   * @throws MatchReviewInvalid also if an id is given as `undefined`, before anything is sent
   */
  async accept(acceptance: Acceptance = {}, options: CallOptions = {}): Promise<MatchReviewState> {
    checkIds(acceptance);
    const given = ofCanonicalIds(acceptance);
    return this.decide(acceptUpdate, { ...given, action: 'accept' }, given, options);
  }

  /** Rejects the result: it belongs to none of the team's orders. */
  async reject(rejection: Rejection = {}, options: CallOptions = {}): Promise<MatchReviewState> {
    return this.decide(rejectUpdate, { action: 'reject' }, rejection, options);
  }

  /** Leaves the decision to the service's staff; the review goes on until they have decided. */
  async markUnsure(rejection: Rejection = {}, options: CallOptions = {}): Promise<MatchReviewState> {
    return this.decide(markUnsureUpdate, { action: 'unsure' }, rejection, options);
  }

  /** The review's current state, without patient and candidates: see `read`. Wakes the workflow and is billed as an action. */
  async state(options: CallOptions = {}): Promise<MatchReviewState> {
    return this.#calls.call(matchReviewCalls.reading, options, (call) => call.state(this.#workflow, stateQuery));
  }

  /** Every state that differs from the one before, the present one first, until the review is over. */
  watch(options: WatchOptions = {}): AsyncGenerator<MatchReviewState, void, undefined> {
    return watchState(this, options, () => this.#workflow.workflowId);
  }

  /**
   * Waits for the end, which may be weeks away: 30 seconds, or the `deadline`, which may be `'none'`.
   * @throws MatchReviewNotFound, MatchReviewInterrupted
   */
  async result(options: CallOptions = {}): Promise<MatchReviewResult> {
    return this.#calls.call(matchReviewCalls.waiting, options, (call) =>
      call.result(this.#workflow, matchReviewCalls.waiting.underWay),
    );
  }

  private async decide<T>(
    update: UpdateDefinition<MatchReviewState, [T]>,
    requested: MatchReviewDecision,
    argument: T,
    options: CallOptions,
  ): Promise<MatchReviewState> {
    return this.#calls.call(matchReviewCalls.command, options, (call) =>
      call.update(this.#workflow, update, argument, () => this.decided(call, requested)),
    );
  }

  /** The answer to a decision on an ended review. */
  private async decided(call: OneCall, { action, orderId, userId }: MatchReviewDecision): Promise<MatchReviewState> {
    const state = stateIn<MatchReviewState>(await call.result<MatchReviewResult>(this.#workflow, underWay.command));
    const { decision } = state;
    if (decision?.action === action && decision.orderId === orderId && decision.userId === userId) return state;
    throw new MatchReviewEnded(`The review needs no decision any more: ${state.outcome}`);
  }
}

/** JavaScript lets a variable that was never set through. It must not leave the choice of the order to the service. */
function checkIds(acceptance: Acceptance): void {
  const ids = ['orderId', 'userId'] as const;
  const unset = ids.filter((field) => Object.hasOwn(acceptance, field) && acceptance[field] === undefined);
  const fields = unset.map((field) => ({
    field,
    message: 'is undefined: leave it out, or give an id of the service',
  }));
  refuseFaulty('The decision', fields, MatchReviewInvalid);
}
