import { openPhaseOf, outcomeOf } from '../../protocol/match-review/lifecycle.js';
import type {
  MatchReviewAction,
  MatchReviewOutcome,
  MatchReviewResult,
  MatchReviewState,
} from '../../protocol/match-review/messages.js';
import type { MatchReviewSnapshot } from '../../service/match-review-snapshot.js';
import { deadlinesOf } from '../../workflows/match-review/deadlines.js';
import { currentPhase, type Review } from '../../workflows/match-review/review.js';
import { matchReview } from '../../workflows/match-review/workflow.js';
import { afterCommand, afterEvent, type Left } from './faults.js';
import {
  answer,
  newWorld,
  orderId,
  rawResultId,
  reportOf,
  reviews,
  shownIn,
  type ReviewWorld,
} from './match-review-world.js';
import { carriedIn, type Model, type Move, type State, type Step } from './model.js';
import type { Answer, Message } from './run.js';
import { orderOf } from './times.js';
import { resolvePolicy } from '../../protocol/policies.js';

const halfDay = 12 * 3_600_000;

const policy = resolvePolicy('match review', {
  ...{ decisionReminders: ['1d'], serviceReviewDeadline: '1d', firstPoll: '12h', longestPoll: '12h' },
});

/**
 * One unmatched result, from its first webhook to its end, and what the service reports after that.
 * @param isShownWhenOver the service shows a review that is over
 */
export function matchReviewModel(left: Left, isShownWhenOver: boolean): Model<ReviewWorld> {
  const world = newWorld(isShownWhenOver, left);
  return {
    name: 'match review',
    type: 'matchReview',
    workflowId: `match-review/${rawResultId}`,
    workflow: matchReview as never,
    // Shorter than a decision without an answer may be under way.
    pause: 20_000,
    beginnings: [{ input: { rawResultId, policy }, signals: [reported(world)], world }],
    moves,
    answer,
    essence,
    faults,
    phaseOf: ({ input, result }) =>
      (result as MatchReviewResult | undefined)?.outcome ?? currentPhase(carriedIn(input) as unknown as Review),
  };
}

function reported(world: ReviewWorld): Message {
  return { name: 'matchReviewReported', argument: reportOf(world) };
}

function moves({ world, result, wakesAt }: State<ReviewWorld>): Move<ReviewWorld>[] {
  const isOpen = result === undefined;
  // The service may take an end back, but does not make another one of it.
  const isOver = outcomeOf({ rawResultId, ...world.review }) !== undefined;
  const following = Object.entries(reviews).filter(
    ([, review]) => !isOver || outcomeOf({ rawResultId, ...review }) === undefined,
  );
  const events = following.flatMap(([name, review]) => {
    const after = afterEvent(world, (next) => (next.review = review));
    const unreported = isOpen ? [{ name: `${name}, unreported`, world: after }] : [];
    return [{ name, world: after, signal: reported(after) }, ...unreported];
  });
  const old = { ...world, review: { ...world.review, ...reviews['for a person'] } };
  const late = { name: 'a late webhook', world: afterEvent(world, () => undefined), signal: reported(old) };
  const updates: Message[] = [
    { name: 'accept', argument: {} },
    { name: 'accept', argument: { orderId } },
    { name: 'reject', argument: {} },
    { name: 'markUnsure', argument: {} },
  ];
  const commands = updates.map((update) => ({ name: nameOf(update), update, world: afterCommand(world) }));
  const cancel = { name: 'given up by an operator', cancel: true, world: afterCommand(world) } as const;
  return [
    ...(wakesAt === undefined ? [] : [{ name: 'the next deadline', deadline: true } as const]),
    ...(world.left.events > 0 ? [...events, late] : []),
    ...(isOpen && world.left.commands > 0 ? [...commands, cancel] : []),
  ];
}

function nameOf({ name, argument }: Message): string {
  return `command ${name}${(argument as { orderId?: string }).orderId === undefined ? '' : ' with an order'}`;
}

function essence({ input, world, result, now }: State<ReviewWorld>): unknown {
  if (result !== undefined) {
    const { outcome, status, decision, resolvedOrderId, announced = [] } = result as Partial<MatchReviewResult>;
    return [outcome, status, decision, resolvedOrderId, announced.filter((id) => id.endsWith('/ended')), world];
  }
  const review = carriedIn(input) as unknown as Review;
  const { journal: _journal, policy: _policy, raised: _raised, received: _received, announced, ...rest } = review;
  const silentReads = rest.known ? 0 : rest.silentReads;
  const ends = announced.filter((id) => id.endsWith('/ended'));
  const attention = rest.attention.map(({ reason }) => reason);
  return [{ ...rest, silentReads, attention }, ends, orderOf(deadlinesOf(review), now, halfDay), world];
}

function faults(step: Step<ReviewWorld>): string[] {
  const { before, after } = step;
  const broken = after.world.broken.slice(before.world.broken.length);
  const claims = [questionsAfterARead, nothingLost, endsAreTrue, ordersBroughtOnce, commandsReflected];
  return [...broken, ...claims.flatMap((claim) => claim(step))];
}

/** A person is asked to look only after the service was asked. */
function questionsAfterARead({ before, after, calls }: Step<ReviewWorld>): string[] {
  const review = carriedIn(after.input) as Partial<Review>;
  const stood = (carriedIn(before.input) as Partial<Review>).attention ?? [];
  const asked = (review.attention ?? []).filter(({ reason }) => !stood.some((raised) => raised.reason === reason));
  const isRead = calls.some(({ call }) => readings.includes(call.name));
  if (after.result !== undefined || isRead) return [];
  return asked.map(({ reason }) => `the question ${reason} without a read`);
}

const readings: readonly string[] = ['readMatchReview', 'identifyMatchReview', 'decideMatchReview'];

