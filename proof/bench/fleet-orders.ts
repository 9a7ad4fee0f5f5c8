import { randomUUID } from 'node:crypto';
import { signWebhook } from '../../client/webhooks/sign.js';
import { kitOrderId } from '../../protocol/ids.js';
import { handOver } from './hand-over.js';
import { untilQuiet } from './lives.js';
import { inParallel } from './parallel.js';
import type { Side } from './stage.js';
import { atOnce, secret, type Endpoint } from './webhooks.js';

/* The open orders of a fleet, and the webhooks about them. */

export const width = 20;

/** The status that every order has at last, and the phase that it brings, which no order has before. */
export const last = { status: 'collecting_sample.testkit.with_customer', phase: 'with_customer' } as const;
const path = [
  'received.testkit.ordered',
  'collecting_sample.testkit.transit_customer',
  'collecting_sample.testkit.out_for_delivery',
  last.status,
];

/** Every third order has had two webhooks before the restart. */
const earlierStepsOf = (index: number): readonly number[] => (index % 3 === 0 ? [1, 2] : []);

export interface OpenOrder {
  orderId: string;
  userId: string;
  /** When it was placed. */
  at: string;
}

/** Opened by the hand-over, and quiet. Each waits for the one before it: a fleet of thousands would be too long a backlog. */
export async function openFleet(side: Side, ingress: Endpoint, orders: number): Promise<OpenOrder[]> {
  return inParallel(orders, width, async (index) => {
    const order = { orderId: randomUUID(), userId: randomUUID(), at: new Date().toISOString() };
    const { orderId, userId, at } = order;
    const events = [{ id: 0, at, status: path[0] ?? '' }];
    const snapshot = { orderId, userId, status: 'received', events, createdAt: at };
    await handOver(side, snapshot, { notifies: false });
    await untilQuiet(workflowOf(side, order));
    for (const step of earlierStepsOf(index)) {
      await report(ingress, [order], step);
      await untilQuiet(workflowOf(side, order));
    }
    return order;
  });
}

/** Sends the webhook of the last step to each order. */
export function reportLast(ingress: Endpoint, orders: readonly OpenOrder[]): Promise<void> {
  return report(ingress, orders, path.length - 1);
}

/** As the service does: the whole order, with all its events so far. */
async function report(ingress: Endpoint, orders: readonly OpenOrder[], step: number): Promise<void> {
  await inParallel(orders.length, atOnce, async (index) => {
    const order = orders[index];
    if (order) await ingress.send(signWebhook({ body: bodyOf(order, step), secret }));
  });
}

function bodyOf({ orderId, userId, at }: OpenOrder, step: number): Record<string, unknown> {
  const events = path.slice(0, step + 1).map((status, id) => ({ id, created_at: at, status }));
  const [status = ''] = (path[step] ?? '').split('.', 1);
  const data = { id: orderId, user_id: userId, status, created_at: at, updated_at: new Date().toISOString(), events };
  return { event_type: 'labtest.order.updated', data };
}

export function workflowOf({ temporal }: Side, order: OpenOrder | undefined) {
  return temporal.workflow.getHandle(kitOrderId(order?.orderId ?? ''));
}
