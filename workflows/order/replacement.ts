import { ApplicationFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { OrderSnapshot } from '../../service/order-snapshot.js';
import { creating, handingOver } from '../proxies.js';
import { readPassthrough } from './address.js';
import { clear } from './attention.js';
import { findOrder, lastEventId, needsSuccessor, replacementOf, type Case, type ChainOrder } from './case.js';
import { isKit } from './deadlines.js';
import { hear } from './intake.js';
import type { Replacement } from './messages.js';
import { settlingAfter } from './policy.js';
import type { Run } from './run.js';

/** How long a replacement may take before whoever wants it is told; the claim stays, and trying again goes on from there. */
const patience = 15 * 60_000;

/**
 * Orders a new kit for a failed or missing one, once: the claim is set before anything is awaited and kept whatever
 * happens, so that trying again continues the same replacement.
 *
 * @throws ApplicationFailure `NotReplaceable`, `ReplacementLimitReached`, or what the service refused
 */
export async function replaceKit(run: Run, orderId: string): Promise<void> {
  const { kase } = run;
  const order = findOrder(kase, orderId);
  if (!order || replacementOf(kase, orderId)?.orderId !== undefined) return;
  demandReplaceable(order);
  const claim = replacementOf(kase, orderId) ?? claimReplacement(kase, order);
  claim.atEventId = lastEventId(order);
  const snapshot = await place(kase, claim);
  if (snapshot) hear(run, snapshot);
  clear(kase, (attention) => attention.reason === 'replacement_failed' && attention.orderId === orderId, Date.now());
  if (!snapshot) return;
  if (isRedrawOf(order, snapshot)) {
    kase.replacements = kase.replacements.filter((replacement) => replacement !== claim);
    return;
  }
  claim.orderId = snapshot.orderId;
  await leadToChain(kase, snapshot);
}

/** The new order; nothing when its answer never came but a webhook has told of it meanwhile. */
async function place(kase: Case, claim: Replacement): Promise<OrderSnapshot | undefined> {
  const { rootOrderId, reference = rootOrderId, labTestId, labAccountId, policy } = kase;
  const { replaceKitOrder } = creating(policy.creationTimeout, patience);
  const wish = {
    failedOrderId: claim.replaces,
    rootOrderId,
    reference,
    n: claim.n,
    chain: kase.orders.map(({ orderId }) => orderId),
    claimedAt: claim.claimedAt,
    triedBefore: claim.triedAt !== undefined,
    creationTimeout: policy.creationTimeout,
    ...(labTestId !== undefined && { labTestId }),
    ...(labAccountId !== undefined && { labAccountId }),
  };
  const rest = (claim.triedAt ?? 0) + settlingAfter(policy.creationTimeout) - Date.now();
  if (rest > 0) await sleep(rest, { summary: 'before the next attempt' });
  try {
    const placed = await replaceKitOrder.executeWithOptions({ summary: `replacement ${claim.n - 1}` }, [wish]);
    return placed.snapshot;
  } catch (error) {
    claim.triedAt = Date.now();
    if (isCancellation(error) || claim.orderId === undefined) throw error;
    return undefined;
  }
}

/** The service followed the failed order up itself, in the same transaction. */
function isRedrawOf({ greatest }: ChainOrder, { transaction }: OrderSnapshot): boolean {
  return transaction !== undefined && transaction.id === greatest.transaction?.id;
}

/** Where passthrough is not echoed, nothing in the new order's webhooks leads to this chain. */
async function leadToChain({ rootOrderId, reference }: Case, snapshot: OrderSnapshot): Promise<void> {
  if (readPassthrough(snapshot.passthrough)?.root === rootOrderId) return;
  const placed = { rootOrderId, snapshot, ...(reference !== undefined && { reference }) };
  await handingOver.joinChain.executeWithOptions({ summary: `${snapshot.orderId.slice(0, 8)} joins the chain` }, [
    placed,
  ]);
}

function demandReplaceable(order: ChainOrder): void {
  const { phase, final } = order.standing;
  const onItsWay = phase === 'in_transit_to_customer' || phase === 'with_customer' || phase === 'in_transit_to_lab';
  const withCustomer = phase === 'awaiting_registration' && order.standing.deliveredAt !== undefined;
  // Where the service uses a status that is not known here, the kit has at least left.
  const somewhere = phase === 'collecting_sample' && isKit(order);
  if (!onItsWay && !withCustomer && !somewhere && !(final && needsSuccessor(order))) {
    throw ApplicationFailure.nonRetryable(
      `Order ${order.orderId} is in phase ${phase}: only a kit that is lost, failed or on its way can be replaced`,
      'NotReplaceable',
      { fields: [], reason: phase },
    );
  }
}

function claimReplacement(kase: Case, order: ChainOrder): Replacement {
  if (kase.replacements.length >= kase.policy.replacementLimit) {
    throw ApplicationFailure.nonRetryable(
      `The policy allows ${kase.policy.replacementLimit} replacements; place a new order instead`,
      'ReplacementLimitReached',
      { fields: [] },
    );
  }
  const claim: Replacement = {
    replaces: order.orderId,
    atEventId: lastEventId(order),
    n: highestNumber(kase) + 1,
    claimedAt: new Date(Date.now()).toISOString(),
  };
  kase.replacements.push(claim);
  return claim;
}

/** No number is given twice: the orders themselves say which are taken, also where an earlier run's claims are lost. */
function highestNumber({ replacements, orders }: Case): number {
  const taken = orders.map(({ greatest }) => readPassthrough(greatest.passthrough)?.n ?? 1);
  return Math.max(1, ...replacements.map(({ n }) => n), ...taken);
}
