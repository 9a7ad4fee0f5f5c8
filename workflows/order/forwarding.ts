import {
  allHandlersFinished,
  CancellationScope,
  condition,
  setCurrentDetails,
  upsertSearchAttributes,
} from '@temporalio/workflow';
import { canonicalJson } from '../../protocol/json.js';
import { kitOrderId } from '../../protocol/ids.js';
import { hasCriticalResult } from '../../protocol/order/lifecycle.js';
import type { KitOrderResult } from '../../protocol/order/messages.js';
import { forwardedPhase, labPhaseKey, labReferenceKey, ofAttention } from '../../protocol/search-attributes.js';
import type { CriticalResultReport } from '../../service/order/critical-result.js';
import type { OrderSnapshot } from '../../service/order/snapshot.js';
import { activities } from '../activity-options.js';
import { isNewRunSuggested } from '../entity/loop.js';
import { deliverAtLast } from '../entity/outbox.js';
import { currentOrder, findOrder, type Chain } from './chain.js';
import { openReports } from './critical-results.js';
import type { KitOrderRun } from './run.js';
import type { Orders } from './snapshots.js';
import { resultOf } from './view.js';

/*
 * What a run passes on to other workflows: everything, if its order belongs to another root's chain; and the orders that are not of
 * its chain. An operator's cancellation stops none of it: nothing else would pass a critical result on.
 */

/**
 * A run whose order turned out to belong to another root: it announces nothing, passes on what it receives, and ends with
 * its order, or if that is silent for too long. A later webhook starts another.
 */
export async function forward(run: KitOrderRun, rootOrderId: string): Promise<KitOrderResult> {
  const { chain } = run;
  upsertSearchAttributes([
    { key: labPhaseKey, value: forwardedPhase },
    ...ofAttention([], []),
    ...(chain.reference === undefined ? [] : [{ key: labReferenceKey, value: chain.reference }]),
  ]);
  setCurrentDetails(`Passes on what it receives to \`${kitOrderId(rootOrderId)}\`, the workflow of its chain.`);
  let passedOn: Orders = [];
  const passOn = async () => (passedOn = await passOnNews(run, rootOrderId, passedOn));
  try {
    do {
      await passOn();
      // With a long history it ends, too: the next webhook starts another.
      const own = findOrder(chain, chain.rootOrderId) ?? currentOrder(chain);
      const isOver = own.standing.final || isNewRunSuggested();
      if (!run.hasNews && isOver) break;
    } while (await condition(() => run.hasNews, chain.policy.giveUpAfter, { summary: 'silence' }));
    await condition(allHandlersFinished);
  } finally {
    while (run.hasNews) await passOn();
  }
  return { ...resultOf(chain), outcome: 'forwarded', rootOrderId, forwardsTo: rootOrderId };
}

/**
 * @param before what was passed on so far
 * @returns what is passed on now
 */
async function passOnNews(run: KitOrderRun, rootOrderId: string, before: Orders = []): Promise<Orders> {
  return CancellationScope.nonCancellable(async () => {
    const { chain } = run;
    run.hasNews = false;
    const { orders } = chain;
    const news = orders.filter((order) => !before.includes(order));
    for (const { latest, events } of news) await passOnOrder({ ...latest, events: [...events] }, rootOrderId);
    // A critical snapshot may have been overtaken: then the one that is passed on does not show it.
    const isPassedOn = (orderId: string) => before.some((order) => order.orderId === orderId && order.wasCritical);
    const overtaken = news.filter(
      ({ orderId, latest, wasCritical }) => wasCritical && !hasCriticalResult(latest) && !isPassedOn(orderId),
    );
    const alarms = overtaken.map(({ orderId }) => ({ orderId, interpretation: 'critical' }));
    // Each once: the chain's workflow raises the alarm, and keeps it.
    const reports = [...openReports(chain), ...alarms];
    chain.criticalReports = [];
    chain.criticalResults = [];
    for (const report of reports) await passOnReport(report, rootOrderId);
    if (run.hasUnreadable) {
      run.hasUnreadable = false;
      const summary = `pass an unreadable signal on to ${rootOrderId}`;
      await activities.forwardUnreadable.executeWithOptions({ summary }, [{ rootOrderId }]);
    }
    return orders;
  });
}

const mostPassedOn = 100;

/** Removes the passthrough, so the receiver does not take the order for a replacement. */
export async function passOnForeign({ chain }: KitOrderRun): Promise<void> {
  const { foreign = [], foreignReports = [] } = chain;
  delete chain.foreign;
  delete chain.foreignReports;
  await CancellationScope.nonCancellable(async () => {
    for (const { passthrough: _passthrough, ...snapshot } of foreign) await passOnOrder(snapshot, snapshot.orderId);
    for (const { order: _order, ...report } of foreignReports) {
      chain.passedOn = [...(chain.passedOn ?? []), canonicalJson(report)].slice(-mostPassedOn);
      await passOnReport(report, report.orderId);
    }
  });
}

export function hasForeign({ foreign, foreignReports }: Chain): boolean {
  return foreign !== undefined || foreignReports !== undefined;
}

/** After an operator's cancellation: what comes in for another workflow may be an alarm. */
export async function passOnAtLast(run: KitOrderRun): Promise<void> {
  const { chain, forwardsTo } = run;
  do {
    if (forwardsTo === undefined) await passOnForeign(run);
    else await passOnNews(run, forwardsTo);
    await deliverAtLast(chain);
  } while (hasForeign(chain) || (forwardsTo !== undefined && run.hasNews));
}

async function passOnOrder(snapshot: OrderSnapshot, rootOrderId: string): Promise<void> {
  const summary = `pass on to ${rootOrderId}`;
  await activities.forwardOrder.executeWithOptions({ summary }, [{ snapshot, rootOrderId }]);
}

async function passOnReport(report: CriticalResultReport, rootOrderId: string): Promise<void> {
  const summary = `pass a critical result on to ${rootOrderId}`;
  await activities.forwardCriticalResult.executeWithOptions({ summary }, [{ report, rootOrderId }]);
}
