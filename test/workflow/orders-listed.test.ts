import { describe, expect, test } from 'vitest';
import { lastResultOf, runsOf } from '../../activities/workflow-runs.js';
import { errors, type OrderFilter, type PolicyChange } from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { all } from '../rig/all.js';
import { namespace, taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/* What depends on Temporal's list of workflows, or on how it ends an activity: the full server, in real time. */

const stage = setStage({ fullServer: true });
const createPath = '/v3/order/testkit';

async function references(filter: OrderFilter): Promise<(string | undefined)[]> {
  return (await all(stage.product.orders.list(filter))).map(({ reference }) => reference);
}

/** Waits until the first attempt has failed. */
async function failsOnce(workflowId: string): Promise<void> {
  await eventually(async () => {
    const { raw } = await stage.temporal.workflow.getHandle(workflowId).describe();
    expect(raw.pendingActivities?.[0]?.lastFailure).toBeTruthy();
  });
}

describe('an order that the service does not take', () => {
  test('is shown and listed as being placed, is cancelled at once, and may be placed again', async () => {
    await stage.sandbox.addFault({ path: '/**', action: { kind: 'refuse' } });
    const input = await stage.input();
    const handle = await stage.product.orders.place(input);
    const { reference } = input;
    await failsOnce(placeKitOrderId(reference));
    const placing = { phase: 'placing', reference, userId: input.order.user_id, attention: [] };
    expect(await (await stage.product.orders.getHandle({ reference })).state()).toMatchObject(placing);
    await eventually(async () => expect(await references({ phase: 'placing' })).toEqual([reference]));
    expect(await references({ userId: input.order.user_id })).toEqual([reference]);

    expect(await handle.cancel()).toEqual({ outcome: 'cancelled', reference });
    await expect(handle.orderId()).rejects.toThrow(errors.PlacingCancelled);
    expect(await handle.cancel(), 'again').toEqual({ outcome: 'cancelled', reference });
    await eventually(async () => expect(await references({ phase: 'placing' })).toEqual([]));
    await stage.sandbox.removeFaults();
    const orderId = await (await stage.product.orders.place(input)).orderId();
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
  });

  test('goes on being placed when the time of its attempts ends while no worker runs', async () => {
    await stage.sandbox.addFault({ path: '/**', action: { kind: 'refuse' } });
    const input = await stage.input();
    await stage.product.orders.place(input);
    const workflowId = placeKitOrderId(input.reference);
    const placing = stage.temporal.workflow.getHandle(workflowId);
    await failsOnce(workflowId);
    await stage.stopWorker();
    await stage.temporal.workflowService.updateActivityOptions({
      namespace,
      execution: { workflowId },
      type: 'createKitOrder',
      activityOptions: { scheduleToCloseTimeout: { seconds: 1 } as never },
      updateMask: { paths: ['schedule_to_close_timeout'] },
    });
    await eventually(async () => {
      const { events } = await placing.fetchHistory();
      expect(events?.filter((event) => event.activityTaskTimedOutEventAttributes != null)).toHaveLength(1);
    });
    await stage.startWorker();
    await eventually(async () => {
      const { status, typedSearchAttributes } = await placing.describe();
      expect(status.name).toBe('RUNNING');
      expect(typedSearchAttributes.get(labAttentionKey)).toEqual(['placing_delayed']);
    });
    // The next attempts come after ten minutes.
    await placing.terminate('the story is over');
  });
});

describe('a reference', () => {
  test('whose placement is terminated during a creation, and placed again at once, waits for that: one kit', async () => {
    const slow = { kind: 'delay', phase: 'before_work', delayMs: 2_500 } as const;
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: slow });
    const input = await stage.input({ policy: { creationTimeout: '2s' } });
    await stage.product.orders.place(input);
    await stage.expectRequests('POST', createPath);
    const workflowId = placeKitOrderId(input.reference);
    await stage.temporal.workflow.getHandle(workflowId).terminate('an operator took it for stuck');
    await eventually(async () => expect(await runsOf(stage.temporal, workflowId)).toHaveLength(1));
    const orderId = await (await stage.product.orders.place(input)).orderId();
    await eventually(async () => {
      const creations = await stage.sandbox.requests({ method: 'POST', path: createPath });
      expect(creations.map(({ outcome }) => outcome)).not.toContain('pending');
    });
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
  });

  test.each([
    ['goes on', false],
    ['has ended', true],
  ])('whose placement is past retention orders no second kit if its order %s', async (_what, isCancelled) => {
    const input = await stage.input();
    const handle = await stage.product.orders.place(input);
    const orderId = await handle.orderId();
    await eventually(async () => expect((await handle.state()).reference).toBe(input.reference));
    if (isCancelled) {
      await handle.cancel();
      await handle.result();
    }
    await eventually(async () => expect(await runsOf(stage.temporal, kitOrderId(orderId))).toHaveLength(1));
    // As if the service showed no passthrough: the order is found by the workflow that follows it.
    const action = { kind: 'answer', status: 200, body: { orders: [], total: 0, page: 1, size: 50 } } as const;
    await stage.sandbox.addFault({ method: 'GET', path: '/orders', action });
    const again = await stage.temporal.workflow.start(placeKitOrderName, {
      workflowId: placeKitOrderId(input.reference),
      taskQueue,
      args: [input],
    });
    expect(await again.result()).toEqual({ orderId, adopted: true });
    expect(await stage.sandbox.orders()).toHaveLength(1);
  });
});

