import type { ReportCounts } from '../../service/report/snapshot.js';
import type { Attention } from '../attention.js';
import type { ReportAttentionReason, ReportOutcome, ReportPhase } from './messages.js';

/**
 * Notifications about a lab report, CloudEvents of type `labops.report.<type>`. An id is never derived from a run, so a
 * receiver can drop repeats: `<job id>/<status or deadline>/<type>`.
 */
export type ReportNotification = ReportNotificationHead &
  (
    | { type: 'phase_changed'; data: { phase: ReportPhase; status: string } }
    | { type: 'review_needed'; data: { status: string } }
    | { type: 'completed'; data: { isReviewed: boolean; supersededBy?: string } & Partial<ReportCounts> }
    | { type: 'failed'; data: { failureReason: string; failureSentence: string; supersededBy?: string } }
    /** A job that was announced before belongs to this reference. */
    | { type: 'claimed'; data: { status: string } }
    | { type: 'attention_raised'; data: Attention<ReportAttentionReason> }
    | { type: 'attention_cleared'; data: Attention<ReportAttentionReason> }
    | { type: 'ended'; data: { outcome: ReportOutcome; supersededBy?: string } }
  );

export interface ReportNotificationHead {
  id: string;
  /** When it was learnt, ISO 8601 in UTC. */
  at: string;
  jobId: string;
  reference?: string;
  userId?: string;
}
