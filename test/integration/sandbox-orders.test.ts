import { describe, expect, test } from 'vitest';
import { labAccountIds, labTestIds, inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { patientDetails, physician, shippingDetails } from '../rig/cast.js';
import { knownPatientBody, lows, startSandbox, testkitBody } from './sandbox-rig.js';

const unknown = '00000000-0000-4000-8000-000000000000';
const cancelRefused = {
  error: 'Bad Request',
  message: 'Transition from current_status to cancelled is not allowed',
  status_code: 400,
};

describe('a kit ordered without its patient', () => {
  // proves 151, 154, 155, 206, 210
  test('is received and awaits its registration', async () => {
    const { call, newUser } = await startSandbox();
    const userId = await newUser();
    const body = { ...testkitBody(userId), passthrough: 'labops:->:reference:1' };
    const { status, body: answer } = await call('POST', '/v3/order/testkit', body);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ status: 'SUCCESS', message: 'Order submitted' });
    const { order } = answer;
    expect(order).toMatchObject({
      team_id: inventedTeamId,
      user_id: userId,
      status: 'received',
      patient_details: null,
      patient_address: null,
      sample_id: null,
      passthrough: 'labops:->:reference:1',
      interpretation: null,
      origin: 'initial',
      has_abn: false,
      lab_test: { id: labTestIds.kit, method: 'testkit' },
      shipping_details: { ...shippingDetails, country: 'United States' },
    });
    expect(order.events.map((event) => event.status)).toEqual([
      'received.testkit.ordered',
      'received.testkit.awaiting_registration',
    ]);
    expect(order.last_event).toEqual(order.events.at(-1));
    expect(Object.keys(order.details.data)).toEqual(['id', 'created_at', 'updated_at']);
    expect(order.order_transaction).toMatchObject({
      status: 'active',
      orders: [{ id: order.id, origin: 'initial', parent_id: null, low_level_status: 'awaiting_registration' }],
    });
    expect((await call('GET', `/v3/order/${order.id}`)).body).toEqual(order);
  });

  // proves 116
  test('has event ids that ascend over all orders, neither from 1 nor without gaps', async () => {
    const { newKit } = await startSandbox();
    const orders = [await newKit(), await newKit(), await newKit()];
    const ids: number[] = orders.flatMap((order) => order.events.map((event) => event.id));
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids[0]).toBeGreaterThan(1);
    expect((ids.at(-1) ?? 0) - (ids[0] ?? 0)).toBeGreaterThan(ids.length - 1);
  });

  test('is refused with every fault of the request at once', async () => {
    const { call } = await startSandbox();
    const bad = {
      user_id: 'abc',
      lab_test_id: labTestIds.kit,
      shipping_details: { ...shippingDetails, zip: '9118', city: 5 },
    };
    const { status, body } = await call('POST', '/v3/order/testkit', bad);
    expect(status).toBe(422);
    expect(body.detail).toEqual([
      expect.objectContaining({ type: 'uuid_parsing', loc: ['body', 'user_id'], input: 'abc' }),
      expect.objectContaining({ type: 'string_type', loc: ['body', 'shipping_details', 'city'], input: 5 }),
      {
        type: 'string_pattern_mismatch',
        loc: ['body', 'shipping_details', 'zip'],
        msg: String.raw`String should match pattern '^\d{5}(-\d{4})?$'`,
        input: '9118',
        ctx: { pattern: String.raw`^\d{5}(-\d{4})?$` },
      },
    ]);
  });

  test('needs a user, a kit and an account that exist', async () => {
    const { call, newUser } = await startSandbox();
    const kit = testkitBody(await newUser());
    const order = async (more: object) => call('POST', '/v3/order/testkit', { ...kit, ...more });
    expect(await order({ user_id: unknown })).toMatchObject({
      status: 404,
      body: { detail: 'User does not exist on this team' },
    });
    expect((await order({ lab_test_id: unknown })).status).toBe(404);
    expect((await order({ lab_test_id: labTestIds.walkIn })).status).toBe(400);
    expect((await order({ lab_account_id: unknown })).status).toBe(404);
  });

  test('ships twice when it is ordered twice, whatever idempotency key is sent', async () => {
    const { call, control, newUser } = await startSandbox();
    const kit = testkitBody(await newUser());
    for (const _ of [1, 2]) await call('POST', '/v3/order/testkit', kit, { 'x-idempotency-key': 'same' });
    expect(await control.orders()).toHaveLength(2);
  });
});

