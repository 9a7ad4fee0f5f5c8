import { expect, test } from 'vitest';
import { OrderInvalid, type OrderPolicy, type PolicyChanged, type SetPolicyOptions } from '../../client/index.js';
import type { PolicyPreview } from '../../protocol/order/messages.js';
import { eventually } from '../rig/eventually.js';
import { all } from '../rig/all.js';
import { setStage } from './story.js';

// The full server: the one that skips time cannot list orders.
const stage = setStage({ notifies: false, fullServer: true });

test('the policy of all orders that a filter matches is shown, then changed, and no other order’s', async () => {
  const userId = await stage.newUser();
  const kits = [await stage.place({ userId }), await stage.place({ userId })];
  const other = await stage.place();
  await areListed(userId, kits);
  const policy = { shippingDeadline: '8d' } as const;
  const shown = await changesOf(userId, policy, { dryRun: true });
  const days = ({ before, after }: PolicyPreview) =>
    (Date.parse(after.until ?? '') - Date.parse(before.until ?? '')) / 86_400_000;
  const ids = kits.map(({ rootOrderId }) => rootOrderId).toSorted();
  expect(shown.map(({ rootOrderId }) => rootOrderId).toSorted()).toEqual(ids);
  expect(shown.map(days)).toEqual([3, 3]);
  // Nothing was changed yet: the same is shown again.
  const changed = await changesOf(userId, policy);
  expect(changed).toEqual(shown);
  expect((await changesOf(userId, policy, { dryRun: true })).map(days)).toEqual([0, 0]);
  expect(days(await other.handle.previewPolicy(policy))).toBe(3);
});

test('an order whose policy cannot be changed is named with the reason, and stops no other', async () => {
  const userId = await stage.newUser();
  const waits = { creationTimeout: '1s', creationSettling: '2s' } as const;
  const kits = [
    await stage.place({ userId, policy: { creationSettling: '5m' } }),
    await stage.place({ userId, policy: waits }),
    await stage.place({ userId, policy: { creationSettling: '6m' } }),
  ];
  await areListed(userId, kits);
  const policy = { creationTimeout: '4m' } as const;
  for (const dryRun of [true, false]) {
    const changes = await all(stage.product.orders.setPolicy({ userId }, policy, { dryRun }));
    expect(new Set(changes.map(idOf))).toEqual(new Set(kits.map(idOf)));
    const failed = changes.flatMap((change) => ('error' in change ? [change] : []));
    expect(failed.map(idOf)).toEqual([idOf(kits[1])]);
    expect(failed[0]?.error).toBeInstanceOf(OrderInvalid);
    expect(failed[0]?.error.message).toContain('creationSettling');
  }
});

/** Waits until Temporal lists the orders. It also lists a placing that still runs, which has no id. */
async function areListed(userId: string, kits: readonly { rootOrderId: string }[]): Promise<void> {
  await eventually(async () => {
    const listed = await all(stage.product.orders.list({ userId }));
    expect(listed.map(({ rootOrderId }) => rootOrderId)).toEqual(expect.arrayContaining(kits.map(idOf)));
  });
}

function idOf(kit: { rootOrderId: string } | undefined): string | undefined {
  return kit?.rootOrderId;
}

/** All of them succeed. */
async function changesOf(userId: string, policy: OrderPolicy, options?: SetPolicyOptions): Promise<PolicyChanged[]> {
  const changes = await all(stage.product.orders.setPolicy({ userId }, policy, options));
  return changes.map((change) => {
    if ('error' in change) throw change.error;
    return change;
  });
}
