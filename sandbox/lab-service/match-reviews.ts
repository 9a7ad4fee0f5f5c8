import { createInventedUser, inventedAddress, inventedPatient } from './invented-user.js';
import type { Lab } from './lab.js';
import { hasResults } from './lifecycle.js';
import { presentLow, presentTop } from './order-body.js';
import { refusal } from './problems.js';
import { labTestIds, labTests, type LabTest } from './seed.js';
import { newId, type Interpretation, type Order } from './state.js';

/** The webhook types of match reviews. */
export type MatchReviewEventType = 'labtest.match_review.created' | 'labtest.match_review.updated';

/** Why a result was not matched: each can be played. */
export const decisionCodes = [
  ...(['match_completed', 'match_cancelled', 'wrong_collection', 'wrong_lab', 'match_sample_id'] as const),
  ...(['multiple_demo_match', 'match_sample_id_mismatch_demo', 'match_demo', 'no_match', 'unexplained'] as const),
] as const;

export type DecisionCode = (typeof decisionCodes)[number];

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

export interface NewReview {
  readonly decisionCode: DecisionCode;
  /** Orders that the result may belong to. */
  readonly candidates: readonly Order[];
  readonly resultStatus?: 'final' | 'partial';
  readonly interpretation?: Interpretation;
  /** false: no webhook reports it. Default true. */
  readonly webhook?: boolean;
}

export interface MatchReview extends Required<Omit<NewReview, 'webhook'>> {
  readonly id: string;
  readonly createdAt: number;
  readonly labTest: LabTest;
  /** Why an order is a candidate. */
  readonly reasons: readonly string[];
  status: string;
  /** Overrides what the status allows. */
  allowedActions: readonly string[] | null;
  note: string | null;
  resolutionAction: string | null;
  resolvedUserId: string | null;
  resolvedOrderId: string | null;
  updatedAt: number;
  reviewedAt: number | null;
}

export interface Acceptance {
  readonly order_id: string | null;
  readonly user_id: string | null;
  readonly note: string | null;
}

export interface ReviewMove {
  readonly status?: string | undefined;
  readonly allowedActions?: readonly string[] | undefined;
  readonly resolvedOrderId?: string | undefined;
  readonly webhook?: boolean;
}

export function allowedActions({ status, allowedActions: given }: MatchReview): readonly string[] {
  return given ?? (status === 'pending_customer_review' ? ['accept', 'reject', 'unsure'] : []);
}

/** Results that match no order, and what was decided about them. Requests are validated before they come here. */
export class MatchReviews {
  /** In order of creation. */
  readonly reviews = new Map<string, MatchReview>();
  readonly #lab: Lab;

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  create({ webhook = true, ...review }: NewReview): MatchReview {
    const now = this.#lab.clock.now();
    const created: MatchReview = {
      resultStatus: 'final',
      interpretation: 'normal',
      ...review,
      id: newId(),
      createdAt: now,
      updatedAt: now,
      labTest: review.candidates[0]?.labTest ?? requireLabTest(labTestIds.kit),
      reasons: reasonCodes[review.decisionCode],
      status: 'pending_customer_review',
      ...{ allowedActions: null, note: null, reviewedAt: null },
      ...{ resolutionAction: null, resolvedUserId: null, resolvedOrderId: null },
    };
    this.reviews.set(created.id, created);
    if (webhook) this.#lab.webhooks.announceMatchReview('labtest.match_review.created', created);
    return created;
  }

  /** Gives the result to an order; one that takes no result any more is made again. */
  accept(review: MatchReview, acceptance: Acceptance): Order {
    this.#requireAllowed(review, 'accept');
    const target = this.#targetOf(review, acceptance);
    const userId = acceptance.user_id ?? target.userId;
    const order = isOpen(target) && userId === target.userId ? target : this.#recreate(target, userId);
    review.note = acceptance.note;
    this.#resolve(review, 'accept', order);
    const { interpretation, resultStatus } = review;
    const status = resultStatus === 'partial' ? 'partial_results' : 'completed';
    this.#lab.orders.move(order, { status, interpretation });
    return order;
  }

  reject(review: MatchReview, note: string | null): void {
    this.#requireAllowed(review, 'reject');
    review.note = note;
    this.#resolve(review, 'reject');
  }

