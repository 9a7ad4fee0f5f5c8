import { openPhaseOf, outcomeOf, isCarriedOut } from '../../protocol/match-review/lifecycle.js';
import type {
  MatchReviewAction,
  MatchReviewOutcome,
  MatchReviewResult,
  MatchReviewState,
} from '../../protocol/match-review/messages.js';
import type { MatchReviewSnapshot, MatchReviewReport } from '../../service/match-review/snapshot.js';
import { deadlinesOf } from '../../workflows/match-review/deadlines.js';
import { currentPhase, type Review } from '../../workflows/match-review/review.js';
import { matchReview } from '../../workflows/match-review/workflow.js';
import {
  afterCommand,
  afterEvent,
  endOf,
  reportedOrNot,
  type Left,
  carriedIn,
  type Model,
  type Move,
  type State,
  type Step,
  orderOf,
  fails,
  noAnswer,
  type Choose,
} from './model.js';
import type { Answer, Message, ActivityCall } from './run.js';
import { resolvePolicy } from '../../protocol/policy/policies.js';
import type { DecideMatchReview, MatchReviewDecided } from '../../activities/match-review.js';

const halfDay = 12 * 3_600_000;

const policy = resolvePolicy('match review', {
  ...{ decisionReminders: ['1d'], serviceReviewDeadline: '1d', firstPoll: '12h', longestPoll: '12h' },
});

export interface ReviewBounds extends Left {
  /** The service shows a review that is over. */
  isShownWhenOver?: boolean;
}

/** One unmatched result, from its first webhook to its end, and what the service reports after that. */
export function matchReviewModel({ isShownWhenOver = false, ...left }: ReviewBounds): Model<ReviewWorld> {
  const world = newWorld(isShownWhenOver, left);
  return {
    name: 'match review',
    workflowId: `match-review/${rawResultId}`,
    workflow: matchReview,
    // Shorter than a decision without an answer may be under way.
    pause: 20_000,
    beginnings: [{ input: { rawResultId, policy }, signals: [reported(world)], world }],
    events,
    commands,
    answer,
    essence,
    faults,
    phaseOf: (state) => endOf(state) ?? currentPhase(carriedIn<Review>(state.input)),
  };
}

function reported(world: ReviewWorld): Message {
  return { name: 'matchReviewReported', argument: reportOf(world) };
}

function events({ world }: State<ReviewWorld>): Move<ReviewWorld>[] {
  // The service may take an end back, but does not make another one of it.
  const isOver = outcomeOf({ rawResultId, ...world.review }) !== undefined;
  const following = Object.entries(reviews).filter(
    ([, review]) => !isOver || outcomeOf({ rawResultId, ...review }) === undefined,
  );
  const moves = following.flatMap(([name, review]) => {
    const after = afterEvent(world, (next) => (next.review = review));
    return reportedOrNot(name, after, reported(after));
  });
  const old = { ...world, review: { ...world.review, ...reviews['for a person'] } };
  return [...moves, { name: 'a late webhook', world: afterEvent(world, () => undefined), signal: reported(old) }];
}

function commands({ world }: State<ReviewWorld>): Move<ReviewWorld>[] {
  const after = afterCommand(world);
  const updates: Message[] = [
    { name: 'accept', argument: {} },
    { name: 'accept', argument: { orderId } },
    { name: 'reject', argument: {} },
    { name: 'markUnsure', argument: {} },
  ];
  return [
    ...updates.map((update) => ({ name: nameOf(update), update, world: after })),
    { name: 'given up by an operator', cancel: true, world: after },
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
  const review = carriedIn<Review>(input);
  const { journal: _journal, policy: _policy, raised: _raised, received: _received, announced, ...rest } = review;
  const silentReads = rest.known && !rest.unclear ? 0 : rest.silentReads;
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
  const review = carriedIn<Partial<Review>>(after.input);
  const stood = carriedIn<Partial<Review>>(before.input).attention ?? [];
  const asked = (review.attention ?? []).filter(({ reason }) => !stood.some((raised) => raised.reason === reason));
  const isRead = calls.some(({ call }) => readings.includes(call.name));
  if (after.result !== undefined || isRead) return [];
  return asked.map(({ reason }) => `the question ${reason} without a read`);
}

const readings: readonly string[] = ['readMatchReview', 'identifyMatchReview', 'decideMatchReview'];

/** What was reported is known as soon as the service shows it, and announced. */
function nothingLost({ move, after, calls }: Step<ReviewWorld>): string[] {
  if (after.result !== undefined) return [];
  const review = carriedIn<Review>(after.input);
  const found: string[] = [];
  const isDisturbed = after.world.left.faults < (move.world ?? after.world).left.faults;
  const shown = shownIn(after.world);
  if (move.signal && !isDisturbed) {
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
  const { ending, before: earlier } = carriedIn<Partial<Review>>(before.input);
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

/* The lab service as the model of a match review sees it, and what its activities make of that. */

const rawResultId = 'raw-1';
const orderId = 'order-1';

type Shown = Omit<MatchReviewSnapshot, 'rawResultId'>;

interface ReviewWorld {
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
const reviews: Readonly<Record<string, Shown>> = {
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

function newWorld(isShownWhenOver: boolean, left: Left): ReviewWorld {
  return { review: pending, isShownWhenOver, decided: [], forwarded: [], broken: [], left };
}

/** As a webhook reports it, which leaves out what a read shows. */
function reportOf({ review }: ReviewWorld): MatchReviewReport {
  const { subReasonCodes: _codes, allowedActions: _actions, interpretation: _interpretation, ...report } = review;
  return { rawResultId, ...report };
}

/** As a read shows it; undefined if it does not. */
function shownIn({ review, isShownWhenOver }: ReviewWorld): MatchReviewSnapshot | undefined {
  const snapshot = { rawResultId, ...review };
  return outcomeOf(snapshot) === undefined || isShownWhenOver ? snapshot : undefined;
}

/** The service answers, fails to, loses the answer to a decision, or does not show the review yet. */
function answer(
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
