import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { NotFound, ServiceRefused } from '../service/errors.js';
import type { CallOptions } from '../service/http/calls.js';
import type { LabService } from '../service/lab-service.js';
import { matchReviewSnapshotOf, type MatchReviewSnapshot } from '../service/match-review/snapshot.js';
import type { OrderSnapshot } from '../service/order/snapshot.js';
import { snapshotOf } from '../service/order/projection.js';
import type { EarlierRun } from '../protocol/signal-or-start.js';
import { matchReviewId } from '../protocol/ids.js';
import { isCarriedOut, orderInQuestion, outcomeOf } from '../protocol/match-review/lifecycle.js';
import type { MatchReviewAction, MatchReviewDecision, MatchReviewResult } from '../protocol/match-review/messages.js';
import { defaultSettling } from '../protocol/settling.js';
import type { ActivityDependencies } from './dependencies.js';
import { endingWithActivity } from './attempt.js';
import { asFailures, ifAnswered, unreadableIfRefused } from './failures.js';
import { hasEndpoint } from './notifications/notifications.js';
import { readIfKnown } from './order/orders.js';
import { lastDecodableResultOf } from './workflow-runs.js';
import { omitNullish } from '../service/json-object.js';

/** The review as it is now. */
export interface MatchReviewReading {
  /** Absent if the service does not show it: it is over, or the read was too early. */
  item?: MatchReviewSnapshot;
}

/** Information that a run needs before it does anything. */
interface MatchReviewFound {
  /** Absent if the service did not answer. */
  reading?: MatchReviewReading;
  notifies: boolean;
  /** The result of the last run for the same review. */
  previous?: MatchReviewResult;
}

export interface DecideMatchReview extends MatchReviewDecision {
  rawResultId: string;
  note?: string;
  /** An earlier activity may have brought it to the service already. */
  mayBeOurs?: boolean;
}

/** The outcome of a decision. */
export interface MatchReviewDecided {
  /** The order that an accepted result was given to. */
  order?: OrderSnapshot;
  /** The review as it is afterwards; absent with the order, and if the service does not show it. */
  item?: MatchReviewSnapshot;
  /** False: somebody else was faster, and nothing was sent. */
  isOurs: boolean;
}

export function matchReviewActivities({ service, temporal, target }: ActivityDependencies) {
  const notifies = hasEndpoint(target);
  const read = async (rawResultId: string): Promise<MatchReviewReading> => {
    const item = await shown(service, rawResultId);
    return item ? { item } : {};
  };
  return {
    async readMatchReview(rawResultId: string): Promise<MatchReviewReading> {
      return asFailures('ServiceRefused', () => read(rawResultId));
    },

    /** An error of Temporal's is rethrown, so it is retried; an error of the service delays nothing. */
    async identifyMatchReview(rawResultId: string, earlier?: EarlierRun): Promise<MatchReviewFound> {
      const previous = await lastDecodableResultOf<MatchReviewResult>(temporal, matchReviewId(rawResultId), earlier);
      const reading = await ifAnswered('match review', { rawResultId }, () => read(rawResultId));
      return { notifies, ...(previous && { previous }), ...(reading && { reading }) };
    },

    /** Reads the review, and decides only if that is still allowed: neither call of the service is idempotent. */
    async decideMatchReview(input: DecideMatchReview): Promise<MatchReviewDecided> {
      const decide = () => endingWithActivity((options) => decideOnce(service, input, options));
      return asFailures('DecisionRefused', decide, defaultSettling);
    },
  };
}

/** Every 404 counts: none of them says whether the review is over or was never there. */
async function shown(
  service: LabService,
  rawResultId: string,
  options: CallOptions = {},
): Promise<MatchReviewSnapshot | undefined> {
  try {
    return matchReviewSnapshotOf(await service.matchReviews.get(rawResultId, options));
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

async function decideOnce(
  service: LabService,
  decision: DecideMatchReview,
  options: CallOptions,
): Promise<MatchReviewDecided> {
  const { rawResultId, action, mayBeOurs: wasSent = false } = decision;
  const item = await shown(service, rawResultId, options);
  const mayBeOurs = wasSent || activityInfo().attempt > 1;
  if (!item && mayBeOurs) throw unknownOutcome();
  if (!item) return { isOurs: false };
  if (outcomeOf(item) !== undefined && !mayBeOurs) return { item, isOurs: false };
  // An earlier attempt, whose answer was lost, has already done it.
  if (await isDone(service, decision, item, options)) return { item, isOurs: mayBeOurs };
  if (outcomeOf(item) !== undefined) return { item, isOurs: false };
  if (!item.allowedActions.includes(action)) throw notAllowed(action, item);
  try {
    return await send(service, decision, options);
  } catch (error) {
    if (!(error instanceof ServiceRefused) || !mayBeOurs) throw error;
    // An earlier attempt may have been carried out meanwhile, which is why this one is refused.
    const after = await shown(service, rawResultId, options);
    if (!after) throw unknownOutcome();
    if (!(await isDone(service, decision, after, options))) throw error;
    return { item: after, isOurs: true };
  }
}

async function isDone(
  service: LabService,
  decision: MatchReviewDecision,
  item: MatchReviewSnapshot,
  options: CallOptions,
): Promise<boolean> {
  const orderId = orderInQuestion(decision, item);
  const order = orderId === undefined ? null : await unreadableIfRefused(() => readIfKnown(service, orderId, options));
  return isCarriedOut(decision, item, order);
}

/** Neither call of the service is idempotent. */
async function send(
  service: LabService,
  { rawResultId, action, orderId, userId, note }: DecideMatchReview,
  options: CallOptions,
): Promise<MatchReviewDecided> {
  const noted = note === undefined ? {} : { note };
  if (action !== 'accept') {
    const resolved = await service.matchReviews.resolve(rawResultId, { action, ...noted }, options);
    return { item: matchReviewSnapshotOf(resolved), isOurs: true };
  }
  const chosen = {
    ...omitNullish({ order_id: orderId, user_id: userId }),
  };
  const order = await service.matchReviews.accept(rawResultId, { ...chosen, ...noted }, options);
  return { order: snapshotOf(order, service.installation), isOurs: true };
}

/** Not every deployment shows a review that is over: a webhook says what came of it, or the order itself does. */
function unknownOutcome(): ApplicationFailure {
  const message = 'A decision was not answered, and the service no longer shows the review';
  return ApplicationFailure.nonRetryable(message, 'AnswerLost', { fields: [] });
}

function notAllowed(
  action: MatchReviewAction,
  { status = 'unknown', allowedActions }: MatchReviewSnapshot,
): ApplicationFailure {
  const others =
    allowedActions.length === 0 ? 'it allows none' : `choose one that it allows: ${allowedActions.join(', ')}`;
  const message = `The service does not allow the decision '${action}' in the status '${status}'; ${others}`;
  return ApplicationFailure.nonRetryable(message, 'ActionNotAllowed', { fields: [], reason: status });
}
