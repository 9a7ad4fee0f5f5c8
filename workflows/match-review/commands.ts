import type { ApplicationFailure } from '@temporalio/workflow';
import type { MatchReviewDecided } from '../../activities/match-review.js';
import { isAddressable, ofCanonicalIds } from '../../protocol/ids.js';
import { outcomeOf } from '../../protocol/match-review/lifecycle.js';
import type {
  Acceptance,
  MatchReviewAction,
  MatchReviewDecision,
  MatchReviewState,
  Rejection,
} from '../../protocol/match-review/messages.js';
import { defaultSettling } from '../../protocol/settling.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { activities } from '../activity-options.js';
import { untilDue } from '../entity/loop-timer.js';
import { actorOf, isFinalRefusal, refusalOf, refuse, refuseField } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import { end, recordRead, type MatchReviewRun, type Review } from './review.js';
import { readReview } from './reading.js';
import { stateOf } from './view.js';
import { omitNullish } from '../../protocol/json.js';

/** Sends a decision, and answers with what came of it. The same decision twice is one. The note is not in the state: the service keeps it. */
export async function decide(
  review: Review,
  { by, ...command }: MatchReviewDecision & Rejection,
): Promise<MatchReviewState> {
  const actor = actorOf({ by });
  if (isRepeated(review, command)) return stateOf(review);
  const doubted = review.doubt;
  await outwaitDoubt(review);
  if (isRepeated(review, command)) return stateOf(review);
  if (review.ending !== undefined) throw ended(review);
  const { action, orderId, userId } = command;
  const decision: MatchReviewDecision = {
    action,
    ...omitNullish({ orderId, userId }),
    ...actor,
  };
  const asked = review.received;
  const isUnsettled = review.doubt !== undefined || review.absentSince !== undefined;
  const mayBeOurs = isUnsettled && doubted !== undefined && isSame(doubted, command);
  const call = { ...command, rawResultId: review.rawResultId, mayBeOurs };
  try {
    const summary = `decide: ${action}`;
    take(review, decision, await activities.decideMatchReview.executeWithOptions({ summary }, [call]), asked);
  } catch (error) {
    const refusal = refusalOf(error);
    // Any attempt that is not refused for good may follow one that the service is at work on, or has done.
    if (!isFinalRefusal(error) || refusal.type === 'AnswerLost') {
      review.doubt = { ...decision, until: Date.now() + defaultSettling };
      note(review, `the decision '${action}' was not answered`, Date.now(), undefined, actor);
    }
    // A refusal shows that the service knows something that is not known here: read it.
    review.unclear = true;
    throw refusal;
  }
  return stateOf(review);
}

function take(review: Review, decision: MatchReviewDecision, decided: MatchReviewDecided, asked: number): void {
  const { item, order, isOurs } = decided;
  const now = Date.now();
  // The service is there again: what follows need not wait for the next poll.
  review.unanswered = false;
  if (isOurs) {
    review.decision = decision;
    delete review.doubt;
    // What the service lets somebody decide is open, whatever an earlier run announced.
    delete review.before;
    note(review, `decided: ${decision.action}`, now, undefined, actorOf(decision));
  }
  if (order) recordOrder(review, order, now);
  // Not every deployment says in the answer who resolved it.
  if (item && isOurs && decision.action === 'reject' && outcomeOf(item)) end(review, 'rejected', {}, now);
  if (item) recordRead(review, { ...item, rawResultId: review.rawResultId }, asked, now);
  if (isOurs) return;
  throw item ? ended(review) : refuse('ReviewEnded', 'The service shows no such review any more', { reason: 'gone' });
}

/** An accepted result is answered with its order, not with the review. */
function recordOrder(review: Review, order: OrderSnapshot, now: number): void {
  const { orderId: resolvedOrderId, userId: resolvedUserId } = order;
  if (review.known) review.known = { ...review.known, status: 'resolved' };
  const user = resolvedUserId === undefined ? {} : { resolvedUserId };
  end(review, 'accepted', { resolvedOrderId, ...user, snapshot: order }, now);
}

/** A decision that may still be under way is not raced by another one: what came of it is read first. */
async function outwaitDoubt(review: Review): Promise<void> {
  const { doubt } = review;
  if (!doubt) return;
  await untilDue(review, doubt.until, 'an earlier decision may be under way');
  await readReview(review);
}

/** True if the same was decided before. Another note changes nothing. */
function isRepeated({ decision }: Review, command: MatchReviewDecision): boolean {
  return decision !== undefined && isSame(decision, command);
}

function isSame(decision: MatchReviewDecision, { action, orderId, userId }: MatchReviewDecision): boolean {
  return decision.action === action && decision.orderId === orderId && decision.userId === userId;
}

/** The conditions for accepting a command at all; a refusal here leaves no trace in the history. */
export function validate(run: MatchReviewRun, action: MatchReviewAction, given: Acceptance & Rejection): void {
  const { orderId, userId, note: text } = given ?? {};
  actorOf(given);
  for (const [field, id] of Object.entries({ orderId, userId })) {
    if (id === undefined) continue;
    if (!isAddressable(id)) throw refuseField(field, 'must be an id of the service');
    if (action !== 'accept') throw refuseField(field, 'is not known here');
  }
  const isNote = typeof text === 'string' && text !== '' && Array.from(text).length <= longestNote;
  if (text !== undefined && !isNote) {
    throw refuseField('note', `must be a non-empty string of at most ${longestNote} characters`);
  }
  const { review } = run;
  if (review.ending !== undefined && !isRepeated(review, { ...ofCanonicalIds(given ?? {}), action }))
    throw ended(review);
  run.commands.requireRoom();
}

/** Counted in code points. The service documents no limit: a longer one would fill the history. */
const longestNote = 5_000;

function ended(review: Review): ApplicationFailure {
  const reason = review.ending ?? review.known?.status ?? 'unknown';
  return refuse('ReviewEnded', `The review needs no decision any more: ${reason}`, { reason });
}
