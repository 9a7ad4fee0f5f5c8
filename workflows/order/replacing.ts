import { ApplicationFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { MovedOnDetails } from '../../activities/order/placing.js';
import { readPassthrough } from '../../protocol/order/root-order.js';
import type { Replacement } from '../../protocol/order/state.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { activities, creation } from '../activity-options.js';
import { detailsOf, refusalOf, refuse, placingStopOf } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import { iso, minute } from '../entity/spans.js';
import { clear } from './announcements.js';
import {
  findOrder,
  isReplaced,
  lastEventId,
  needsSuccessor,
  ordersOf,
  replacementOf,
  requireOpen,
  shipsKit,
  decisionBasisOf,
  type Chain,
  type ChainOrder,
} from './chain.js';
import { receiveSnapshot } from './intake.js';
import { isRedrawOf } from './redraws.js';
import type { KitOrderRun } from './run.js';
import { omitNullish } from '../../protocol/json.js';

/*
 * How the new kit is ordered for one that failed or is stuck, once, whether the policy (`decisions.ts`) or a person (`commands.ts`)
 * decided it.
 */

/**
 * How long one attempt at a replacement may take before the caller or the operator is notified. The reservation stays; the
 * next attempt continues it.
 */
const replacementTimeout = 15 * minute;

/**
 * The lane of all replacements of the chain, whichever order they are for: if the service echoes no passthrough, one that
 * looks for its order could find the other's.
 */
export const allReplacements = Symbol('replacements');

/**
 * Orders a new kit for one that is lost, failed, on its way or with the customer, once; call it in the lane of that order. The reservation
 * is made before anything is sent, so trying again continues the same replacement. It is withdrawn if the search has found the service's
 * own redraw, or the service shows that the order has moved on: nothing was ordered then. The service may redraw a kit later all the same:
 * then both are followed, and a person is asked (`lateArrivals`).
 *
 * @throws ApplicationFailure `OrderEnded`, `NotReplaceable`, `ReplacementLimitReached`, `OrderMovedOn`, or what the service refused
 */
export async function replaceKit(run: KitOrderRun, orderId: string): Promise<void> {
  const { chain } = run;
  const placed = await run.lanes.run(allReplacements, async () => {
    const order = findOrder(chain, orderId);
    if (!order) return undefined;
    recogniseOwnReplacement(chain, order);
    if (isReplaced(chain, orderId)) return undefined;
    requireOpen(chain);
    requireReplaceable(order);
    const reservation = replacementOf(chain, orderId) ?? reserveReplacement(run, order);
    reservation.atEventId = lastEventId(order);
    const snapshot = await place(run, reservation, order);
    if (snapshot) receiveSnapshot(run, snapshot);
    // At once, not when the attention is brought in line: a command that waits for this one must not answer the question.
    clear(chain, (attention) => attention.reason === 'replacement_failed' && attention.orderId === orderId, Date.now());
    if (!snapshot) return undefined;
    // The search found the service's own redraw: nothing was ordered.
    if (isRedrawOf({ latest: snapshot }, order)) {
      withdraw(chain, reservation);
      note(chain, 'the service has redrawn the kit: no other was ordered', Date.now(), orderId);
      return undefined;
    }
    reservation.orderId = snapshot.orderId;
    return snapshot;
  });
  if (placed) await leadToChain(chain, placed);
}

/**
 * A run that was reset, or that follows a terminated one, has lost its reservations. Our own passthrough still numbers the replacements:
 * the next higher one that belongs to no reservation was ordered for this order. Without passthrough it is the next order that is not a
 * redraw: only a replacement of ours joins a chain otherwise.
 */
function recogniseOwnReplacement(chain: Chain, order: ChainOrder): void {
  if (replacementOf(chain, order.orderId) !== undefined) return;
  const own = numberIn(chain, order) ?? 1;
  const isOwned = ({ orderId }: ChainOrder, n?: number) =>
    chain.replacements.some((replacement) => replacement.n === n || replacement.orderId === orderId);
  const orders = ordersOf(chain);
  const isRedraw = (other: ChainOrder) =>
    orders.slice(0, orders.indexOf(other)).some((earlier) => isRedrawOf(other, earlier));
  const later = orders.slice(orders.indexOf(order) + 1).map((other) => ({ other, n: numberIn(chain, other) }));
  const unowned = later.filter(({ other, n }) => !isOwned(other, n));
  const numbered = unowned.filter(({ n = 0 }) => n > own).toSorted((a, b) => (a.n ?? 0) - (b.n ?? 0));
  const lost = numbered[0] ?? unowned.find(({ other, n }) => n === undefined && !isRedraw(other));
  if (!lost) return;
  const { orderId, latest } = lost.other;
  const { n = highestNumber(chain) + 1 } = lost;
  const claimedAt = latest.createdAt ?? iso(Date.now());
  chain.replacements.push({ replaces: order.orderId, atEventId: lastEventId(order), n, claimedAt, orderId });
}

/** The number of an order of ours within its chain: the first is 1. */
function numberIn({ rootOrderId }: Chain, { latest }: ChainOrder): number | undefined {
  const ours = readPassthrough(latest.passthrough);
  return ours?.root === rootOrderId ? ours.n : undefined;
}

/** The new order; nothing when its answer never came but a webhook has reported it meanwhile (`recogniseReplacement` fills `orderId` in). */
async function place(
  run: KitOrderRun,
  reservation: Replacement,
  order: ChainOrder,
): Promise<OrderSnapshot | undefined> {
  const { chain } = run;
  const { rootOrderId, reference = rootOrderId, labTestId, labAccountId, policy } = chain;
  const request = {
    failedOrderId: reservation.replaces,
    decidedOn: decisionBasisOf(order),
    rootOrderId,
    reference,
    n: reservation.n,
    chain: chain.orders.map(({ orderId }) => orderId),
    claimedAt: reservation.claimedAt,
    triedBefore: reservation.triedAt !== undefined,
    creationTimeout: policy.creationTimeout,
    creationSettling: policy.creationSettling,
    ...omitNullish({ labTestId, labAccountId }),
  };
  delete reservation.stopReason;
  const rest = (reservation.triedAt ?? 0) + policy.creationSettling - Date.now();
  if (rest > 0) await sleep(rest, { summary: 'before the next attempt' });
  try {
    const placed = await activities.replaceKitOrder.executeWithOptions(
      { ...creation(policy, replacementTimeout), summary: `replacement ${reservation.n - 1}` },
      [request],
    );
    return placed.snapshot;
  } catch (error) {
    const stop = isCancellation(error) ? undefined : placingStopOf(refusalOf(error));
    if (!stop?.nothingSent) reservation.triedAt = Date.now();
    if (isCancellation(error)) throw error;
    if (reservation.orderId !== undefined) return undefined;
    throw withdrawIfMovedOn(run, reservation, refusalOf(error)) ?? error;
  }
}

/** If the service shows more than was decided on, nothing was created: the reservation is withdrawn, and the refusal says how the order stands. */
function withdrawIfMovedOn(
  run: KitOrderRun,
  reservation: Replacement,
  refusal: ApplicationFailure,
): ApplicationFailure | undefined {
  if (refusal.type !== 'OrderMovedOn') return undefined;
  const { chain } = run;
  withdraw(chain, reservation);
  const { snapshot } = detailsOf<MovedOnDetails>(refusal);
  if (snapshot) receiveSnapshot(run, snapshot);
  const reason = findOrder(chain, reservation.replaces)?.standing.phase ?? 'unknown';
  return ApplicationFailure.nonRetryable(refusal.message, refusal.type, { fields: [], reason });
}

function withdraw(chain: Chain, reservation: Replacement): void {
  chain.replacements = chain.replacements.filter((replacement) => replacement !== reservation);
}

/** If passthrough is not echoed, nothing in the new order's webhooks leads to this chain. */
async function leadToChain({ rootOrderId, reference }: Chain, snapshot: OrderSnapshot): Promise<void> {
  if (readPassthrough(snapshot.passthrough)?.root === rootOrderId) return;
  const placed = omitNullish({ rootOrderId, snapshot, reference });
  await activities.joinChain.executeWithOptions({ summary: `${snapshot.orderId.slice(0, 8)} joins the chain` }, [
    placed,
  ]);
}

function requireReplaceable(order: ChainOrder): void {
  const { phase } = order.standing;
  if (!shipsKit(order)) {
    const message = `Order ${order.orderId} is a visit or an import: no kit is shipped for it, so none can be replaced`;
    throw refuse('NotReplaceable', message, { reason: phase });
  }
  const onItsWay = phase === 'in_transit_to_customer' || phase === 'with_customer' || phase === 'in_transit_to_lab';
  const withCustomer = phase === 'awaiting_registration' && order.standing.deliveredAt !== undefined;
  // If the service uses a status that is not known here, the kit has at least left.
  const somewhere = phase === 'collecting_sample';
  if (!onItsWay && !withCustomer && !somewhere && !needsSuccessor(order)) {
    throw refuse(
      'NotReplaceable',
      `Order ${order.orderId} is in phase ${phase}: only a kit that is lost, failed, on its way or with the customer can be replaced`,
      { reason: phase },
    );
  }
}

function reserveReplacement({ chain, followsBrokenRunSince: triedAt }: KitOrderRun, order: ChainOrder): Replacement {
  if (chain.replacements.length >= chain.policy.replacementLimit) {
    throw refuse(
      'ReplacementLimitReached',
      `The policy allows ${chain.policy.replacementLimit} replacements; place a new order instead`,
    );
  }
  const reservation: Replacement = {
    replaces: order.orderId,
    atEventId: lastEventId(order),
    n: highestNumber(chain) + 1,
    claimedAt: iso(Date.now()),
    ...(triedAt !== undefined && { triedAt }),
  };
  chain.replacements.push(reservation);
  return reservation;
}

/** Of the reservations and of the orders themselves: an earlier run's reservations may be lost. */
function highestNumber({ replacements, orders }: Chain): number {
  const taken = orders.map(({ latest }) => readPassthrough(latest.passthrough)?.n ?? 1);
  return Math.max(1, ...replacements.map(({ n }) => n), ...taken);
}
