import { expect, test } from 'vitest';
import { isSearched } from '../../../client/order/order-finder.js';

test.each(['critical', 'CRITICAL', 'Critical'])(
  'a search for critical results finds an order that the service calls %s, and no other',
  (interpretation) => {
    const order = { id: 'order-1', user_id: 'user-1', interpretation } as unknown as Parameters<typeof isSearched>[0];
    expect(isSearched(order, { interpretation: 'critical' })).toBe(true);
    expect(isSearched(order, { interpretation: 'normal' })).toBe(false);
  },
);

test.each(['registered', 'testkit_registered'])('a search for %s finds either spelling of the status', (status) => {
  const orders = ['registered', 'testkit_registered', 'transit_customer'].map((low) => ({
    id: 'order-1',
    events: [{ id: 1, status: `received.testkit.${low}`, created_at: '2026-01-01T00:00:00Z' }],
  }));
  const isFound = (order: object) => isSearched(order as Parameters<typeof isSearched>[0], { status: [status] });
  expect(orders.map(isFound)).toEqual([true, true, false]);
});
