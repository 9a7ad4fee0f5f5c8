import type { OrderSnapshot } from '../../service/order-snapshot.js';
import { readPassthrough } from './address.js';
import { learn, type Case } from './case.js';
import type { Run } from './run.js';

/** Takes a report in. Called by signal handlers and by whatever read an order: it only records. */
export function hear(run: Run, snapshot: OrderSnapshot): void {
  if (!learn(run.kase, snapshot)) return;
  recogniseReplacement(run.kase, snapshot);
  run.heard = true;
}

/** A replacement's webhook may come before its creation is answered: our own passthrough says which one it is. */
function recogniseReplacement(kase: Case, { orderId, passthrough }: OrderSnapshot): void {
  const ours = readPassthrough(passthrough);
  const claimed = kase.replacements.find(({ n }) => n === ours?.n);
  if (claimed && ours?.root === kase.rootOrderId) claimed.orderId ??= orderId;
}
