import { describe, expect, test } from 'vitest';
import {
  OrderRefused,
  PhysicianRequired,
  RegisteredAnotherOrder,
  RegistrationRefused,
} from '../../client/orders/errors.js';
import { labAccountIds } from '../../sandbox/lab-service/seed.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { kitOrderId } from '../../protocol/ids.js';
import { orderPlacedSignal } from '../../protocol/order/messages.js';
import type { OrderRequest } from '../../service/orders.js';
import { setStage } from './story.js';

const stage = setStage();
const registerPath = '/v3/order/testkit/register';

test('a kit that is registered before it ships is followed to its result', async () => {
  const kit = await stage.place();
  expect(await kit.register()).toMatchObject({ phase: 'preparing', registered: true });
  await stage.skip('1 day');
  await kit.move('transit_customer');
  await stage.skip('2 days');
  await kit.move('with_customer');
  await kit.expectState({ phase: 'with_customer', waiting: { for: 'the sample to be sent back' }, attention: [] });
  await stage.skip('1 day');
  await kit.move('transit_lab');
  await stage.skip('2 days');
  await kit.move('delivered_to_lab');
  await stage.skip('3 days');
  await kit.move({ status: 'completed', interpretation: 'abnormal' });
  expect(await kit.result()).toMatchObject({ outcome: 'completed', interpretation: 'abnormal' });
  await kit.expectNotifications(
    'phase_changed awaiting_registration',
    'phase_changed preparing',
    'phase_changed in_transit_to_customer',
    'phase_changed with_customer',
    'phase_changed in_transit_to_lab',
    'phase_changed at_lab',
    'result',
    'phase_changed completed',
  );
});

test('a kit that is registered after its delivery is with the customer, though the service says received again', async () => {
  const kit = await stage.place();
  await kit.move('transit_customer', 'out_for_delivery', 'with_customer');
  await kit.expectState({ phase: 'awaiting_registration', registered: false });
  await stage.skip('2 days');
  const state = await kit.register();
  expect(state).toMatchObject({ phase: 'with_customer', status: 'received.testkit.testkit_registered' });
  await stage.skip('3 days');
  await kit.expectNotifications(
    'phase_changed awaiting_registration',
    'phase_changed in_transit_to_customer',
    'phase_changed awaiting_registration',
    'phase_changed with_customer',
    'return_reminder 1',
  );
  await kit.move('transit_lab', 'delivered_to_lab', 'completed');
  expect(await kit.result()).toMatchObject({ outcome: 'completed' });
});

// proves 157, 167, I5
test('the service may report a registration in another order and spelling', async () => {
  await stage.sandbox.changeSettings({ registrationOrder: 'documentation', registeredSpelling: 'registered' });
  const kit = await stage.place();
  await kit.move('transit_customer', 'with_customer');
  expect(await kit.register()).toMatchObject({
    phase: 'with_customer',
    status: 'received.testkit.requisition_created',
  });
});

