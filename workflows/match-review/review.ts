import type { RaisedAttention } from '../../protocol/attention.js';
import type { EarlierRun } from '../../protocol/signal-or-start.js';
import { canonicalJson, omitNullish } from '../../protocol/json.js';
import { openPhaseOf, outcomeOf, rankOf, type OpenPhase } from '../../protocol/match-review/lifecycle.js';
import type {
  MatchReviewAttentionReason,
  MatchReviewDecision,
  MatchReviewInput,
  MatchReviewOutcome,
  MatchReviewPhase,
} from '../../protocol/match-review/messages.js';
import type { ResolvedMatchReviewPolicy } from '../../protocol/match-review/policy.js';
import type { MatchReviewReport, MatchReviewSnapshot } from '../../service/match-review/snapshot.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { type Attentive, nothingYet } from '../entity/attention.js';
import { note } from '../entity/journal.js';
import type { Cancellable, EntityRun } from '../entity/loop.js';
import type { Outbox } from '../entity/outbox.js';
import { openPolicy, type Governed } from '../entity/policy.js';
import { answered, askForRead, recordNoAnswer, type Polled } from '../entity/polling.js';
import { minute } from '../entity/spans.js';
import { carriedOn, firstVersion } from '../entity/versions.js';

/**
 * Everything that is known of one unmatched result, and how each thing that is learnt changes it. Plain JSON without a clock: it
 * goes through continue-as-new as it is. Times are milliseconds since the epoch.
 */
export interface Review
  extends Outbox, Attentive<RaisedAttention<MatchReviewAttentionReason>>, Governed<ResolvedMatchReviewPolicy>, Polled {
  version: number;
  rawResultId: string;
  policy: ResolvedMatchReviewPolicy;
  userId?: string;
  /** The service was asked what there is. */
  identified: boolean;
  /** The product has chosen the policy: that of an earlier run does not replace it. */
  isPolicyChosen?: true;
  /** The furthest that a webhook reported: a stub, which counts only if the service no longer shows the review. */
  reported?: MatchReviewReport;
  /** As it was last read. */
  known?: MatchReviewSnapshot;
  /** How many webhooks brought news: a read that was asked for before the last of them may be older than it. */
  received: number;
  /** A webhook came that no read has followed yet. */
  unclear: boolean;
  stage: { phase: OpenPhase; since: number };
  /** When the service first said that it does not know the review; missing once it has shown it. */
  absentSince?: number;
  /** When reads first showed it back with a person who has decided, or open after its end; missing once that was believed or taken back. */
  backSince?: number;
  /** The decision that was made here, once the service has it. */
  decision?: MatchReviewDecision;
  /** A decision that was sent without an answer, and until when the service may be at work on it. */
  doubt?: MatchReviewDecision & { until: number };
  /** The order that the result was given to, until its own workflow has been notified. */
  order?: { orderId: string; snapshot?: OrderSnapshot; since: number };
  resolvedOrderId?: string;
  resolvedUserId?: string;
  /** Keys of deadlines that were acted on. */
  handledDeadlines: string[];
  /** Ids of what was put into the outbox. */
  announced: string[];
  ending?: MatchReviewOutcome;
  /** Names the end in its notification. */
  endKey?: string;
  /** The end that an earlier run announced; missing once the service has shown that the review is open again. */
  before?: Resolved & { outcome: MatchReviewOutcome };
}

/** One run of `matchReview`. */
export interface MatchReviewRun extends EntityRun, Cancellable {
  review: Review;
  earlierRun: EarlierRun | undefined;
}

export function openReview({ rawResultId, policy, carried }: MatchReviewInput, now: number): Review {
  if (carried != null) return carriedOn<Review>('state of the match review', carried);
  return {
    version: firstVersion,
    rawResultId,
    ...openPolicy('match review', policy),
    identified: false,
    received: 0,
    unclear: false,
    stage: { phase: 'unknown', since: now },
    lookedAt: now,
    silentReads: 0,
    handledDeadlines: [],
    announced: [],
    ...nothingYet(),
  };
}

export function currentPhase({ ending, stage }: Review): MatchReviewPhase {
  return ending ?? stage.phase;
}

/** True while a person is still asked: a decision settles its question before anybody is notified. */
export function stands(review: Review, reason: MatchReviewAttentionReason): boolean {
  switch (reason) {
    case 'decision_needed':
      return currentPhase(review) === 'awaiting_decision';
    case 'service_review_overdue':
      return currentPhase(review) === 'with_service';
    case 'review_unreadable':
      return review.ending === undefined && review.known === undefined;
    // The delivery clears the first; nothing shows what a dropped signal was about.
    case 'notifications_undelivered':
    case 'unreadable_signal':
      return true;
    default:
      return reason satisfies never;
  }
}

/**
 * Folds a webhook in: the service has to be asked. A webhook carries no time, so one that differs from what is known may be the
 * later one or a late one; and it does not carry everything, so one that does not differ may report what it leaves out.
 */
export function learnFromWebhook(review: Review, report: MatchReviewReport): void {
  const { reported } = review;
  if (!reported || rankOf(report.status) >= rankOf(reported.status)) review.reported = report;
  review.received += 1;
  askForRead(review);
}

/** How long reads have to show that a review is back before that is believed: right after a decision a read may be older than it. */
export const backBelieved = minute;

/**
 * A read is the review as it is now, whatever was reported before it; only that it is back is not believed at once.
 * @param asked `received` of when it was asked for
 */
