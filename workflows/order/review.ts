import { announceNews, announceReplacements, enqueue, headOf } from './announcements.js';
import { clear, clearAnswered, raise } from './attention.js';
import { currentOrder, lateArrivals, outcomeOf } from './case.js';
import type { Run } from './run.js';
import { show } from './visibility.js';

/** Brings everything in line with what is known now: announcements, questions, and what operators see. */
export function review(run: Run): void {
  const { kase } = run;
  const now = Date.now();
  clearAnswered(kase, now);
  const late = lateArrivals(kase).map(({ orderId }) => orderId);
  clear(kase, ({ reason, orderId }) => reason === 'late_arrival' && !late.includes(orderId), now);
  for (const orderId of late) {
    raise(kase, { key: `${orderId}/late_arrival`, reason: 'late_arrival', orderId }, now);
  }
  announceNews(kase);
  announceReplacements(kase, now);
  show(run);
}

/** Tells of an end that no event announced. Completion and cancellation were told as events. */
export function announceEnd(run: Run): void {
  const { kase } = run;
  const outcome = outcomeOf(kase);
  if (outcome === undefined || kase.ending === undefined || kase.endTold) return;
  kase.endTold = true;
  const order = currentOrder(kase);
  const head = headOf(
    kase,
    order,
    `${order.orderId}/${order.standing.last?.id ?? 0}.${outcome}/ended`,
    new Date(Date.now()).toISOString(),
  );
  enqueue(kase, { ...head, type: 'ended', data: { outcome } });
}