describe('if nobody registers the kit', () => {
  test('three reminders with a link to the order, then attention and daily reads follow, and the order is given up', async () => {
    const kit = await stage.place();
    await kit.move('transit_customer', 'with_customer');
    await stage.skip('31 days');
    await kit.expectNotifications(
      'phase_changed awaiting_registration',
      'phase_changed in_transit_to_customer',
      'phase_changed awaiting_registration',
      'registration_reminder 1',
      'registration_reminder 2',
      'registration_reminder 3',
    );
    const links = await stage.sandbox.portalLinks();
    expect(links.map(({ order_id: orderId, context }) => ({ orderId, context }))).toEqual(
      [1, 2, 3].map(() => ({ orderId: kit.rootOrderId, context: 'communications' })),
    );
    expect(kit.notifications.slice(3).map(({ data }) => data['portal_url'])).toEqual(links.map(({ url }) => url));

    await stage.skip('60 days');
    await kit.expectAttention('registration_overdue');
    await stage.skip('60 days');
    expect(await kit.result()).toMatchObject({ outcome: 'unresolved' });
    await kit.expectState({ outcome: 'unresolved', waiting: { for: 'nothing' } });
    expect(kit.notifications.slice(6).map(({ type }) => type)).toEqual(['attention_raised', 'ended']);
  });

  test('a user without demographics is reminded without a link, and the product learns why', async () => {
    const kit = await stage.place({
      userId: await stage.newUser(false),
      policy: { registrationReminders: ['3 days'] },
    });
    await kit.move('transit_customer', 'with_customer');
    await stage.skip('4 days');
    await kit.expectNotifications(
      'phase_changed awaiting_registration',
      'phase_changed in_transit_to_customer',
      'phase_changed awaiting_registration',
      'registration_reminder 1',
    );
    expect(kit.notifications.at(-1)?.data).toMatchObject({ portal_url: null, portal_url_refused: 'ServiceRefused' });
  });

  test('no reminder follows a registration', async () => {
    const kit = await stage.place({ policy: { returnReminders: ['20 days'], returnDeadline: '30 days' } });
    await kit.move('transit_customer', 'with_customer');
    await stage.skip('4 days');
    await kit.register();
    await stage.skip('10 days');
    const reminders = kit.notifications.filter(({ type }) => type === 'registration_reminder');
    expect(reminders).toHaveLength(1);
  });
});

test('a refused registration names the fields, and the kit waits until one is accepted', async () => {
  const kit = await stage.place();
  await kit.move('transit_customer', 'with_customer');
  const refusal: unknown = await kit.register({ sampleId: 'NOT-ON-ANY-KIT' }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RegistrationRefused);
  expect(refusal).toMatchObject({
    status: 422,
    fields: [{ field: 'sample_id', message: 'Value error, sample_id is not known' }],
  });
  await kit.expectState({ phase: 'awaiting_registration', registered: false, attention: [] });
  expect(await kit.register()).toMatchObject({ phase: 'with_customer', registered: true });
});

test('a registration that breaks a known rule is refused before the service is asked', async () => {
  const kit = await stage.place();
  const refusal: unknown = await kit.register({ dob: '2999-01-01' }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RegistrationRefused);
  expect(refusal).toMatchObject({ fields: [{ field: 'patient_details.dob' }] });
  expect(await stage.countRequests('POST', registerPath)).toBe(0);
});

test('a registration whose answer was lost is found to have happened, and not repeated', async () => {
  const kit = await stage.place();
  await stage.sandbox.addFault({ method: 'POST', path: registerPath, times: 1, action: { kind: 'drop_response' } });
  const registering = kit.register();
  await stage.expectRequests('POST', registerPath);
  await stage.skip('1 minute');
  expect(await registering).toMatchObject({ phase: 'preparing', registered: true });
  expect(await stage.countRequests('POST', registerPath)).toBe(1);
});

test('registering again with the same sample id is success', async () => {
  const kit = await stage.place();
  const registration = await kit.registration();
  await kit.handle.register(registration);
  expect(await kit.handle.register(registration)).toMatchObject({ registered: true });
  expect(await stage.countRequests('POST', registerPath)).toBe(1);
});

test('a registration for somebody else moves the order to that user', async () => {
  const kit = await stage.place();
  const patient = await stage.newUser();
  const state = await kit.register({ userId: patient });
  expect(state.userId).toBe(patient);
  const { typedSearchAttributes } = await stage.temporal.workflow.getHandle(kitOrderId(kit.rootOrderId)).describe();
  expect(typedSearchAttributes.get(labUserIdKey)).toBe(patient);
  await kit.expectNotifications('phase_changed awaiting_registration', 'phase_changed preparing');
  expect(kit.notifications.at(-1)?.data['user_id']).toBe(patient);
});

