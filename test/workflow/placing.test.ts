import { expect, test } from 'vitest';
import { kitOrderId } from '../../protocol/ids.js';
import { stateQuery } from '../../protocol/order/messages.js';
import type { PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import { eventually } from '../rig/eventually.js';
import { Kit } from './kit.js';
import { setStage } from './story.js';

/* What each attempt does is shown by test/unit/activities/order/placing.test.ts, what the workflow makes of it by its lives. */

const stage = setStage();
const createPath = '/v3/order/testkit';
const lostAnswer = { method: 'POST', times: 1, action: { kind: 'drop_response' } } as const;
const wrongKey = { path: '/**', action: { kind: 'answer', status: 401, body: { detail: 'Invalid' } } } as const;

test('an order whose answer was lost is one kit, and its webhook, which comes first, starts the one run that follows it', async () => {
  await stage.sandbox.addFault({ ...lostAnswer, path: createPath });
  const handle = await stage.product.orders.place(await stage.input({ policy: { shippingDeadline: '20 days' } }));
  const [early] = await eventually(async () => {
    const orders = await stage.sandbox.orders();
    expect(orders).toHaveLength(1);
    return orders;
  });
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(early?.order.id ?? ''));
  expect((await eventually(() => workflow.query(stateQuery))).reference).toBeUndefined();
  const { runId } = await workflow.describe();
  await stage.skip('1 minute');
  expect(await handle.orderId()).toBe(early?.order.id);
  expect(await stage.countRequests('POST', createPath)).toBe(1);
  const kit = await stage.follow(await handle.orderId());
  await kit.expectState({ reference: handle.reference ?? '' });
  await stage.skip('10 days');
  await kit.expectAttention();
  expect(await workflow.describe()).toMatchObject({ runId, status: { name: 'RUNNING' } });
});

test('exactly one kit is ordered if it is placed twice at once, in whichever spelling of the user’s id', async () => {
  const input = await stage.input();
  const loud = {
    ...input,
    order: { ...input.order, user_id: input.order.user_id.toUpperCase() },
  } as PlaceKitOrderInput;
  const [one, other] = await Promise.all([stage.product.orders.place(input), stage.product.orders.place(loud)]);
  expect(await one.orderId()).toBe(await other.orderId());
  expect(await stage.sandbox.orders()).toMatchObject([{ order: { user_id: input.order.user_id } }]);
});

test('a placement by a worker with a wrong key needs attention at once, which its caller learns, and goes on once the key is right', async () => {
  const fault = await stage.sandbox.addFault(wrongKey);
  const handle = await stage.product.orders.place(await stage.input());
  await eventually(async () => expect(await handle.state()).toMatchObject({ attention: [{}] }));
  // The client has two seconds to find out why there is no answer.
  await eventually(async () => {
    const waited = await handle.orderId({ deadline: '1s' }).catch((error: unknown) => error);
    expect(waited).toMatchObject({ name: 'TimedOut', attention: ['placing_delayed'] });
  });
  await stage.sandbox.removeFaults(fault);
  await stage.skip('15 minutes');
  await handle.orderId();
  expect(await stage.sandbox.orders()).toHaveLength(1);
});

test('an import is one order if the answer to it is lost, waits for results only, and is followed to them', async () => {
  await stage.sandbox.addFault({ ...lostAnswer, path: '/v3/order/import' });
  const handle = await stage.product.orders.place(await stage.input({ kind: 'import' }));
  await stage.expectRequests('POST', '/v3/order/import');
  await stage.skip('1 minute');
  const kit = new Kit(stage, handle, await handle.orderId());
  expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: kit.rootOrderId } }]);
  const reference = handle.reference ?? '';
  const waiting = expect.objectContaining({ for: 'the results' }) as never;
  await kit.expectState({ reference, registered: true, phase: 'preparing', attention: [], waiting });
  await stage.skip('15 days');
  await kit.expectAttention('results_overdue');
  await kit.move('completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed', reference });
});
