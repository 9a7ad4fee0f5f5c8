import type { OrderPolicy } from '../../../protocol/order/policy.js';
import type { OrderState } from '../../../protocol/order/state.js';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { kitOrder } from '../../../workflows/order/workflow.js';
import { Life, type Answers } from '../life.js';
import { kitOf, pathTo, start } from './histories.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* What the lives of orders are made of. */

export const orderId = '00000000-0000-4000-8000-00000000000a';
export const newId = '00000000-0000-4000-8000-00000000000b';

export const opening = { workflow: kitOrder, type: 'kitOrder', workflowId: `kit-order/${orderId}`, now: start };

export const shownAt = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}): OrderSnapshot => ({
  ...kitOf(orderId, statuses, more),
  userId: 'user-1',
});

/** An order that has come so far when it is handed over; its events are a day apart. */
export async function life(
  statuses: readonly string[],
  policy: OrderPolicy = {},
  answers: Answers = {},
  more: object = {},
  now = start,
): Promise<Life> {
  const snapshot = shownAt(statuses);
  const readChain = { snapshots: [snapshot], gone: false, rootOrderId: orderId, notifies: true };
  const begun = new Life({ ...opening, now }, { readOrder: snapshot, readChain, ...answers }, start);
  const resolved = resolvePolicy('order', policy);
  const placed = { reference: 'ref-1', policy: resolved, adopted: false, notifies: true, snapshot, ...more };
  return begun.start({ rootOrderId: orderId }, { name: 'orderPlaced', argument: placed });
}

/** The same, handed over right after its last event. Hours are counted from the first. */
export async function lateLife(statuses: readonly string[], ...more: [OrderPolicy?, Answers?]): Promise<Life> {
  const [policy, answers] = more;
  return life(statuses, policy, answers, {}, Math.max(...shownAt(statuses).events.map(({ at }) => Date.parse(at))));
}

export async function report(of: Life, statuses: readonly string[], more: Partial<OrderSnapshot> = {}): Promise<void> {
  const snapshot = shownAt(statuses, more);
  of.answers['readOrder'] = snapshot;
  await of.signal('orderChanged', snapshot);
}

export const shipped = pathTo('transit_customer');
export const lost = [...shipped, 'lost'];
export const awaited = ['ordered', 'awaiting_registration'];

export const refusal = (type: string, details?: object | null) => ({
  failure: { type, ...(details !== undefined && { details }) },
});
export const notFound = { fields: [], status: 404 };

export const stateIn = (reply: unknown) => (reply as { value: OrderState }).value;
export const attentionIn = (reply: unknown) => stateIn(reply).attention.map(({ reason }) => reason);