test('a sample id that belongs to another kit needs attention until the right one is registered', async () => {
  const userId = await stage.newUser();
  const [kit, other] = [await stage.place({ userId }), await stage.place({ userId })];
  const { sample_id: sampleId } = await other.registration();
  await expect(kit.register({ sampleId })).rejects.toThrow(RegisteredAnotherOrder);
  await kit.expectAttention('registered_another_order');
  await other.expectState({ registered: true });
  expect(await kit.register()).toMatchObject({ registered: true, attention: [] });
});

describe('a lab account whose orders need a physician', () => {
  const labAccountId = labAccountIds.orderDelegated;

  test('is sent no kit order for a known patient without one', async () => {
    const handle = await stage.product.orders.place(await stage.input({ kind: 'with_patient', labAccountId }));
    const refusal: unknown = await handle.orderId().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(PhysicianRequired);
    expect(refusal).toMatchObject({ fields: [{ field: 'physician' }] });
    expect(await stage.countRequests('POST', '/v3/order')).toBe(0);
  });

  test('is found too if a set of tests names it', async () => {
    const { reference, order } = await stage.input({ kind: 'with_patient' });
    const { lab_test_id: test, ...rest } = order as OrderRequest;
    const set = { ...rest, order_set: { lab_test_ids: [test ?? ''], lab_account_id: labAccountId } };
    const handle = await stage.product.orders.place({ reference, kind: 'with_patient', order: set });
    await expect(handle.orderId()).rejects.toThrow(PhysicianRequired);
  });

  test.each([
    ['is refused', { status: 403, body: { detail: 'Forbidden' } }],
    ['is not found', { status: 404, body: 'no such upstream' }],
    ['is a bare list', { status: 200, body: [] }],
    ['cannot be read', { status: 200, body: 'utter nonsense' }],
  ])('is left to the service when the list of accounts %s', async (_how, answer) => {
    await stage.sandbox.addFault({ path: '/v3/lab_test/lab_account', action: { kind: 'answer', ...answer } });
    const handle = await stage.product.orders.place(await stage.input({ kind: 'with_patient', labAccountId }));
    await expect(handle.orderId()).rejects.toThrow(OrderRefused);
    expect(await stage.countRequests('POST', '/v3/order')).toBe(1);
    const kit = await stage.place({ labAccountId });
    await expect(kit.register()).rejects.toThrow(RegistrationRefused);
    expect(await stage.countRequests('POST', registerPath)).toBe(1);
  });

  test('gets a kit for a known patient with one, which awaits no registration', async () => {
    const kit = await stage.place({ kind: 'with_patient', labAccountId, withPhysician: true });
    await kit.expectState({ phase: 'preparing', registered: true });
  });

  test('gets no registration without one, and accepts one with it', async () => {
    const kit = await stage.place({ labAccountId });
    await expect(kit.register()).rejects.toThrow(PhysicianRequired);
    expect(await stage.countRequests('POST', registerPath)).toBe(0);
    expect(await kit.register({ withPhysician: true })).toMatchObject({ registered: true });
  });
});

test('the account that a set of tests names is handed over with its order, for a replacement', async () => {
  const { reference, order } = await stage.input({ kind: 'with_patient' });
  const { lab_test_id: test, ...rest } = order as OrderRequest;
  const set = { ...rest, order_set: { lab_test_ids: [test ?? ''], lab_account_id: labAccountIds.notDelegated } };
  const handle = await stage.product.orders.place({ reference, kind: 'with_patient', order: set });
  const workflow = stage.temporal.workflow.getHandle(kitOrderId(await handle.orderId()));
  const { events } = await workflow.fetchHistory();
  const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal ?? []);
  const placed = signals.find(({ signalName }) => signalName === orderPlacedSignal.name)?.input?.payloads?.[0]?.data;
  expect(JSON.parse(Buffer.from(placed ?? []).toString())).toMatchObject({
    labAccountId: labAccountIds.notDelegated,
  });
});
