import { ApplicationFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { MovedOnDetails } from '../../activities/placing.js';
import type { OrderSnapshot } from '../../service/order-snapshot.js';
import { activities, creation } from '../activities.js';
import { readPassthrough } from '../../protocol/order/root-order.js';
import { clear } from './announcements.js';
import {
  findOrder,
  lastEventId,
  needsSuccessor,
  ordersOf,
  replacementOf,
  standingAt,
  type Chain,
  type ChainOrder,
} from './chain.js';
import { detailsOf, refusalOf, refuse } from '../entity/commands.js';
import { iso, minute } from '../entity/spans.js';
import { shipsKit } from './deadlines.js';
import { receiveSnapshot } from './intake.js';
import { requireOpen } from './validation.js';
import type { Replacement } from '../../protocol/order/state.js';
import type { KitOrderRun } from './run.js';

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
 * Orders a new kit for a failed or missing one, once. What one replacement came to is known before the next one begins.
 *
 * @throws ApplicationFailure `OrderEnded`, `NotReplaceable`, `ReplacementLimitReached`, `OrderMovedOn`, or what the service refused
 */
export async function replaceKit(run: KitOrderRun, orderId: string): Promise<void> {
  const placed = await run.lanes.run(allReplacements, () => replaceInTurn(run, orderId));
  if (placed) await leadToChain(run.chain, placed);
}

/**
 * The reservation is set before anything is awaited and kept whatever happens, so trying again continues the same
 * replacement.
 *
 * @returns the new order, if it is a replacement that no webhook has reported
 */
async function replaceInTurn(run: KitOrderRun, orderId: string): Promise<OrderSnapshot | undefined> {
  const { chain } = run;
  const order = findOrder(chain, orderId);
  if (!order) return undefined;
  recogniseLost(chain, order);
  if (replacementOf(chain, orderId)?.orderId !== undefined) return undefined;
  requireOpen(chain);
  requireReplaceable(order);
  const reservation = replacementOf(chain, orderId) ?? reserveReplacement(chain, order);
  reservation.atEventId = lastEventId(order);
  const snapshot = await place(run, reservation, order);
  if (snapshot) receiveSnapshot(run, snapshot);
  // At once, not when the attention is brought in line: a command that waits for this one must not answer the question.
  clear(chain, (attention) => attention.reason === 'replacement_failed' && attention.orderId === orderId, Date.now());
  if (!snapshot) return undefined;
  if (isRedrawOf(order, snapshot)) {
    chain.replacements = chain.replacements.filter((replacement) => replacement !== reservation);
    return undefined;
  }
  reservation.orderId = snapshot.orderId;
  return snapshot;
}

/**
 * A run that was reset, or that follows a terminated one, has lost its reservations. Our own passthrough still numbers the replacements:
 * the next one that belongs to no reservation was ordered for this order.
 */
function recogniseLost(chain: Chain, order: ChainOrder): void {
  if (replacementOf(chain, order.orderId) !== undefined) return;
  const own = numberIn(chain, order) ?? 1;
  const isOwned = (n: number) => chain.replacements.some((replacement) => replacement.n === n);
  const orders = ordersOf(chain);
  const later = orders.slice(orders.indexOf(order) + 1);
  const numbered = later.map((other) => ({ other, n: numberIn(chain, other) ?? 0 }));
  const lost = numbered.filter(({ n }) => n > own && !isOwned(n)).toSorted((a, b) => a.n - b.n)[0];
  if (!lost) return;
  const { orderId, greatest } = lost.other;
  const claimedAt = greatest.createdAt ?? iso(Date.now());
  chain.replacements.push({ replaces: order.orderId, atEventId: lastEventId(order), n: lost.n, claimedAt, orderId });
}

/** The number of an order of ours within its chain: the first is 1. */
function numberIn({ rootOrderId }: Chain, { greatest }: ChainOrder): number | undefined {
  const ours = readPassthrough(greatest.passthrough);
  return ours?.root === rootOrderId ? ours.n : undefined;
}

/** The new order; nothing when its answer never came but a webhook has reported it meanwhile. */
async function place(
  run: KitOrderRun,
  reservation: Replacement,
  order: ChainOrder,
): Promise<OrderSnapshot | undefined> {
  const { chain } = run;
  const { rootOrderId, reference = rootOrderId, labTestId, labAccountId, policy } = chain;
  const request = {
    failedOrderId: reservation.replaces,
    decidedOn: standingAt(order),
    rootOrderId,
    reference,
    n: reservation.n,
    chain: chain.orders.map(({ orderId }) => orderId),
    claimedAt: reservation.claimedAt,
    triedBefore: reservation.triedAt !== undefined,
    creationTimeout: policy.creationTimeout,
    creationSettling: policy.creationSettling,
    ...(labTestId !== undefined && { labTestId }),
    ...(labAccountId !== undefined && { labAccountId }),
  };
  const rest = (reservation.triedAt ?? 0) + policy.creationSettling - Date.now();
  if (rest > 0) await sleep(rest, { summary: 'before the next attempt' });
  try {
    const placed = await activities.replaceKitOrder.executeWithOptions(
      { ...creation(policy, replacementTimeout), summary: `replacement ${reservation.n - 1}` },
      [request],
    );
    return placed.snapshot;
  } catch (error) {
    reservation.triedAt = Date.now();
    if (isCancellation(error)) throw error;
    if (reservation.orderId !== undefined) return undefined;
    throw movedOn(run, reservation, refusalOf(error)) ?? error;
  }
}

/** The service shows more than was decided on: nothing was created, and the reservation is withdrawn. */
function movedOn(
  run: KitOrderRun,
  reservation: Replacement,
  refusal: ApplicationFailure,
): ApplicationFailure | undefined {
  if (refusal.type !== 'OrderMovedOn') return undefined;
  const { chain } = run;
  chain.replacements = chain.replacements.filter((replacement) => replacement !== reservation);
  const { snapshot } = detailsOf<MovedOnDetails>(refusal);
  if (snapshot) receiveSnapshot(run, snapshot);
  const reason = findOrder(chain, reservation.replaces)?.standing.phase ?? 'unknown';
  return ApplicationFailure.nonRetryable(refusal.message, refusal.type, { fields: [], reason });
}

/** The service followed the failed order up itself, in the same transaction. */
function isRedrawOf({ greatest }: ChainOrder, { transaction }: OrderSnapshot): boolean {
  return transaction !== undefined && transaction.id === greatest.transaction?.id;
}

/** If passthrough is not echoed, nothing in the new order's webhooks leads to this chain. */
async function leadToChain({ rootOrderId, reference }: Chain, snapshot: OrderSnapshot): Promise<void> {
  if (readPassthrough(snapshot.passthrough)?.root === rootOrderId) return;
  const placed = { rootOrderId, snapshot, ...(reference !== undefined && { reference }) };
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
      `Order ${order.orderId} is in phase ${phase}: only a kit that is lost, failed or on its way can be replaced`,
      { reason: phase },
    );
  }
}

function reserveReplacement(chain: Chain, order: ChainOrder): Replacement {
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
  };
  chain.replacements.push(reservation);
  return reservation;
}

/** No number is given twice: the orders themselves say which are taken, also if an earlier run's reservations are lost. */
function highestNumber({ replacements, orders }: Chain): number {
  const taken = orders.map(({ greatest }) => readPassthrough(greatest.passthrough)?.n ?? 1);
  return Math.max(1, ...replacements.map(({ n }) => n), ...taken);
}
