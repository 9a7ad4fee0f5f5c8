import { beforeAll, expect, test } from 'vitest';
import { followed } from '../rig/followed.js';
import { patience, stack } from './stack.js';

/* The settings of a deployment whose service shows no passthrough again, and whose product has no endpoint for notifications. */

const lab = stack({ worker: { SERVICE_ECHOES_PASSTHROUGH: 'false' }, notifies: false });

beforeAll(() => lab.sandbox.changeSettings({ echoPassthrough: false }).then(() => undefined));

test('a lost answer makes one kit, a replacement joins its chain, the results come, and nobody is notified', async () => {
  const dropped = { kind: 'drop_response' } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit', times: 1, action: dropped });
  // So short that an attempt after a lost answer comes soon.
  const { handle, orderId, userId, reference } = await lab.place({
    creationTimeout: '8s',
    creationSettling: '12s',
    onLost: 'replace',
  });
  expect((await lab.ordersOf(userId)).map(({ order }) => order.id)).toEqual([orderId]);
  expect(await lab.creations()).toBe(1);
  await expect.poll(async () => (await handle.state()).reference, patience).toBe(reference);

  for (const status of ['transit_customer', 'lost']) await lab.sandbox.move(orderId, status);
  await expect.poll(async () => (await followed(handle)).chain.length, patience).toBe(2);
  const { orderId: replacement } = await followed(handle);
  for (const status of ['transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed'])
    await lab.sandbox.move(replacement, status);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', orderId: replacement });
  expect(await lab.activitiesOf(orderId)).not.toContain('notify');
});