  markUnsure(review: MatchReview, note: string | null): void {
    this.#requireAllowed(review, 'unsure');
    Object.assign(review, { note, status: 'pending_ops_review', resolutionAction: 'unsure' });
    this.#changed(review);
  }

  /** The service's staff, or nobody in particular, give a review any status, even an unknown one. */
  move(review: MatchReview, { status, allowedActions: allowed, resolvedOrderId, webhook = true }: ReviewMove): void {
    if (status !== undefined) review.status = status;
    if (allowed !== undefined) review.allowedActions = allowed;
    if (resolvedOrderId !== undefined) {
      review.resolvedOrderId = resolvedOrderId;
      review.resolvedUserId = this.#lab.state.orders.get(resolvedOrderId)?.userId ?? null;
    }
    this.#changed(review, webhook);
  }

  /** Orders as a case needs them, made by the simulator. */
  candidatesFor(decisionCode: DecisionCode): Order[] {
    if (decisionCode === 'no_match' || decisionCode === 'unexplained') return [];
    const one = this.#newOrder();
    if (decisionCode === 'match_completed') this.#lab.orders.move(one, { status: 'completed', webhook: false });
    if (decisionCode === 'match_cancelled') this.#lab.orders.move(one, { status: 'cancelled', webhook: false });
    return decisionCode === 'multiple_demo_match' ? [one, this.#newOrder()] : [one];
  }

  #newOrder(): Order {
    const { id: userId } = createInventedUser(this.#lab, true);
    const patient = { patient_details: inventedPatient, patient_address: inventedAddress };
    const request = { ...patient, shipping_details: inventedAddress };
    return this.#lab.orders.place({ userId, labTest: requireLabTest(labTestIds.kit), request }, { webhook: false });
  }

  #targetOf({ candidates, decisionCode }: MatchReview, { order_id: orderId, user_id: userId }: Acceptance): Order {
    if (orderId !== null) {
      const order = this.#lab.state.orders.get(orderId);
      if (order === undefined) throw refusal(422, 'The order does not exist.');
      if (userId !== null && order.userId !== userId) throw refusal(422, 'The order belongs to another user.');
      return order;
    }
    const own = userId === null ? candidates : candidates.filter((order) => order.userId === userId);
    const [only] = own;
    const isClear = own.length === 1 && (userId !== null || unambiguousCodes.includes(decisionCode));
    if (only === undefined || !isClear) throw refusal(422, 'This case requires an order to be chosen.');
    return only;
  }

  /** In the same transaction, unless the result is of another patient. */
  #recreate(parent: Order, userId: string): Order {
    const { labTest, lab_account_id, patient_details, patient_address, shipping_details, physician } = parent;
    const request = { lab_account_id, patient_details, patient_address, shipping_details, physician };
    const isApart = userId !== parent.userId;
    return this.#lab.orders.place({ userId, labTest, request, follows: { parent, origin: 'recreation', isApart } });
  }

  #requireAllowed(review: MatchReview, action: string): void {
    const isOver = review.status === 'resolved' || review.status === 'matched';
    if (isOver) throw refusal(404, 'Unmatched result not found or no longer reviewable.');
    if (!allowedActions(review).includes(action)) throw refusal(422, `The action ${action} is not allowed.`);
  }

  #resolve(review: MatchReview, resolutionAction: string, order?: Order): void {
    Object.assign(review, { status: 'resolved', resolutionAction, reviewedAt: this.#lab.clock.now() });
    if (order) Object.assign(review, { resolvedOrderId: order.id, resolvedUserId: order.userId });
    this.#changed(review);
  }

  #changed(review: MatchReview, webhook = true): void {
    review.updatedAt = this.#lab.clock.now();
    if (webhook) this.#lab.webhooks.announceMatchReview('labtest.match_review.updated', review);
  }
}

/** The order still takes a result. */
function isOpen(order: Order): boolean {
  const top = presentTop(order);
  return top !== 'cancelled' && top !== 'failed' && !hasResults(presentLow(order));
}

function requireLabTest(id: string): LabTest {
  const found = labTests.find((test) => test.id === id);
  if (found === undefined) throw new Error(`the seed has no lab test ${id}`);
  return found;
}
