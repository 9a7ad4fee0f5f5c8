import type { MatchReviewReport } from '../../service/match-review/snapshot.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { canonicalId } from '../../service/canonical-id.js';
import type { MatchReviewAction, MatchReviewDecision, MatchReviewOutcome, MatchReviewPhase } from './messages.js';

/** The meaning of a review's status (docs/internals/lab-service.md, "Unmatched results"). The list is not closed. */

/** A phase in which something is waited for. */
export type OpenPhase = Exclude<MatchReviewPhase, MatchReviewOutcome>;

/**
 * The phase of a review that is not over. A status that is absent or not known yet is shown; a person decides if the service
 * allows anything.
 */
export function openPhaseOf(status: string | undefined, allowedActions: readonly string[] = []): OpenPhase {
  if (status === 'pending_customer_review') return 'awaiting_decision';
  if (status === 'pending_ops_review') return 'with_service';
  return allowedActions.length > 0 ? 'awaiting_decision' : 'unknown';
}

/** The end of a review; undefined while it is open. */
export function outcomeOf(report: MatchReviewReport): MatchReviewOutcome | undefined {
  const { status, resolutionAction, resolvedOrderId } = report;
  if (status !== 'resolved' && status !== 'matched') return undefined;
  if (isBy('accept', resolutionAction)) return 'accepted';
  if (isBy('reject', resolutionAction)) return 'rejected';
  return status === 'matched' || resolvedOrderId !== undefined ? 'matched' : 'resolved';
}

/** The documents do not list the values of `resolution_action`: `accept` and `accepted` mean the same. */
function isBy(action: MatchReviewAction, resolutionAction = ''): boolean {
  return resolutionAction.toLowerCase().startsWith(action);
}

/**
 * True if the review stands where this decision brings it. Somebody else may have given the result to another order or user; an id that
 * the decision or the report leaves out says nothing.
 * @param given the order that the result was given to, if that is not the decision's: it may have been made again for it
 */
export function isCarriedOut(
  decision: MatchReviewDecision,
  report: MatchReviewReport,
  given?: Pick<OrderSnapshot, 'parentId' | 'recreates'> | null,
): boolean {
  const parentId = given?.parentId ?? given?.recreates;
  const outcome = outcomeOf(report);
  const { action, orderId, userId } = decision;
  switch (action) {
    case 'accept': {
      const isGiven = outcome === 'accepted' || outcome === 'matched';
      const isToOrder = fits(orderId, report.resolvedOrderId) || (parentId !== undefined && fits(orderId, parentId));
      return isGiven && isToOrder && fits(userId, report.resolvedUserId);
    }
    case 'reject':
      return outcome === 'rejected' || (outcome === 'resolved' && report.resolutionAction === undefined);
    case 'unsure':
      return report.status === 'pending_ops_review';
    default:
      return action satisfies never;
  }
}

function fits(named: string | undefined, shown: string | undefined): boolean {
  return named === undefined || shown === undefined || canonicalId(named) === canonicalId(shown);
}

/** The order whose parent says if the decision is carried out; undefined if that is clear without it. */
export function orderInQuestion(
  { action, orderId }: MatchReviewDecision,
  report: MatchReviewReport,
): string | undefined {
  const { resolvedOrderId } = report;
  return action === 'accept' && !fits(orderId, resolvedOrderId) ? resolvedOrderId : undefined;
}

/** Webhooks carry no time, so the further one on the way counts as the later. */
export function rankOf(status: string | undefined): number {
  const ranks = [undefined, 'pending_customer_review', 'pending_ops_review'];
  const rank = ranks.indexOf(status);
  if (rank !== -1) return rank;
  return status === 'resolved' || status === 'matched' ? ranks.length + 1 : ranks.length;
}
