import { condition } from '@temporalio/workflow';
import { raise } from './attention.js';
import { remember } from './announcements.js';
import { readPassthrough } from './address.js';
import { chainOf, learn, type Case } from './case.js';
import { hear } from './hearing.js';
import type { KitOrderResult, OrderPlaced, ReplacementPlaced } from './messages.js';
import { standingOf } from './lifecycle.js';
import type { Run } from './run.js';
import { readingPatiently } from '../proxies.js';

/** How long a run that a webhook started waits for the hand-over that its passthrough promises: the creation's answer is on its way. */
const handOverWait = '30 seconds';

/** The placed order arrives with its reference and policy. It may come twice, and after any number of webhooks. */
export function takeOver(run: Run, placed: OrderPlaced): void {
  const { kase } = run;
  hear(run, placed.snapshot);
  if (kase.reference !== undefined && kase.reference !== placed.reference) {
    raise(
      kase,
      { key: `${kase.rootOrderId}/${placed.reference}`, reason: 'reference_conflict', orderId: kase.rootOrderId },
      Date.now(),
    );
  } else if (!kase.handedOver) {
    kase.reference = placed.reference;
    kase.policy = placed.policy;
    if (placed.labTestId !== undefined) kase.labTestId = placed.labTestId;
    if (placed.labAccountId !== undefined) kase.labAccountId = placed.labAccountId;
    setNotifies(kase, placed.notifies);
    kase.handedOver = true;
  }
  run.heard = true;
}

/** The order turns out to be a replacement in another root's chain: from here on this run only passes things on. */
export function join(run: Run, { rootOrderId, snapshot }: ReplacementPlaced): void {
  run.forwardsTo = rootOrderId;
  hear(run, snapshot);
  run.heard = true;
}

/**
 * Finds out what this run is for: an order that was handed over, one that it adopts, one that ended before and stirs
 * again, or one that belongs to another root's workflow.
 */
export async function identify(run: Run): Promise<void> {
  const { kase } = run;
  if (kase.notifies !== undefined) return;
  const isKnown = () => kase.handedOver || run.forwardsTo !== undefined;
  if (awaitsHandOver(kase)) await condition(isKnown, handOverWait, { summary: 'hand-over' });
  if (isKnown()) return;
  adoptReference(kase);
  const chain = await readingPatiently.readChain.executeWithOptions({ summary: 'whose order is this' }, [
    kase.rootOrderId,
  ]);
  if (chain.rootOrderId !== kase.rootOrderId) run.forwardsTo ??= chain.rootOrderId;
  if (run.forwardsTo !== undefined) return;
  if (chain.previous) resume(kase, chain.previous);
  for (const snapshot of chain.snapshots) hear(run, snapshot);
  if (chain.gone) kase.ending = 'order_gone';
  setNotifies(kase, chain.notifies);
}

function setNotifies(kase: Case, notifies: boolean): void {
  kase.notifies = notifies;
  if (!notifies) kase.outbox = [];
}

/** The hand-over may have been lost with its placing workflow; the order still says whose it is. */
function adoptReference(kase: Case): void {
  const ours = readPassthrough(ownPassthrough(kase));
  if (ours && ours.reference !== kase.rootOrderId) kase.reference = ours.reference;
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
  kase.policy = previous.policy;
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
