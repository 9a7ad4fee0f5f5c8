import type { OrderEvent } from '../../service/order-snapshot.js';
import { chainOf, findOrder, lastEventId, type Announced, type Case, type ChainOrder } from './case.js';
import { readStatus } from './lifecycle.js';
import type { NotificationHead, OrderNotification } from './notifications.js';

/** Puts a notification into the outbox. Where the worker has no target, nothing is kept and nothing scheduled. */
export function enqueue(kase: Case, notification: OrderNotification): void {
  if (kase.notifies !== false) kase.outbox.push(notification);
}

export function headOf(kase: Case, { orderId, greatest }: ChainOrder, id: string, at: string): NotificationHead {
  return {
    id,
    at,
    orderId,
    rootOrderId: kase.rootOrderId,
    ...(kase.reference !== undefined && { reference: kase.reference }),
    ...(greatest.userId !== undefined && { userId: greatest.userId }),
  };
}

/** Announces what is new in any order of the chain: its results, corrections, cancellation, and the phase it is in. */
export function announceNews(kase: Case): void {
  for (const order of chainOf(kase)) {
    const before = kase.announced.find(({ orderId }) => orderId === order.orderId);
    // Without an event there is nothing to tell of, and nothing that was told.
    if (!order.standing.last || (before && lastEventId(order) <= before.eventId)) continue;
    for (const event of order.events) if (event.id > (before?.eventId ?? -1)) announceEvent(kase, order, event);
    announcePhase(kase, order, before);
    remember(kase, order);
  }
}

/** Tells of each new kit once, whether the creation's answer or a webhook made it known. */
export function announceReplacements(kase: Case, now: number): void {
  for (const replacement of kase.replacements) {
    const placed = findOrder(kase, replacement.orderId);
    if (replacement.told || !placed) continue;
    const id = `${placed.orderId}/${placed.events[0]?.id ?? 0}/replacement`;
    const data = { replaces: replacement.replaces };
    enqueue(kase, { ...headOf(kase, placed, id, new Date(now).toISOString()), type: 'replacement', data });
    replacement.told = true;
  }
}

/** Takes everything known so far as announced: by an earlier run. */
export function remember(kase: Case, order: ChainOrder): void {
  const problem = order.standing.problem?.status;
  const announced: Announced = {
    orderId: order.orderId,
    eventId: lastEventId(order),
    phase: order.standing.phase,
    ...(problem !== undefined && { problem }),
  };
  kase.announced = [...kase.announced.filter(({ orderId }) => orderId !== order.orderId), announced];
}

function announceEvent(kase: Case, order: ChainOrder, event: OrderEvent): void {
  const { top, low } = readStatus(event.status);
  const { interpretation } = order.greatest;
  const head = (type: OrderNotification['type']) =>
    headOf(kase, order, `${order.orderId}/${event.id}/${type}`, event.at);
  const data = interpretation === undefined ? {} : { interpretation };
  if (low === 'corrected') enqueue(kase, { ...head('correction'), type: 'correction', data });
  else if (top === 'completed') enqueue(kase, { ...head('result'), type: 'result', data });
  if (top === 'cancelled') {
    enqueue(kase, { ...head('cancellation'), type: 'cancellation', data: { status: event.status } });
  }
}

/** One announcement for where the order is now, however many events brought it there. */
function announcePhase(kase: Case, order: ChainOrder, before: Announced | undefined): void {
  const { phase, problem, turn } = order.standing;
  if (!turn || (before?.phase === phase && before.problem === problem?.status)) return;
  enqueue(kase, {
    ...headOf(kase, order, `${order.orderId}/${turn.id}/phase_changed`, turn.at),
    type: 'phase_changed',
    data: {
      phase,
      status: turn.status,
      ...(turn.detail !== undefined && { detail: turn.detail }),
      ...(problem !== undefined && { problem: problem.status }),
    },
  });
}
