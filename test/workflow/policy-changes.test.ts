import { expect, test } from 'vitest';
import type { PolicyChange } from '../../client/index.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

// The full server: the one that skips time cannot list orders.
const stage = setStage({ notifies: false, fullServer: true });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('the policy of all orders that a filter matches is shown, then changed, and no other order’s', async () => {
  const userId = await stage.newUser();
  const kits = [await stage.place({ userId }), await stage.place({ userId })];
  const other = await stage.place();
  await eventually(async () => expect(await all(stage.product.orders.list({ userId }))).toHaveLength(2));
  const policy = { shippingDeadline: '8d' } as const;
  const shown = await all(stage.product.orders.setPolicy({ userId }, policy, { dryRun: true }));
  const days = ({ before, after }: PolicyChange) =>
    (Date.parse(after.until ?? '') - Date.parse(before.until ?? '')) / 86_400_000;
  const ids = kits.map(({ rootOrderId }) => rootOrderId).toSorted();
  expect(shown.map(({ rootOrderId }) => rootOrderId).toSorted()).toEqual(ids);
  expect(shown.map(days)).toEqual([3, 3]);
  // Nothing was changed yet: the same is shown again.
  const changed = await all(stage.product.orders.setPolicy({ userId }, policy));
  expect(changed).toEqual(shown);
  expect((await all(stage.product.orders.setPolicy({ userId }, policy, { dryRun: true }))).map(days)).toEqual([0, 0]);
  expect(days({ ...(await other.handle.previewPolicy(policy)), rootOrderId: '' })).toBe(3);
});
