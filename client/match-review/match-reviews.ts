import type { WorkflowExecutionInfo } from '@temporalio/client';
import {
  type MatchReview,
  type MatchReviewSearch,
  matchReviewSearchSchema,
} from '../../service/match-review/match-reviews.js';
import { signalOrStart } from '../../protocol/signal-or-start.js';
import { isAddressable, matchReviewId, idIn } from '../../protocol/ids.js';
import {
  type MatchReviewAttentionReason,
  matchReviewName,
  type MatchReviewPhase,
  reviewRequestedSignal,
} from '../../protocol/match-review/messages.js';
import type { MatchReviewPolicy } from '../../protocol/match-review/policy.js';
import { matchReviewStart } from '../../protocol/starts.js';
import type { CallOptions } from '../call-options.js';
import { checkRead, policyFaults, refuseFaulty, serviceIdFaults, unknownFaults } from '../input-faults.js';
import { askService, listFromService, type ServiceAccess } from '../service-calls.js';
import type { TemporalCalls } from '../workflow-calls.js';
import { MatchReviewInvalid, MatchReviewNotFound } from './errors.js';
import { MatchReviewHandle, matchReviewCalls } from './match-review-handle.js';
import { listWorkflows, type ListOptions, type WorkflowFilter, type WorkflowSummary } from '../workflow-list.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';

export interface WhichMatchReview {
  /** The service's id of the result. */
  rawResultId: string;
}

export interface MatchReviewFollowed extends WhichMatchReview {
  /** Replaces the policy of a review that is followed already. */
  policy?: MatchReviewPolicy;
}

/**
 * Results that the service could not match with an order. Webhooks and the reconciliation start a workflow for each; the candidates
 * and the patient are read from the service. Every method also rejects with the errors of {@link CallOptions}. Deadline: 30
 * seconds, for a list 30 seconds a page.
 */
export class MatchReviewOperations {
  readonly #calls: TemporalCalls;
  readonly #access: ServiceAccess;

  constructor(access: ServiceAccess) {
    this.#calls = access.calls;
    this.#access = access;
  }

  /**
   * Follows a review that no webhook has reported, or gives the one that is followed another policy. Returns as soon as that is
   * durable.
   *
   * @throws MatchReviewInvalid naming each field and its rule, before anything is started
   */
  async start(start: MatchReviewFollowed, options: CallOptions = {}): Promise<MatchReviewHandle> {
    check(start);
    const { rawResultId, policy } = start;
    const resolved = resolvePolicy('match review', policy);
    const workflow = matchReviewStart({ rawResultId }, resolved);
    const { client, taskQueue, actor } = this.#calls;
    const request = { ...actor, ...(policy && { policy: resolved }) };
    await this.#calls.call(matchReviewCalls.starting, options, () =>
      signalOrStart(client.workflow, taskQueue, workflow, reviewRequestedSignal, request),
    );
    return new MatchReviewHandle(this.#calls, rawResultId);
  }

  /** The review that is followed, or was last. @throws MatchReviewNotFound */
  async getHandle({ rawResultId }: WhichMatchReview, options: CallOptions = {}): Promise<MatchReviewHandle> {
    if (!isAddressable(rawResultId)) throw new MatchReviewNotFound('This is not a valid id of a result');
    const workflow = this.#calls.client.workflow.getHandle(matchReviewId(rawResultId));
    await this.#calls.call(matchReviewCalls.reading, options, () => workflow.describe());
    return new MatchReviewHandle(this.#calls, rawResultId);
  }

  /** Reviews by their search attributes, a page per call to Temporal; no workflow is woken. Lags by moments. @throws MatchReviewInvalid */
  list(filter: MatchReviewFilter, options: ListOptions = {}): AsyncGenerator<MatchReviewSummary, void, undefined> {
    return this.#calls.iterate(matchReviewCalls.reading, options, () =>
      listWorkflows(this.#calls.client, reviews, filter, options),
    );
  }

  /**
   * The whole result as the service has it: patient, reason, markers, and the candidates with their confidence. Needs neither
   * a worker nor a history. Whether a result that is decided can still be read differs between deployments: `NotFound`.
   *
   * @throws ServiceNotConfigured, and the service's own errors
   */
  async read(rawResultId: string, options: CallOptions = {}): Promise<MatchReview> {
    return askService(this.#access, matchReviewCalls.reading, options, ({ matchReviews }, abort) =>
      matchReviews.get(rawResultId, abort),
    );
  }

  /**
   * Results as the service has them; without `status` those that wait for a decision.
   *
   * @throws ReadInvalid and ServiceNotConfigured at once; later the service's own errors
   */
  search(filter: MatchReviewSearch = {}, options: CallOptions = {}): AsyncGenerator<MatchReview, void, undefined> {
    checkRead('The filter', filter, matchReviewSearchSchema);
    return listFromService(this.#access, matchReviewCalls.reading, options, ({ matchReviews }, abort) =>
      matchReviews.list(filter, abort),
    );
  }
}

function check({ rawResultId, policy, ...unknown }: MatchReviewFollowed): void {
  const faults = [...unknownFaults(unknown), ...policyFaults(() => resolvePolicy('match review', policy))];
  refuseFaulty(
    'The review',
    [...serviceIdFaults('rawResultId', rawResultId, 'a result'), ...faults],
    MatchReviewInvalid,
  );
}

export type MatchReviewFilter = WorkflowFilter<MatchReviewPhase, MatchReviewAttentionReason>;

/** One line of a list, read from search attributes. */
export interface MatchReviewSummary extends WorkflowSummary<MatchReviewPhase, MatchReviewAttentionReason> {
  rawResultId: string;
}

const reviews = {
  workflows: `WorkflowType = '${matchReviewName}'`,
  invalid: MatchReviewInvalid,
  own: ({ workflowId }: WorkflowExecutionInfo) => ({ rawResultId: idIn(workflowId, matchReviewId) }),
};
