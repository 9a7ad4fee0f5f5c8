import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { OrderEnded, OrderInvalid } from '../../client/orders/errors.js';
import {
  kitOrderName,
  orderChangedSignal,
  orderPlacedSignal,
  policyPreviewQuery,
  setPolicyUpdate,
} from '../../protocol/order/messages.js';
import type { OrderState } from '../../protocol/order/state.js';
import { timeAfter } from '../../protocol/business-days.js';
import { resolveOrderPolicy } from '../../protocol/order/policy.js';
import { kitOrderStart } from '../../protocol/order/start.js';
import { kitOrderId } from '../../protocol/ids.js';
import { taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { followed } from '../rig/followed.js';
import { setStage } from './story.js';

const stage = setStage();

test('a longer limit clears the attention of an order that had missed it, and counts again', async () => {
  const kit = await stage.place();
  await stage.skip('6 days');
  await kit.expectAttention('shipping_overdue');
  const state = await kit.handle.setPolicy({ shippingDeadline: '8d' });
  expect(state.attention).toEqual([]);
  expect(state.waiting.for).toBe('the kit to be shipped and registered');
  await stage.skip('1 day');
  await kit.expectAttention();
  await stage.skip('1 day');
  await kit.expectAttention('shipping_overdue');
});

test('a shorter limit that is over is due at once', async () => {
  const kit = await stage.place();
  await stage.skip('2 days');
  await kit.expectAttention();
  const { after } = await kit.handle.previewPolicy({ shippingDeadline: '1d' });
  await kit.expectAttention();
  const state = await kit.handle.setPolicy({ shippingDeadline: '1d' });
  expect(state.waiting).toEqual(after);
  await kit.expectAttention('shipping_overdue');
});

test('a limit may be in business days, from the start or by a change, and a holiday moves it', async () => {
  const kit = await stage.place({ policy: { shippingDeadline: '5bd' } });
  const placedAt = Date.parse((await followed(kit.handle)).timeline[0]?.at ?? '');
  const until = ({ waiting }: OrderState) => Date.parse(waiting.until ?? '');
  expect(until(await followed(kit.handle))).toBe(timeAfter(placedAt, '5bd', { holidays: [], utcOffset: -5 }));
  // Any five days in a row contain a business day.
  const holidays = [1, 2, 3, 4, 5].map((days) => new Date(placedAt + days * 86_400_000).toISOString().slice(0, 10));
  const policy = { shippingDeadline: '4 business days', holidays, utcOffset: 0 } as never;
  const { after } = await kit.handle.previewPolicy(policy);
  const state = await kit.handle.setPolicy(policy);
  expect(state.waiting).toEqual(after);
  expect(until(state)).toBe(timeAfter(placedAt, '4bd', { holidays, utcOffset: 0 }));
});

test('the settings that are not given stay', async () => {
  const kit = await stage.place({ policy: { onLost: 'fail', shippingDeadline: '9d' } });
  await kit.handle.setPolicy({ deliveryDeadline: '2d' });
  await kit.move('transit_customer', 'problem_in_transit_customer', 'lost');
  expect(await kit.result()).toMatchObject({
    outcome: 'failed',
    policy: { onLost: 'fail', shippingDeadline: 777_600_000, deliveryDeadline: 172_800_000 },
  });
  await expect(kit.handle.setPolicy({ onLost: 'ask' })).rejects.toThrow(OrderEnded);
});

test('an invalid setting is refused with its rule, by the client and by the worker, and changes nothing', async () => {
  const kit = await stage.place();
  const before = await kit.handle.state();
  const wrong = { shippingDeadline: 'soon', unknown: 1 } as never;
  await expect(kit.handle.setPolicy(wrong)).rejects.toThrow(OrderInvalid);
  await expect(kit.handle.setPolicy({})).rejects.toThrow('at least one setting');
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  await expect(workflow.executeUpdate(setPolicyUpdate, { args: [{ policy: wrong }] })).rejects.toMatchObject({
    cause: { type: 'PolicyInvalid', message: expect.stringContaining('unknown is not a policy setting') as string },
  });
  await expect(workflow.executeUpdate(setPolicyUpdate, { args: [{}] as never })).rejects.toMatchObject({
    cause: { type: 'InvalidCommand' },
  });
  expect(await kit.handle.state()).toEqual(before);
});

test('another interval between the reminders of a critical result counts from the last one, so that none is left out', async () => {
  const kit = await stage.place();
  await stage.syncClock();
  await stage.sandbox.reportCritical(kit.rootOrderId, {});
  await kit.expectAttention('critical_result');
  const expectReminders = (count: number) =>
    eventually(() =>
      expect(kit.notifications.filter(({ type }) => type === 'critical_result_reminder')).toHaveLength(count),
    );
  for (const count of [1, 2, 3]) {
    await stage.skip('1 hour');
    await expectReminders(count);
  }
  await kit.handle.setPolicy({ criticalResultReminder: '1d' });
  await stage.skip('1 day');
  await expectReminders(4);
  await kit.handle.setPolicy({ criticalResultReminder: '10m' });
  await stage.skip('10 minutes');
  await expectReminders(5);
});

test('an order that only its critical result keeps open takes what still counts, and is refused the rest', async () => {
  const kit = await stage.place();
  await kit.register();
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab');
  await stage.sandbox.interpret(kit.rootOrderId, { interpretation: 'critical' });
  await kit.move('completed');
  await eventually(async () => expect((await followed(kit.handle)).outcome).toBe('completed'));
  await expect(kit.handle.setPolicy({ resultsDeadline: '20d' })).rejects.toThrow(OrderEnded);
  await expect(kit.handle.previewPolicy({ resultsDeadline: '20d' })).rejects.toThrow('only these settings count');
  const preview = await kit.handle.previewPolicy({ criticalResultReminder: '1d' });
  expect(preview.moved.map(({ name }) => name)).toEqual(['critical_result_reminder']);
  await kit.handle.setPolicy({ criticalResultReminder: '1d', resultsDeadline: '20d' });
  const reminders = () => kit.notifications.filter(({ type }) => type === 'critical_result_reminder');
  await stage.skip('2 hours');
  await kit.handle.setPolicy({ criticalResultReminder: '3h' });
  expect(reminders()).toEqual([]);
  await stage.skip('1 hour');
  await eventually(() => expect(reminders()).toHaveLength(1));
});

test('a dry run shows everything that would happen at another time', async () => {
  const kit = await stage.place();
  await stage.skip('6 days');
  await kit.expectAttention('shipping_overdue');
  const { moved } = await kit.handle.previewPolicy({
    shippingDeadline: '8d',
    registrationReminders: ['5d'],
    registrationDeadline: '80d',
    resultsDeadline: '1d',
  });
  const placedAt = (await followed(kit.handle)).timeline[0]?.at ?? '';
  const after = (days: number) => new Date(Date.parse(placedAt) + days * 86_400_000).toISOString();
  expect(moved).toEqual([
    { name: 'shipping_overdue', after: after(8) },
    { name: 'registration_reminder 1', before: after(10), after: after(12) },
    { name: 'registration_reminder 2', before: after(17) },
    { name: 'registration_reminder 3', before: after(37) },
    { name: 'give_up', before: after(65) },
    { name: 'registration_overdue', before: after(90), after: after(80) },
  ]);
  await kit.expectAttention('shipping_overdue');
});

test('settings that are compared with each other are checked against those of the order', async () => {
  const kit = await stage.place({ policy: { creationTimeout: '2s' } });
  const state = await kit.handle.setPolicy({ creationSettling: '4s' });
  expect(state.attention).toEqual([]);
  for (const change of ['setPolicy', 'previewPolicy'] as const) {
    const refusal: unknown = await kit.handle[change]({ creationTimeout: '1m' }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OrderInvalid);
    expect((refusal as OrderInvalid).message).toContain('creationSettling');
  }
});

test('a backend in another language is refused a preview with what is not a setting, or has no unit', async () => {
  const kit = await stage.place();
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId));
  for (const wrong of [{ graceDays: 2 }, { shippingDeadline: 8 }, { onLost: 'shrug' }, {}, { version: 2 }, null]) {
    const answer = await workflow.query(policyPreviewQuery, wrong as never);
    expect(answer).toMatchObject({ refused: { type: 'InvalidCommand', details: { fields: [{ field: 'policy' }] } } });
    expect(JSON.stringify(answer)).toContain(Object.keys({ ...wrong })[0] ?? 'at least one setting');
  }
});

