import { allowedActions, type MatchReview } from './match-reviews.js';
import { presentLow, type Json } from './order-body.js';
import { inventedPatient } from './invented-user.js';
import { inventedLab } from './seed.js';
import type { Order } from './state.js';
import { timestamp } from './time.js';

/** Unmatched results as the service writes them. */
export function matchReviewBody(review: MatchReview): Json {
  const { first_name, last_name, dob, gender } = inventedPatient;
  return {
    ...matchReviewEvent(review),
    reason: 'Invented: no order fits without doubt.',
    patient: { first_name, last_name, dob: `${dob}T00:00:00`, gender },
    lab: inventedLab,
    markers: review.labTest.markers.map(({ id, name }) => ({ provider_id: String(id), name })),
    interpretation: review.interpretation,
    result_status: review.resultStatus,
    note: review.note,
    allowed_actions: allowedActions(review),
    candidate_groups: groups(review),
    created_at: timestamp(review.createdAt),
    updated_at: timestamp(review.updatedAt),
    reviewed_at: review.reviewedAt === null ? null : timestamp(review.reviewedAt),
  };
}

/** What a webhook has of it. */
export function matchReviewEvent(review: MatchReview) {
  return {
    id: review.id,
    status: review.status,
    decision_code: review.decisionCode,
    sub_reason_codes: review.reasons.includes('lab_account_mismatch') ? ['lab_account_mismatch'] : [],
    resolution_action: review.resolutionAction,
    resolved_user_id: review.resolvedUserId,
    resolved_order_id: review.resolvedOrderId,
  };
}

function groups({ candidates, reasons }: MatchReview): Json[] {
  const users = [...new Set(candidates.map(({ userId }) => userId))];
  return users.map((user_id) => ({
    user_id,
    candidates: candidates.filter(({ userId }) => userId === user_id).map((order) => candidate(order, reasons)),
  }));
}

function candidate(order: Order, reasons: readonly string[]): Json {
  return {
    candidate_type: reasons.includes('sample_id_match') ? 'provenance_order' : 'order_option',
    order_id: order.id,
    order_transaction_id: order.transactionId,
    last_status: presentLow(order),
    confidence_level: reasons.includes('sample_id_match') ? 'high' : 'medium',
    confidence_score: null,
    reasons,
    marker_overlap: null,
    status_context: null,
  };
}
