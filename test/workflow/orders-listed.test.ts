import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { lastResultOf, runsOf } from '../../activities/workflow-runs.js';
import { errors, type OrderFilter, type PolicyChange } from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { placeKitOrderName } from '../../protocol/order/placing-messages.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { all } from '../rig/all.js';
import { signed, defaultInstallation } from '../../service/installation.js';
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
    const input = await stage.input({ policy: { creationTimeout: '2s', creationSettling: '3s' } });
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

describe('an order that exists already', () => {
  const adopt = async (orderId: string, reference: string, dryRun = false) =>
    (await stage.product.orders.adopt({ orderId, reference }, { dryRun })).outcome;

  test('is followed by its webhook, and found, listed and reported by its reference once it is adopted', async () => {
    const { order } = await stage.sandbox.createOrder();
    const kit = await eventually(() => stage.follow(order.id));
    const reference = `mine-${order.id}`;
    expect(await adopt(order.id, reference, true)).toBe('adopted');
    expect(await kit.expectState({})).not.toHaveProperty('reference');
    expect(await adopt(order.id.toUpperCase(), reference)).toBe('adopted');
    expect(await adopt(order.id, reference), 'again').toBe('already_adopted');
    const state = await kit.expectState({ reference });
    expect(await (await stage.product.orders.getHandle({ reference })).state()).toEqual(state);
    await eventually(async () => expect(await references({ userId: state.userId ?? '' })).toEqual([reference]));
    await kit.move('transit_customer');
    await eventually(() => expect(stage.receiver.about(order.id).at(-1)?.data).toMatchObject({ reference }));

    await expect(adopt(order.id, 'another')).rejects.toThrow(errors.OrderTaken);
    const { order: other } = await stage.sandbox.createOrder();
    await expect(adopt(other.id, reference)).rejects.toThrow(errors.ReferenceConflict);
    // The worker refuses it, too: a backend in another language does not look before.
    const args = [{ kind: 'existing', orderId: other.id, reference }];
    const inOther = { workflowId: placeKitOrderId(reference), taskQueue, args };
    const refusal = stage.temporal.workflow.execute(placeKitOrderName, inOther);
    await expect(refusal).rejects.toMatchObject({ cause: { type: 'ReferenceConflict' } });
    await expect(adopt(randomUUID(), 'unknown')).rejects.toThrow(errors.OrderNotFound);
    const { handle, rootOrderId } = await stage.place();
    expect(await adopt(rootOrderId, handle.reference ?? '')).toBe('already_adopted');
    expect(await stage.sandbox.orders()).toHaveLength(3);
  });

  test('is adopted by the id of its redraw, though no webhook has come and it has ended', async () => {
    const webhook = false;
    const { order } = await stage.sandbox.createOrder({ webhook });
    for (const status of ['delivered_to_lab', 'sample_error']) await stage.sandbox.move(order.id, { status, webhook });
    const { order: redraw } = await stage.sandbox.redraw(order.id, { webhook });
    await stage.sandbox.move(redraw.id, { status: 'completed', webhook });
    expect(await adopt(redraw.id, `mine-${order.id}`)).toBe('adopted');
    const mine = await stage.product.orders.getHandle({ reference: `mine-${order.id}` });
    expect(await mine.result()).toMatchObject({ rootOrderId: order.id, orderId: redraw.id, outcome: 'completed' });
  });

  test('is adopted by the id of a replacement that nothing but its own workflow leads to the chain', async () => {
    const { order } = await stage.sandbox.createOrder({ patientKnown: true });
    const kit = await eventually(() => stage.follow(order.id));
    await stage.sandbox.changeSettings({ echoPassthrough: false });
    await kit.move('transit_customer', 'lost');
    const { orderId } = await kit.handle.replaceKit({ orderId: order.id });
    expect(await adopt(orderId, `mine-${order.id}`)).toBe('adopted');
    await kit.expectState({ rootOrderId: order.id, orderId, reference: `mine-${order.id}` });
    // The run that passes things on ends with its order only.
    await kit.move('cancelled');
    await stage.finish(kitOrderId(orderId));
  });

  test('takes one reference of two that come at once, and takes it again after an operator has ended its workflow', async () => {
    const { order } = await stage.sandbox.createOrder({ webhook: false });
    const both = ['one', 'two'].map((name) => `${name}-${order.id}`);
    const answers = await Promise.allSettled(both.map((reference) => adopt(order.id, reference)));
    const [refused] = answers.filter(({ status }) => status === 'rejected');
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(refused).toMatchObject({ reason: { name: 'OrderTaken' } });
    const reference = both[answers.findIndex(({ status }) => status === 'fulfilled')] ?? '';
    const kit = await stage.follow(order.id);
    await kit.expectState({ reference });
    await stage.temporal.workflow.getHandle(kitOrderId(order.id)).terminate('by an operator');
    await stage.sandbox.move(order.id, 'transit_customer');
    await kit.expectState({ phase: 'in_transit_to_customer' });
    expect(await kit.expectState({})).not.toHaveProperty('reference');
    expect(await adopt(order.id, reference)).toBe('adopted');
    await kit.expectState({ reference });
  });

  test('that another installation placed, or a placing here, is refused another reference', async () => {
    for (const [passthrough, owner] of [
      ['labops/another:-:theirs:1', 'installation another'],
      [signed('labops:-:ours:1', defaultInstallation), 'reference ours'],
    ] as const) {
      const { order } = await stage.sandbox.createOrder({ passthrough, webhook: false });
      const refusal = { name: 'OrderTaken', message: expect.stringContaining(owner) as string };
      await expect(adopt(order.id, `mine-${order.id}`)).rejects.toMatchObject(refusal);
    }
  });
});
