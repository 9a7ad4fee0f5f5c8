import {
  ApplicationFailure,
  condition,
  sleep,
  CancellationScope,
  isCancellation,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import type { ChainReading } from '../../activities/order/chains.js';
import { isEnd, listedWhole } from '../../protocol/order/lifecycle.js';
import type { KitOrderResult } from '../../protocol/order/messages.js';
import { readPassthrough } from '../../protocol/order/root-order.js';
import { labReferenceKey } from '../../protocol/search-attributes.js';
import { activities } from '../activity-options.js';
import { resumeQuestions } from '../entity/attention.js';
import { refusalOf } from '../entity/commands.js';
import { noteDecided, type Decided } from '../entity/journal.js';
import { markAnnounced } from './announcements.js';
import {
  ordersOf,
  currentOrder,
  findOrder,
  foldIn,
  lastEventId,
  needsSuccessor,
  outcomeOf,
  type Chain,
} from './chain.js';
import { isAlarmed, raiseCriticalResults } from './critical-results.js';
import { nextMoment } from './deadlines.js';
import { expelForeign, receiveSnapshot } from './intake.js';
import { untilWoken } from '../entity/loop.js';
import { setNotifies } from '../entity/outbox.js';
import { setPolicy, settlePolicyOrKeep } from '../entity/policy.js';
import { firstReportWait, minute } from '../entity/spans.js';
import { askAbout, endPostponement, recordAbsence } from './reading.js';
import { showUnidentified } from './view.js';
import type { KitOrderRun } from './run.js';
import { carriedOn } from '../entity/versions.js';
import { omitNullish } from '../../protocol/json.js';

/**
 * How old an order may be when its run begins to wait for its hand-over. A placing hands over at once when its creation is
 * answered; after a lost answer it waits for up to ten minutes (`creationSettling`) before it looks for the order.
 */
const handOverWait = 10 * minute;

/**
 * Finds out what this run is for: an order that was handed over, one that it adopts, one that ended before and moves
 * again, or one that belongs to another root's workflow.
 */
export async function identify(run: KitOrderRun): Promise<void> {
  try {
    await findOut(run);
  } catch (error) {
    if (!isCancellation(error) || !isAlarmed(run.chain)) throw error;
    // An operator's cancellation must not lose an alarm: first the run learns who has to be notified.
    await CancellationScope.nonCancellable(() => findOut(run));
  }
}

async function findOut(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  if (chain.identified) return;
  await settlePolicyOrKeep(chain, 'order');
  const isReported = () => chain.orders.length > 0;
  if (!isReported()) await condition(isReported, firstReportWait, { summary: 'first report' });
  if (isYoung(chain)) await awaitHandOver(run);
  if (!chain.isNew && run.forwardsTo === undefined) await readWholeChain(run);
  chain.identified = true;
  if (run.forwardsTo === undefined) expelForeign(run);
  raiseCriticalResults(run, Date.now());
}

/**
 * A run that a webhook started waits for the hand-over that its passthrough promises, until it comes, is not expected any more, a command
 * waits, or the first deadline passes. The timer is the one that the order needs anyway.
 */
async function awaitHandOver(run: KitOrderRun): Promise<void> {
  const { chain, timer } = run;
  const isKnown = () => chain.handedOver || run.forwardsTo !== undefined;
  while (!isKnown() && isHandOverExpected(run) && run.callers === 0 && !timer.hasFired) {
    run.hasNews = false;
    timer.set(nextMoment(chain));
    await untilWoken(run, () => run.hasNews || isKnown() || run.callers > 0 || timer.hasFired);
  }
}

async function readWholeChain(run: KitOrderRun): Promise<void> {
  const { chain } = run;
  adoptReference(chain);
  const reading = await readUntilAnswered(run);
  if (reading.rootOrderId !== chain.rootOrderId) run.forwardsTo ??= reading.rootOrderId;
  const previous = reading.previous && carriedOn<KitOrderResult>('result of the order', reading.previous);
  const isOurs = run.forwardsTo === undefined;
  if (previous && isOurs) resume(chain, previous);
  if (reading.followsBrokenRun === true) run.followsBrokenRunSince = Date.now();
  for (const snapshot of listedWhole(reading.snapshots))
    if (isOurs || snapshot.orderId === chain.rootOrderId) receiveSnapshot(run, snapshot);
  if (chain.orders.length === 0) {
    throw ApplicationFailure.nonRetryable(`The service does not know order ${chain.rootOrderId}`, 'OrderNotFound');
  }
  if (!isOurs) return;
  endPostponement(chain, Date.now());
  if (reading.isAlone === true && !chain.handedOver) {
    delete chain.reference;
    upsertSearchAttributes([{ key: labReferenceKey, value: null }]);
  } else adoptReference(chain);
  // A chain is not gone with its first order if a later order is still in play, or if its end is known.
  const hasSuccessorOrEnd = outcomeOf(chain) !== undefined || currentOrder(chain).orderId !== chain.rootOrderId;
  if (previous && hasStayedEnded(chain, previous)) {
    chain.ending = previous.outcome;
    chain.endAnnounced = true;
  } else if (reading.gone && !hasSuccessorOrEnd) recordAbsence(chain, chain.rootOrderId, Date.now());
  setNotifies(chain, reading.notifies);
}

/** Without an answer the run cannot know what to follow. After a day somebody is asked to find out why. */
async function readUntilAnswered(run: KitOrderRun): Promise<ChainReading> {
  const { chain } = run;
  const summary = 'whose order is this';
  for (;;) {
    try {
      return await activities.readChain.executeWithOptions({ summary }, [chain.rootOrderId, run.earlierRun]);
    } catch (error) {
      refusalOf(error);
      if (chain.orders.length > 0) askAbout(chain, chain.rootOrderId, Date.now());
      showUnidentified(chain);
      await sleep('10 minutes', { summary: 'until the order is read again' });
    }
  }
}

/**
 * A person had decided to stop following the order, or the order had failed and stands as it did: nothing is asked or
 * replaced again. Only what the service ended itself is news.
 */
function hasStayedEnded(chain: Chain, { outcome, timeline }: KitOrderResult): boolean {
  if (outcomeOf(chain) !== undefined) return false;
  if (outcome !== 'failed') return outcome === 'abandoned';
  const order = currentOrder(chain);
  const known = timeline.filter(({ orderId }) => orderId === order.orderId).map(({ eventId = -1 }) => eventId);
  return needsSuccessor(order) && lastEventId(order) <= Math.max(-1, ...known);
}

/** The hand-over may have been lost with its placing workflow; the order still says whose it is. */
function adoptReference(chain: Chain): void {
  const ours = readPassthrough(findOrder(chain, chain.rootOrderId)?.latest.passthrough);
  if (ours && ours.reference !== chain.rootOrderId) chain.reference ??= ours.reference;
}

/**
 * True if the order's hand-over may still be on its way. Asked once, before the wait: a replay may handle a message later than the run did
 * (docs/internals/decisions/0021-what-goes-on-when-in-a-step.md). An older order's hand-over came long ago, perhaps to an earlier run, or
 * is late: the service says more than waiting would, and a late hand-over is taken all the same.
 */
function isYoung(chain: Chain): boolean {
  const { latest, standing } = findOrder(chain, chain.rootOrderId) ?? {};
  return Date.parse(latest?.createdAt ?? standing?.placedAt ?? '') + handOverWait > Date.now();
}

/** Our own passthrough on the only order of a chain promises a hand-over, as long as the kit has not shipped. */
function isHandOverExpected({ chain, hasUnreadable }: KitOrderRun): boolean {
  // Nobody is kept waiting for an alarm, which a signal that cannot be read may be.
  if (isAlarmed(chain) || hasUnreadable) return false;
  const { latest, standing } = findOrder(chain, chain.rootOrderId) ?? {};
  // A second order shows that the chain has moved on.
  if (chain.orders.length > 1 || readPassthrough(latest?.passthrough)?.n !== 1) return false;
  return standing?.phase === 'preparing' || standing?.phase === 'awaiting_registration';
}

/** Goes on where the last run of this root ended: with its policy and replacements, and without announcing anything again. */
function resume(chain: Chain, previous: KitOrderResult): void {
  if (!chain.handedOver) setPolicy(chain, previous.policy);
  chain.handedOver ||= previous.handedOver;
  if (previous.reference !== undefined) chain.reference = previous.reference;
  if (previous.madeElsewhere === true) chain.madeElsewhere = true;
  const { labTestId, labAccountId } = previous;
  if (labTestId !== undefined) chain.labTestId ??= labTestId;
  if (labAccountId !== undefined) chain.labAccountId ??= labAccountId;
  const before: Chain = { ...chain, orders: [] };
  for (const { orderId, status, interpretation, flaggedCritical } of previous.chain) {
    const events = previous.timeline.flatMap(({ orderId: of, eventId, at, status, detail }) =>
      of === orderId && eventId !== undefined
        ? [{ id: eventId, at, status, ...(detail !== undefined && { detail }) }]
        : [],
    );
    // An end may have been in the order's own status alone; the status of an order that goes on is in its events.
    const own = isEnd(status) ? { status } : {};
    foldIn(before, { orderId, events, ...own, ...omitNullish({ interpretation, flaggedCritical }) });
  }
  for (const order of ordersOf(before)) markAnnounced(before, order);
  for (const { latest } of before.orders) foldIn(chain, latest);
  chain.announced = before.announced;
  chain.replacements = previous.replacements;
  chain.resolutions = previous.answers;
  for (const { orderId, eventId, alarm, at, ...decided } of previous.timeline)
    if (eventId === undefined && alarm === undefined) noteDecided(chain, decided as Decided, Date.parse(at), orderId);
  for (const { orderId, sampleId } of previous.chain)
    if (sampleId !== undefined) chain.registered = { [orderId]: sampleId, ...chain.registered };
  chain.criticalResults = previous.criticalResults;
  chain.handledDeadlines = [...(previous.reminded ?? []), ...chain.handledDeadlines];
  resumeQuestions(chain, previous);
}
