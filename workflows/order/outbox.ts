import { condition, isCancellation } from '@temporalio/workflow';
import { notifying } from '../proxies.js';
import { clear, raise } from './attention.js';
import type { Run } from './run.js';
import { refusalOf } from './commands.js';

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
  const question = {
    key: kase.rootOrderId,
    orderId: kase.rootOrderId,
    reason: 'notifications_undelivered',
  } as const;
  try {
    const summary = batch.map(({ type }) => type).join(', ');
    const { delivered } = await notifying(kase.policy.notificationDeadline).notify.executeWithOptions({ summary }, [
      batch,
    ]);
    kase.outbox = kase.outbox.filter(({ id }) => !delivered.includes(id));
    if (!kase.attention.some(({ reason }) => reason === question.reason)) return;
    clear(kase, ({ reason }) => reason === question.reason, Date.now());
  } catch (error) {
    refusalOf(error);
    raise(kase, question, Date.now());
  }
  run.heard = true;
}
