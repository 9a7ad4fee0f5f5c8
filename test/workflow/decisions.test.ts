import { describe, expect, test } from 'vitest';
import {
  CancelRefused,
  NothingToResolve,
  NotReplaceable,
  OrderEnded,
  OrderNotInChain,
  OrderRefused,
  ReplacementLimitReached,
} from '../../client/orders/errors.js';
import type { OrderPolicy } from '../../workflows/order/policy.js';
import { setStage } from './story.js';

const stage = setStage();
const createPath = '/v3/order/testkit';

async function lostKit(policy: OrderPolicy = {}) {
  const kit = await stage.place({ policy });
  await kit.goes('transit_customer', 'lost');
  return kit;
}

describe('cancelling', () => {
  test('before the kit ships ends the order', async () => {
    const kit = await stage.place();
    expect(await kit.handle.cancel()).toMatchObject({ phase: 'cancelled', outcome: 'cancelled' });
    expect(await kit.ends()).toMatchObject({ outcome: 'cancelled', orderId: kit.rootOrderId });
    await kit.tells('phase_changed awaiting_registration', 'cancellation', 'phase_changed cancelled');
  });

  test('after the kit has shipped is refused, and the order goes on', async () => {
    const kit = await stage.place({ kind: 'with_patient' });
    await kit.goes('transit_customer');
    const refusal: unknown = await kit.handle.cancel().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(CancelRefused);
    expect(refusal).toMatchObject({ status: 400 });
    await kit.goes('with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
    expect(await kit.ends()).toMatchObject({ outcome: 'completed' });
  });

  test('twice at once is done once, and both are answered', async () => {
    const kit = await stage.place();
    const path = `/v3/order/${kit.rootOrderId}/cancel`;
    await stage.sandbox.addFault({ method: 'POST', path, action: { kind: 'delay', delayMs: 500 } });
    const [one, other] = await Promise.allSettled([kit.handle.cancel(), kit.handle.cancel()]);
    expect([one, other].map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = [one, other].find((answer) => answer.status === 'rejected');
    expect(refused?.reason).toBeInstanceOf(OrderEnded);
    expect(await kit.ends()).toMatchObject({ outcome: 'cancelled' });
    expect(await stage.countRequests('POST', path)).toBe(1);
  });

  test('whose answer was lost is found done', async () => {
    const kit = await stage.place();
    const path = `/v3/order/${kit.rootOrderId}/cancel`;
    await stage.sandbox.addFault({ method: 'POST', path, times: 1, action: { kind: 'drop_response' } });
    await stage.sandbox.addWebhookFault({ status: 'cancelled', action: { kind: 'lose' } });
    const cancelling = kit.handle.cancel();
    await stage.seesRequests('POST', path);
    await stage.skip('1 minute');
    expect(await cancelling).toMatchObject({ phase: 'cancelled' });
    expect(await stage.countRequests('POST', path)).toBe(1);
  });
});

describe('replacing a kit', () => {
  test('twice at once orders one kit', async () => {
    const kit = await lostKit();
    const [one, other] = await Promise.all([kit.handle.replaceKit(), kit.handle.replaceKit()]);
    expect(one.orderId).not.toBe(kit.rootOrderId);
    expect(other.orderId).toBe(one.orderId);
    expect(await stage.countRequests('POST', createPath)).toBe(2);
  });

  test('whose creation was not answered still orders one kit', async () => {
    const kit = await lostKit();
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const replacing = kit.handle.replaceKit();
    await stage.seesRequests('POST', createPath, 2);
    await stage.skip('2 minutes');
    expect(await replacing).toMatchObject({ phase: 'awaiting_registration', chain: [{}, { origin: 'replacement' }] });
    expect(await stage.sandbox.orders()).toHaveLength(2);
  });

  test('is refused before it ships: it can be cancelled', async () => {
    const kit = await stage.place();
    await expect(kit.handle.replaceKit()).rejects.toThrow(NotReplaceable);
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('is possible while it is on its way', async () => {
    const kit = await stage.place();
    await kit.goes('transit_customer');
    expect(await kit.handle.replaceKit()).toMatchObject({ phase: 'awaiting_registration', chain: [{}, {}] });
  });

  test('is refused once the policy allows no more, and the order goes on', async () => {
    const kit = await lostKit({ replacementLimit: 1 });
    await kit.handle.replaceKit();
    await kit.goes('transit_customer', 'lost');
    await kit.asksFor('decision_needed');
    await expect(kit.handle.replaceKit()).rejects.toThrow(ReplacementLimitReached);
    await kit.shows({ phase: 'failed', chain: [{}, {}] as never });
  });

  test('by policy stops at the limit: then a person is asked', async () => {
    const kit = await lostKit({ onLost: 'replace', replacementLimit: 2 });
    for (const kits of [2, 3]) {
      const { orderId } = await kit.shows({ phase: 'awaiting_registration' });
      expect(await stage.sandbox.orders()).toHaveLength(kits);
      await kit.orderGoes(orderId, 'transit_customer');
      await kit.orderGoes(orderId, 'lost');
    }
    await kit.asksFor('decision_needed');
    expect(await stage.sandbox.orders()).toHaveLength(3);
  });

  test('that the service refuses is answered so, and can be asked for again', async () => {
    const kit = await lostKit();
    const refusal = { kind: 'answer', status: 400, body: { detail: 'Out of stock' } } as const;
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: refusal });
    await expect(kit.handle.replaceKit()).rejects.toThrow(OrderRefused);
    expect(await kit.handle.replaceKit()).toMatchObject({ phase: 'awaiting_registration', attention: [] });
  });

  test.each([
    ['after a loss', { onLost: 'replace' }, ['transit_customer', 'lost'], '1 minute'],
    [
      'after a problem that persists',
      { onProblem: 'replace' },
      ['transit_customer', 'problem_in_transit_customer'],
      '170 hours',
    ],
  ] as const)(
    'by policy %s is tried again every day when the service refuses it',
    async (_when, policy, moves, wait) => {
      const kit = await stage.place({ policy });
      const refusal = { kind: 'answer', status: 400, body: { detail: 'Out of stock' } } as const;
      await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 2, action: refusal });
      await kit.goes(...moves);
      await stage.skip(wait);
      await kit.asksFor('replacement_failed');
      await stage.skip('25 hours');
      await kit.asksFor('replacement_failed');
      await stage.skip('25 hours');
      await kit.shows({ phase: 'awaiting_registration', attention: [] });
      const about = kit.notifications.filter(({ data }) => data['reason'] === 'replacement_failed');
      expect(about.map(({ type }) => type)).toEqual(['attention_raised', 'attention_cleared']);
    },
  );
});

