import { defineQuery, defineSignal, defineUpdate } from '../definitions.js';
import type { MatchReviewReport } from '../../service/match-review/snapshot.js';
import type { OfActor } from '../ids.js';
import type { Attention, HistoryEntry } from '../attention.js';
import type { EarlierRun } from '../signal-or-start.js';
import type { MatchReviewPolicy, ResolvedMatchReviewPolicy } from './policy.js';

/**
 * Who the workflow of a match review is: its name, input, result, signals, query and updates. The wire name of a message is
 * its export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const matchReviewName = 'matchReview';

export interface MatchReviewInput {
  /** The service's id of the result that it could not match with an order. */
  rawResultId: string;
  /** Followed unless `reviewRequested` brings another: the defaults when the run was started. */
  policy?: MatchReviewPolicy | ResolvedMatchReviewPolicy;
  /** The run of the same workflow ID before this one, if the sender that started it looked. */
  earlierRun?: EarlierRun;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** A webhook, or the reconciliation, with the envelope's user if it has one. */
export interface MatchReviewReported extends MatchReviewReport {
  userId?: string;
}

/** A product that follows a review by itself, with a policy of its own. */
export interface ReviewRequested extends OfActor {
  /** A part of the settings, or a resolved policy, which the client sends. The last one counts. */
  policy?: MatchReviewPolicy | ResolvedMatchReviewPolicy;
}

export const matchReviewReportedSignal = defineSignal<[MatchReviewReported]>('matchReviewReported');
export const reviewRequestedSignal = defineSignal<[ReviewRequested]>('reviewRequested');

/** A decision that a person can make. */
export type MatchReviewAction = 'accept' | 'reject' | 'unsure';

interface Noted extends OfActor {
  /** For the service, at most 5,000 characters. It may quote a person: it stays in the history, encrypted like all input. */
  note?: string;
}

export interface Acceptance extends Noted {
  /** The order that the result belongs to. Without it the service takes the only one that fits, or refuses. */
  orderId?: string;
  /** The user that it belongs to; with both, the order must be that user's. */
  userId?: string;
}

export type Rejection = Noted;

/** The result is given to an order. */
export const acceptUpdate = defineUpdate<MatchReviewState, [Acceptance]>('accept');
/** The result belongs to none of the team's orders. */
export const rejectUpdate = defineUpdate<MatchReviewState, [Rejection]>('reject');
/** The service's staff decide. */
export const markUnsureUpdate = defineUpdate<MatchReviewState, [Rejection]>('markUnsure');
export const stateQuery = defineQuery<MatchReviewState>('state');

/** The review's progress, also in LabPhase. */
export type MatchReviewPhase =
  /** A person has to decide, with one of `allowedActions`. */
  | 'awaiting_decision'
  /** The service's staff decide; nobody else can. */
  | 'with_service'
  /** It was not read yet, or its status is not known here (`status` shows it) and nothing may be decided. */
  | 'unknown'
  | MatchReviewOutcome;

export type MatchReviewOutcome =
  /** The result belongs to `resolvedOrderId`, as a person decided here or at the service. */
  | 'accepted'
  | 'rejected'
  /** The service's staff found the order. */
  | 'matched'
  /** The review is over, and the service does not say how. */
  | 'resolved'
  /** The service no longer shows it, and no webhook said how it ended. */
  | 'gone'
  /** An operator ended the workflow; at the service everything is as it was. */
  | 'abandoned';

/** The reason why a person should look: docs/attention.md. */
export type MatchReviewAttentionReason =
  | 'decision_needed'
  | 'service_review_overdue'
  | 'review_unreadable'
  | 'notifications_undelivered'
  | 'unreadable_signal';

/** The answer of `state` and the updates. Nothing personal: patient, candidates and notes stay in the service. */
export interface MatchReviewState {
  rawResultId: string;
  userId?: string;
  phase: MatchReviewPhase;
  /** The service's own, possibly an unknown one. Absent until the review was read or reported. */
  status?: string;
  /** Why the service could not match the result: `match_cancelled`, `no_match` and others. */
  decisionCode?: string;
  subReasonCodes: string[];
  /** When the review was last read. A command reads again before it decides. */
  allowedActions: string[];
  interpretation?: string;
  resultStatus?: string;
  labSlug?: string;
  /** The decision made here. */
  decision?: MatchReviewDecision;
  /** The order that the result was given to; it may be a new one. */
  resolvedOrderId?: string;
  resolvedUserId?: string;
  waiting: { for: string; until?: string };
  attention: Attention<MatchReviewAttentionReason>[];
  timeline: HistoryEntry[];
  /** Set once nothing is waited for any more. */
  outcome?: MatchReviewOutcome;
}

/** A decision without its note. */
export interface MatchReviewDecision {
  action: MatchReviewAction;
  /** As they were given. */
  orderId?: string;
  userId?: string;
  /** Who made it. */
  by?: string;
}

export interface MatchReviewResult extends MatchReviewState {
  /** The version of this result's format; later runs read it. */
  version: number;
  policy: ResolvedMatchReviewPolicy;
  /** The ids of notifications that the product got. A later run does not repeat them. */
  announced: string[];
  /** How often each question was raised: one that is raised again is another notification. */
  raised: Record<string, number>;
}

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
    | { type: 'review_reminder'; data: { reminder: number; allowedActions: string[]; interpretation?: string } }
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
