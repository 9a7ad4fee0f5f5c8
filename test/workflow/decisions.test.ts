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
import type { OrderPolicy } from '../../protocol/order/policy.js';
import { setStage } from './story.js';

const stage = setStage();
const createPath = '/v3/order/testkit';

async function lostKit(policy: OrderPolicy = {}) {
  const kit = await stage.place({ policy });
  await kit.move('transit_customer', 'lost');
  return kit;
}

describe('cancelling', () => {
  test('cancelling before the kit ships ends the order', async () => {
    const kit = await stage.place();
    expect(await kit.handle.cancel()).toMatchObject({ phase: 'cancelled', outcome: 'cancelled' });
    expect(await kit.result()).toMatchObject({ outcome: 'cancelled', orderId: kit.rootOrderId });
    await kit.expectNotifications('phase_changed awaiting_registration', 'cancellation', 'phase_changed cancelled');
  });

  test('cancelling after the kit has shipped is refused, and the order goes on', async () => {
    const kit = await stage.place({ kind: 'with_patient' });
    await kit.move('transit_customer');
    const refusal: unknown = await kit.handle.cancel().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(CancelRefused);
    expect(refusal).toMatchObject({ status: 400 });
    await kit.move('with_customer', 'transit_lab', 'delivered_to_lab', 'completed');
    expect(await kit.result()).toMatchObject({ outcome: 'completed' });
  });

  test('cancelling twice at once cancels once, and answers both', async () => {
    const kit = await stage.place();
    const path = `/v3/order/${kit.rootOrderId}/cancel`;
    await stage.sandbox.addFault({ method: 'POST', path, action: { kind: 'delay', delayMs: 500 } });
    const answers = await Promise.all([kit.handle.cancel(), kit.handle.cancel()]);
    expect(answers).toMatchObject([{ outcome: 'cancelled' }, { outcome: 'cancelled' }]);
    expect(await kit.result()).toMatchObject({ outcome: 'cancelled' });
    expect(await stage.countRequests('POST', path)).toBe(1);
  });

  test('a cancellation whose answer was lost is found to have happened', async () => {
    const kit = await stage.place();
    const path = `/v3/order/${kit.rootOrderId}/cancel`;
    await stage.sandbox.addFault({ method: 'POST', path, times: 1, action: { kind: 'drop_response' } });
    await stage.sandbox.addWebhookFault({ status: 'cancelled', action: { kind: 'lose' } });
    const cancelling = kit.handle.cancel();
    await stage.expectRequests('POST', path);
    await stage.skip('1 minute');
    expect(await cancelling).toMatchObject({ phase: 'cancelled' });
    expect(await stage.countRequests('POST', path)).toBe(1);
  });
});

describe('replacing a kit', () => {
  test('replacing a kit twice at once orders one kit', async () => {
    const kit = await lostKit();
    const [one, other] = await Promise.all([
      kit.handle.replaceKit({ orderId: kit.rootOrderId }),
      kit.handle.replaceKit({ orderId: kit.rootOrderId }),
    ]);
    expect(one.orderId).not.toBe(kit.rootOrderId);
    expect(other.orderId).toBe(one.orderId);
    expect(await stage.countRequests('POST', createPath)).toBe(2);
  });

  test('a replacement whose creation was not answered still orders one kit', async () => {
    const kit = await lostKit();
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const replacing = kit.handle.replaceKit({ orderId: kit.rootOrderId });
    await stage.expectRequests('POST', createPath, 2);
    await stage.skip('2 minutes');
    expect(await replacing).toMatchObject({ phase: 'awaiting_registration', chain: [{}, { origin: 'replacement' }] });
    expect(await stage.sandbox.orders()).toHaveLength(2);
  });

  test('is refused before the kit ships: the order can be cancelled', async () => {
    const kit = await stage.place();
    await expect(kit.handle.replaceKit({ orderId: kit.rootOrderId })).rejects.toThrow(NotReplaceable);
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('is possible while the kit is on its way', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer');
    expect(await kit.handle.replaceKit({ orderId: kit.rootOrderId })).toMatchObject({
      phase: 'awaiting_registration',
      chain: [{}, {}],
    });
  });

  test('is refused once the policy allows no more, and the order goes on', async () => {
    const kit = await lostKit({ replacementLimit: 1 });
    const { orderId } = await kit.handle.replaceKit({ orderId: kit.rootOrderId });
    await kit.move('transit_customer', 'lost');
    await kit.expectAttention('decision_needed');
    await expect(kit.handle.replaceKit({ orderId })).rejects.toThrow(ReplacementLimitReached);
    await kit.expectState({ phase: 'failed', chain: [{}, {}] as never });
  });

  test('replacing a kit by policy stops at the limit: then a person is asked', async () => {
    const kit = await lostKit({ onLost: 'replace', replacementLimit: 2 });
    for (const kits of [2, 3]) {
      const { orderId } = await kit.expectState({ phase: 'awaiting_registration' });
      expect(await stage.sandbox.orders()).toHaveLength(kits);
      await kit.moveOrder(orderId, 'transit_customer');
      await kit.moveOrder(orderId, 'lost');
    }
    await kit.expectAttention('decision_needed');
    expect(await stage.sandbox.orders()).toHaveLength(3);
  });

  test('a replacement that the service refuses is retried only when nothing can be under way any more', async () => {
    const kit = await lostKit({ creationTimeout: '8s' });
    const { rootOrderId: orderId } = kit;
    const refusal = { kind: 'answer', status: 400, body: { detail: 'Out of stock' } } as const;
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: refusal });
    await expect(kit.handle.replaceKit({ orderId })).rejects.toThrow(OrderRefused);
    expect(await kit.handle.replaceKit({ orderId })).toMatchObject({ phase: 'awaiting_registration', attention: [] });
    const sent = (await stage.sandbox.requests({ method: 'POST', path: createPath })).map(({ at }) => Date.parse(at));
    const [refused = NaN, created = NaN] = sent.slice(-2);
    // Half as long again as a creation may take, less the possible difference between clocks.
    expect(created - refused).toBeGreaterThan(11_900);
  });

  test.each([
    ['the search for a kit that exists already', () => '/orders'],
    ['the read of the lost order', (orderId: string) => `/v3/order/${orderId}`],
  ])('a replacement is ordered although a proxy answers %s with a 404', async (_what, pathOf) => {
    const kit = await lostKit({});
    const path = pathOf(kit.rootOrderId);
    const proxy = { kind: 'answer', status: 404, body: '404 page not found' } as const;
    await stage.sandbox.addFault({ method: 'GET', path, times: 1, action: proxy });
    const before = await stage.countRequests('GET', path);
    const replacing = kit.handle.replaceKit({ orderId: kit.rootOrderId });
    await stage.expectRequests('GET', path, before + 1);
    await stage.skip('2 minutes');
    expect(await replacing).toMatchObject({ phase: 'awaiting_registration', attention: [] });
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
    'replacing a kit by policy %s is tried again every day when the service refuses it',
    async (_when, policy, moves, wait) => {
      const kit = await stage.place({ policy });
      const refusal = { kind: 'answer', status: 400, body: { detail: 'Out of stock' } } as const;
      await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 2, action: refusal });
      await kit.move(...moves);
      await stage.skip(wait);
      await kit.expectAttention('replacement_failed');
      await stage.skip('25 hours');
      await kit.expectAttention('replacement_failed');
      await stage.skip('25 hours');
      await kit.expectState({ phase: 'awaiting_registration', attention: [] });
      const about = kit.notifications.filter(({ data }) => data['reason'] === 'replacement_failed');
      expect(about.map(({ type }) => type)).toEqual(['attention_raised', 'attention_cleared']);
    },
  );
});

