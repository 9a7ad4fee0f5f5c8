import { condition, isCancellation } from '@temporalio/workflow';
import { notifying } from '../proxies.js';
import { clear, raise } from './attention.js';
import type { Case } from './case.js';
import type { Attention } from './messages.js';
import type { OrderNotification } from './notifications.js';
import type { Run } from './run.js';
import { refusalOf } from './command-queue.js';

/** So many go in one activity: a burst costs one, and one that fails late repeats little. */
const batchSize = 20;

/**
 * Empties the outbox, beside everything else: no fold and no command ever waits for a receiver. Ends only when it is
 * cancelled.
 */
export async function keepDelivering(run: Run): Promise<void> {
  const { kase } = run;
  try {
    for (;;) {
      await condition(() => kase.notifies === true && kase.outbox.length > 0);
      await deliverBatch(run);
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
}

async function deliverBatch(run: Run): Promise<void> {
  const { kase } = run;
  const batch = kase.outbox.slice(0, batchSize);
  try {
    const summary = `tell: ${batch.map(wordsFor).join(', ')}`;
    const { delivered } = await notifying(kase.policy.notificationDeadline).notify.executeWithOptions({ summary }, [
      batch,
    ]);
    kase.outbox = kase.outbox.filter(({ id }) => !delivered.includes(id));
    if (!kase.attention.some(isUndelivered)) return;
    clear(kase, isUndelivered, Date.now());
  } catch (error) {
    refusalOf(error);
    askAboutUndelivered(kase);
  }
  run.heard = true;
}

/** What the product was to be told could not be delivered in time. */
export function askAboutUndelivered(kase: Case): void {
  const { rootOrderId } = kase;
  raise(kase, { key: rootOrderId, orderId: rootOrderId, reason: 'notifications_undelivered' }, Date.now());
}

function isUndelivered({ reason }: Attention): boolean {
  return reason === 'notifications_undelivered';
}

function wordsFor(notification: OrderNotification): string {
  const what = notification.type === 'phase_changed' ? notification.data.phase : notification.type;
  return what.replaceAll('_', ' ');
}
