import { kitOrderName, orderPlacedSignal } from '../../protocol/order/messages.js';
import { kitOrderStart } from '../../protocol/order/start.js';
import type { OrderSnapshot } from '../../service/order-snapshot.js';
import type { Side } from './stage.js';
import { resolvePolicy } from '../../protocol/policies.js';

/** Opens an order as its placing does, without one. */
export async function handOver(
  { temporal, taskQueue }: Pick<Side, 'temporal' | 'taskQueue'>,
  snapshot: OrderSnapshot,
  { notifies }: { notifies: boolean },
): Promise<void> {
  const reference = `open-${snapshot.orderId}`;
  const policy = resolvePolicy('order');
  await temporal.workflow.signalWithStart(kitOrderName, {
    ...kitOrderStart(snapshot, snapshot.orderId, reference, policy),
    taskQueue,
    signal: orderPlacedSignal,
    signalArgs: [{ reference, policy, snapshot, adopted: false, notifies }],
  });
}