describe('resolving a problem', () => {
  test('resolving a problem with wait restarts the time limit', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'problem_in_transit_customer');
    await stage.skip('8 days');
    await kit.expectAttention('problem_persists');
    expect(await kit.handle.resolveProblem('wait', { orderId: kit.rootOrderId })).toMatchObject({ attention: [] });
    await stage.skip('6 days');
    await kit.expectAttention('delivery_overdue');
    await stage.skip('2 days');
    await kit.expectAttention('delivery_overdue', 'problem_persists');
  });

  test('resolving a problem with wait postpones the decision about a lost kit', async () => {
    const kit = await lostKit({ decisionWait: '10 days' });
    await kit.expectAttention('decision_needed');
    await stage.skip('9 days');
    expect(await kit.handle.resolveProblem('wait', { orderId: kit.rootOrderId })).toMatchObject({ attention: [] });
    await stage.skip('9 days');
    await kit.expectState({ phase: 'failed', attention: [] });
    await stage.skip('2 days');
    expect(await kit.result()).toMatchObject({ outcome: 'failed' });
  });

  test('resolving a problem with wait is refused if no limit was missed', async () => {
    const kit = await stage.place();
    await expect(kit.handle.resolveProblem('wait', { orderId: kit.rootOrderId })).rejects.toThrow(NothingToResolve);
  });

  test('resolving a problem with abandon stops following the order, and says so', async () => {
    const kit = await lostKit();
    expect(await kit.handle.resolveProblem('abandon', { orderId: kit.rootOrderId })).toMatchObject({
      outcome: 'abandoned',
    });
    expect(await kit.result()).toMatchObject({ outcome: 'abandoned' });
    expect(kit.notifications.at(-1)).toMatchObject({ type: 'ended', data: { outcome: 'abandoned' } });
  });

  test('is not awaited forever: the order fails when its time is over', async () => {
    const kit = await lostKit();
    await kit.expectAttention('decision_needed');
    await stage.skip('29 days');
    await kit.expectAttention('decision_needed');
    await stage.skip('2 days');
    expect(await kit.result()).toMatchObject({ outcome: 'failed' });
    expect(kit.notifications.at(-1)).toMatchObject({ type: 'ended', data: { outcome: 'failed' } });
  });
});

test('a command for an order of another chain is refused', async () => {
  const [kit, other] = [await stage.place(), await stage.place()];
  await expect(kit.handle.cancel({ orderId: other.rootOrderId })).rejects.toThrow(OrderNotInChain);
});

test('an order that has ended accepts no other command', async () => {
  const kit = await stage.place();
  const registration = await kit.registration();
  await kit.handle.cancel();
  await kit.result();
  await expect(kit.handle.register(registration)).rejects.toThrow(OrderEnded);
  await expect(kit.handle.replaceKit({ orderId: kit.rootOrderId })).rejects.toThrow(OrderEnded);
  await expect(kit.handle.resolveProblem('abandon', { orderId: kit.rootOrderId })).rejects.toThrow(OrderEnded);
});
