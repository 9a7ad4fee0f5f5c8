import { describe, expect, test } from 'vitest';
import { CancelRefused } from '../../client/orders/errors.js';
import { setStage } from './story.js';

/*
 * Commands run beside the workflow's main loop: one waits for what is done about the same order, and for nothing else. Time
 * stands still in these stories until it is skipped, so what waits for a retry stays under way.
 */

const stage = setStage();
const createPath = '/v3/order/testkit';
const lostAnswer = { method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } } as const;

const kitsCreated = async () => (await stage.sandbox.orders()).length;

describe('a command is answered', () => {
  test('while another kit of the chain is being replaced', async () => {
    const kit = await stage.place({ policy: { replacementLimit: 2 } });
    const { rootOrderId } = kit;
    await kit.move('transit_customer', 'lost');
    const { orderId } = await kit.handle.replaceKit({ orderId: rootOrderId });
    await kit.move('transit_customer', 'lost');
    await stage.sandbox.addFault(lostAnswer);
    const replaced = kit.handle.replaceKit({ orderId });
    await stage.expectRequests('POST', createPath, 3);
    await expect(kit.handle.cancel({ orderId: rootOrderId })).rejects.toThrow(CancelRefused);
    await stage.skip('2 minutes');
    expect(await replaced).toMatchObject({ chain: [{}, {}, {}] });
  });

  test('while the order is read again and again, because the service shows no order', async () => {
    const { handle, rootOrderId: orderId } = await stage.place();
    const path = `/v3/order/${orderId}`;
    const before = await stage.countRequests('GET', path);
    await stage.sandbox.addFault({ method: 'GET', path, action: { kind: 'refuse' } });
    await stage.skip('5 days');
    await stage.expectRequests('GET', path, before + 1);
    expect(await handle.resolveProblem('wait', { orderId })).toMatchObject({ attention: [] });
  });
});

describe('one new kit is ordered', () => {
  test('if the policy is replacing a kit when the product asks for the same', async () => {
    const kit = await stage.place({ policy: { onLost: 'replace' } });
    await stage.sandbox.addFault(lostAnswer);
    await kit.move('transit_customer', 'lost');
    await stage.expectRequests('POST', createPath, 2);
    const replaced = kit.handle.replaceKit({ orderId: kit.rootOrderId });
    await stage.skip('2 minutes');
    expect(await replaced).toMatchObject({ chain: [{}, { origin: 'replacement' }] });
    expect(await kitsCreated()).toBe(2);
  });

  test('if the product asks twice while the first answer is lost', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'lost');
    await stage.sandbox.addFault(lostAnswer);
    const both = [kit.rootOrderId, kit.rootOrderId].map((orderId) => kit.handle.replaceKit({ orderId }));
    await stage.expectRequests('POST', createPath, 2);
    await stage.skip('2 minutes');
    const [one, other] = await Promise.all(both);
    expect(one?.orderId).toBe(other?.orderId);
    expect(await kitsCreated()).toBe(2);
  });
});
