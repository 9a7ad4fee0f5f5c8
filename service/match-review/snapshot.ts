import { z } from 'zod';
import { interpretationOf } from '../interpretation.js';
import * as fields from '../fields.js';
import type { MatchReview } from './match-reviews.js';
import { lowerWordOf, wordOf } from '../word.js';
import { omitNullish } from '../json-object.js';

/**
 * A webhook's report of a match review. It shows only that there is news: the result is read before anything is shown
 * or decided.
 */
export interface MatchReviewReport {
  rawResultId: string;
  status?: string;
  decisionCode?: string;
  resolutionAction?: string;
  resolvedUserId?: string;
  resolvedOrderId?: string;
}

/**
 * A result that waits for a review, as far as the workflow needs it. The patient, the candidates, the reason and the note are
 * left out, so it may enter a workflow's history.
 */
export interface MatchReviewSnapshot extends MatchReviewReport {
  subReasonCodes: string[];
  allowedActions: string[];
  /** The lab's slug. */
  labSlug?: string;
  /** `normal`, `abnormal`, `critical`, `unknown`, or another word as the service wrote it. */
  interpretation?: string;
  /** `final`, `partial`, or one not known yet. */
  resultStatus?: string;
}

/** The webhook's data: a field of the wrong type counts as absent. */
export const matchReviewEventSchema = z.looseObject({
  id: fields.id,
  status: fields.text,
  decision_code: fields.text,
  sub_reason_codes: fields.list(z.string()),
  resolution_action: fields.text,
  resolved_user_id: fields.referredId,
  resolved_order_id: fields.referredId,
});

type MatchReviewEvent = z.output<typeof matchReviewEventSchema>;

export function matchReviewReportOf(event: MatchReviewEvent): MatchReviewReport {
  return omitNullish({
    rawResultId: event.id,
    status: wordIn(event.status?.toLowerCase()),
    decisionCode: wordIn(event.decision_code),
    resolutionAction: wordIn(event.resolution_action),
    resolvedUserId: wordIn(event.resolved_user_id),
    resolvedOrderId: wordIn(event.resolved_order_id),
  });
}

export function matchReviewSnapshotOf(item: MatchReview): MatchReviewSnapshot {
  return {
    ...matchReviewReportOf(item),
    ...omitNullish({
      subReasonCodes: (item.sub_reason_codes ?? []).map(wordOf),
      allowedActions: (item.allowed_actions ?? []).map(lowerWordOf),
      labSlug: wordIn(item.lab?.slug),
      interpretation: interpretationOf(item.interpretation),
      resultStatus: wordIn(item.result_status),
    }),
  };
}

function wordIn(text: string | null | undefined): string | undefined {
  return text ? wordOf(text) : undefined;
}
