import { log } from '@temporalio/workflow';
import type { OrderEvent, OrderSnapshot } from '../../service/order-snapshot.js';
import { readPassthrough } from './address.js';
import { currentOrder, lastEventId, learn, needsSuccessor, type Case } from './case.js';
import type { Run } from './run.js';

/** Takes a report in. Called by signal handlers and by whatever read an order: it only records. */
export function hear(run: Run, snapshot: OrderSnapshot): void {
  if (!isSnapshot(snapshot)) {
    // A malformed signal must not stop the task: it is the sender's fault, and the order's next deadline reads it.
    log.error('a signal that is no order snapshot was dropped');
    return;
  }
  const { kase } = run;
  if (!learn(kase, snapshot)) return;
  recogniseReplacement(kase, snapshot);
  reopen(kase);
  run.heard = true;
}

/** Giving up ends the waiting, not the truth: an order that moves on before its end was told is followed again. */
function reopen(kase: Case): void {
  if (kase.ending !== 'failed' && kase.ending !== 'unresolved') return;
  const order = currentOrder(kase);
  const told = kase.announced.find(({ orderId }) => orderId === order.orderId)?.eventId ?? -1;
  if (lastEventId(order) <= told || needsSuccessor(order) || order.standing.problem) return;
  delete kase.ending;
  delete kase.endTold;
}

function isSnapshot(value: Partial<OrderSnapshot> | null | undefined): boolean {
  const isEvent = (event: Partial<OrderEvent> | null) =>
    typeof event?.id === 'number' && typeof event.at === 'string' && typeof event.status === 'string';
  return typeof value?.orderId === 'string' && Array.isArray(value.events) && value.events.every(isEvent);
}

/** A replacement's webhook may come before its creation is answered: our own passthrough says which one it is. */
function recogniseReplacement(kase: Case, { orderId, passthrough }: OrderSnapshot): void {
  const ours = readPassthrough(passthrough);
  const claimed = kase.replacements.find(({ n }) => n === ours?.n);
  if (claimed && ours?.root === kase.rootOrderId) claimed.orderId ??= orderId;
}
