import { z } from 'zod';
import { command, interpretations, orText, required, requiredOrder, webhook } from './control-command.js';
import type { Lab } from './lab.js';
import { matchReviewBody } from './match-review-body.js';
import { decisionCodes, type MatchReview } from './match-reviews.js';

const newReviewSchema = z.strictObject({
  decision_code: z.enum(decisionCodes).default('match_sample_id'),
  /** The orders that the result may belong to. Default: those that the simulator makes for the case. */
  order_ids: z.array(z.string()).optional(),
  result_status: z.enum(['final', 'partial']).default('final'),
  interpretation: interpretations.default('normal'),
  webhook,
});

const moveSchema = z.strictObject({
  /** `pending_ops_review`, `resolved`, `matched`, …; unknown ones too. */
  status: z.string().min(1).optional(),
  allowed_actions: z.array(z.string()).optional(),
  resolved_order_id: z.string().optional(),
  webhook,
});

/** Commands about results that match no order. */
export function matchReviewCommands(lab: Lab) {
  const shown = (review: MatchReview) => matchReviewBody(review);
  const requireReview = (id: string) => required(lab.matchReviews.reviews.get(id), `match review ${id}`);

  return {
    /** A result arrives that matches no order without doubt. */
    createMatchReview: command(z.tuple([newReviewSchema.prefault({})]), (requested) => {
      const { decision_code: decisionCode, order_ids: ids, result_status: resultStatus, ...rest } = requested;
      const orders = ids?.map((id) => requiredOrder(lab, id));
      const candidates = orders ?? lab.matchReviews.candidatesFor(decisionCode);
      const review = lab.matchReviews.create({ decisionCode, candidates, resultStatus, ...rest });
      return { id: review.id, order_ids: candidates.map(({ id }) => id) };
    }),

    /** Every review, also those that are over, in order of creation. */
    matchReviews: command(z.tuple([]), () => [...lab.matchReviews.reviews.values()].map(shown)),

    /** What the service's staff do, or a status of theirs that is unknown. */
    moveMatchReview: command(z.tuple([z.string(), orText(moveSchema, 'status')]), (id, move) => {
      const { allowed_actions: allowedActions, resolved_order_id: resolvedOrderId, ...rest } = move;
      const review = requireReview(id);
      lab.matchReviews.move(review, { ...rest, allowedActions, resolvedOrderId });
      return shown(review);
    }),
  };
}
