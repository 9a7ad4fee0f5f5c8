import { describe, expect, test } from 'vitest';
import { AlreadyResolved, OrderEnded, OrderInvalid } from '../../client/orders/errors.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import { setStage } from './story.js';

/* An answer may be lost after the command was carried out: sending the command again does nothing more. */

const stage = setStage();
const createPath = '/v3/order/testkit';

async function lostKit(policy: OrderPolicy = {}) {
  const kit = await stage.place({ policy });
  await kit.move('transit_customer', 'lost');
  await kit.expectAttention('decision_needed');
  return { kit, orderId: kit.rootOrderId };
}

describe('a replacement that is requested again', () => {
  test('a replacement that is requested again when the new kit has shipped returns the state and orders no third kit', async () => {
    const { kit, orderId } = await lostKit({ replacementLimit: 3 });
    const first = await kit.handle.replaceKit({ orderId });
    await kit.move('transit_customer');
    const again = await kit.handle.replaceKit({ orderId });
    expect(again).toMatchObject({ orderId: first.orderId, phase: 'in_transit_to_customer', chain: [{}, {}] });
    expect(await kit.handle.resolveProblem('replace', { orderId })).toMatchObject({ orderId: first.orderId });
    expect(await stage.countRequests('POST', createPath)).toBe(2);
  });

  test('a replacement that is requested again after the end of the workflow returns the state', async () => {
    const { kit, orderId } = await lostKit();
    const { orderId: replacement } = await kit.handle.replaceKit({ orderId });
    await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
    await kit.result();
    expect(await kit.handle.replaceKit({ orderId })).toMatchObject({ orderId: replacement, outcome: 'completed' });
    await expect(kit.handle.replaceKit({ orderId: replacement })).rejects.toThrow(OrderEnded);
  });
});

test.each(['replaceKit', 'resolveProblem'] as const)('%s without an order is not accepted', async (name) => {
  const { kit } = await lostKit();
  const nameless = {} as { orderId: string };
  const sent = name === 'replaceKit' ? kit.handle.replaceKit(nameless) : kit.handle.resolveProblem('wait', nameless);
  await expect(sent).rejects.toThrow(OrderInvalid);
  await kit.expectAttention('decision_needed');
});

describe('a problem that was resolved', () => {
  test('a problem that was resolved by waiting gets its extra time once, however often that is sent', async () => {
    const { kit, orderId } = await lostKit({ decisionWait: '10 days' });
    await stage.skip('5 days');
    const first = await kit.handle.resolveProblem('wait', { orderId });
    await stage.skip('4 days');
    expect(await kit.handle.resolveProblem('wait', { orderId })).toEqual(first);
    await stage.skip('7 days');
    expect(await kit.result()).toMatchObject({ outcome: 'failed' });
  });

  test('a problem that was resolved by waiting is resolved otherwise only by a caller who knows of that', async () => {
    const { kit, orderId } = await lostKit();
    await kit.handle.resolveProblem('wait', { orderId });
    for (const decision of ['replace', 'abandon'] as const) {
      await expect(kit.handle.resolveProblem(decision, { orderId })).rejects.toThrow(AlreadyResolved);
    }
    await kit.expectState({ phase: 'failed', attention: [], chain: [{}] as never });
    const abandoned = await kit.handle.resolveProblem('abandon', { orderId, insteadOf: 'wait' });
    expect(abandoned).toMatchObject({ outcome: 'abandoned' });
  });

  test('a problem that was resolved by waiting needs attention again once its limit has passed', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'problem_in_transit_customer');
    await stage.skip('8 days');
    const { rootOrderId: orderId } = kit;
    await kit.handle.resolveProblem('wait', { orderId });
    await stage.skip('8 days');
    await kit.expectAttention('delivery_overdue', 'problem_persists');
    expect(await kit.handle.resolveProblem('replace', { orderId })).toMatchObject({ chain: [{}, {}] });
  });

  test('a problem that was resolved by a new kit is not resolved otherwise: the question was about the old one', async () => {
    const { kit, orderId } = await lostKit();
    await kit.handle.resolveProblem('replace', { orderId });
    for (const decision of ['wait', 'abandon'] as const) {
      await expect(kit.handle.resolveProblem(decision, { orderId })).rejects.toThrow(AlreadyResolved);
    }
    await kit.expectState({ phase: 'awaiting_registration', attention: [] });
  });

  test('a problem that was resolved by two people at once is resolved by the first', async () => {
    const { kit, orderId } = await lostKit();
    const [one, other] = await Promise.allSettled([
      kit.handle.resolveProblem('wait', { orderId }),
      kit.handle.resolveProblem('replace', { orderId }),
    ]);
    expect([one.status, other.status].toSorted()).toEqual(['fulfilled', 'rejected']);
    const refusals = [one, other].flatMap((answer): unknown[] => (answer.status === 'rejected' ? [answer.reason] : []));
    expect(refusals[0]).toBeInstanceOf(AlreadyResolved);
  });

  test('a problem that was resolved by giving the order up returns that end, even when the workflow is over', async () => {
    const { kit, orderId } = await lostKit();
    stage.receiver.isDown = true;
    await kit.handle.resolveProblem('abandon', { orderId });
    expect(await kit.handle.resolveProblem('abandon', { orderId })).toMatchObject({ outcome: 'abandoned' });
    await expect(kit.handle.resolveProblem('wait', { orderId })).rejects.toThrow(OrderEnded);
    stage.receiver.isDown = false;
    await kit.result();
    expect(await kit.handle.resolveProblem('abandon', { orderId })).toMatchObject({ outcome: 'abandoned' });
    await expect(kit.handle.resolveProblem('wait', { orderId })).rejects.toThrow(OrderEnded);
  });
});