describe('answering a problem', () => {
  test('wait gives it its limit once more', async () => {
    const kit = await stage.place();
    await kit.goes('transit_customer', 'problem_in_transit_customer');
    await stage.skip('8 days');
    await kit.asksFor('problem_persists');
    expect(await kit.handle.resolveProblem('wait')).toMatchObject({ attention: [] });
    await stage.skip('6 days');
    await kit.asksFor('delivery_overdue');
    await stage.skip('2 days');
    await kit.asksFor('delivery_overdue', 'problem_persists');
  });

  test('wait for a lost kit puts off the decision', async () => {
    const kit = await lostKit({ decisionWait: '10 days' });
    await kit.asksFor('decision_needed');
    await stage.skip('9 days');
    expect(await kit.handle.resolveProblem('wait')).toMatchObject({ attention: [] });
    await stage.skip('9 days');
    await kit.shows({ phase: 'failed', attention: [] });
    await stage.skip('2 days');
    expect(await kit.ends()).toMatchObject({ outcome: 'failed' });
  });

  test('wait is refused where no limit was missed', async () => {
    const kit = await stage.place();
    await expect(kit.handle.resolveProblem('wait')).rejects.toThrow(NothingToResolve);
  });

  test('abandon stops following, and says so', async () => {
    const kit = await lostKit();
    expect(await kit.handle.resolveProblem('abandon')).toMatchObject({ outcome: 'abandoned' });
    expect(await kit.ends()).toMatchObject({ outcome: 'abandoned' });
    expect(kit.notifications.at(-1)).toMatchObject({ type: 'ended', data: { outcome: 'abandoned' } });
  });

  test('a person who never answers lets the order fail, when its time is over', async () => {
    const kit = await lostKit();
    await kit.asksFor('decision_needed');
    await stage.skip('29 days');
    await kit.asksFor('decision_needed');
    await stage.skip('2 days');
    expect(await kit.ends()).toMatchObject({ outcome: 'failed' });
    expect(kit.notifications.at(-1)).toMatchObject({ type: 'ended', data: { outcome: 'failed' } });
  });
});

test('a command for an order of another chain is refused', async () => {
  const [kit, other] = [await stage.place(), await stage.place()];
  await expect(kit.handle.cancel({ orderId: other.rootOrderId })).rejects.toThrow(OrderNotInChain);
});

test('an order that has ended takes no command any more', async () => {
  const kit = await stage.place();
  const registration = await kit.registration();
  await kit.handle.cancel();
  await kit.ends();
  await expect(kit.handle.cancel()).rejects.toThrow(OrderEnded);
  await expect(kit.handle.register(registration)).rejects.toThrow(OrderEnded);
  await expect(kit.handle.replaceKit()).rejects.toThrow(OrderEnded);
  await expect(kit.handle.resolveProblem('abandon')).rejects.toThrow(OrderEnded);
});