describe('an order with a known patient', () => {
  // proves 217, 218
  test.each(['/v3/order', '/v3/order/create'])('made at %s starts ordered, then requisition_created', async (path) => {
    const { call, newUser } = await startSandbox();
    const body = { ...knownPatientBody(await newUser()), clinical_notes: 'Invented note', passthrough: 'p' };
    const { status, body: answer } = await call('POST', path, body);
    expect(status).toBe(200);
    expect(lows(answer.order)).toEqual(['ordered', 'requisition_created']);
    expect(answer.order).toMatchObject({
      patient_details: patientDetails,
      clinical_notes: 'Invented note',
      passthrough: 'p',
      shipping_details: { first_line: shippingDetails.first_line, country: 'United States' },
    });
  });

  test('is answered with the text of the recorded errors', async () => {
    const { call, newUser } = await startSandbox();
    const good = knownPatientBody(await newUser());
    const ask = async (more: object) => {
      const { status, body } = await call('POST', '/v3/order', { ...good, ...more });
      return [status, body.detail];
    };
    expect(await ask({ lab_test_id: null })).toEqual([400, 'Either lab_test_id or order_set must be set']);
    expect(await ask({ collection_method: 'testkit' })).toEqual([400, 'Cannot set collection_method to TESTKIT']);
    expect(await ask({ user_id: unknown })).toEqual([404, 'User does not exist on this team']);
    const badPhone = { ...patientDetails, phone_number: '+15555550100' };
    expect(await ask({ patient_details: badPhone })).toEqual([400, 'Phone number is not correct']);
    expect(await ask({ clinical_notes: 'x'.repeat(1_001) })).toEqual([
      422,
      [expect.objectContaining({ type: 'string_too_long', loc: ['body', 'clinical_notes'] })],
    ]);
  });

  // proves 137, 138, 221
  test('an order on a delegated account needs a physician, and the comments of both are joined for the laboratory', async () => {
    const { call, control, newUser } = await startSandbox();
    const body = {
      ...knownPatientBody(await newUser()),
      lab_account_id: labAccountIds.orderDelegated,
      clinical_notes: 'Own.',
    };
    expect((await call('POST', '/v3/order', body)).status).toBe(422);
    const { order } = (await call('POST', '/v3/order', { ...body, physician })).body;
    expect((await control.order(order.id)).requisitionNotes).toBe('Fasting sample preferred.\nOwn.');
  });

  test('is made once for one idempotency key, for 24 hours', async () => {
    const { call, control, newUser } = await startSandbox();
    const body = knownPatientBody(await newUser());
    const order = async () => (await call('POST', '/v3/order', body, { 'x-idempotency-key': 'key-1' })).body.order.id;
    const first = await order();
    expect(await order()).toBe(first);
    await control.advanceClock('24h');
    expect(await order()).not.toBe(first);
    expect(await control.orders()).toHaveLength(2);
  });

  test('an order whose key met a failure keeps failing, unless the failed request said no-cache', async () => {
    const { call, newUser } = await startSandbox();
    const good = knownPatientBody(await newUser());
    const bad = { ...good, collection_method: 'testkit' };
    const order = async (body: object, key: string, more: Record<string, string> = {}) =>
      (await call('POST', '/v3/order', body, { 'x-idempotency-key': key, ...more })).status;
    expect(await order(bad, 'kept')).toBe(400);
    expect(await order(good, 'kept')).toBe(400);
    expect(await order(bad, 'free', { 'x-idempotency-error': 'no-cache' })).toBe(400);
    expect(await order(good, 'free')).toBe(200);
  });
});

describe('cancelling', () => {
  test.each(['ordered', 'awaiting_registration', 'requisition_created', 'requisition_bypassed', 'testkit_registered'])(
    'works from %s',
    async (status) => {
      const { call, control, newKit } = await startSandbox();
      const { id } = await newKit();
      await control.move(id, status);
      const answer = await call('POST', `/v3/order/${id}/cancel`);
      expect(answer.status).toBe(200);
      expect(answer.body.order).toMatchObject({ status: 'cancelled', order_transaction: { status: 'cancelled' } });
    },
  );

  test.each(['transit_customer', 'with_customer', 'delivered_to_lab', 'completed', 'lost', 'cancelled'])(
    'is refused from %s, in a body without detail',
    async (status) => {
      const { call, control, newKit } = await startSandbox();
      const { id } = await newKit();
      await control.move(id, status);
      expect(await call('POST', `/v3/order/${id}/cancel`)).toMatchObject({ status: 400, body: cancelRefused });
    },
  );
});

// proves 171, 311
test('unknown orders and ids that are not UUIDs have their own answers', async () => {
  const { call } = await startSandbox();
  const ask = async (method: string, path: string) => {
    const { status, body } = await call(method, path);
    return [status, body.detail];
  };
  expect(await ask('GET', `/v3/order/${unknown}`)).toEqual([404, "This order doesn't exist"]);
  expect(await ask('POST', `/v3/order/${unknown}/cancel`)).toEqual([404, "Order doesn't exist"]);
  expect(await ask('POST', `/v3/order/${unknown}/test`)).toEqual([404, "Order doesn't exist"]);
  expect(await ask('GET', `/v3/order/${unknown}/result`)).toEqual([404, 'Order not found']);
  expect(await ask('GET', `/v3/order/${unknown}/result/metadata`)).toEqual([404, 'Order not found']);
  expect((await ask('GET', `/v3/order_transaction/${unknown}`))[0]).toBe(404);
  expect(await ask('GET', '/v3/order/abc')).toEqual([422, expect.stringContaining('parameter order_id')]);
});