export function recordRead(review: Review, item: MatchReviewSnapshot, asked: number, now: number): void {
  delete review.absentSince;
  if (mayBeOlder(review, item, now)) return recordNoAnswer(review, now);
  const isNews = canonicalJson(item) !== canonicalJson(review.known ?? null);
  review.known = item;
  answered(review, isNews, now);
  if (review.received === asked) review.unclear = false;
  const outcome = outcomeOf(item);
  if (isNews) note(review, item.status ?? 'no status', now);
  if (outcome !== undefined) return endAsBefore(review, outcome, item, now);
  delete review.before;
  const isBack = isVague(review);
  if (isBack) withdrawEnd(review);
  const phase = openPhaseOf(item.status, item.allowedActions);
  if (!isBack && phase === review.stage.phase) return;
  review.stage = { phase, since: now };
  // One that comes back to a person is decided again.
  if (phase === 'awaiting_decision') delete review.decision;
}

function mayBeOlder(review: Review, item: MatchReviewSnapshot, now: number): boolean {
  const { before, stage } = review;
  const phase = openPhaseOf(item.status, item.allowedActions);
  const isBack = before !== undefined || (stage.phase === 'with_service' && phase === 'awaiting_decision');
  if (!isBack || outcomeOf(item) !== undefined) {
    delete review.backSince;
    return false;
  }
  const since = (review.backSince ??= now);
  if (now - since < backBelieved) return true;
  delete review.backSince;
  return false;
}

/** The service may show less than an earlier run announced: deployments differ in what they show of a closed review. */
function endAsBefore(review: Review, outcome: MatchReviewOutcome, item: MatchReviewSnapshot, now: number): void {
  const { before } = review;
  const isSame = (item.resolvedOrderId ?? before?.resolvedOrderId) === before?.resolvedOrderId;
  const saysLess = outcome === 'resolved' || (outcome === 'matched' && before?.outcome === 'accepted');
  if (before && before.outcome !== 'gone' && isSame && (saysLess || outcome === before.outcome)) {
    return end(review, before.outcome, before, now);
  }
  end(review, outcome, item, now);
}

/**
 * The service does not show the review any more. What a webhook said of its end counts then.
 * @param isBelieved it has said so for long enough
 */
export function recordAbsence(review: Review, isBelieved: boolean, asked: number, now: number): void {
  const { reported, before } = review;
  const outcome = reported && outcomeOf(reported);
  answered(review, false, now);
  if (review.received === asked) review.unclear = false;
  const isLittle = outcome === undefined || knowledgeOf(before?.outcome) > knowledgeOf('resolved');
  if (before && isLittle) end(review, before.outcome, before, now);
  else if (reported && outcome !== undefined) {
    review.known = { subReasonCodes: [], allowedActions: [], ...review.known, ...reported };
    end(review, outcome, reported, now);
  } else if (isBelieved) end(review, 'gone', {}, now);
}

interface Resolved {
  resolvedOrderId?: string;
  resolvedUserId?: string;
  /** The order, if the service answered with it. */
  snapshot?: OrderSnapshot;
}

/**
 * The review is over. The first end that says how counts: the order that it names is brought to its workflow once, and not
 * again if an earlier run has done so.
 */
export function end(review: Review, ending: MatchReviewOutcome, resolved: Resolved, now: number): void {
  if (knowledgeOf(review.ending) >= knowledgeOf(ending)) return;
  withdrawEnd(review);
  review.ending = ending;
  const { resolvedOrderId: orderId, resolvedUserId, snapshot } = resolved;
  if (resolvedUserId !== undefined) review.resolvedUserId = resolvedUserId;
  if (orderId === undefined || ending === 'rejected') return;
  review.resolvedOrderId = orderId;
  if (orderId === review.before?.resolvedOrderId) return;
  review.order = { orderId, ...(snapshot && { snapshot }), since: now };
}

function withdrawEnd(review: Review): void {
  delete review.ending;
  delete review.endKey;
}

/** How much an end says: `gone` and `resolved` do not say what happened. */
function knowledgeOf(ending: MatchReviewOutcome | undefined): number {
  const rank = [undefined, 'gone', 'resolved'].indexOf(ending);
  return rank === -1 ? 3 : rank;
}

function isVague({ ending }: Review): boolean {
  return ending === 'gone' || ending === 'resolved';
}

/** A webhook came after an end that does not say what happened: only the service can put that in order. */
export function mayContradict(review: Review): boolean {
  return isVague(review) && review.unclear;
}

/** Remembers an announced end, so the same end is not announced again. A review that was abandoned has no end to remember. */
export function rememberEnd(review: Review, outcome: MatchReviewOutcome | undefined, resolved: Resolved): void {
  if (outcome === undefined || outcome === 'abandoned') return;
  const { resolvedOrderId, resolvedUserId } = resolved;
  review.before = omitNullish({ outcome, resolvedOrderId, resolvedUserId });
}

/** Follows a review that has ended again, as the next run would: it is read first, and nothing is announced before. */
export function followAgain(review: Review, now: number): void {
  if (review.ending === undefined) return;
  rememberEnd(review, review.ending, review);
  withdrawEnd(review);
  for (const key of ['known', 'absentSince', 'resolvedOrderId', 'resolvedUserId'] as const) delete review[key];
  askForRead(review);
  review.stage = { phase: 'unknown', since: now };
  note(review, 'followed again', now);
}

/** Nobody waits any more. At the service everything stays as it is. An order that it has answered with is still passed on. */
export function abandon(review: Review): void {
  review.ending ??= 'abandoned';
  review.unclear = false;
  if (!review.order?.snapshot) delete review.order;
}
