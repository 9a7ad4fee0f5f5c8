import type { Attention } from '../attention.js';
import type { MatchReviewAttentionReason, MatchReviewOutcome, MatchReviewPhase } from './messages.js';

/**
 * Notifications about a match review, CloudEvents of type `labops.match_review.<type>`. An id is never derived from a run, so
 * a receiver can drop repeats: `<raw result id>/<what it is about>/<type>`.
 */
export type MatchReviewNotification = MatchReviewNotificationHead &
  /** A person has to decide. `critical` in `interpretation` is urgent. */
  (
    | {
        type: 'review_needed';
        data: { decisionCode?: string; allowedActions: string[]; interpretation?: string; resultStatus?: string };
      }
    | { type: 'review_reminder'; data: { reminder: number; allowedActions: string[] } }
    /** It waits for others: `with_service` or `unknown`. */
    | { type: 'phase_changed'; data: { phase: MatchReviewPhase; status: string } }
    | { type: 'attention_raised'; data: Attention<MatchReviewAttentionReason> }
    | { type: 'attention_cleared'; data: Attention<MatchReviewAttentionReason> }
    | {
        type: 'ended';
        data: { outcome: MatchReviewOutcome; resolvedOrderId?: string; resolvedUserId?: string };
      }
  );

export interface MatchReviewNotificationHead {
  id: string;
  /** When it was learnt, ISO 8601 in UTC. */
  at: string;
  rawResultId: string;
  userId?: string;
}
