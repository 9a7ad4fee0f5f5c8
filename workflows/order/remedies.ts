import { ApplicationFailure, log } from '@temporalio/workflow';
import type { OrderSnapshot } from '../../service/order-snapshot.js';
import { creating, handingOver } from '../proxies.js';
import { readPassthrough } from './address.js';
import { enqueue, headOf } from './announcements.js';
import { clear, raise } from './attention.js';
import {
  currentOrder,
  findOrder,
  lastEventId,
  needsSuccessor,
  replacementOf,
  type Case,
  type ChainOrder,
} from './case.js';
import { refusalOf } from './commands.js';
import { deadlinesOf, mayBeRedrawn } from './deadlines.js';
import { hear } from './hearing.js';
import { readStatus } from './lifecycle.js';
import type { Replacement } from './messages.js';
import type { Remedy } from './policy.js';
import type { Run } from './run.js';

/** How long a replacement may take before whoever wants it is told; the claim stays, and trying again goes on from there. */
const replacementPatience = 15 * 60_000;

/** What the policy says about a kit that failed, once no redraw is to be expected any more. */
export async function takeRemedy(run: Run): Promise<void> {
  const { kase } = run;
  const order = currentOrder(kase);
  if (kase.ending !== undefined || !needsSuccessor(order)) return;
  const deadlines = deadlinesOf(kase);
  if (deadlines.some(({ name, key }) => name === 'redraw' && !kase.met.includes(key))) return;
  const question = deadlines.find(({ name }) => name === 'decision');
  if (!question || kase.attention.some(({ key }) => key === question.key)) return;
  if (kase.patience.some(({ key }) => key === question.baseKey)) return;
  await apply(run, order, remedyFor(kase, order), question.key);
}

function remedyFor(kase: Case, order: ChainOrder): Remedy {
  const { low } = readStatus(order.standing.last?.status ?? '');
  if (low === 'redraw_available') return 'ask';
  return allowed(kase, mayBeRedrawn(order) ? kase.policy.onSampleError : kase.policy.onLost);
}

/** An adopted order is never replaced by itself, nor one whose chain has had all its replacements: a person is asked. */
export function allowed(kase: Case, remedy: Remedy): Remedy {
  const mayReplace = kase.handedOver && kase.replacements.length < kase.policy.replacementLimit;
  return remedy === 'replace' && !mayReplace ? 'ask' : remedy;
}

/** @param key identifies the question, so that it is asked once */
export async function apply(run: Run, order: ChainOrder, remedy: Remedy, key: string): Promise<void> {
  const { kase } = run;
  const { orderId } = order;
  switch (remedy) {
    case 'fail':
      kase.ending = 'failed';
      return;
    case 'ask':
      raise(kase, { key, reason: needsSuccessor(order) ? 'decision_needed' : 'problem_persists', orderId }, Date.now());
      return;
    case 'replace':
      try {
        await replaceKit(run, orderId);
      } catch (error) {
        const { type, message } = refusalOf(error);
        log.warn('replacement failed', { orderId, type, message });
        raise(kase, { key, reason: 'replacement_failed', orderId }, Date.now());
        kase.recheckAt ??= Date.now() + kase.policy.recheckEvery;
      }
      return;
    default:
      return remedy satisfies never;
  }
}

/** A replacement that the policy wanted and that failed is tried again; the question stands until one is ordered. */
export async function retryReplacement(run: Run): Promise<void> {
  const { kase } = run;
  const failed = kase.attention.find(({ reason }) => reason === 'replacement_failed');
  const order = failed && findOrder(kase, failed.orderId);
  if (!failed || !order || !deadlinesOf(kase).some(({ key }) => key === failed.key)) return;
  await apply(run, order, 'replace', failed.key);
}

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
  const { snapshot } = await creating(
    kase.policy.creationTimeout,
    replacementPatience,
  ).replaceKitOrder.executeWithOptions({ summary: `replacement ${claim.n - 1}` }, [
    {
      failedOrderId: orderId,
      rootOrderId: kase.rootOrderId,
      reference: kase.reference ?? kase.rootOrderId,
      n: claim.n,
      chain: kase.orders.map((known) => known.orderId),
      creationTimeout: kase.policy.creationTimeout,
      ...(kase.labTestId !== undefined && { labTestId: kase.labTestId }),
      ...(kase.labAccountId !== undefined && { labAccountId: kase.labAccountId }),
    },
  ]);
  hear(run, snapshot);
  const now = Date.now();
  clear(kase, (attention) => attention.reason === 'replacement_failed' && attention.orderId === orderId, now);
  if (snapshot.transaction?.id === order.greatest.transaction?.id && snapshot.transaction !== undefined) {
    kase.replacements = kase.replacements.filter((replacement) => replacement !== claim);
    return;
  }
  claim.orderId = snapshot.orderId;
  await leadToChain(kase, snapshot);
  const placed = findOrder(kase, snapshot.orderId) ?? order;
  const head = headOf(
    kase,
    placed,
    `${snapshot.orderId}/${snapshot.events[0]?.id ?? 0}/replacement`,
    new Date(now).toISOString(),
  );
  enqueue(kase, { ...head, type: 'replacement', data: { replaces: orderId } });
}

/** Where passthrough is not echoed, nothing in the new order's webhooks leads to this chain. */
async function leadToChain({ rootOrderId }: Case, snapshot: OrderSnapshot): Promise<void> {
  if (readPassthrough(snapshot.passthrough)?.root === rootOrderId) return;
  await handingOver.joinChain.executeWithOptions({ summary: `${snapshot.orderId} joins` }, [{ rootOrderId, snapshot }]);
}

function demandReplaceable(order: ChainOrder): void {
  const { phase, final } = order.standing;
  const onItsWay = phase === 'in_transit_to_customer' || phase === 'with_customer' || phase === 'in_transit_to_lab';
  const withCustomer = phase === 'awaiting_registration' && order.standing.deliveredAt !== undefined;
  if (!onItsWay && !withCustomer && !(final && needsSuccessor(order))) {
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
    n: kase.replacements.length + 2,
  };
  kase.replacements.push(claim);
  return claim;
}
