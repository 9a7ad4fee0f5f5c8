import type { MatchReviewReport } from '../../service/match-review-snapshot.js';
import type { MatchReviewAction, MatchReviewOutcome, MatchReviewPhase } from './messages.js';

/** The meaning of a review's status (docs/lab-service.md, "Unmatched results"). The list is not closed. */

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

/** True if the review stands where this decision brings it. */
export function isCarriedOut(action: MatchReviewAction, report: MatchReviewReport): boolean {
  const outcome = outcomeOf(report);
  switch (action) {
    case 'accept':
      return outcome === 'accepted' || outcome === 'matched';
    case 'reject':
      return outcome === 'rejected' || (outcome === 'resolved' && report.resolutionAction === undefined);
    case 'unsure':
      return report.status === 'pending_ops_review';
    default:
      return action satisfies never;
  }
}

/** Webhooks carry no time, so the further one on the way counts as the later. */
export function rankOf(status: string | undefined): number {
  const ranks = [undefined, 'pending_customer_review', 'pending_ops_review'];
  const rank = ranks.indexOf(status);
  if (rank !== -1) return rank;
  return status === 'resolved' || status === 'matched' ? ranks.length + 1 : ranks.length;
}
