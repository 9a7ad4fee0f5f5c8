import { log } from '@temporalio/workflow';
import type { OrderSnapshot } from '../../service/order-snapshot.js';
import { readPassthrough } from './address.js';
import { currentOrder, lastEventId, learn, needsSuccessor, type Case } from './case.js';
import type { Run } from './run.js';
import { readSnapshot } from './snapshot-reader.js';

/** Takes a report in. Called by signal handlers and by whatever read an order: it only records. */
export function hear(run: Run, reported: OrderSnapshot): void {
  const snapshot = readSnapshot(reported);
  if (!snapshot) {
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

/** A replacement's webhook may come before its creation is answered: our own passthrough says which one it is. */
function recogniseReplacement(kase: Case, { orderId, passthrough }: OrderSnapshot): void {
  const ours = readPassthrough(passthrough);
  const claimed = kase.replacements.find(({ n }) => n === ours?.n);
  if (claimed && ours?.root === kase.rootOrderId) claimed.orderId ??= orderId;
}
