import { log } from '@temporalio/workflow';
import { reading } from '../proxies.js';
import { currentOrder, unreadOrder } from './case.js';
import { refusalOf } from '../command-queue.js';
import { hear } from './intake.js';
import type { Run } from './run.js';

/** Reads the orders that a transaction names and no webhook ever told of. */
export async function readUnreadOrders(run: Run): Promise<void> {
  const { kase } = run;
  for (let orderId = unreadOrder(kase); orderId !== undefined; orderId = unreadOrder(kase)) {
    const answer = await readOrder(run, orderId);
    // Also one that was read: the service may answer with another spelling of its id.
    kase.unreadable.push(orderId);
    // In an outage it is tried again; its own webhooks will tell of it, too.
    if (answer === 'unanswered') kase.recheckAt ??= Date.now() + kase.policy.recheckEvery;
  }
}

/**
 * An order that was known and is gone ends the case; one that cannot be read now is as silent as before. A refusal
 * other than 404 (an id that is no UUID) will be one next time, too.
 */
export async function readOrder(run: Run, orderId: string): Promise<'read' | 'gone' | 'refused' | 'unanswered'> {
  try {
    const snapshot = await reading.readOrder.executeWithOptions({ summary: `read order ${orderId.slice(0, 8)}` }, [
      orderId,
    ]);
    if (snapshot) hear(run, snapshot);
    else if (orderId === currentOrder(run.kase).orderId) run.kase.ending = 'order_gone';
    return snapshot ? 'read' : 'gone';
  } catch (error) {
    const { type, message } = refusalOf(error);
    log.warn('order could not be read', { orderId, type, message });
    return type === 'ServiceRefused' ? 'refused' : 'unanswered';
  }
}
