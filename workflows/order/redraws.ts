import {
  currentOrder,
  isGivenUp,
  isInPlay,
  isOfTransactionOf,
  ordersOf,
  outcomeOf,
  type Chain,
  type ChainOrder,
} from './chain.js';
import type { OrderRecord, Orders } from './snapshots.js';

/*
 * A redraw: the service itself follows a failed order up with another one, of the same transaction or with the failed order as its
 * parent. The wait for it is the deadline `redraw` (`deadlines.ts`), which `endRedrawWaits` ends; then `remedyFor` has a person asked,
 * a kit ordered or the order fail (both `decisions.ts`). If the search before a replacement finds a redraw in the failed order's
 * transaction, nothing is ordered (`replacing.ts`), even if that redraw has failed or was given up: then it is the one to replace. If it
 * comes after the replacement, both are followed and nothing is cancelled: the one that was created later is the current order, the other
 * a late arrival, and a person is asked.
 */

/** @param later was created after the order */
export function isRedrawOf(later: Pick<OrderRecord, 'latest'>, order: OrderRecord): boolean {
  return later.latest.parentId === order.orderId || isOfTransactionOf(later, order);
}

export function isRedrawn(orders: Orders, order: OrderRecord): boolean {
  const later = orders.slice(orders.findIndex(({ orderId }) => orderId === order.orderId) + 1);
  return later.some((other) => isRedrawOf(other, order));
}

/**
 * Orders that a redraw follows and whose own end was never reported: no deadline applies to them any more, so they are
 * read, once when the redraw is known and once before the chain ends. `key` says which of the two it is.
 */
export function unfinishedOrders(chain: Chain): { orderId: string; key: string }[] {
  const moment = outcomeOf(chain) === undefined ? 'followed' : 'ended';
  return ordersOf(chain)
    .filter((order) => !order.standing.final && isRedrawn(chain.orders, order))
    .map(({ orderId }) => ({ orderId, key: `${orderId}/${moment}` }))
    .filter(({ key }) => !chain.lookedUpUnfinished?.includes(key));
}

/**
 * Orders in play beside the current one: a kit that was replaced and moves again, or the older one of a replacement and a redraw. An
 * order that was redrawn counts as one whose end is not reported yet.
 */
export function lateArrivals(chain: Chain): ChainOrder[] {
  const current = currentOrder(chain).orderId;
  const beside = ordersOf(chain).filter(({ orderId }) => orderId !== current);
  return beside.filter(
    (order) => isInPlay(chain, order) && !isGivenUp(chain, order) && !isRedrawn(chain.orders, order),
  );
}
