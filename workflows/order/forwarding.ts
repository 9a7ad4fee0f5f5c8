import {
  allHandlersFinished,
  condition,
  setCurrentDetails,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { handingOver } from '../proxies.js';
import { forwardedPhase, labPhaseKey, labReferenceKey } from '../search-attributes.js';
import { kitOrderId } from './address.js';
import { currentOrder } from './case.js';
import { forwarded } from './command-validation.js';
import type { KitOrderResult } from './messages.js';
import type { Run } from './run.js';
import type { Orders } from './state.js';
import { resultOf } from './view.js';

/**
 * A run whose order turned out to belong to another root: it announces nothing, passes on what it hears, and ends with
 * its order. A later webhook starts another.
 */
export async function forward(run: Run, rootOrderId: string): Promise<KitOrderResult> {
  const { kase } = run;
  run.commands.refuseAll(forwarded(rootOrderId));
  upsertSearchAttributes([
    { key: labPhaseKey, value: forwardedPhase },
    ...(kase.reference === undefined ? [] : [{ key: labReferenceKey, value: kase.reference }]),
  ]);
  setCurrentDetails(`Passes on what it hears to \`${kitOrderId(rootOrderId)}\`, the workflow of its chain.`);
  let passedOn: Orders = [];
  do {
    run.heard = false;
    const news = kase.orders.filter((order) => !passedOn.includes(order));
    passedOn = kase.orders;
    for (const { greatest, events } of news) {
      const snapshot = { ...greatest, events: [...events] };
      await handingOver.forwardOrder.executeWithOptions({ summary: `pass on to ${rootOrderId}` }, [
        { snapshot, rootOrderId },
      ]);
    }
    // With a long history it ends, too: the next webhook starts another.
    const isOver = currentOrder(kase).standing.final || workflowInfo().continueAsNewSuggested;
    if (!run.heard && isOver) break;
  } while (await condition(() => run.heard, kase.policy.giveUpAfter, { summary: 'silence' }));
  await condition(allHandlersFinished);
  return { ...resultOf(kase), outcome: 'forwarded', rootOrderId };
}
