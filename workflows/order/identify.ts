import { ApplicationFailure, condition } from '@temporalio/workflow';
import type { ChainReading } from '../../activities/chains.js';
import { readingPatiently } from '../proxies.js';
import { readPassthrough } from './address.js';
import { remember } from './announcements.js';
import { chainOf, currentOrder, lastEventId, learn, needsSuccessor, outcomeOf, type Case } from './case.js';
import { nextMoment } from './deadlines.js';
import { setNotifies } from './hand-over.js';
import { hear } from './intake.js';
import { standingOf } from './lifecycle.js';
import type { KitOrderResult, OrderOutcome } from './messages.js';
import type { Run } from './run.js';

/** A run is started together with its first signal; one that was started by hand reads its order instead. */
const firstReportWait = '10 seconds';

/** How long a command waits for a run that cannot find out what it is for. */
const commandWait = '3 minutes';

/**
 * Finds out what this run is for: an order that was handed over, one that it adopts, one that ended before and stirs
 * again, or one that belongs to another root's workflow.
 */
export async function identify(run: Run): Promise<void> {
  const { kase } = run;
  if (kase.identified) return;
  const isReported = () => kase.orders.length > 0;
  if (!isReported()) await condition(isReported, firstReportWait, { summary: 'first report' });
  if (awaitsHandOver(kase)) await handOver(run);
  if (!kase.placedAnew && run.forwardsTo === undefined) await readUp(run);
  kase.identified = true;
}

/**
 * A run that a webhook started waits for the hand-over that its passthrough promises, until it is missed: by the kit's
 * next move, a command, or the first deadline. The timer is the one that the order needs anyway.
 */
async function handOver(run: Run): Promise<void> {
  const { kase, commands, alarm } = run;
  const isKnown = () => kase.handedOver || run.forwardsTo !== undefined;
  while (!isKnown() && awaitsHandOver(kase) && commands.isEmpty && !alarm.rang) {
    run.heard = false;
    alarm.set(nextMoment(kase));
    await condition(() => run.heard || isKnown() || !commands.isEmpty || alarm.rang);
  }
}

async function readUp(run: Run): Promise<void> {
  const { kase } = run;
  adoptReference(kase);
  const chain = await answeringMeanwhile(
    run,
    readingPatiently.readChain.executeWithOptions({ summary: 'whose order is this' }, [kase.rootOrderId]),
  );
  if (chain.rootOrderId !== kase.rootOrderId) run.forwardsTo ??= chain.rootOrderId;
  const { previous } = chain;
  const isOurs = run.forwardsTo === undefined;
  if (previous && isOurs) resume(kase, previous);
  for (const snapshot of chain.snapshots) if (isOurs || snapshot.orderId === kase.rootOrderId) hear(run, snapshot);
  if (kase.orders.length === 0) {
    throw ApplicationFailure.nonRetryable(`The service does not know order ${kase.rootOrderId}`, 'OrderNotFound');
  }
  if (!isOurs) return;
  adoptReference(kase);
  if (previous && hasStayedEnded(kase, previous)) stayEnded(kase, previous.outcome);
  else if (isGone(kase, chain)) kase.ending = 'order_gone';
  setNotifies(kase, chain.notifies);
}

/** Whoever sends a command is not kept waiting for an outage of the service. */
async function answeringMeanwhile(run: Run, reading: Promise<ChainReading>): Promise<ChainReading> {
  let isRead = false;
  const read = reading.finally(() => (isRead = true));
  const answering = (async () => {
    for (;;) {
      await condition(() => isRead || !run.commands.isEmpty);
      if (isRead || (await condition(() => isRead, commandWait, { summary: 'commands wait' }))) return;
      run.commands.refuseAll(
        ApplicationFailure.nonRetryable('The lab service cannot be reached', 'ServiceUnavailable', { fields: [] }),
      );
    }
  })();
  const [chain] = await Promise.all([read, answering]);
  return chain;
}

/** A chain of which a later order lives, or whose end is known, is not gone with its first order. */
function isGone(kase: Case, { gone }: ChainReading): boolean {
  return gone && outcomeOf(kase) === undefined && currentOrder(kase).orderId === kase.rootOrderId;
}

/**
 * A person had decided to stop following the order, or the order had failed and stands as it did: nothing is asked or
 * replaced anew. Only what the service ended itself is news.
 */
function hasStayedEnded(kase: Case, { outcome, timeline }: KitOrderResult): boolean {
  if (outcomeOf(kase) !== undefined) return false;
  if (outcome !== 'failed') return outcome === 'abandoned';
  const order = currentOrder(kase);
  const known = timeline.filter(({ orderId }) => orderId === order.orderId).map(({ eventId }) => eventId);
  return needsSuccessor(order) && lastEventId(order) <= Math.max(-1, ...known);
}

function stayEnded(kase: Case, outcome: OrderOutcome): void {
  kase.ending = outcome;
  kase.endTold = true;
}

/** The hand-over may have been lost with its placing workflow; the order still says whose it is. */
function adoptReference(kase: Case): void {
  const ours = readPassthrough(ownPassthrough(kase));
  if (ours && ours.reference !== kase.rootOrderId) kase.reference ??= ours.reference;
}

function ownPassthrough(kase: Case): string | undefined {
  return kase.orders.find(({ orderId }) => orderId === kase.rootOrderId)?.greatest.passthrough;
}

/**
 * Our own passthrough on the first order of a chain promises a hand-over, as long as the kit has not shipped. Later it
 * has come long ago, or is late: the service tells more than waiting would, and a late hand-over is taken all the same.
 */
function awaitsHandOver(kase: Case): boolean {
  const own = kase.orders.find(({ orderId }) => orderId === kase.rootOrderId);
  const ours = readPassthrough(own?.greatest.passthrough);
  if (own === undefined || ours?.n !== 1) return false;
  const { final, shippedAt, deliveredAt, sentBackAt, arrivedAt } = standingOf(own.events, own.greatest.status);
  return !final && (shippedAt ?? deliveredAt ?? sentBackAt ?? arrivedAt) === undefined;
}

/** Goes on where the last run of this root ended: with its policy and replacements, and without announcing anything again. */
function resume(kase: Case, previous: KitOrderResult): void {
  if (!kase.handedOver) kase.policy = previous.policy;
  if (previous.reference !== undefined) {
    kase.reference = previous.reference;
    kase.handedOver = true;
  }
  const before: Case = { ...kase, orders: [] };
  for (const { orderId } of previous.chain) {
    const events = previous.timeline
      .filter((entry) => entry.orderId === orderId)
      .map(({ eventId, orderId: _orderId, ...event }) => ({ id: eventId, ...event }));
    learn(before, { orderId, events });
  }
  for (const order of chainOf(before)) remember(before, order);
  for (const { greatest } of before.orders) learn(kase, greatest);
  kase.announced = before.announced;
  kase.replacements = previous.replacements;
}
