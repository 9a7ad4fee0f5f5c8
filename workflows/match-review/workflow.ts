import { log, setHandler, workflowInfo } from '@temporalio/workflow';
import { readEarlierRun } from '../../protocol/signal-or-start.js';
import { isAddressable, matchReviewId, ofCanonicalIds } from '../../protocol/ids.js';
import * as messages from '../../protocol/match-review/messages.js';
import { refuse } from '../entity/commands.js';
import { noticeUnreadable, openRun, runLoop, acceptCancellation, workThrough } from '../entity/loop.js';
import { choosePolicy, settlePolicyOrKeep } from '../entity/policy.js';
import { askForRead } from '../entity/polling.js';
import { announceEnd, announceNews, clear, raise } from './announcements.js';
import { decide, validate } from './commands.js';
import { deadlinesOf, handlePassedDeadlines } from './deadlines.js';
import { identify, readReport } from './reading.js';
import {
  abandon,
  followAgain,
  learnFromWebhook,
  mayContradict,
  type MatchReviewRun,
  openReview,
  stands,
  type Review,
} from './review.js';
import { resultOf, show, stateOf } from './view.js';

/**
 * Follows a result that the service could not match with an order, until somebody has decided whose it is. Started by
 * signal-with-start: by the first webhook, by the reconciliation, or by a product.
 */
export async function matchReview(input: messages.MatchReviewInput): Promise<messages.MatchReviewResult> {
  const checked = check(input);
  const run: MatchReviewRun = {
    ...openRun(),
    review: openReview(checked, Date.now()),
    earlierRun: readEarlierRun(input.earlierRun),
    cancelled: false,
  };
  listen(run);
  // A decision on its way is not called back.
  await workThrough(run, async () => {
    await settlePolicyOrKeep(run.review, 'match review');
    await identify(run);
    await runLoop(run, loopOf(run));
  });
  return resultOf(run.review);
}

/** No compiler checks the input of a backend in another language. */
function check(input: Partial<messages.MatchReviewInput> | undefined): messages.MatchReviewInput {
  const { rawResultId } = input ?? {};
  if (isAddressable(rawResultId) && workflowInfo().workflowId === matchReviewId(rawResultId))
    return { ...input, rawResultId };
  const message = 'the workflow ID must be match-review/<raw result id>, as matchReviewId makes it';
  throw refuse('InvalidCommand', message);
}

function loopOf(run: MatchReviewRun) {
  const { review } = run;
  return {
    state: review,
    attention: { raise, clear },
    act: () => act(run),
    readDropped: () => askForRead(review),
    isOver: () => review.ending !== undefined && review.order === undefined && !mayContradict(review),
    announceEnd: () => announceEnd(review, Date.now()),
    nextMoment: () => deadlinesOf(review)[0],
    mustContinueAsNew: () => run.wasCancelled === true,
    workflowType: messages.matchReviewName,
    nextInput: (): messages.MatchReviewInput => ({ rawResultId: review.rawResultId, carried: review }),
  };
}

async function act(run: MatchReviewRun): Promise<void> {
  const { review, commands } = run;
  await settlePolicyOrKeep(review, 'match review');
  await commands.carryOutNext();
  abandonIfCancelled(run);
  await handlePassedDeadlines(review);
  publish(review);
}

/** Brings everything that others see in line with what is known: questions, notifications, and the case file. */
function publish(review: Review): void {
  const now = Date.now();
  announceNews(review, now);
  if (stands(review, 'decision_needed')) raise(review, 'decision_needed', now);
  clear(review, ({ reason }) => !stands(review, reason), now);
  show(review);
}

function abandonIfCancelled(run: MatchReviewRun): void {
  if (acceptCancellation(run)) abandon(run.review);
}

/** Registered before the first await: what comes early is kept. */
function listen(run: MatchReviewRun): void {
  const { review } = run;
  noticeUnreadable(run);
  setHandler(messages.matchReviewReportedSignal, (report) => receiveReport(run, report), {
    description: 'A webhook, or the reconciliation, reported this review.',
  });
  setHandler(messages.reviewRequestedSignal, (requested) => receiveRequest(run, requested), {
    description: 'The product follows the review, with a policy of its own.',
  });
  setHandler(messages.stateQuery, () => stateOf(review), {
    description: 'Where the review stands, what may be decided, and what it waits for.',
  });
  const decides = (action: messages.MatchReviewAction) => (given: messages.Acceptance | undefined) =>
    run.commands.askThrough(() => decide(review, { ...ofCanonicalIds(given ?? {}), action }));
  const validator = (action: messages.MatchReviewAction) => (given: messages.Acceptance) =>
    validate(run, action, given);
  setHandler(messages.acceptUpdate, decides('accept'), {
    description: 'Gives the result to an order.',
    validator: validator('accept'),
  });
  setHandler(messages.rejectUpdate, decides('reject'), {
    description: 'Rejects the result: it belongs to none of the team’s orders.',
    validator: validator('reject'),
  });
  setHandler(messages.markUnsureUpdate, decides('unsure'), {
    description: 'Leaves the decision to the service’s staff.',
    validator: validator('unsure'),
  });
}

/** It only records. */
function receiveReport(run: MatchReviewRun, reported: unknown): void {
  const { review } = run;
  const read = readReport(reported, review.rawResultId);
  if (!read) {
    // A malformed signal must not stop the task: it is the sender's fault, and the review is read in time.
    log.error('a signal was dropped: it has no report of this review');
    return;
  }
  const { userId, ...report } = read;
  if (userId !== undefined) review.userId ??= userId;
  // This is new since the review was abandoned.
  if (review.ending === 'abandoned') followAgain(review, Date.now());
  learnFromWebhook(review, report);
  run.hasNews = true;
}

function receiveRequest(run: MatchReviewRun, requested: messages.ReviewRequested | undefined): void {
  // What is requested after the cancellation, or after another end, is followed again.
  abandonIfCancelled(run);
  followAgain(run.review, Date.now());
  if (run.review.unanswered) askForRead(run.review);
  if (requested?.policy !== undefined) {
    choosePolicy(run.review, 'match review', requested.policy);
    run.review.isPolicyChosen = true;
  }
  run.hasNews = true;
}
