import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { OrderInvalid, OrderRefused, ReferenceConflict } from '../../client/orders/errors.js';
import { kitOrderId, placeKitOrderId } from '../../workflows/order/address.js';
import { orderPlacedSignal, placeKitOrderName, stateQuery, type OrderPlaced } from '../../workflows/order/messages.js';
import { resolvePolicy } from '../../workflows/order/policy.js';
import { labAttentionKey } from '../../workflows/search-attributes.js';
import { taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

const stage = setStage();
const createPath = '/v3/order/testkit';

describe('exactly one kit', () => {
  test('is ordered when the answer to its creation is lost', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.seesRequests('POST', createPath);
    await stage.skip('1 minute');
    const [placed] = await stage.sandbox.orders();
    expect(await handle.orderId()).toBe(placed?.order.id);
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('for a known patient likewise', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: '/v3/order', times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input({ kind: 'with_patient' }));
    await stage.seesRequests('POST', '/v3/order');
    await stage.skip('1 minute');
    await handle.orderId();
    expect(await stage.sandbox.orders()).toHaveLength(1);
  });

  test('is ordered when it is placed twice, and both get the same order', async () => {
    const input = await stage.input();
    const [one, other] = await Promise.all([stage.product.orders.place(input), stage.product.orders.place(input)]);
    expect(await one.orderId()).toBe(await other.orderId());
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('is ordered when the service is down for an hour', async () => {
    const fault = await stage.sandbox.addFault({ path: '/**', action: { kind: 'refuse' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.skip('1 hour');
    await stage.sandbox.removeFaults(fault);
    await stage.skip('15 minutes');
    await handle.orderId();
    expect(await stage.sandbox.orders()).toHaveLength(1);
  });
});

test('a placing that the service does not take for an hour asks for attention, goes on, and places one kit', async () => {
  const fault = await stage.sandbox.addFault({ path: '/**', action: { kind: 'refuse' } });
  const input = await stage.input();
  const handle = await stage.product.orders.place(input);
  const placing = stage.temporal.workflow.getHandle(placeKitOrderId(input.reference));
  const attention = async () => (await placing.describe()).typedSearchAttributes.get(labAttentionKey) ?? [];
  await stage.skip('2 hours');
  await eventually(async () => expect(await attention()).toEqual(['placing_delayed']));
  await stage.sandbox.removeFaults(fault);
  await stage.skip('30 minutes');
  await handle.orderId();
  expect(await attention()).toEqual([]);
  expect(await stage.sandbox.orders()).toHaveLength(1);
});

test('a service that asks for a day of patience is not asked again at once', async () => {
  const action = { kind: 'answer', status: 503, headers: { 'retry-after': '86400' }, body: 'busy' } as const;
  const fault = await stage.sandbox.addFault({ method: 'GET', path: '/orders', action });
  const handle = await stage.product.orders.place(await stage.input());
  await stage.skip('1 hour');
  expect(await stage.countRequests('GET', '/orders')).toBeLessThan(10);
  await stage.sandbox.removeFaults(fault);
  await stage.skip('30 minutes');
  await handle.orderId();
});

test('the same reference with the user id in capitals is the same order, and the service is sent one spelling', async () => {
  const input = await stage.input();
  const kit = await stage.product.orders.place(input);
  const shouted = { ...input, order: { ...input.order, user_id: input.order.user_id.toUpperCase() } };
  const again = await stage.product.orders.place(shouted as typeof input);
  expect(await again.orderId()).toBe(await kit.orderId());
});

test('the same reference with other details is a conflict', async () => {
  const input = await stage.input();
  await stage.product.orders.place(input);
  const other = await stage.input({ reference: input.reference });
  await expect(stage.product.orders.place(other)).rejects.toThrow(ReferenceConflict);
});

test('an order that the service refused may be placed again with the same reference', async () => {
  const input = await stage.input();
  const refusal = { kind: 'answer', status: 400, body: { detail: 'Lab test is not a testkit' } } as const;
  await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: refusal });
  const refused = await stage.product.orders.place(input);
  await expect(refused.orderId()).rejects.toThrow(OrderRefused);
  const placed = await stage.product.orders.place(input);
  const orderId = await placed.orderId();
  expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
});

test('an order that breaks a rule is refused before anything is started, with all its faults', async () => {
  const input = await stage.input({ reference: 'valid', policy: { replacementLimit: -1, onLost: 'panic' as never } });
  const shipping = { ...('shipping_details' in input.order && input.order.shipping_details), zip: 'not a zip' };
  const placing = stage.product.orders.place({
    ...input,
    order: { ...input.order, shipping_details: shipping },
  } as never);
  const refusal: unknown = await placing.catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(OrderInvalid);
  const { fields } = refusal as OrderInvalid;
  expect(fields.map(({ field }) => field)).toEqual(['order.shipping_details.zip', 'policy', 'policy']);
  await expect(stage.product.orders.get({ reference: 'a b' })).rejects.toThrow(OrderInvalid);
});

test.each([
  ['PolicyInvalid', 'refused-1', placeKitOrderId('refused-1'), { policy: { returnDeadline: 'soon' } }],
  ['ReferenceInvalid', 'not a reference', placeKitOrderId('not a reference'), {}],
  ['ReferenceInvalid', 'refused-2', 'an-id-of-its-own', {}],
  ['InvalidCommand', 'refused-3', placeKitOrderId('refused-3'), { kind: 'of_another_kind' }],
])('a backend that starts the workflow itself is told %s for %s', async (type, reference, workflowId, more) => {
  const input = { ...(await stage.input()), reference, ...more };
  const workflow = await stage.temporal.workflow.start(placeKitOrderName, {
    workflowId,
    taskQueue,
    args: [input],
  });
  const failure: unknown = await workflow.result().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect((failure as WorkflowFailedError).cause).toBeInstanceOf(ApplicationFailure);
  expect((failure as WorkflowFailedError).cause).toMatchObject({ type });
  expect(await stage.sandbox.orders()).toEqual([]);
});

test('the first webhook may come before the creation is answered: one workflow follows the order', async () => {
  const late = { kind: 'delay', phase: 'after_work', delayMs: 5_000 } as const;
  await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: late });
  const handle = await stage.product.orders.place(await stage.input({ policy: { shippingDeadline: '20 days' } }));
  const [early] = await eventually(async () => {
    const orders = await stage.sandbox.orders();
    expect(orders).toHaveLength(1);
    return orders;
  });
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(early?.order.id ?? ''));
  const { reference } = await eventually(() => workflow.query(stateQuery));
  expect(reference).toBeUndefined();
  const { runId } = await workflow.describe();
  const kit = await stage.follow(await handle.orderId());
  await kit.shows({ reference: handle.reference ?? '' });
  await stage.skip('10 days');
  await kit.asksFor();
  expect(await workflow.describe()).toMatchObject({ runId, status: { name: 'RUNNING' } });
});

