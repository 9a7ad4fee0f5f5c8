import { announceNews, announceReplacements, enqueue, headOf, clear, clearAnswered, raise } from './announcements.js';
import { currentOrder, lateArrivals, outcomeOf } from './chain.js';
import { raiseCriticalResults, remindOfCriticalResults } from './critical-results.js';
import { show } from './view.js';
import type { KitOrderRun } from './run.js';

/** Brings everything in line with what is known now: announcements, questions, and what operators see. */
export function review(run: KitOrderRun): void {
  const { chain } = run;
  const now = Date.now();
  clearAnswered(chain, now);
  const late = lateArrivals(chain).map(({ orderId }) => orderId);
  clear(chain, ({ reason, orderId }) => reason === 'late_arrival' && !late.includes(orderId), now);
  for (const orderId of late) {
    raise(chain, { key: `${orderId}/late_arrival`, reason: 'late_arrival', orderId }, now);
  }
  raiseCriticalResults(run, now);
  remindOfCriticalResults(chain, now);
  announceNews(chain);
  announceReplacements(chain, now);
  show(run);
}

/** Announces an end that no event announced. Completion and cancellation were announced as events. */
export function announceEnd(run: KitOrderRun): void {
  const { chain } = run;
  const outcome = outcomeOf(chain);
  if (outcome === undefined || chain.ending === undefined || chain.endAnnounced) return;
  chain.endAnnounced = true;
  const order = currentOrder(chain);
  const head = headOf(
    chain,
    order,
    `${order.orderId}/${order.standing.last?.id ?? 0}.${outcome}/ended`,
    new Date(Date.now()).toISOString(),
  );
  enqueue(chain, { ...head, type: 'ended', data: { outcome } });
}
