import { expect, test } from 'vitest';
import { isSearched } from '../../../client/orders/order-search.js';

test.each(['critical', 'CRITICAL', 'Critical'])(
  'a search for critical results finds an order that the service calls %s, and no other',
  (interpretation) => {
    const order = { id: 'order-1', user_id: 'user-1', interpretation } as unknown as Parameters<typeof isSearched>[0];
    expect(isSearched(order, { interpretation: 'critical' })).toBe(true);
    expect(isSearched(order, { interpretation: 'normal' })).toBe(false);
  },
);