/** What was reported is known as soon as the service shows it, and announced. */
function nothingLost({ before, move, after, calls }: Step<ReviewWorld>): string[] {
  if (after.result !== undefined) return [];
  const review = carriedIn(after.input) as unknown as Review;
  const found: string[] = [];
  // While the service is silent it is read by and by.
  const wasSilent = (carriedIn(before.input) as Partial<Review>).unanswered === true;
  const isDisturbed = after.world.left.faults < (move.world ?? after.world).left.faults;
  const shown = shownIn(after.world);
  if (move.signal && !isDisturbed && !wasSilent) {
    const phase = shown ? openPhaseOf(shown.status, shown.allowedActions) : review.stage.phase;
    // That it is back is believed by a later read.
    if (review.stage.phase !== phase && review.backSince === undefined)
      found.push(`the review is ${phase}, and is taken for ${review.stage.phase}`);
    if (!calls.some(({ call }) => readings.includes(call.name))) found.push('a webhook brought no read');
  }
  const { stage, known } = review;
  const since = `${known?.status ?? 'unknown'}.${new Date(stage.since).toISOString()}`;
  const isAnnounced = review.announced.some((id) => id.startsWith(`${rawResultId}/${since}`));
  if (known && review.ending === undefined && !isAnnounced) found.push(`${stage.phase} was not announced`);
  return found;
}

/** An end is what the service says, or that it says nothing any more. One that says how it came stays, unless a read shows the review open. */
function endsAreTrue({ before, after, move, calls }: Step<ReviewWorld>): string[] {
  const { outcome, status } = (after.result ?? {}) as Partial<MatchReviewResult>;
  if (outcome === undefined) return [];
  if (outcome === 'abandoned') return move.cancel ? announcedEnd(after, outcome) : ['given up by nobody'];
  const found = announcedEnd(after, outcome);
  const reading = calls.findLast(({ call, answer: given }) => readings.includes(call.name) && 'value' in given);
  const shown = reading && shownBy(reading.answer);
  if (shown && outcomeOf(shown) === undefined) found.push(`the end ${outcome} though a read shows it open`);
  if (stoodBefore(before, outcome)) return found;
  const actual = outcomeOf({ rawResultId, ...after.world.review });
  if (!reading) found.push(`the end ${outcome} without a read`);
  // A review that the service does not show now was perhaps not shown before, either.
  const isDisturbed = after.world.left.faults < before.world.left.faults;
  if (actual === undefined && !(isDisturbed && outcome === 'gone'))
    found.push(`the end ${outcome} though the review is ${status}`);
  if (outcome === 'gone' && after.world.isShownWhenOver) found.push('gone though the service shows it');
  if (![outcome, 'resolved'].includes(actual ?? '') && outcome !== 'gone') {
    found.push(`the end ${outcome} though the review is ${actual}`);
  }
  return found;
}

/** An earlier run ended so, or this one is about to: the first end that says how the review ended counts. */
function stoodBefore(before: State<ReviewWorld>, outcome: MatchReviewOutcome): boolean {
  const { ending, before: earlier } = carriedIn(before.input) as Partial<Review>;
  const { outcome: last } = (before.result ?? {}) as Partial<MatchReviewResult>;
  const isVague = outcome === 'gone' || outcome === 'resolved';
  return outcome === last || outcome === earlier?.outcome || (outcome === ending && !isVague);
}

/** The review as an activity has answered with it. */
function shownBy(given: Answer): MatchReviewSnapshot | undefined {
  if (!('value' in given)) return undefined;
  const { item, reading } = given.value as { item?: MatchReviewSnapshot; reading?: { item?: MatchReviewSnapshot } };
  return item ?? reading?.item;
}

function announcedEnd({ announced }: State<ReviewWorld>, outcome: string): string[] {
  const ids = new RegExp(String.raw`/${outcome}(\.\d+)?/ended$`);
  return announced.some((id) => ids.test(id)) ? [] : [`the end ${outcome} was not announced`];
}

/** The order's own workflow is notified before the review ends, and not again. */
function ordersBroughtOnce({ after, move }: Step<ReviewWorld>): string[] {
  const { forwarded } = after.world;
  const { resolvedOrderId } = (after.result ?? {}) as Partial<MatchReviewResult>;
  const found = new Set(forwarded).size < forwarded.length ? ['an order was brought to its workflow twice'] : [];
  if (resolvedOrderId === undefined || move.cancel || forwarded.includes(resolvedOrderId)) return found;
  return [...found, 'the review ended before the order was brought to its workflow'];
}

/** A decision that was acknowledged is one that the service carried out, and shows in the answer and in the state. */
function commandsReflected({ move, reply, after }: Step<ReviewWorld>): string[] {
  if (!move.update || reply?.value === undefined) return [];
  const { decision, phase } = reply.value as MatchReviewState;
  const action = move.update.name === 'markUnsure' ? 'unsure' : (move.update.name as MatchReviewAction);
  const expected = { accept: ['accepted', 'matched'], reject: ['rejected'], unsure: ['with_service'] }[action];
  const found: string[] = [];
  const { decided, doubt, review } = after.world;
  if (decision?.action !== action) found.push(`the decision '${action}' was acknowledged and does not show`);
  if (doubt === undefined && !decided.includes(action)) found.push(`'${action}' was acknowledged and never sent`);
  const actual = outcomeOf({ rawResultId, ...review }) ?? openPhaseOf(review.status, review.allowedActions);
  if (phase === actual && !expected.includes(phase))
    found.push(`'${action}' was acknowledged: the review is ${actual}`);
  if (after.result === undefined && outcomeOf({ rawResultId, ...review }) !== undefined) {
    found.push(`'${action}' was acknowledged and the review goes on`);
  }
  return found;
}
