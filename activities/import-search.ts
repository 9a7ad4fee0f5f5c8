import { ApplicationFailure } from '@temporalio/activity';
import { standingOf } from '../protocol/order/lifecycle.js';
import { snapshotOf } from '../service/order-snapshot.js';
import type { ImportOrderRequest, Order } from '../service/orders.js';
import type { ActivityDependencies } from './activities.js';
import type { Attempt } from './attempt.js';
import {
  ambiguous,
  claimOn,
  clockSkew,
  isFirstAttempt,
  isFollowUp,
  mayHaveBeenSent,
  ordersOf,
  type OrderCriteria,
} from './order-search.js';

interface ImportCriteria extends Pick<OrderCriteria, 'reference' | 'since' | 'sentSince' | 'triedBefore'> {
  order: ImportOrderRequest;
}

/**
 * Looks through the user's orders for the one that has the sample of an import: its body has no place for a passthrough, and a
 * sample id names one sample, so the match is exact, no matter who imported it. A cancelled order of another reference, or of
 * another time, does not count: its sample may be imported again.
 *
 * @throws ApplicationFailure `OrderRefused` if the sample's order has another reference; `AmbiguousOrder` if a lost answer may
 * have created an import that shows no sample id
 */
export async function importedBefore(
  { service, temporal }: ActivityDependencies,
  criteria: ImportCriteria,
  attempt: Attempt,
): Promise<Order | undefined> {
  const { sample_id: sampleId, user_id: userId } = criteria.order;
  const withoutSample = new Map<string, Order>();
  for await (const order of ordersOf(service, { ...criteria, userId }, attempt, true)) {
    attempt.call();
    if (isFollowUp(order)) continue;
    if (order.sample_id == null && isRecentImport(order, criteria)) withoutSample.set(order.id, order);
    if (order.sample_id?.trim() !== sampleId.trim()) continue;
    const claim = await claimOn(temporal, order.id);
    if (claim === criteria.reference) return order;
    if (isCancelled(order) && (claim !== undefined || !isRecent(order, criteria))) continue;
    if (claim !== undefined) throw ofAnotherReference(order);
    // Nothing was sent yet: another reference may be about to hand it over. The next attempt sees if one has.
    if (!isFirstAttempt(criteria)) return order;
    throw ApplicationFailure.retryable(`Order ${order.id} may belong to another reference`, 'OrderUnclaimed');
  }
  if (mayHaveBeenSent(criteria) && withoutSample.size > 0) throw ambiguous([...withoutSample.values()]);
  return undefined;
}

function isRecentImport(order: Order, criteria: ImportCriteria): boolean {
  const { events } = snapshotOf(order);
  return standingOf(events).imported && isRecent(order, criteria) && !isCancelled(order);
}

function isRecent({ created_at: createdAt }: Order, { since }: ImportCriteria): boolean {
  return Date.parse(createdAt ?? '') >= Date.parse(since) - clockSkew;
}

function isCancelled(order: Order): boolean {
  const { events, status } = snapshotOf(order);
  return standingOf(events, status).phase === 'cancelled';
}

function ofAnotherReference({ id }: Order): ApplicationFailure {
  const message = `belongs to order ${id}, which has another reference`;
  const fields = [{ field: 'sample_id', message }];
  return ApplicationFailure.nonRetryable(`The order is not valid: sample_id ${message}`, 'OrderRefused', { fields });
}
