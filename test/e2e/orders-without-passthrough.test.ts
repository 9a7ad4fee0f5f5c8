import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { AmbiguousOrder } from '../../client/index.js';
import { placeKitOrderId } from '../../protocol/ids.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { kitFor } from '../rig/cast.js';
import { patience, stack } from './stack.js';

const lab = stack({ worker: { SERVICE_ECHOES_PASSTHROUGH: 'false' }, notifies: false });

beforeAll(() => lab.sandbox.changeSettings({ echoPassthrough: false }).then(() => undefined));

/** So short that an attempt after a lost answer comes soon. */
const quick = { creationTimeout: '8s' } as const;

describe('if the service does not show an order’s passthrough again', () => {
  test('a lost answer to a successful creation makes one kit', async () => {
    const dropped = { kind: 'drop_response' } as const;
    await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: dropped });
    const { handle, orderId, userId, reference } = await lab.place(quick);
    expect((await lab.ordersOf(userId)).map(({ order }) => order.id)).toEqual([orderId]);
    expect(await lab.creations()).toBe(1);
    await expect.poll(async () => (await handle.state()).reference, patience).toBe(reference);
  });

  test('two references for the same person at once make two kits', async () => {
    const userId = await lab.newUser();
    const references = [`first-${userId}`, `second-${userId}`];
    const handles = await Promise.all(
      references.map((reference) => lab.labs.orders.place(kitFor(userId, reference, quick))),
    );
    const ids = await Promise.all(handles.map((handle) => handle.orderId()));
    expect(new Set(ids).size).toBe(2);
    expect(await lab.ordersOf(userId)).toHaveLength(2);
    for (const handle of handles) {
      await expect.poll(async () => (await handle.state()).reference, patience).toBe(handle.reference);
    }
  });

  test('the orders of other references are not mistaken for one that was lost', async () => {
    const first = await lab.place(quick);
    const second = await lab.labs.orders.place(kitFor(first.userId, `next-${randomUUID()}`, quick));
    expect(await second.orderId()).not.toBe(first.orderId);
  });

  test('nothing is created when two orders could be the one that was lost', async () => {
    const userId = await lab.newUser();
    const reference = `ambiguous-${userId}`;
    const slow = { kind: 'delay', delayMs: 16_000, phase: 'after_work' } as const;
    await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: slow });
    const handle = await lab.labs.orders.place(kitFor(userId, reference, quick));
    await expect.poll(async () => (await lab.ordersOf(userId)).length, patience).toBe(1);
    await placeOutside(userId);
    const refused = handle.orderId();
    await expect(refused).rejects.toThrow(AmbiguousOrder);
    for (const { order } of await lab.ordersOf(userId)) await expect(refused).rejects.toThrow(order.id);
    expect(await lab.ordersOf(userId)).toHaveLength(2);
    const placing = await lab.rig.client.workflow.getHandle(placeKitOrderId(reference)).describe();
    expect(placing.typedSearchAttributes.get(labAttentionKey)).toEqual(['ambiguous_order']);
  });
});

/** The same kit to the same address, ordered by another system. */
async function placeOutside(userId: string): Promise<void> {
  const { url, apiKey } = lab.service;
  const { order } = kitFor(userId, 'none');
  const answer = await fetch(`${url}/v3/order/testkit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-api-key': apiKey },
    body: JSON.stringify(order),
  });
  expect(answer.status).toBe(200);
}

test('a worker without a target for notifications schedules none', async () => {
  const { handle, orderId } = await lab.place();
  for (const status of ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed']) {
    await lab.sandbox.move(orderId, status);
  }
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  expect(await lab.activitiesOf(orderId)).not.toContain('notify');
  expect(lab.receiver.about(orderId)).toEqual([]);
});
