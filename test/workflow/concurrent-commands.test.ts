import { describe, expect, test } from 'vitest';
import { CancelRefused, OrderMovedOn } from '../../client/orders/errors.js';
import { kitOrderId } from '../../protocol/ids.js';
import { replacementPlacedSignal, resolveProblemUpdate } from '../../protocol/order/messages.js';
import { forwardedPhase, labPhaseKey } from '../../protocol/search-attributes.js';
import { eventually } from '../rig/eventually.js';
import type { OrderPolicy } from '../../protocol/order/policy.js';
import type { Kit } from './kit.js';
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

const busy = { method: 'POST', path: createPath, action: { kind: 'answer', status: 503, body: 'busy' } } as const;

/** The first order failed at the lab, and the one that follows it in the same transaction is lost. */
async function lostRedraw(policy: OrderPolicy = {}) {
  const kit = await stage.place({ policy });
  await kit.move('transit_customer', 'with_customer', 'transit_lab', 'delivered_to_lab', 'sample_error');
  const redraw = await stage.sandbox.redraw(kit.rootOrderId);
  await kit.untilReceived(redraw);
  const { id: orderId } = redraw.order;
  await kit.moveOrder(orderId, 'transit_customer');
  await stage.sandbox.addFault(busy);
  await kit.moveOrder(orderId, 'lost');
  return { kit, orderId };
}

/** Somebody gives the first order up; returns when the workflow has taken the command. */
async function giveUp({ rootOrderId }: Kit) {
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(rootOrderId));
  const args = [{ decision: 'abandon', orderId: rootOrderId }] as const;
  return workflow.startUpdate(resolveProblemUpdate, { args: [...args], waitForStage: 'ACCEPTED' });
}

describe('a command to give an order up that waits for a replacement', () => {
  test('is refused if the order has its results meanwhile', async () => {
    const { kit, orderId } = await lostRedraw();
    const replaced = kit.handle.replaceKit({ orderId }).catch((error: unknown) => error);
    await stage.expectRequests('POST', createPath, 2);
    const givenUp = await giveUp(kit);
    for (const status of ['delivered_to_lab', 'completed']) await kit.moveOrder(orderId, status);
    await stage.skip('2 minutes');
    expect(await replaced).toBeInstanceOf(OrderMovedOn);
    await expect(givenUp.result()).rejects.toMatchObject({ cause: { type: 'OrderEnded' } });
    expect(await kit.result()).toMatchObject({ outcome: 'completed', orderId });
  });

  test('leaves no question about a replacement of the policy that fails', async () => {
    const { kit } = await lostRedraw({ onLost: 'replace' });
    await stage.expectRequests('POST', createPath, 2);
    const givenUp = await giveUp(kit);
    await stage.skip('20 minutes');
    await givenUp.result();
    expect(await kit.result()).toMatchObject({ outcome: 'abandoned', attention: [] });
    expect(kit.notified).not.toContain('attention_raised replacement_failed');
  });
});

test('a command that ends after its workflow has become a forwarder leaves it one in the lists', async () => {
  const { rootOrderId } = await stage.place();
  const { order } = await stage.input();
  const {
    order: { id: orderId },
  } = await stage.service.orders.createTestkit(order as never);
  const kit = await eventually(() => stage.follow(orderId));
  await kit.expectState({ orderId });
  const path = '/v3/order/testkit/register';
  const fault = await stage.sandbox.addFault({ method: 'POST', path, action: { kind: 'refuse' } });
  const registered = kit.register();
  await stage.expectRequests('POST', path);
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(orderId));
  const phase = async () => (await workflow.describe()).typedSearchAttributes.get(labPhaseKey);
  await workflow.signal(replacementPlacedSignal, { rootOrderId, snapshot: { orderId, events: [] } });
  await eventually(async () => expect(await phase()).toBe(forwardedPhase));
  await stage.sandbox.removeFaults(fault);
  await stage.skip('2 minutes');
  expect(await registered).toMatchObject({ registered: true });
  expect(await phase()).toBe(forwardedPhase);
});
