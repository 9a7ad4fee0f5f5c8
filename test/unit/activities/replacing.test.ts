import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import type { ActivityDependencies } from '../../../activities/dependencies.js';
import { placingActivities, type PlacedOrder } from '../../../activities/placing.js';
import { resolveOrderPolicy } from '../../../protocol/order/policy.js';
import { shippingDetails } from '../../rig/cast.js';
import { answering, serviceAt } from '../service/recording-server.js';

const created = '2026-03-01T00:00:00Z';
const event = { id: 1, created_at: created, status: 'failed.testkit.lost' };

/** Tries to replace a failed order whose transaction lists these orders, itself among them. */
async function replace(...listed: { id: string; origin?: string; created_at?: string }[]): Promise<PlacedOrder> {
  const common = {
    ...{ user_id: 'user-1', lab_test: { id: 'invented-test' }, shipping_details: shippingDetails, created_at: created },
    ...{ events: [event], order_transaction: { id: 'transaction-1', orders: listed } },
  };
  const { baseUrl } = await answering(({ method, url = '' }) => {
    const { pathname } = new URL(url, 'http://service');
    if (method === 'POST') return { body: { order: { ...common, id: 'new-kit' }, status: 'success', message: 'made' } };
    if (pathname === '/orders') return { body: { orders: [], total: 0, page: 1, size: 50 } };
    return { body: { ...common, id: pathname.split('/').at(-1) } };
  });
  const { replaceKitOrder } = placingActivities({
    ...{ service: serviceAt(baseUrl), echoesPassthrough: true },
  } as unknown as ActivityDependencies);
  const { creationTimeout, creationSettling } = resolveOrderPolicy();
  const input = {
    ...{ failedOrderId: 'failed', decidedOn: { eventId: 1 }, rootOrderId: 'failed', reference: 'invented-1', n: 2 },
    ...{ chain: ['failed'], claimedAt: created, triedBefore: false, creationTimeout, creationSettling },
  };
  const hour = 3_600_000;
  const times = { scheduledTimestampMs: Date.now(), startToCloseTimeoutMs: hour, scheduleToCloseTimeoutMs: hour };
  return (await new MockActivityEnvironment(times).run(() => replaceKitOrder(input))) as PlacedOrder;
}

test.each<[string, object, object]>([
  ['a later time', { created_at: created }, { created_at: '2026-03-02T00:00:00Z' }],
  ['no time', { created_at: created }, {}],
  ['a time that cannot be read', { created_at: created }, { created_at: 'invented' }],
  [
    'a local time, as the failed order in the list',
    { created_at: '2026-02-28T19:00:00' },
    { created_at: '2026-02-28T20:00:00' },
  ],
])('a redraw that the service lists with %s wins over a replacement', async (_, failed, redraw) => {
  const placed = await replace({ id: 'failed', ...failed }, { id: 'redraw', origin: 'redraw', ...redraw });
  expect(placed).toMatchObject({ adopted: true, snapshot: { orderId: 'redraw' } });
});

test('a redraw before the failed order is not the one that follows it', async () => {
  const earlier = { id: 'redraw', origin: 'redraw' };
  const placed = await replace(earlier, { id: 'failed', origin: 'redraw' });
  expect(placed).toMatchObject({ adopted: false, snapshot: { orderId: 'new-kit' } });
});
