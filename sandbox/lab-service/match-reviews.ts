import { z } from 'zod';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createInventedUser, inventedAddress, inventedPatient } from './users.js';
import { Part } from './part.js';
import { hasResults } from './lifecycle.js';
import { type Json, orderBody, presentLow, presentTop } from './order-body.js';
import {
  cursorPage,
  cursorQuery,
  date,
  optional,
  pathText,
  queryInteger,
  readBody,
  readQuery,
  refusal,
  uuid,
} from './validation.js';
import { requireLabTest } from './order-requests.js';
import { inventedLab, labTestIds } from './seed.js';
import { type Interpretation, interpretations, newId, type Order, webhook } from './state.js';
import { calendarDate, timestamp } from './clock.js';
import type { Lab } from './lab.js';

/** The webhook types of match reviews. */
export type MatchReviewEventType = 'labtest.match_review.created' | 'labtest.match_review.updated';

/** Why a result was not matched: each can be played. */
export const decisionCodes = [
  ...(['match_completed', 'match_cancelled', 'wrong_collection', 'wrong_lab', 'match_sample_id'] as const),
  ...(['multiple_demo_match', 'match_sample_id_mismatch_demo', 'match_demo', 'no_match', 'unexplained'] as const),
] as const;

type DecisionCode = (typeof decisionCodes)[number];
type NewReview = z.output<typeof newReviewSchema>;
type ReviewMove = z.output<typeof reviewMoveSchema>;
export type MatchReviewEvent = MatchReview['event'];

/** An empty accept does for these, if there is one candidate: the sample is known. */
const unambiguousCodes: readonly string[] = [
  ...(['match_completed', 'match_cancelled', 'wrong_collection', 'wrong_lab', 'match_sample_id'] as const),
];

const reasonCodes: Readonly<Record<DecisionCode, readonly string[]>> = {
  match_completed: ['sample_id_match', 'matched_completed_order'],
  match_cancelled: ['sample_id_match', 'matched_cancelled_order'],
  wrong_collection: ['sample_id_match', 'invalid_collection_state'],
  wrong_lab: ['demographic_match', 'possible_wrong_lab', 'lab_account_mismatch'],
  match_sample_id: ['sample_id_match', 'demographic_match'],
  multiple_demo_match: ['demographic_match'],
  match_sample_id_mismatch_demo: ['sample_id_match', 'demographic_mismatch'],
  match_demo: ['demographic_match', 'marker_overlap_partial'],
  no_match: [],
  unexplained: [],
};

/** A result that arrives and matches no order without doubt. */
export const newReviewSchema = z.strictObject({
  decision_code: z.enum(decisionCodes).default('match_sample_id'),
  /** The orders that the result may belong to. Default: those that the simulator makes for the case. */
  order_ids: z.array(z.string()).optional(),
  result_status: z.enum(['final', 'partial']).default('final'),
  interpretation: interpretations.default('normal'),
  webhook,
});

/** What the service's staff make of a review, or a status of theirs that is unknown. */
export const reviewMoveSchema = z.strictObject({
  /** `pending_ops_review`, `resolved`, `matched`, …; unknown ones too. */
  status: z.string().min(1).optional(),
  allowed_actions: z.array(z.string()).optional(),
  resolved_order_id: z.string().optional(),
  webhook,
});

/** What a webhook has of a review, as the service writes it. */
interface ReviewEvent {
  readonly id: string;
  readonly decision_code: DecisionCode;
  readonly sub_reason_codes: readonly string[];
  status: string;
  resolution_action: string | null;
  resolved_user_id: string | null;
  resolved_order_id: string | null;
}

export interface MatchReview {
  readonly event: ReviewEvent;
  readonly createdAt: number;
  readonly candidates: readonly Order[];
  readonly result_status: 'final' | 'partial';
  readonly interpretation: Interpretation;
  /** Overrides what the status allows. */
  allowedActions?: readonly string[] | undefined;
  note: string | null;
  updatedAt: number;
  reviewedAt: number | null;
}

interface Acceptance {
  readonly order_id: string | null;
  readonly user_id: string | null;
  readonly note: string | null;
}

function allowedActions({ event, allowedActions: given }: MatchReview): readonly string[] {
  return given ?? (event.status === 'pending_customer_review' ? ['accept', 'reject', 'unsure'] : []);
}

/** Results that match no order, and what was decided about them. Requests are validated before they come here. */
export class MatchReviews extends Part {
  /** In order of creation. */
  readonly reviews = new Map<string, MatchReview>();

