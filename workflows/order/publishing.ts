import { labPhaseKey, labReferenceKey, ofOrders, ofTransaction, ofUser } from '../../protocol/search-attributes.js';
import { timeOf } from '../entity/alarm.js';
import { attentionAttributes } from '../entity/attention.js';
import { showToOperators } from '../entity/operators.js';
import { announceNews, announceReplacements } from './announcements.js';
import { currentOrder, ordersOf, type Chain } from './chain.js';
import { raiseCriticalResults, remindOfCriticalResults } from './critical-results.js';
import { askAboutLateArrivals, askAboutWords, clearAnswered } from './questions.js';
import type { KitOrderRun } from './run.js';
import { caseFileOf } from './view.js';

/** Publishes what is known now: questions and alarms for people, notifications for the product, the case file for operators. */
export function publish(run: KitOrderRun): void {
  const { chain } = run;
  const now = Date.now();
  clearAnswered(chain, now);
  askAboutLateArrivals(chain, now);
  raiseCriticalResults(run, now);
  remindOfCriticalResults(chain, timeOf(chain));
  askAboutWords(chain, now);
  announceNews(chain);
  announceReplacements(chain, now);
  show(chain);
}

/** Shows the case file and the search attributes of the order as it is now. */
function show(chain: Chain): void {
  const { rootOrderId, reference, attention } = chain;
  const { orderId, standing, greatest } = currentOrder(chain);
  const orderIds = ordersOf(chain).map((order) => order.orderId);
  showToOperators(
    () => caseFileOf(chain),
    [
      { key: labPhaseKey, value: standing.phase },
      ofOrders(rootOrderId, orderId, orderIds),
      ...attentionAttributes(attention),
      ...(reference === undefined ? [] : [{ key: labReferenceKey, value: reference }]),
      ...ofTransaction(greatest.transaction?.id),
      ...ofUser(greatest.userId),
    ],
  );
}