test('a run that an operator has ended leads to the one before it that ended by itself', async () => {
  const kit = await stage.place();
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  await kit.handle.cancel();
  const result = await kit.result();
  const { runId: first } = await workflow.describe();
  // The service sends the kit that was cancelled all the same.
  await kit.move('transit_customer');
  await expect.poll(async () => (await workflow.describe()).runId).not.toBe(first);
  const { runId, workflowId } = await workflow.describe();
  await workflow.terminate('by an operator');
  // The run before it is found by a search, and visibility lags by a moment.
  await expect.poll(() => lastResultOf(stage.temporal, workflowId, { runId })).toEqual(result);
});

test('the policy of all orders that a filter matches is shown, then changed, and no other order’s; one that cannot be is named', async () => {
  const userId = await stage.newUser();
  const waits = { creationTimeout: '1s', creationSettling: '2s' } as const;
  const kits = [
    await stage.place({ userId }),
    await stage.place({ userId }),
    await stage.place({ userId, policy: waits }),
  ];
  const other = await stage.place();
  const ids = kits.map(({ rootOrderId }) => rootOrderId);
  await eventually(async () => {
    const listed = (await all(stage.product.orders.list({ userId }))).map(({ rootOrderId }) => rootOrderId);
    expect(listed).toEqual(expect.arrayContaining(ids));
  });
  const policy = { shippingDeadline: '8d', creationTimeout: '40s' } as const;
  const days = ({ before, after }: Pick<Exclude<PolicyChange, { error: unknown }>, 'before' | 'after'>) =>
    (Date.parse(after.until ?? '') - Date.parse(before.until ?? '')) / 86_400_000;
  const change = async (dryRun: boolean) => {
    const changes = await all(stage.product.orders.setPolicy({ userId }, policy, { dryRun }));
    expect(new Set(changes.map(({ rootOrderId }) => rootOrderId))).toEqual(new Set(ids));
    const failed = changes.flatMap((each) => ('error' in each ? [each] : []));
    expect(failed).toMatchObject([{ rootOrderId: ids[2] }]);
    expect(failed[0]?.error).toBeInstanceOf(errors.OrderInvalid);
    expect(failed[0]?.error.message).toContain('creationSettling');
    return changes.flatMap((each) => ('error' in each ? [] : [days(each)]));
  };
  expect(await change(true)).toEqual([3, 3]);
  expect(await change(false), 'nothing was changed yet').toEqual([3, 3]);
  expect(await change(true)).toEqual([0, 0]);
  expect(days(await other.handle.previewPolicy({ shippingDeadline: '8d' }))).toBe(3);
});