describe('the hand-over', () => {
  async function handOver(orderId: string, reference: string): Promise<void> {
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(orderId));
    const placed: OrderPlaced = {
      reference,
      policy: resolvePolicy({ shippingDeadline: '1 day' }),
      snapshot: { orderId, events: [] },
      adopted: false,
      notifies: true,
    };
    await workflow.signal(orderPlacedSignal, placed);
  }

  test('may come twice, and changes nothing the second time', async () => {
    const kit = await stage.place();
    const before = await kit.handle.state();
    await handOver(kit.rootOrderId, kit.handle.reference ?? '');
    expect(await kit.handle.state()).toEqual(before);
    await stage.skip('2 days');
    await kit.asksFor();
  });

  test('with a second reference asks a person, and the first one keeps the order', async () => {
    const kit = await stage.place();
    await handOver(kit.rootOrderId, 'a-second-reference');
    await kit.asksFor('reference_conflict');
    await kit.shows({ reference: kit.handle.reference ?? '' });
    await kit.tells('phase_changed awaiting_registration', 'attention_raised reference_conflict');
  });
});

test('an order that nobody placed is adopted by its first webhook, and never replaced by itself', async () => {
  await stage.syncClock();
  const { order } = await stage.sandbox.createOrder();
  const kit = await eventually(() => stage.follow(order.id));
  await kit.shows({ phase: 'awaiting_registration', orderId: order.id });
  await kit.goes('transit_customer', 'lost');
  await kit.asksFor('decision_needed');
  expect(await stage.sandbox.orders()).toHaveLength(1);
  expect(await kit.handle.replaceKit()).toMatchObject({ chain: [{}, { origin: 'replacement' }] });
});
