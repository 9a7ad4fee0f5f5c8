import type { MatchReviewReading } from '../../activities/match-review.js';
import { canonicalId, isAddressable } from '../../protocol/ids.js';
import { isCarriedOut, orderInQuestion } from '../../protocol/match-review/lifecycle.js';
import type { MatchReviewReported, MatchReviewResult } from '../../protocol/match-review/messages.js';
import { rootOf } from '../../protocol/order/root-order.js';
import type { MatchReviewReport } from '../../service/match-review/snapshot.js';
import { activities } from '../activity-options.js';
import { isDue, timeOf } from '../entity/loop-timer.js';
import { noteAbsence } from '../entity/spans.js';
import { resumeQuestions } from '../entity/attention.js';
import { actorOf, answeringMeanwhile, loggedRefusal } from '../entity/commands.js';
import { textsOf } from '../entity/fields.js';
import { note } from '../entity/journal.js';
import { setNotifies } from '../entity/outbox.js';
import { setPolicy } from '../entity/policy.js';
import { recordNoAnswer } from '../entity/polling.js';
import { rememberEnd, recordAbsence, recordRead, type Review, type MatchReviewRun } from './review.js';
import { carriedOn } from '../entity/versions.js';
import { isObject } from '../../protocol/json.js';

/** Asks the service for the review. What cannot be read now is as silent as before. */
export async function readReview(review: Review): Promise<void> {
  const asked = review.received;
  try {
    const summary = 'read the review';
    const reading = await activities.readMatchReview.executeWithOptions({ summary }, [review.rawResultId]);
    recordReading(review, reading, asked, timeOf(review));
    if (review.doubt) await settleDoubt(review, review.doubt, reading.item ?? review.reported);
  } catch (error) {
    loggedRefusal('match review could not be read', { rawResultId: review.rawResultId }, error);
    recordNoAnswer(review, timeOf(review));
  }
}

function recordReading(review: Review, { item }: MatchReviewReading, asked: number, now: number): void {
  if (item) recordRead(review, { ...item, rawResultId: review.rawResultId }, asked, now);
  else recordAbsence(review, noteAbsence(review, now), asked, now);
}

/** A decision whose answer was lost: the review itself shows whether it happened, or the order that was made again for it. */
async function settleDoubt(
  review: Review,
  { until, ...decision }: NonNullable<Review['doubt']>,
  shown: MatchReviewReport | undefined,
): Promise<void> {
  const orderId = shown && orderInQuestion(decision, shown);
  const order = orderId === undefined ? undefined : await readOrder(review, orderId);
  const isOurs = shown !== undefined && isCarriedOut(decision, shown, order);
  // It came after any decision that is known.
  if (isOurs) {
    review.decision = decision;
    note(review, `decided: ${decision.action}`, Date.now(), undefined, actorOf(decision));
  }
  if (isOurs || isDue(review, until)) delete review.doubt;
}

/**
 * Finds out what there is before anything is done: a review that is over, an earlier run that has announced it. A service that does
 * not answer holds nobody up: every command reads itself.
 */
export async function identify({ review, commands, earlierRun }: MatchReviewRun): Promise<void> {
  if (review.identified) return;
  const asked = review.received;
  const summary = 'what there is already';
  const found = await answeringMeanwhile(
    commands,
    activities.identifyMatchReview.executeWithOptions({ summary }, [review.rawResultId, earlierRun]),
  );
  const previous = found.previous && carriedOn<MatchReviewResult>('result of the match review', found.previous);
  if (previous) {
    review.announced = [...new Set([...previous.announced, ...review.announced])];
    review.journal = [...previous.timeline, ...review.journal];
    resumeQuestions(review, { raised: previous.raised });
    if (previous.decision) review.decision = previous.decision;
    rememberEnd(review, previous.outcome, previous);
    if (review.isPolicyChosen !== true) setPolicy(review, previous.policy);
  }
  setNotifies(review, found.notifies);
  if (found.reading) recordReading(review, found.reading, asked, timeOf(review));
  else recordNoAnswer(review, timeOf(review));
  review.identified = true;
}

/**
 * Passes the order that the result was given to on to its own workflow, as its webhook would, which may be lost.
 * @returns true if nothing is left to do
 */
export async function bringOrder(
  review: Review,
  { orderId, snapshot: answered }: NonNullable<Review['order']>,
): Promise<boolean> {
  const snapshot = answered ?? (await readOrder(review, orderId));
  if (snapshot === undefined) return false;
  if (snapshot !== null && [snapshot.orderId, rootOf(snapshot)].every(isAddressable)) {
    const summary = 'notify the order’s workflow';
    await activities.forwardOrder.executeWithOptions({ summary }, [{ snapshot, rootOrderId: rootOf(snapshot) }]);
  } else note(review, 'the service does not know the order', timeOf(review));
  return true;
}

/** Null if the service does not know the order; undefined if it does not answer. */
async function readOrder(review: Review, orderId: string) {
  try {
    return await activities.readOrder.executeWithOptions({ summary: 'read the order' }, [orderId]);
  } catch (error) {
    loggedRefusal('the order of a match review could not be read', { orderId }, error);
    recordNoAnswer(review, timeOf(review));
    return undefined;
  }
}

/** Reads a webhook's report that came by signal, perhaps from a backend in another language. Never throws. */
export function readReport(value: unknown, rawResultId: string): MatchReviewReported | undefined {
  if (!isObject(value)) return undefined;
  const { rawResultId: id } = value;
  if (typeof id !== 'string' || canonicalId(id) !== canonicalId(rawResultId)) return undefined;
  const names = ['status', 'decisionCode', 'resolutionAction', 'resolvedUserId', 'resolvedOrderId'] as const;
  const report: MatchReviewReport = { rawResultId, ...textsOf(value, names) };
  return { ...report, ...textsOf(value, ['userId']) };
}
