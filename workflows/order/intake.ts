import { wasRaised } from '../entity/attention.js';
import { note } from '../entity/journal.js';
import { setNotifies } from '../entity/outbox.js';
import { setPolicy } from '../entity/policy.js';
import { iso } from '../entity/spans.js';
import { log } from '@temporalio/workflow';
import type { CriticalResultReported, OrderPlaced, ReplacementPlaced } from '../../protocol/order/messages.js';
import { canonicalJson, isObject, omitNullish } from '../../protocol/json.js';
import { isAhead, notAhead } from '../../protocol/time.js';
import { isReference, isActor } from '../../protocol/ids.js';
import { readPassthrough } from '../../protocol/order/root-order.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { raise } from './announcements.js';
import {
  currentOrder,
  findOrder,
  foldIn,
  foreignQuestion,
  isForeign,
  isKnownForeign,
  lastEventId,
  needsSuccessor,
  outcomeOf,
  type Chain,
} from './chain.js';
import { isAlarmed, raiseCriticalResults } from './critical-results.js';
import { readCriticalReport, readSnapshot } from './snapshots.js';
import type { KitOrderRun } from './run.js';
import { showUnidentified } from './view.js';

/** Takes a snapshot in. Called by signal handlers and by whatever read an order: it waits for nothing. */
export function receiveSnapshot(run: KitOrderRun, given: OrderSnapshot): void {
  const snapshot = readSnapshot(given);
  if (!snapshot) {
    // A malformed signal must not stop the task: it is the sender's fault, and the order's next deadline reads it.
    log.error('a signal was dropped: it has no order snapshot');
    return;
  }
  const { chain } = run;
  const isNew = chain.identified && run.forwardsTo === undefined && !findOrder(chain, snapshot.orderId);
  if (isNew && isForeign(chain, snapshot)) return recordForeign(run, snapshot);
  const believed = withoutFuture(chain, snapshot, Date.now());
  if (!foldIn(chain, believed)) return;
  recogniseReplacement(chain, believed);
  reopen(chain);
  raiseAlarms(run);
  run.hasNews = true;
}

/** Takes the report of a critical result in. Its order may be new here: then it stands for the order until that is read. */
export function receiveCriticalReport(run: KitOrderRun, reported: unknown): void {
  const report = readCriticalReport(reported);
  if (!report) {
    log.error('a critical result was dropped: it names no order');
    return;
  }
  const { chain } = run;
  const { orderId, userId, sampleId, order } = report;
  const stub = omitNullish({ orderId, events: [], userId, sampleId });
  if (order || !isKnownForeign(chain, orderId)) receiveSnapshot(run, order ?? stub);
  if (isKnownForeign(chain, orderId) && !hasComeBack(chain, report)) {
    chain.foreignReports = [...(chain.foreignReports ?? []), report];
    run.hasNews = true;
    return;
  }
  const { updatedAt, ...withoutTime } = report;
  const isWrong = isAhead(updatedAt, Date.now());
  if (isWrong) noteFutureTimesOnce(chain, orderId, Date.now());
  chain.criticalReports = [...chain.criticalReports, isWrong ? withoutTime : report];
  raiseAlarms(run);
  run.hasNews = true;
}

function raiseAlarms(run: KitOrderRun): void {
  raiseCriticalResults(run, Date.now());
  if (isAlarmed(run.chain)) showUnidentified(run.chain);
}

/**
 * A report without its order was forwarded by the order's own workflow. It is passed back once: that workflow may know by now whose
 * order it is. If it comes again, no other workflow will raise the alarm, so this one does.
 */
function hasComeBack({ passedOn }: Chain, { order, ...report }: CriticalResultReported): boolean {
  return order === undefined && passedOn?.includes(canonicalJson(report)) === true;
}

/** The snapshot with the times that count: see `protocol/time.ts`. One that is repeated stays the same. */
function withoutFuture(chain: Chain, snapshot: OrderSnapshot, now: number): OrderSnapshot {
  const { orderId, createdAt, updatedAt, events } = snapshot;
  if (![createdAt, updatedAt, ...events.map(({ at }) => at)].some((at) => isAhead(at, now))) return snapshot;
  noteFutureTimesOnce(chain, orderId, now);
  const known = chain.orders.find((order) => order.orderId === orderId);
  const before = known?.latest;
  const believed = {
    ...snapshot,
    events: events.map((event) => ({
      ...event,
      at: notAhead(event.at, now, known?.events.find(({ id }) => id === event.id)?.at),
    })),
    ...omitNullish({
      createdAt: createdAt && notAhead(createdAt, now, before?.createdAt),
      updatedAt: updatedAt && notAhead(updatedAt, now, before?.updatedAt),
    }),
  };
  const isRepeated = !isAhead(updatedAt, now) || canonicalJson(believed) === canonicalJson(before ?? null);
  return isRepeated ? believed : { ...believed, updatedAt: iso(now) };
}

function noteFutureTimesOnce(chain: Chain, orderId: string, now: number): void {
  if (chain.notedFutureTimes === true) return;
  chain.notedFutureTimes = true;
  log.warn('the service reports times in the future: they count as received now', { orderId });
  note(chain, 'the service reported a time in the future: it counts as received now', now, orderId);
}