test('an invalid policy loses no webhook: the order is followed with the defaults', async () => {
  await stage.syncClock();
  const { order } = await stage.sandbox.createOrder({ webhook: false });
  const start = kitOrderStart({ orderId: order.id, events: [] });
  const policy = { ...resolveOrderPolicy(), criticalResultReminder: 0 };
  await stage.temporal.workflow.signalWithStart(kitOrderName, {
    ...start,
    taskQueue,
    args: [{ rootOrderId: order.id, policy, carried: null }],
    signal: orderChangedSignal,
    signalArgs: [{ orderId: order.id, events: [] }],
  });
  const kit = await stage.follow(order.id);
  await eventually(() => kit.expectState({ orderId: order.id }));
  await stage.skip('6 days');
  await kit.expectAttention('shipping_overdue');
});

test('a change that comes before the hand-over stays', async () => {
  await stage.syncClock();
  const { order } = await stage.sandbox.createOrder();
  const kit = await eventually(() => stage.follow(order.id));
  await kit.expectState({ orderId: order.id });
  // In another language, where null means that a setting stays.
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(order.id));
  const change = { policy: { shippingDeadline: '9d', onLost: null } } as never;
  await workflow.executeUpdate(setPolicyUpdate, { args: [change] });
  const placed = {
    reference: `late-${randomUUID()}`,
    policy: resolveOrderPolicy({ shippingDeadline: '1d', onLost: 'fail' }),
    snapshot: { orderId: order.id, events: [] },
    adopted: true,
    notifies: true,
  };
  await workflow.signal(orderPlacedSignal, placed);
  await kit.expectState({ reference: placed.reference });
  await stage.skip('2 days');
  await kit.expectAttention();
  await kit.move('transit_customer', 'problem_in_transit_customer', 'lost');
  expect(await kit.result()).toMatchObject({ outcome: 'failed', policy: { onLost: 'fail' } });
});
