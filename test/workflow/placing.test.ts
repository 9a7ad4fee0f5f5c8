import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { describe, expect, test } from 'vitest';
import { AmbiguousOrder, OrderInvalid, OrderRefused, ReferenceConflict } from '../../client/orders/errors.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { writePassthrough } from '../../protocol/order/root-order.js';
import { signed, usualInstallation } from '../../service/installation.js';
import {
  orderPlacedSignal,
  replacementPlacedSignal,
  stateQuery,
  type OrderPlaced,
} from '../../protocol/order/messages.js';
import { placeKitOrderName, type PlaceKitOrderInput } from '../../protocol/order/placing-messages.js';
import { resolveOrderPolicy } from '../../protocol/order/policy.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { taskQueue } from '../rig/environments.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

const stage = setStage();
const createPath = '/v3/order/testkit';
/** Time that is skipped before the command has come would have the placing go on without it. */
const untilCancelling = (handle: { state(): Promise<unknown> }) =>
  eventually(async () => expect(JSON.stringify(await handle.state())).toContain('before the cancellation'));
const emptyList = { kind: 'answer', status: 200, body: { orders: [], total: 0, page: 1, size: 50 } } as const;

describe('exactly one kit is ordered', () => {
  test('exactly one kit is ordered if the answer to its creation is lost', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    await stage.skip('1 minute');
    const [placed] = await stage.sandbox.orders();
    expect(await handle.orderId()).toBe(placed?.order.id);
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('exactly one kit is ordered if that answer is lost for a known patient', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: '/v3/order', times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input({ kind: 'with_patient' }));
    await stage.expectRequests('POST', '/v3/order');
    await stage.skip('1 minute');
    await handle.orderId();
    expect(await stage.sandbox.orders()).toHaveLength(1);
  });

  test.each([
    ['a sentence', '404 page not found'],
    ['a message', { message: 'no Route matched with those values' }],
    ['a status of its own', 'Not acceptable', 406],
  ])('exactly one kit is ordered if a proxy answers the search for it with %s', async (_what, body, status = 404) => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    const action = { kind: 'answer', status, body } as const;
    await stage.sandbox.addFault({ method: 'GET', path: '/orders', times: 1, action });
    await stage.skip('5 minutes');
    const [placed] = await stage.sandbox.orders();
    expect(await handle.orderId()).toBe(placed?.order.id);
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test.each([
    ['naming it', [{ type: 'uuid_parsing', loc: ['query', 'user_id'], msg: 'Invented: not a UUID' }]],
    ['in a sentence', 'Invalid format for parameter user_id: invalid UUID length: 3'],
  ])('a search that the service refuses because of a field, %s, refuses the placing', async (_how, detail) => {
    const action = { kind: 'answer', status: 422, body: { detail } } as const;
    await stage.sandbox.addFault({ method: 'GET', path: '/orders', times: 1, action });
    const handle = await stage.product.orders.place(await stage.input());
    await expect(handle.orderId()).rejects.toMatchObject({ name: 'OrderRefused' });
    expect(await stage.sandbox.orders()).toHaveLength(0);
  });

  const inWords = { kind: 'answer', status: 422, body: { detail: 'Invented: not a UUID' } } as const;

  test('a search that the service refuses in a sentence after one that failed refuses the placing', async () => {
    const search = { method: 'GET', path: '/orders' } as const;
    const down = await stage.sandbox.addFault({ ...search, action: { kind: 'answer', status: 503 } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('GET', '/orders');
    await stage.sandbox.removeFaults(down);
    await stage.sandbox.addFault({ ...search, action: inWords });
    await stage.skip('5 minutes');
    await expect(handle.orderId()).rejects.toMatchObject({ name: 'OrderRefused' });
    expect(await stage.countRequests('POST', createPath)).toBe(0);
  });

  test('exactly one kit is ordered if the service refuses the search for it in a sentence', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    await stage.sandbox.addFault({ method: 'GET', path: '/orders', times: 1, action: inWords });
    await stage.skip('20 minutes');
    const [placed] = await stage.sandbox.orders();
    expect(await handle.orderId()).toBe(placed?.order.id);
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('a cancelled placing ends if the service refuses every search for its order in a sentence', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    await stage.sandbox.addFault({ method: 'GET', path: '/orders', action: inWords });
    const cancelled = handle.cancel();
    await untilCancelling(handle);
    await Promise.all([expect(cancelled).rejects.toMatchObject({ name: 'OrderRefused' }), stage.skip('30 minutes')]);
  });

  test('no kit is left if a placing is cancelled, and a proxy answers the search for it', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    const proxy = { kind: 'answer', status: 404, body: '404 page not found' } as const;
    await stage.sandbox.addFault({ method: 'GET', path: '/orders', times: 1, action: proxy });
    const cancelled = handle.cancel();
    await untilCancelling(handle);
    await stage.skip('5 minutes');
    expect(await cancelled).toMatchObject({ phase: 'cancelled' });
    expect(await stage.sandbox.orders()).toMatchObject([
      { order: { last_event: { status: 'cancelled.testkit.cancelled' } } },
    ]);
  });

  test('exactly one kit is ordered if the second attempt is refused because the service still works on the first', async () => {
    const create = { method: 'POST', path: '/v3/order', times: 1 } as const;
    await stage.sandbox.addFault({ ...create, action: { kind: 'answer', status: 502 } });
    // The work is done, as by the first attempt: it is only the answer that says nothing of it.
    const collision = { kind: 'answer', status: 409, body: { detail: 'Conflict' }, phase: 'after_work' } as const;
    await stage.sandbox.addFault({ ...create, action: collision });
    const handle = await stage.product.orders.place(await stage.input({ kind: 'with_patient' }));
    await stage.expectRequests('POST', '/v3/order');
    await stage.skip('1 minute');
    await stage.expectRequests('POST', '/v3/order', 2);
    await stage.skip('5 minutes');
    const [placed, ...others] = await stage.sandbox.orders();
    expect(await handle.orderId()).toBe(placed?.order.id);
    expect(others).toEqual([]);
    expect(await stage.countRequests('POST', '/v3/order')).toBe(2);
  });

  test.each([
    ['unregistered', createPath, 409, 'Duplicate order'],
    ['import', '/v3/order/import', 400, 'Sample id is already in use'],
    ['import', '/v3/order/import', 422, 'Sample id is already in use'],
  ] as const)(
    'exactly one order is placed (%s) if the list lags after a lost answer, and %s refuses the repetition with %i',
    async (kind, path, status, detail) => {
      const create = { method: 'POST', path, times: 1 } as const;
      await stage.sandbox.addFault({ ...create, action: { kind: 'answer', status: 502, phase: 'after_work' } });
      const handle = await stage.product.orders.place(await stage.input({ kind }));
      await stage.expectRequests('POST', path);
      await stage.sandbox.addFault({ method: 'GET', path: '/orders', times: 1, action: emptyList });
      await stage.sandbox.addFault({ ...create, action: { kind: 'answer', status, body: { detail } } });
      await stage.skip('5 minutes');
      const [placed, ...others] = await stage.sandbox.orders();
      expect(await handle.orderId()).toBe(placed?.order.id);
      expect(others).toEqual([]);
      expect(await stage.countRequests('POST', path)).toBe(2);
    },
  );

  test('exactly one kit is ordered if the list shows it only some time after a repetition was refused with 409', async () => {
    const create = { method: 'POST', path: createPath, times: 1 } as const;
    await stage.sandbox.addFault({ ...create, action: { kind: 'answer', status: 502, phase: 'after_work' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    const lagging = await stage.sandbox.addFault({ method: 'GET', path: '/orders', action: emptyList });
    await stage.sandbox.addFault({ ...create, action: { kind: 'answer', status: 409, body: { detail: 'Duplicate' } } });
    await stage.skip('1 minute');
    await stage.expectRequests('POST', createPath, 2);
    await stage.sandbox.removeFaults(lagging);
    await stage.skip('5 minutes');
    const [placed, ...others] = await stage.sandbox.orders();
    expect(await handle.orderId()).toBe(placed?.order.id);
    expect(others).toEqual([]);
  });

  test('exactly one kit is ordered if it is placed twice, and both calls get the same order', async () => {
    const input = await stage.input();
    const [one, other] = await Promise.all([stage.product.orders.place(input), stage.product.orders.place(input)]);
    expect(await one.orderId()).toBe(await other.orderId());
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('exactly one kit is ordered if the service is down for an hour', async () => {
    const fault = await stage.sandbox.addFault({ path: '/**', action: { kind: 'refuse' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.skip('1 hour');
    await stage.sandbox.removeFaults(fault);
    await stage.skip('15 minutes');
    await handle.orderId();
    expect(await stage.sandbox.orders()).toHaveLength(1);
  });
});

test('a placement that the service does not take for an hour needs attention, goes on, and places one kit', async () => {
  const fault = await stage.sandbox.addFault({ path: '/**', action: { kind: 'refuse' } });
  const input = await stage.input();
  const handle = await stage.product.orders.place(input);
  const placing = stage.temporal.workflow.getHandle(placeKitOrderId(input.reference));
  const attention = async () => (await placing.describe()).typedSearchAttributes.get(labAttentionKey) ?? [];
  await stage.skip('2 hours');
  await eventually(async () => expect(await attention()).toEqual(['placing_delayed']));
  const since = expect.any(String) as string;
  expect(await handle.state()).toMatchObject({ phase: 'placing', attention: [{ reason: 'placing_delayed', since }] });
  await stage.sandbox.removeFaults(fault);
  await stage.skip('30 minutes');
  await handle.orderId();
  expect(await attention()).toEqual([]);
  expect(await stage.sandbox.orders()).toHaveLength(1);
});

describe('a placement by a worker with a wrong key', () => {
  const wrongKey = { kind: 'answer', status: 401, body: { detail: 'Invalid' } } as const;

  test('needs attention at once, which its caller learns, and places one kit once the key is right', async () => {
    const fault = await stage.sandbox.addFault({ path: '/**', action: wrongKey });
    const handle = await stage.product.orders.place(await stage.input());
    await eventually(async () =>
      expect(await handle.state()).toMatchObject({
        waiting: { for: expect.stringContaining('a key that it accepts') as string },
        attention: [{ reason: 'placing_delayed' }],
      }),
    );
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

  test('can be cancelled, and orders nothing', async () => {
    const fault = await stage.sandbox.addFault({ path: '/**', action: wrongKey });
    const handle = await stage.product.orders.place(await stage.input());
    await eventually(async () => expect(await handle.state()).toMatchObject({ attention: [{}] }));
    await stage.skip('15 minutes');
    expect(await handle.cancel()).toMatchObject({ outcome: 'cancelled' });
    await stage.sandbox.removeFaults(fault);
    expect(await stage.sandbox.orders()).toEqual([]);
  });

  test('can be cancelled after an answer was lost: the order is looked for until the key is right, and cancelled', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    const fault = await stage.sandbox.addFault({ path: '/**', action: wrongKey });
    const cancelled = handle.cancel();
    const expectWaiting = (what: string) =>
      eventually(async () =>
        expect(await handle.state()).toMatchObject({ waiting: { for: expect.stringContaining(what) as string } }),
      );
    await expectWaiting('before the cancellation');
    await stage.skip('2 minutes');
    await expectWaiting('a key that it accepts');
    await stage.sandbox.removeFaults(fault);
    await stage.skip('15 minutes');
    expect(await cancelled).toMatchObject({ phase: 'cancelled' });
  });
});

test('a service that asks for a day of patience is not asked again before', async () => {
  const action = { kind: 'answer', status: 503, headers: { 'retry-after': '86400' }, body: 'busy' } as const;
  const fault = await stage.sandbox.addFault({ method: 'GET', path: '/orders', action });
  const handle = await stage.product.orders.place(await stage.input());
  await stage.expectRequests('GET', '/orders');
  await stage.skip('23 hours');
  expect(await stage.countRequests('GET', '/orders')).toBe(1);
  await stage.sandbox.removeFaults(fault);
  await stage.skip('2 hours');
  await handle.orderId();
});

describe('a user id in capitals', () => {
  async function shouted(): Promise<{ input: PlaceKitOrderInput; loud: PlaceKitOrderInput }> {
    const input = await stage.input();
    const order = { ...input.order, user_id: input.order.user_id.toUpperCase() };
    return { input, loud: { ...input, order } as PlaceKitOrderInput };
  }

  test('is the same order under the same reference', async () => {
    const { input, loud } = await shouted();
    const kit = await stage.product.orders.place(input);
    const again = await stage.product.orders.place(loud);
    expect(await again.orderId()).toBe(await kit.orderId());
  });

  test('reaches the service in one spelling, whichever backend started the placement', async () => {
    const { input, loud } = await shouted();
    await stage.temporal.workflow.start(placeKitOrderName, {
      workflowId: placeKitOrderId(input.reference),
      taskQueue,
      args: [loud],
    });
    await stage.finish(placeKitOrderId(input.reference));
    const [asked] = await stage.sandbox.requests({ method: 'GET', path: '/orders' });
    expect(new URLSearchParams(asked?.query).get('user_id')).toBe(input.order.user_id);
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { user_id: input.order.user_id } }]);
  });
});

test('the same reference with another policy is the same order, which keeps the first policy', async () => {
  const input = await stage.input({ policy: { shippingDeadline: '20 days' } });
  const kit = await stage.product.orders.place(input);
  const again = await stage.product.orders.place({ ...input, policy: { shippingDeadline: '1 day' } });
  expect(await again.orderId()).toBe(await kit.orderId());
});

describe('an order in the list that cannot be read', () => {
  const untidy = { orders: [{ status: 'received' }], total: 1, page: 1, size: 50 };
  const listed = { method: 'GET', path: '/orders', action: { kind: 'answer', status: 200, body: untidy } } as const;

  test('does not keep its user from ordering', async () => {
    await stage.sandbox.addFault(listed);
    const handle = await stage.product.orders.place(await stage.input());
    await handle.orderId();
    expect(await stage.sandbox.orders()).toHaveLength(1);
  });

  test('may be the one that a lost answer created: no other is ordered until it can be read', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    await stage.sandbox.addFault(listed);
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    await stage.skip('10 minutes');
    await stage.sandbox.removeFaults();
    await stage.skip('20 minutes');
    const orderId = await handle.orderId();
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
    expect(await stage.countRequests('POST', createPath)).toBe(1);
  });

  test('may still be that one after an hour of attempts: the next hour orders no other either', async () => {
    await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
    await stage.sandbox.addFault(listed);
    const handle = await stage.product.orders.place(await stage.input());
    await stage.expectRequests('POST', createPath);
    await stage.skip('3 hours');
    expect(await handle.state()).toMatchObject({ attention: [{ reason: 'placing_delayed' }] });
    expect(await stage.countRequests('POST', createPath)).toBe(1);
    await stage.sandbox.removeFaults();
    await stage.skip('30 minutes');
    const orderId = await handle.orderId();
    expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
  });
});

test('a service whose list lags gets the time that the policy says before the list is searched', async () => {
  await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
  // The first read finds nothing, rightly; later ones do not see the order yet.
  const lagging = await stage.sandbox.addFault({ method: 'GET', path: '/orders', action: emptyList });
  const handle = await stage.product.orders.place(await stage.input({ policy: { creationSettling: '5 minutes' } }));
  await stage.expectRequests('POST', createPath);
  await stage.skip('4 minutes');
  await stage.sandbox.removeFaults(lagging);
  await stage.skip('2 minutes');
  const orderId = await handle.orderId();
  expect(await stage.sandbox.orders()).toMatchObject([{ order: { id: orderId } }]);
});

test('an order without our passthrough, found after an hour of attempts, may be ours: nothing is created', async () => {
  await stage.sandbox.changeSettings({ echoPassthrough: false });
  await stage.sandbox.addFault({ method: 'POST', path: createPath, times: 1, action: { kind: 'drop_response' } });
  await stage.sandbox.addFault({ method: 'GET', path: '/orders', skip: 1, action: { kind: 'refuse' } });
  const handle = await stage.product.orders.place(await stage.input());
  await stage.expectRequests('POST', createPath);
  // The service shows its orders again in the pause after the first hour's attempts: the next attempt is the first of its round.
  const isDelayed = async () => (await handle.state()).attention.length > 0;
  for (let minutes = 0; minutes < 65 && !(await isDelayed()); minutes += 5) await stage.skip('5 minutes');
  expect(await isDelayed()).toBe(true);
  await stage.sandbox.removeFaults();
  await stage.skip('15 minutes');
  await expect(handle.orderId()).rejects.toThrow(AmbiguousOrder);
  expect(await stage.countRequests('POST', createPath)).toBe(1);
  await stage.sandbox.changeSettings({ echoPassthrough: true });
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

test('an order for a user whom the service does not know is refused with that field', async () => {
  const input = await stage.input();
  const order = { ...input.order, user_id: '00000000-0000-4000-8000-00000000dead' };
  const refused = await stage.product.orders.place({ ...input, order } as typeof input);
  await expect(refused.orderId()).rejects.toMatchObject({
    name: 'OrderRefused',
    status: 404,
    sentence: 'User does not exist on this team',
    fields: [{ field: 'user_id', message: 'is not known to the lab service' }],
  });
});

test('an order that breaks a rule is refused before anything is started, with all its faults', async () => {
  const input = await stage.input({ reference: 'valid', policy: { replacementLimit: -1, onLost: 'panic' as never } });
  const shipping = { ...('shipping_details' in input.order && input.order.shipping_details), zip: '' };
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
  [
    'PolicyInvalid',
    'refused-4',
    placeKitOrderId('refused-4'),
    { policy: { ...resolveOrderPolicy(), creationTimeout: 60_000 } },
  ],
  ['ReferenceInvalid', 'not a reference', placeKitOrderId('not a reference'), {}],
  ['ReferenceInvalid', 'refused-2', 'an-id-of-its-own', {}],
  ['InvalidCommand', 'refused-3', placeKitOrderId('refused-3'), { kind: 'of_another_kind' }],
])('a backend that starts the workflow itself gets %s for %s', async (type, reference, workflowId, more) => {
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
  const late = { kind: 'delay', phase: 'after_work', delayMs: 14_000 } as const;
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
  await kit.expectState({ reference: handle.reference ?? '' });
  await stage.skip('10 days');
  await kit.expectAttention();
  expect(await workflow.describe()).toMatchObject({ runId, status: { name: 'RUNNING' } });
});

describe('the hand-over', () => {
  async function handOver(orderId: string, reference: string, more: Partial<OrderPlaced> = {}): Promise<void> {
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(orderId));
    const placed: OrderPlaced = {
      reference,
      policy: resolveOrderPolicy({ shippingDeadline: '1 day' }),
      snapshot: { orderId, events: [] },
      adopted: false,
      notifies: true,
      ...more,
    };
    await workflow.signal(orderPlacedSignal, placed);
  }

  test('may come twice, and changes nothing the second time', async () => {
    const kit = await stage.place();
    const before = await kit.handle.state();
    await handOver(kit.rootOrderId, kit.handle.reference ?? '');
    expect(await kit.handle.state()).toEqual(before);
    await stage.skip('2 days');
    await kit.expectAttention();
  });

  test('the hand-over with a second reference needs attention, and the first one keeps the order', async () => {
    const kit = await stage.place();
    await handOver(kit.rootOrderId, 'a-second-reference');
    await kit.expectAttention('reference_conflict');
    await kit.expectState({ reference: kit.handle.reference ?? '' });
    await kit.expectNotifications('phase_changed awaiting_registration', 'attention_raised reference_conflict');
    const { rootOrderId: orderId } = kit;
    expect(await kit.handle.resolveProblem('wait', { orderId })).toMatchObject({ attention: [] });
    await kit.expectState({ reference: kit.handle.reference ?? '', attention: [] });
  });

  test('the hand-over with what is neither a reference nor a policy is dropped, and the order goes on', async () => {
    const { rootOrderId } = await stage.place();
    const elsewhere = await stage.service.orders.createTestkit((await stage.input()).order as never);
    const kit = await eventually(() => stage.follow(elsewhere.order.id));
    await kit.expectState({ orderId: elsewhere.order.id });
    const odd: unknown[] = [['order-1001'], 'with space', 'x'.repeat(3_000), 7];
    for (const reference of odd) await handOver(elsewhere.order.id, reference as string);
    await handOver(elsewhere.order.id, 'order-1001', { policy: null as never });
    const { reference } = await kit.handle.state();
    expect(reference).toBeUndefined();
    const workflow = stage.temporal.workflow.getHandle(kitOrderId(elsewhere.order.id));
    const snapshot = { orderId: elsewhere.order.id, events: [] };
    const placed = { rootOrderId, snapshot, reference: ['order-1001'] as unknown as string };
    // A run that passes on cancels the delivery of its own notification.
    await kit.expectNotifications('phase_changed awaiting_registration');
    await stage.untilNoActivityRuns(workflow.workflowId);
    await workflow.signal(replacementPlacedSignal, placed);
    await eventually(async () => expect(await kit.handle.state()).toMatchObject({ forwardsTo: rootOrderId }));
  });

  test('the hand-over of a cancelled placement whose order has another reference leaves that order alone', async () => {
    const kit = await stage.place();
    await handOver(kit.rootOrderId, 'a-second-reference', { cancelRequested: true });
    await kit.expectAttention('reference_conflict');
    await kit.expectState({ phase: 'awaiting_registration' });
    expect(await stage.countRequests('POST', `/v3/order/${kit.rootOrderId}/cancel`)).toBe(0);
  });
});

test('an order of ours that is first received long after its creation waits for no hand-over', async () => {
  await stage.syncClock();
  const passthrough = signed(writePassthrough({ reference: 'an-earlier-run', n: 1 }), usualInstallation);
  const { order } = await stage.sandbox.createOrder({ passthrough, webhook: false, patientKnown: true });
  await stage.skip('15 minutes');
  await stage.syncClock();
  await stage.sandbox.move(order.id, 'requisition_created');
  const kit = await eventually(() => stage.follow(order.id));
  await kit.expectState({ reference: 'an-earlier-run', phase: 'preparing' });
  await kit.expectNotifications('phase_changed preparing');
});

test('an order that nobody placed is adopted by its first webhook, and never replaced automatically', async () => {
  await stage.syncClock();
  const { order } = await stage.sandbox.createOrder();
  const kit = await eventually(() => stage.follow(order.id));
  await kit.expectState({ phase: 'awaiting_registration', orderId: order.id });
  await kit.move('transit_customer', 'lost');
  await kit.expectAttention('decision_needed');
  expect(await stage.sandbox.orders()).toHaveLength(1);
  expect(await kit.handle.replaceKit({ orderId: order.id })).toMatchObject({ chain: [{}, { origin: 'replacement' }] });
});
