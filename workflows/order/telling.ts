import type { Notification } from '../notifications.js';
import type { Telling } from '../outbox.js';
import { kitOrderId } from './address.js';
import { clear, raise } from './attention.js';
import type { Case } from './case.js';
import type { Attention } from './messages.js';
import type { OrderNotification } from './notifications.js';
import type { Run } from './run.js';

/** How an order's notifications go out, and what becomes of the case when they do not. */
export function orderTelling(run: Run): Telling<OrderNotification> {
  const { kase } = run;
  return {
    asNotification,
    wordsFor,
    delivered() {
      if (!kase.attention.some(isUndelivered)) return;
      clear(kase, isUndelivered, Date.now());
      run.heard = true;
    },
    undelivered() {
      askAboutUndelivered(kase);
      run.heard = true;
    },
  };
}

/** What the product was to be told could not be delivered in time. */
export function askAboutUndelivered(kase: Case): void {
  const { rootOrderId } = kase;
  raise(kase, { key: rootOrderId, orderId: rootOrderId, reason: 'notifications_undelivered' }, Date.now());
}

function isUndelivered({ reason }: Attention): boolean {
  return reason === 'notifications_undelivered';
}

function asNotification(told: OrderNotification): Notification {
  const { id, at, type, data, orderId, rootOrderId, reference, userId } = told;
  const needsLink = type === 'registration_reminder' && userId !== undefined;
  return {
    id,
    at,
    source: kitOrderId(rootOrderId),
    type: `order.${type}`,
    subject: orderId,
    data: {
      orderId,
      rootOrderId,
      ...(reference !== undefined && { reference }),
      ...(userId !== undefined && { userId }),
      ...data,
    },
    ...(needsLink && { portalLink: { userId, orderId } }),
  };
}

function wordsFor(told: OrderNotification): string {
  const what = told.type === 'phase_changed' ? told.data.phase : told.type;
  return what.replaceAll('_', ' ');
}