/** Takes the orders out that do not belong to the chain, once it is known whose it is. An earlier run has judged those that it announced. */
export function expelForeign(run: KitOrderRun): void {
  const { chain } = run;
  const isJudged = (id: string) => chain.announced.some(({ orderId }) => orderId === id);
  const foreign = chain.orders.filter(({ orderId, latest }) => !isJudged(orderId) && isForeign(chain, latest));
  if (foreign.length === 0) return;
  chain.orders = chain.orders.filter((order) => !foreign.includes(order));
  const isExpelled = (id: string) => foreign.some(({ orderId }) => orderId === id);
  chain.foreignReports = chain.criticalReports.filter(({ orderId }) => isExpelled(orderId));
  chain.criticalReports = chain.criticalReports.filter(({ orderId }) => !isExpelled(orderId));
  for (const { latest, events } of foreign) recordForeign(run, { ...latest, events: [...events] });
}

function recordForeign(run: KitOrderRun, snapshot: OrderSnapshot): void {
  const { chain } = run;
  const { orderId } = snapshot;
  const question = foreignQuestion(chain, orderId);
  if (!wasRaised(chain, question)) {
    const what = `order ${orderId} names this chain, but is another user's: it is followed by itself`;
    note(chain, what, Date.now(), chain.rootOrderId);
    raise(chain, question, Date.now());
  }
  chain.foreign = [...(chain.foreign ?? []), snapshot];
  run.hasNews = true;
}

/**
 * Reopens a chain before its run is over: one that ended, unless abandoned, if a new event shows it under way without a problem, and one
 * whose order was gone if any new event comes. If the service has ended the order, that counts, for an abandoned one, too.
 */
function reopen(chain: Chain): void {
  const { ending, ...rest } = chain;
  if (ending === undefined) return;
  const isEndedByService = outcomeOf(rest) !== undefined;
  const order = currentOrder(chain);
  const announced = chain.announced.find(({ orderId }) => orderId === order.orderId)?.eventId ?? -1;
  const hasMoved = ending !== 'abandoned' && lastEventId(order) > announced;
  const isUnderWay = ending === 'order_gone' || !(needsSuccessor(order) || order.standing.problem);
  if (!isEndedByService && !(hasMoved && isUnderWay)) return;
  delete chain.ending;
  delete chain.endAnnounced;
}

/** A replacement's webhook may come before its creation is answered: our own passthrough says which one it is. */
function recogniseReplacement(chain: Chain, { orderId, passthrough }: OrderSnapshot): void {
  const ours = readPassthrough(passthrough);
  const reserved = chain.replacements.find(({ n }) => n === ours?.n);
  if (reserved && ours?.root === chain.rootOrderId) reserved.orderId ??= orderId;
}

/** The placed order arrives with its reference and policy. It may come twice, and after any number of webhooks. */
export function receivePlacement(run: KitOrderRun, placed: OrderPlaced): void {
  const { chain } = run;
  const isKnown = chain.orders.length > 0;
  if (!isReference(placed?.reference) || !isObject(placed.policy) || !(isKnown || readSnapshot(placed.snapshot))) {
    log.error('a hand-over was dropped: it lacks reference, policy or order');
    return;
  }
  receiveSnapshot(run, placed.snapshot);
  const { rootOrderId } = chain;
  if (chain.reference !== undefined && chain.reference !== placed.reference) {
    const key = `${rootOrderId}/${placed.reference}`;
    raise(chain, { key, reason: 'reference_conflict', orderId: rootOrderId }, Date.now());
  } else if (!chain.handedOver) {
    acceptHandOver(run, placed);
  }
  // Another reference's cancellation is not for this order.
  if (placed.cancelRequested === true && chain.reference === placed.reference && chain.cancelRequest === undefined) {
    chain.cancelRequest = 'open';
    if (isActor(placed.cancelRequestedBy)) chain.cancelRequestedBy = { by: placed.cancelRequestedBy };
  }
  run.hasNews = true;
}

function acceptHandOver(
  { chain, earlierRun }: KitOrderRun,
  { reference, policy, labTestId, labAccountId, adopted, madeElsewhere, notifies }: OrderPlaced,
): void {
  chain.handedOver = true;
  if (madeElsewhere === true) chain.madeElsewhere = true;
  chain.reference = reference;
  // The product may have changed settings of the order before its hand-over came: those stay.
  const changed = Object.entries(chain.policy).filter(([name]) => chain.changedSettings?.includes(name));
  setPolicy(chain, { ...policy, ...Object.fromEntries(changed) });
  // A hand-over may be late: a run that has followed the order knows more than its creation's answer.
  chain.isNew = !adopted && earlierRun?.runId === undefined;
  if (labTestId !== undefined) chain.labTestId = labTestId;
  if (labAccountId !== undefined) chain.labAccountId = labAccountId;
  setNotifies(chain, notifies);
}

/** The order turns out to be a replacement in another root's chain: from here on this run only passes things on. */
export function receiveReplacement(run: KitOrderRun, placed: ReplacementPlaced): void {
  const { chain } = run;
  const isMeant = typeof placed?.rootOrderId === 'string' && placed.rootOrderId !== chain.rootOrderId;
  if (!isMeant || !readSnapshot(placed.snapshot)) {
    log.error('a replacement was dropped: it does not name the root of its chain');
    return;
  }
  run.forwardsTo = placed.rootOrderId;
  if (isReference(placed.reference)) chain.reference = placed.reference;
  receiveSnapshot(run, placed.snapshot);
  run.hasNews = true;
}