  create(requested: NewReview, candidates: readonly Order[]): MatchReview {
    const { decision_code, result_status, interpretation } = requested;
    const isOfAnotherLab = reasonCodes[decision_code].includes('lab_account_mismatch');
    const event: ReviewEvent = {
      ...{ id: newId(), decision_code, sub_reason_codes: isOfAnotherLab ? ['lab_account_mismatch'] : [] },
      ...{
        status: 'pending_customer_review',
        resolution_action: null,
        resolved_user_id: null,
        resolved_order_id: null,
      },
    };
    const now = this.lab.clock.now();
    const times = { createdAt: now, updatedAt: now, reviewedAt: null };
    const review = { event, result_status, interpretation, candidates, note: null, ...times };
    this.reviews.set(event.id, review);
    if (requested.webhook) this.lab.webhooks.announceMatchReview('labtest.match_review.created', event);
    return review;
  }

  /** Gives the result to an order; one that takes no result any more is made again. */
  accept(review: MatchReview, acceptance: Acceptance): Order {
    this.#requireAllowed(review, 'accept');
    const target = this.#targetOf(review, acceptance);
    const userId = acceptance.user_id ?? target.userId;
    const isStill = isOpen(target) && userId === target.userId;
    const order = isStill ? target : this.lab.orders.follow(target, 'recreation', { userId });
    this.#decided(review, 'accept', acceptance.note, { resolved_order_id: order.id, resolved_user_id: order.userId });
    const { interpretation, result_status: isPartial } = review;
    this.lab.orders.move(order, { status: isPartial === 'partial' ? 'partial_results' : 'completed', interpretation });
    return order;
  }

  decide(review: MatchReview, action: 'reject' | 'unsure', note: string | null): void {
    this.#requireAllowed(review, action);
    this.#decided(review, action, note);
  }

  /** The service's staff, or nobody in particular, give a review any status, even an unknown one. */
  move(review: MatchReview, { status, allowed_actions, resolved_order_id, webhook: isReported }: ReviewMove): void {
    if (status !== undefined) review.event.status = status;
    if (allowed_actions !== undefined) review.allowedActions = allowed_actions;
    if (resolved_order_id !== undefined) {
      const resolved_user_id = this.lab.state.orders.get(resolved_order_id)?.userId ?? null;
      Object.assign(review.event, { resolved_order_id, resolved_user_id });
    }
    this.#changed(review, isReported);
  }

  /** Orders as a case needs them, made by the simulator. */
  candidatesFor(decisionCode: DecisionCode): Order[] {
    if (decisionCode === 'no_match' || decisionCode === 'unexplained') return [];
    const one = this.#newOrder();
    if (decisionCode === 'match_completed') this.lab.orders.move(one, { status: 'completed', webhook: false });
    if (decisionCode === 'match_cancelled') this.lab.orders.move(one, { status: 'cancelled', webhook: false });
    return decisionCode === 'multiple_demo_match' ? [one, this.#newOrder()] : [one];
  }

  #newOrder(): Order {
    const { id: userId } = createInventedUser(this.lab, true);
    const patient = { patient_details: inventedPatient, patient_address: inventedAddress };
    const request = { ...patient, shipping_details: inventedAddress };
    return this.lab.orders.place({ userId, labTest: requireLabTest(labTestIds.kit), request }, { webhook: false });
  }

  #targetOf({ candidates, event }: MatchReview, { order_id: orderId, user_id: userId }: Acceptance): Order {
    if (orderId !== null) {
      const order = this.lab.state.orders.get(orderId);
      if (order === undefined) throw refusal(422, 'The order does not exist.');
      if (userId !== null && order.userId !== userId) throw refusal(422, 'The order belongs to another user.');
      return order;
    }
    const own = userId === null ? candidates : candidates.filter((order) => order.userId === userId);
    const [only] = own;
    const isClear = own.length === 1 && (userId !== null || unambiguousCodes.includes(event.decision_code));
    if (only === undefined || !isClear) throw refusal(422, 'This case requires an order to be chosen.');
    return only;
  }

  #requireAllowed(review: MatchReview, action: string): void {
    if (isOver(review)) throw refusal(404, noReview);
    if (!allowedActions(review).includes(action)) throw refusal(422, `The action ${action} is not allowed.`);
  }

  #decided(review: MatchReview, resolution_action: string, note: string | null, resolved = {}): void {
    review.note = note;
    const isOpenStill = resolution_action === 'unsure';
    const status = isOpenStill ? 'pending_ops_review' : 'resolved';
    if (!isOpenStill) review.reviewedAt = this.lab.clock.now();
    Object.assign(review.event, { status, resolution_action, ...resolved });
    this.#changed(review);
  }

  #changed(review: MatchReview, isReported = true): void {
    review.updatedAt = this.lab.clock.now();
    if (isReported) this.lab.webhooks.announceMatchReview('labtest.match_review.updated', review.event);
  }
}