describe('a cancellation that is sent again', () => {
  test('a cancellation that is sent again before everybody is notified, or after the end, returns the state', async () => {
    const kit = await stage.place();
    stage.receiver.isDown = true;
    const first = await kit.handle.cancel();
    expect(await kit.handle.cancel()).toEqual(first);
    expect(await kit.handle.cancel({ orderId: kit.rootOrderId })).toEqual(first);
    stage.receiver.isDown = false;
    await kit.result();
    expect(await kit.handle.cancel()).toMatchObject({ phase: 'cancelled', outcome: 'cancelled' });
    expect(await stage.countRequests('POST', `/v3/order/${kit.rootOrderId}/cancel`)).toBe(1);
  });

  test('a cancellation that is sent again for an order that has ended otherwise is refused', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
    await kit.result();
    await expect(kit.handle.cancel()).rejects.toThrow(OrderEnded);
  });
});

test('a command that was carried out answers so from a workflow that has ended, and another one is refused', async () => {
  const kit = await stage.place();
  const registration = await kit.registration();
  await kit.handle.register(registration);
  const policy = { returnDeadline: '20d', onLost: 'fail' } as const;
  await kit.handle.setPolicy(policy);
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
  await kit.result();
  const { rootOrderId: orderId } = kit;
  for (const which of [{}, { orderId }])
    expect(await kit.handle.register(registration, which)).toMatchObject({ outcome: 'completed' });
  const other = { ...registration, sample_id: 'NOT-ON-THIS-KIT' };
  await expect(kit.handle.register(other)).rejects.toThrow(OrderEnded);
  expect(await kit.handle.setPolicy(policy)).not.toHaveProperty('policy');
  await expect(kit.handle.setPolicy({ ...policy, onLost: 'ask' })).rejects.toThrow(OrderEnded);
});

test('a decision to wait answers so from a workflow that has ended', async () => {
  const { kit, orderId } = await lostKit({ decisionWait: '10 days' });
  await kit.handle.resolveProblem('wait', { orderId });
  await stage.skip('11 days');
  expect(await kit.result()).toMatchObject({ outcome: 'failed' });
  expect(await kit.handle.resolveProblem('wait', { orderId })).toMatchObject({ outcome: 'failed' });
  await expect(kit.handle.resolveProblem('abandon', { orderId })).rejects.toThrow(OrderEnded);
});
