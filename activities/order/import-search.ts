import { ApplicationFailure } from '@temporalio/activity';
import { clockError } from '../../protocol/time.js';
import { kitOrderId, shownId } from '../../protocol/ids.js';
import { signerOf } from '../../service/installation.js';
import { snapshotOf } from '../../service/order/projection.js';
import type { ImportOrderRequest, Order } from '../../service/order/orders.js';
import type { ActivityDependencies } from '../dependencies.js';
import type { Attempt } from '../attempt.js';
import {
  ambiguous,
  anyTime,
  claimedAmong,
  folded,
  isCancelled,
  isSince,
  isOfUser,
  isSameText,
  ordersOf,
  type OrderCriteria,
  type SearchProgress,
} from './earlier-orders.js';
import { isRedraw } from '../../protocol/order/root-order.js';
import { claimOn } from '../workflow-runs.js';

interface ImportCriteria extends Pick<OrderCriteria, 'reference' | 'since' | 'triedBefore' | 'mayHaveBeenSent'> {
  order: ImportOrderRequest;
}

/**
 * Looks through the user's orders for the one that has the sample of an import: its body has no place for a passthrough, and a
 * sample id names one sample of the user's, so the match is exact, no matter which system imported it. A cancelled order of another reference, or of
 * another time, does not count: its sample may be imported again.
 *
 * @throws ApplicationFailure `OrderRefused` if the sample's order has another reference; `AmbiguousOrder` if a lost answer may
 * have created an import that in two reads shows no sample id, or ours in another spelling
 */
export async function importedBefore(
  dependencies: ActivityDependencies,
  criteria: ImportCriteria,
  attempt: Attempt,
): Promise<Order | undefined> {
  const { service, temporal } = dependencies;
  const { sample_id: sampleId, user_id: userId } = criteria.order;
  const candidates = new Map<string, Order>();
  for await (const order of ordersOf(service, { ...criteria, userId }, attempt, true)) {
    attempt.call();
    if (isRedraw(order) || !isOfUser(order.user_id, userId)) continue;
    if (couldBe(order, criteria)) candidates.set(order.id, order);
    if (folded(order.sample_id) !== folded(sampleId)) continue;
    const claim = await claimOn(temporal, kitOrderId(order.id));
    if (claim === criteria.reference) return order;
    if (isCancelled(snapshotOf(order, [])) && (claim !== undefined || !isRecent(order, criteria))) continue;
    if (claim !== undefined) throw ofAnotherReference(order);
    // Nothing was sent yet: another reference may be about to hand it over. The next attempt sees if one has.
    if (criteria.triedBefore) return order;
    throw ApplicationFailure.retryable(`Order ${shownId(order.id)} may belong to another reference`, 'OrderUnclaimed');
  }
  return criteria.mayHaveBeenSent ? ownOf([...candidates.values()], dependencies, criteria, attempt) : undefined;
}

/**
 * The one of these orders that this reference has claimed already. One that nobody has claimed may be the import whose answer
 * was lost: the service may show its sample id later, so the next attempt looks again before it is given up.
 */
async function ownOf(
  candidates: readonly Order[],
  { temporal }: ActivityDependencies,
  { reference }: ImportCriteria,
  attempt: Attempt,
): Promise<Order | undefined> {
  const { own, unclaimed } = await claimedAmong(candidates, temporal, reference, attempt);
  if (own || unclaimed.length === 0) return own;
  const { inDoubt } = (attempt.earlier ?? {}) as SearchProgress;
  if (inDoubt) throw ambiguous(unclaimed);
  attempt.call({ all: true, inDoubt: true } satisfies SearchProgress);
  const ids = unclaimed.map(({ id }) => shownId(id)).join(', ');
  throw ApplicationFailure.retryable(`The import may be among these orders: ${ids}`, 'OrderUnclaimed');
}

/** True for an order of about that time that shows no sample id, or ours in another spelling: it may be the import. */
function couldBe(order: Order, { order: { sample_id: sampleId }, since }: ImportCriteria): boolean {
  return (
    (isSameText(order.sample_id, '') || isSameText(order.sample_id, sampleId)) &&
    signerOf(order.passthrough) === undefined &&
    isSince(order.created_at, Date.parse(since) - anyTime) &&
    !isCancelled(snapshotOf(order, []))
  );
}

function isRecent({ created_at: createdAt }: Order, { since }: ImportCriteria): boolean {
  return isSince(createdAt, Date.parse(since) - clockError);
}

function ofAnotherReference({ id }: Order): ApplicationFailure {
  const message = `belongs to order ${shownId(id)}, which has another reference`;
  const fields = [{ field: 'sample_id', message }];
  return ApplicationFailure.nonRetryable(`The order is not valid: sample_id ${message}`, 'OrderRefused', { fields });
}
