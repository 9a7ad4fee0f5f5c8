import type { DecideMatchReview, MatchReviewDecided } from '../../activities/match-reviews.js';
import { isCarriedOut, outcomeOf } from '../../protocol/match-review/lifecycle.js';
import type { MatchReviewAction } from '../../protocol/match-review/messages.js';
import type { MatchReviewReport, MatchReviewSnapshot } from '../../service/match-review-snapshot.js';
import { fails, noAnswer, type Left } from './faults.js';
import type { Choose } from './model.js';
import type { ActivityCall, Answer } from './run.js';

/* The lab service as the model of a match review sees it, and what its activities make of that. */

export const rawResultId = 'raw-1';
export const orderId = 'order-1';

type Shown = Omit<MatchReviewSnapshot, 'rawResultId'>;

export interface ReviewWorld {
  /** The review as the service has it. */
  review: Shown;
  /** The service shows a review that is over. */
  isShownWhenOver: boolean;
  /** A decision without an answer, which the service carries out at the latest moment. */
  late?: { input: DecideMatchReview; at: number };
  /** The last decision without an answer, and until when it may be under way for all that was shown since. */
  doubt?: { action: MatchReviewAction; until: number };
  /** What the service carried out, as it was sent to it from here. */
  decided: MatchReviewAction[];
  /** The orders whose workflows were notified. */
  forwarded: string[];
  /** The claims that a call has broken, in words. */
  broken: string[];
  left: Left;
}

const pending: Shown = {
  status: 'pending_customer_review',
  subReasonCodes: [],
  allowedActions: ['accept', 'reject', 'unsure'],
};

const over: Shown = { status: 'resolved', subReasonCodes: [], allowedActions: [] };

/** Everything that the service can make of a review; the last two statuses are not known to the project. */
export const reviews: Readonly<Record<string, Shown>> = {
  'for a person': pending,
  critical: { ...pending, interpretation: 'critical' },
  'for the staff': { ...over, status: 'pending_ops_review' },
  accepted: { ...over, resolutionAction: 'accepted', resolvedOrderId: orderId },
  rejected: { ...over, resolutionAction: 'rejected' },
  resolved: over,
  matched: { ...over, status: 'matched', resolvedOrderId: orderId },
  'unheard of': { ...over, status: 'unheard_of' },
  'unheard of, for a person': { ...pending, status: 'unheard_of' },
};

export function newWorld(isShownWhenOver: boolean, left: Left): ReviewWorld {
  return { review: pending, isShownWhenOver, decided: [], forwarded: [], broken: [], left };
}

/** As a webhook reports it, which leaves out what a read shows. */
export function reportOf({ review }: ReviewWorld): MatchReviewReport {
  const { subReasonCodes: _codes, allowedActions: _actions, interpretation: _interpretation, ...report } = review;
  return { rawResultId, ...report };
}

/** As a read shows it; undefined if it does not. */
export function shownIn({ review, isShownWhenOver }: ReviewWorld): MatchReviewSnapshot | undefined {
  const snapshot = { rawResultId, ...review };
  return outcomeOf(snapshot) === undefined || isShownWhenOver ? snapshot : undefined;
}

/** The service answers, fails to, loses the answer to a decision, or does not show the review yet. */
export function answer(
  world: ReviewWorld,
  { name, argument }: ActivityCall,
  choose: Choose,
  { now, previous }: { now: number; previous?: unknown },
): Answer {
  if (world.late && now >= world.late.at) carryOutLate(world);
  switch (name) {
    case 'identifyMatchReview': {
      const reading = fails(world, choose) ? undefined : readingOf(world, choose);
      return { value: { notifies: true, ...(previous !== undefined && { previous }), ...(reading && { reading }) } };
    }
    case 'readMatchReview':
      return fails(world, choose) ? noAnswer : { value: readingOf(world, choose) };
    case 'decideMatchReview':
      return decide(world, argument, choose, now);
    case 'readOrder':
      return fails(world, choose) ? noAnswer : { value: order() };
    case 'forwardOrder':
      world.forwarded.push((argument as { rootOrderId: string }).rootOrderId);
      return { value: null };
    default:
      return { value: null };
  }
}

function readingOf(world: ReviewWorld, choose: Choose) {
  const item = fails(world, choose) ? undefined : shownIn(world);
  if (item && world.doubt && isCarriedOut(world.doubt, item)) world.doubt.until = 0;
  return item ? { item } : {};
}

/** Longer than the service is at work on a decision that it has not answered. */
const settling = 35_000;

function decide(world: ReviewWorld, input: DecideMatchReview, choose: Choose, now: number): Answer {
  if (now < (world.doubt?.until ?? 0)) {
    world.broken.push(`the decision '${input.action}' is sent while another one may be under way`);
  }
  if (!fails(world, choose)) return outcomeOfDecision(world, input);
  const fate = choose(4);
  if (fate === 3) return { failure: { type: 'DecisionRefused' } };
  world.doubt = { action: input.action, until: now + settling };
  if (fate === 1) outcomeOfDecision(world, input);
  if (fate === 2) world.late = { input, at: world.doubt.until };
  return noAnswer;
}

/** As the activity does it: it reads first, and decides only if that is still allowed. */
function outcomeOfDecision(world: ReviewWorld, input: DecideMatchReview): Answer {
  const { action, mayBeOurs = false } = input;
  const item = shownIn(world);
  if (!item) return mayBeOurs ? { failure: { type: 'AnswerLost' } } : decided({ isOurs: false });
  if (isCarriedOut(input, item)) return decided({ item, isOurs: mayBeOurs });
  if (outcomeOf(item) !== undefined) return decided({ item, isOurs: false });
  if (!item.allowedActions.includes(action)) return { failure: { type: 'ActionNotAllowed' } };
  carryOut(world, input);
  if (action === 'accept') return decided({ order: order(), isOurs: true });
  return decided({ item: { rawResultId, ...world.review }, isOurs: true });
}

function decided(value: MatchReviewDecided): Answer {
  return { value };
}

function carryOutLate(world: ReviewWorld): void {
  const { input } = world.late ?? {};
  delete world.late;
  if (input && world.review.allowedActions.includes(input.action)) carryOut(world, input);
}

function carryOut(world: ReviewWorld, { action }: DecideMatchReview): void {
  const afterwards = { accept: 'accepted', reject: 'rejected', unsure: 'for the staff' }[action];
  world.review = { ...over, ...reviews[afterwards] };
  world.decided.push(action);
}

/** Without a passthrough: it is its own root. */
function order() {
  return { orderId, userId: 'user-1', origin: 'initial', events: [] };
}
