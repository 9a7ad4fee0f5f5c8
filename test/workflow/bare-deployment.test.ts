import { describe, expect, test } from 'vitest';
import { AmbiguousOrder } from '../../client/orders/errors.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { UserLink } from './user-link.js';
import { setStage } from './story.js';

type PlaceWithPatient = Extract<PlaceKitOrderInput, { kind: 'with_patient' }>['order'];

/** The service shows no passthrough again, and the product has no endpoint for notifications. */
const stage = setStage({ echoesPassthrough: false, notifies: false });
const createPath = '/v3/order/testkit';

describe('an order that an earlier attempt created', () => {
  test('is recognised by its contents, and not created twice', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    await stage.skip('2 minutes');
    const orderId = await handle.orderId();
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
  });

  test('an order that an earlier attempt created from a set of tests is recognised too, whichever test the service chose', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: '/v3/order', times: 1, action: { kind: 'drop_response' } });
    const { reference, order } = await stage.input({ kind: 'with_patient' });
    const { lab_test_id: test, ...rest } = order as PlaceWithPatient;
    const set = { ...rest, order_set: { lab_test_ids: [test ?? ''] } };
    const handle = await stage.product.orders.place({ reference, kind: 'with_patient', order: set });
    await stage.expectRequests('POST', '/v3/order');
    await stage.skip('2 minutes');
    const orderId = await handle.orderId();
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
    expect(await stage.countRequests('POST', '/v3/order')).toBe(1);
  });

  test('is not mistaken for another order of the same kind, which has a reference of its own', async () => {
    const userId = await stage.newUser();
    const [one, other] = [await stage.place({ userId }), await stage.place({ userId })];
    expect(one.rootOrderId).not.toBe(other.rootOrderId);
    expect(await stage.sandbox.orders()).toHaveLength(2);
  });

  test('is left to a person if it could be any of several: nothing is created', async () => {
    const input = await stage.input();
    // Somebody else orders the same twice; both are adopted, and neither has a reference.
    for (const _ of [1, 2]) await stage.service.orders.createTestkit(input.order as never);
    const handle = await stage.product.orders.place(input);
    const refusal: unknown = await handle.orderId().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(AmbiguousOrder);
    const orders = await stage.sandbox.orders();
    expect(orders).toHaveLength(2);
    for (const { order } of orders) expect((refusal as AmbiguousOrder).message).toContain(order.id);
    const placement = stage.temporal.workflow.getHandle(placeKitOrderId(input.reference));
    expect((await placement.describe()).typedSearchAttributes.get(labAttentionKey)).toEqual(['ambiguous_order']);
  });
});

test('a replacement joins its chain', async () => {
  const kit = await stage.place({ policy: { onLost: 'replace' } });
  await kit.move('transit_customer', 'lost');
  const { orderId } = await kit.expectState({ phase: 'awaiting_registration' });
  await kit.moveOrder(orderId, 'transit_customer');
  await kit.expectState({ orderId, phase: 'in_transit_to_customer' });
});

test('two replacements at once are two kits, and neither takes the other for its own', async () => {
  const kit = await stage.place({ policy: { replacementLimit: 3 } });
  const { rootOrderId } = kit;
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'sample_error');
  const { orderId: replacement } = await kit.handle.replaceKit({ orderId: rootOrderId });
  // The service follows the first kit up after all.
  const redraw = await stage.sandbox.redraw(rootOrderId);
  await kit.untilReceived(redraw);
  const lost = [replacement, redraw.order.id];
  for (const orderId of lost) {
    await kit.moveOrder(orderId, 'transit_customer');
    await kit.moveOrder(orderId, 'lost');
  }
  const both = lost.map((orderId) => kit.handle.replaceKit({ orderId }));
  await stage.expectRequests('POST', createPath, 3);
  await stage.skip('2 minutes');
  await Promise.all(both);
  expect(await stage.sandbox.orders()).toHaveLength(5);
});

test('without an endpoint no notification is ever scheduled', async () => {
  const kit = await stage.place();
  await kit.handle.cancel();
  await kit.result();
  const { events } = await stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId)).fetchHistory();
  const activities = (events ?? []).map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
  expect(activities).not.toContain('notify');
  expect(stage.receiver.attempts).toBe(0);
});

test('without an endpoint a link ends at once and notifies nobody', async () => {
  const link = await UserLink.start(stage);
  await link.logIn('mfa-sms');
  await stage.skip('6 minutes');
  expect(await link.handle.submitMfaCode('123456')).toMatchObject({ outcome: 'connected' });
  expect(await link.handle.result()).toMatchObject({ outcome: 'connected' });
  const { events } = await stage.temporal.workflow.getHandle(link.workflowId).fetchHistory();
  const activities = (events ?? []).flatMap(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
  expect(activities).toEqual(['createLinkToken', 'completeMfa']);
  expect(stage.receiver.attempts).toBe(0);
});