/** The wording is not documented; assumed. */
export const noReview = 'Unmatched result not found or no longer reviewable.';

export function isOver({ event: { status } }: MatchReview): boolean {
  return status === 'resolved' || status === 'matched';
}

/** The order still takes a result. */
function isOpen(order: Order): boolean {
  const top = presentTop(order);
  return top !== 'cancelled' && top !== 'failed' && !hasResults(presentLow(order));
}

/** Unmatched results as the service writes them. */
export function matchReviewBody(review: MatchReview): Json {
  const { event, candidates, interpretation, result_status, note } = review;
  const { first_name, last_name, dob, gender } = inventedPatient;
  const { markers } = candidates[0]?.labTest ?? requireLabTest(labTestIds.kit);
  const users = [...new Set(candidates.map(({ userId }) => userId))];
  return {
    ...event,
    reason: 'Invented: no order fits without doubt.',
    patient: { first_name, last_name, dob: `${dob}T00:00:00`, gender },
    lab: inventedLab,
    markers: markers.map(({ id, name }) => ({ provider_id: String(id), name })),
    ...{ interpretation, result_status, note, allowed_actions: allowedActions(review) },
    candidate_groups: users.map((user_id) => ({
      user_id,
      candidates: candidates.filter(({ userId }) => userId === user_id).map((order) => candidate(order, event)),
    })),
    created_at: timestamp(review.createdAt),
    updated_at: timestamp(review.updatedAt),
    reviewed_at: review.reviewedAt === null ? null : timestamp(review.reviewedAt),
  };
}

function candidate(order: Order, { decision_code }: ReviewEvent): Json {
  const reasons = reasonCodes[decision_code];
  const isOfSample = reasons.includes('sample_id_match');
  return {
    candidate_type: isOfSample ? 'provenance_order' : 'order_option',
    order_id: order.id,
    order_transaction_id: order.transactionId,
    last_status: presentLow(order),
    confidence_level: isOfSample ? 'high' : 'medium',
    ...{ confidence_score: null, reasons, marker_overlap: null, status_context: null },
  };
}

const listQuery = z.object({
  limit: queryInteger(1, 100).default(50),
  status: optional(z.string()),
  decision_code: optional(z.string()),
  lab_slug: optional(z.string()),
  created_at_start: optional(date),
  created_at_end: optional(date),
  search_input: optional(z.string()),
  ...cursorQuery,
});

const acceptBody = z.object({ order_id: optional(uuid), user_id: optional(uuid), note: optional(z.string()) });

const resolveBody = z.object({ action: z.enum(['reject', 'unsure']), note: optional(z.string()) });

/** Results that match no order. */
export function matchReviewRoutes(app: FastifyInstance, lab: Lab): void {
  app.addHook('preHandler', async ({ url }) => {
    if (lab.settings.matchReviews || !url.startsWith('/v3/unmatched_result')) return;
    // The wording is not documented; assumed.
    throw refusal(400, 'The unmatched result queue is not enabled for this team.');
  });
  const path = '/v3/unmatched_result/:raw_result_id';

  app.get('/v3/unmatched_result', (request) => {
    const query = readQuery(listQuery, request.query);
    const found = [...lab.matchReviews.reviews.values()].filter((review) => isMeant(review, query)).toReversed();
    const { items, next } = cursorPage(found, query, query.limit);
    return { data: items.map(matchReviewBody), next_cursor: next, total: found.length };
  });

  app.get(path, (request) => matchReviewBody(requireReview(lab, request)));

  app.post(`${path}/accept`, (request) => {
    const order = lab.matchReviews.accept(requireReview(lab, request), readBody(acceptBody, request.body));
    return orderBody(order, lab.state, lab.settings, 'answer');
  });

  app.post(`${path}/resolve`, (request) => {
    const review = requireReview(lab, request);
    const { action, note } = readBody(resolveBody, request.body);
    lab.matchReviews.decide(review, action, note);
    return matchReviewBody(review);
  });
}

function isMeant(review: MatchReview, query: z.output<typeof listQuery>): boolean {
  const { status, decision_code } = review.event;
  const day = calendarDate(review.createdAt);
  return (
    (query.status === null ? !isOver(review) : status === query.status) &&
    (query.decision_code ?? decision_code) === decision_code &&
    (query.lab_slug ?? inventedLab.slug) === inventedLab.slug &&
    day >= (query.created_at_start ?? day) &&
    day <= (query.created_at_end ?? day)
  );
}

function requireReview(lab: Lab, request: FastifyRequest): MatchReview {
  const review = lab.matchReviews.reviews.get(pathText(request, 'raw_result_id').toLowerCase());
  if (review === undefined) throw refusal(404, noReview);
  return review;
}
