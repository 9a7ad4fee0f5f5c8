import { describe, expect, test } from 'vitest';
import { LAB_ACCOUNT_IDS, LAB_TEST_IDS, TEAM_ID } from '../../sandbox/lab-service/seed.js';
import {
  address,
  lows,
  knownPatientBody,
  patient,
  physician,
  registerBody,
  startSandbox,
  testkitBody,
} from './sandbox-rig.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const LISTS = ['/orders', '/v3/orders'];
const CANCEL_REFUSED = {
  error: 'Bad Request',
  message: 'Transition from current_status to cancelled is not allowed',
  status_code: 400,
};

describe('a kit ordered without its patient', () => {
  test('is received and awaits its registration', async () => {
    const { call, newUser } = await startSandbox();
    const userId = await newUser();
    const body = { ...testkitBody(userId), passthrough: 'labops:->:reference:1' };
    const { status, body: answer } = await call('POST', '/v3/order/testkit', body);
    expect(status).toBe(200);
    expect(answer).toMatchObject({ status: 'SUCCESS', message: 'Order submitted' });
    const { order } = answer;
    expect(order).toMatchObject({
      team_id: TEAM_ID,
      user_id: userId,
      status: 'received',
      patient_details: null,
      patient_address: null,
      sample_id: null,
      passthrough: 'labops:->:reference:1',
      interpretation: null,
      origin: 'initial',
      has_abn: false,
      lab_test: { id: LAB_TEST_IDS.kit, method: 'testkit' },
      shipping_details: { ...address, country: 'United States' },
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
      lab_test_id: LAB_TEST_IDS.kit,
      shipping_details: { ...address, zip: '9118', city: 5 },
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
    expect(await order({ user_id: UNKNOWN })).toMatchObject({
      status: 404,
      body: { detail: 'User does not exist on this team' },
    });
    expect((await order({ lab_test_id: UNKNOWN })).status).toBe(404);
    expect((await order({ lab_test_id: LAB_TEST_IDS.walkIn })).status).toBe(400);
    expect((await order({ lab_account_id: UNKNOWN })).status).toBe(404);
  });

  test('ships twice when it is ordered twice, whatever idempotency key is sent', async () => {
    const { call, control, newUser } = await startSandbox();
    const kit = testkitBody(await newUser());
    for (const _ of [1, 2]) await call('POST', '/v3/order/testkit', kit, { 'x-idempotency-key': 'same' });
    expect(await control.orders()).toHaveLength(2);
  });
});

describe('registration', () => {
  test('continues with requisition_created, then testkit_registered, as the specification shows', async () => {
    const { call, control, newKit } = await startSandbox();
    const { id, user_id: userId } = await newKit();
    const { kit_sample_id: sampleId } = await control.order(id);
    const { status, body } = await call('POST', '/v3/order/testkit/register', registerBody(userId, sampleId ?? ''));
    expect(status).toBe(200);
    expect(lows(body.order)).toEqual(['ordered', 'awaiting_registration', 'requisition_created', 'testkit_registered']);
    expect(body.order).toMatchObject({
      id,
      status: 'received',
      sample_id: sampleId,
      patient_details: patient,
      patient_address: { ...address, country: 'United States' },
      requisition_form_url: `https://files.example.com/requisitions/${id}.pdf`,
    });
  });

  test('plays the documented order of events and the spelling of the schema where a switch says so', async () => {
    const { call, newKit } = await startSandbox({
      registrationOrder: 'documentation',
      registeredSpelling: 'registered',
    });
    const { user_id: userId } = await newKit();
    const { body } = await call('POST', '/v3/order/testkit/register', registerBody(userId, 'INVENTED-1'));
    expect(lows(body.order).slice(2)).toEqual(['registered', 'requisition_created']);
  });

  test('takes street and street_number for the lines of the address', async () => {
    const { call, newKit } = await startSandbox();
    const { user_id: userId } = await newKit();
    const { first_line: _, second_line: __, ...rest } = address;
    const patientAddress = { ...rest, street: 'Invented Street', street_number: '12' };
    const body = { ...registerBody(userId, 'INVENTED-1'), patient_address: patientAddress };
    const answer = await call('POST', '/v3/order/testkit/register', body);
    expect(answer.body.order.patient_address.first_line).toBe('12 Invented Street');
  });

  test('of another user gives the order to that user', async () => {
    const { call, control, newKit, newUser } = await startSandbox();
    const order = await newKit();
    const patientId = await newUser();
    const { kit_sample_id: sampleId } = await control.order(order.id);
    const { body } = await call('POST', '/v3/order/testkit/register', registerBody(patientId, sampleId ?? ''));
    expect(body.order).toMatchObject({ id: order.id, user_id: patientId });
    expect((await call('GET', `/orders?user_id=${patientId}`)).body.total).toBe(1);
    expect((await call('GET', `/orders?user_id=${order.user_id}`)).body.total).toBe(0);
  });

  test('without user keeps the order with its user', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    const { kit_sample_id: sampleId } = await control.order(order.id);
    const { user_id: _, ...body } = registerBody('', sampleId ?? '');
    expect((await call('POST', '/v3/order/testkit/register', body)).body.order.user_id).toBe(order.user_id);
  });

  test('with a sample id that is on no kit takes the oldest kit of the user, or is refused where that is off', async () => {
    const { call, control, newUser } = await startSandbox();
    const kit = testkitBody(await newUser());
    const first = (await call('POST', '/v3/order/testkit', kit)).body.order;
    await call('POST', '/v3/order/testkit', kit);
    const register = async (sampleId: string) =>
      call('POST', '/v3/order/testkit/register', registerBody(first.user_id, sampleId));
    expect((await register('INVENTED-1')).body.order).toMatchObject({ id: first.id, sample_id: 'INVENTED-1' });
    await control.changeSettings({ anySampleId: false });
    expect(await register('INVENTED-2')).toMatchObject({
      status: 422,
      body: {
        detail: [{ type: 'value_error', loc: ['body', 'sample_id'], msg: 'Value error, sample_id is not known' }],
      },
    });
  });

  test('of a kit that is registered with another sample is refused', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    const register = async (sampleId: string) =>
      call('POST', '/v3/order/testkit/register', registerBody(order.user_id, sampleId));
    await register('INVENTED-1');
    const { kit_sample_id: printed } = await control.order(order.id);
    const answer = await register(printed ?? '');
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]?.msg).toContain('already registered with another sample_id');
  });

  test('repeated with the same sample is refused, or answered with the order where a switch says so', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    await newKit({ user_id: order.user_id });
    const body = registerBody(order.user_id, 'INVENTED-1');
    await call('POST', '/v3/order/testkit/register', body);
    expect((await call('POST', '/v3/order/testkit/register', body)).status).toBe(422);
    await control.changeSettings({ repeatedRegistration: 'accept' });
    const again = await call('POST', '/v3/order/testkit/register', body);
    expect(again.body.order).toMatchObject({ id: order.id });
    expect(again.body.order.events).toHaveLength(4);
  });

  test('of a cancelled kit is refused', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    await call('POST', `/v3/order/${order.id}/cancel`);
    const { kit_sample_id: sampleId } = await control.order(order.id);
    const answer = await call('POST', '/v3/order/testkit/register', registerBody(order.user_id, sampleId ?? ''));
    expect(answer.status).toBe(422);
  });

  test('on a delegated account needs a physician', async () => {
    const { call, newKit } = await startSandbox();
    for (const account of [LAB_ACCOUNT_IDS.orderDelegated, LAB_ACCOUNT_IDS.fullyDelegated]) {
      const order = await newKit({ lab_account_id: account });
      const body = registerBody(order.user_id, `INVENTED-${account}`);
      const refused = await call('POST', '/v3/order/testkit/register', body);
      expect(refused).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'physician'] }] } });
      const accepted = await call('POST', '/v3/order/testkit/register', { ...body, physician });
      expect(accepted.body.order).toMatchObject({ physician, lab_account_id: account });
    }
  });

  test.each([
    ['first_name', '-John', 'value_error', 'Value error, The field must start with a letter (a-z or A-Z or 0-9)'],
    ['first_name', 'José', 'value_error', 'Value error, The field must start with a letter'],
    ['last_name', '', 'string_too_short', 'String should have at least 1 character'],
    ['last_name', 'x'.repeat(51), 'string_too_long', 'String should have at most 50 characters'],
    ['dob', '2999-01-01T00:00:00+00:00', 'value_error', 'Value error, dob cannot be in the future'],
    ['dob', '1990-02-31', 'date_from_datetime_parsing', 'Input should be a valid date or datetime'],
    ['email', 'nobody', 'value_error', 'value is not a valid email address'],
    ['gender', 'Female', 'enum', "Input should be 'female', 'male', 'other' or 'unknown'"],
  ])('with %s "%s" is refused', async (field, value, type, message) => {
    const { call, newKit } = await startSandbox();
    const order = await newKit();
    const body = { ...registerBody(order.user_id, 'INVENTED-1'), patient_details: { ...patient, [field]: value } };
    const answer = await call('POST', '/v3/order/testkit/register', body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toHaveLength(1);
    expect(answer.body.detail[0]).toMatchObject({ type, loc: ['body', 'patient_details', field], input: value });
    expect(answer.body.detail[0]?.msg).toContain(message);
  });
});

describe('an order with a known patient', () => {
  test.each(['/v3/order', '/v3/order/create'])('made at %s starts ordered, then requisition_created', async (path) => {
    const { call, newUser } = await startSandbox();
    const body = { ...knownPatientBody(await newUser()), clinical_notes: 'Invented note', passthrough: 'p' };
    const { status, body: answer } = await call('POST', path, body);
    expect(status).toBe(200);
    expect(lows(answer.order)).toEqual(['ordered', 'requisition_created']);
    expect(answer.order).toMatchObject({
      patient_details: patient,
      clinical_notes: 'Invented note',
      passthrough: 'p',
      shipping_details: { first_line: address.first_line, country: 'United States' },
    });
  });

  test('answers with the wording of the recorded errors', async () => {
    const { call, newUser } = await startSandbox();
    const good = knownPatientBody(await newUser());
    const ask = async (more: object) => {
      const { status, body } = await call('POST', '/v3/order', { ...good, ...more });
      return [status, body.detail];
    };
    expect(await ask({ lab_test_id: null })).toEqual([400, 'Either lab_test_id or order_set must be set']);
    expect(await ask({ collection_method: 'testkit' })).toEqual([400, 'Cannot set collection_method to TESTKIT']);
    expect(await ask({ user_id: UNKNOWN })).toEqual([404, 'User does not exist on this team']);
    const badPhone = { ...patient, phone_number: '+15555550100' };
    expect(await ask({ patient_details: badPhone })).toEqual([400, 'Phone number is not correct']);
    expect(await ask({ clinical_notes: 'x'.repeat(1_001) })).toEqual([
      422,
      [expect.objectContaining({ type: 'string_too_long', loc: ['body', 'clinical_notes'] })],
    ]);
  });

  test('on a delegated account needs a physician, and the comments of both are joined for the laboratory', async () => {
    const { call, control, newUser } = await startSandbox();
    const body = {
      ...knownPatientBody(await newUser()),
      lab_account_id: LAB_ACCOUNT_IDS.orderDelegated,
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

  test('whose key met a failure keeps failing, unless the failed request said no-cache', async () => {
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
      expect(await call('POST', `/v3/order/${id}/cancel`)).toMatchObject({ status: 400, body: CANCEL_REFUSED });
    },
  );
});

test('unknown orders and ids that are no UUID have their own answers', async () => {
  const { call } = await startSandbox();
  const ask = async (method: string, path: string) => {
    const { status, body } = await call(method, path);
    return [status, body.detail];
  };
  expect(await ask('GET', `/v3/order/${UNKNOWN}`)).toEqual([404, "This order doesn't exist"]);
  expect(await ask('POST', `/v3/order/${UNKNOWN}/cancel`)).toEqual([404, "Order doesn't exist"]);
  expect(await ask('POST', `/v3/order/${UNKNOWN}/test`)).toEqual([404, "Order doesn't exist"]);
  expect(await ask('GET', `/v3/order/${UNKNOWN}/result`)).toEqual([404, 'Order not found']);
  expect(await ask('GET', `/v3/order/${UNKNOWN}/result/metadata`)).toEqual([404, 'Order not found']);
  expect((await ask('GET', `/v3/order_transaction/${UNKNOWN}`))[0]).toBe(404);
  expect(await ask('GET', '/v3/order/abc')).toEqual([422, expect.stringContaining('parameter order_id')]);
});

describe('the order list', () => {
  test.each(LISTS)('%s gives pages, newest first', async (path) => {
    const { call, control, newUser } = await startSandbox();
    const kit = testkitBody(await newUser());
    const ids: string[] = [];
    for (const _ of [1, 2, 3]) {
      ids.push((await call('POST', '/v3/order/testkit', kit)).body.order.id);
      await control.advanceClock('1h');
    }
    const page = async (query: string) => (await call('GET', `${path}?${query}`)).body;
    expect(await page('')).toMatchObject({ total: 3, page: 1, size: 50 });
    const first = await page('size=2');
    const second = await page('size=2&page=2');
    expect([...first.orders, ...second.orders].map(({ id }) => id)).toEqual(ids.toReversed());
    expect((await page('order_direction=asc&size=1')).orders[0]?.id).toBe(ids[0]);
  });

  test('filters by user, ids, transaction, status, interpretation and time', async () => {
    const { call, control, newKit } = await startSandbox();
    const old = await newKit();
    await control.advanceClock('10d');
    const { now: between } = await control.clock();
    await control.advanceClock('10d');
    const fresh = await newKit();
    await control.move(fresh.id, { status: 'completed', interpretation: 'abnormal' });
    const found = async (query: Record<string, string>) => {
      const { body } = await call('GET', `/orders?${new URLSearchParams(query).toString()}`);
      return body.orders.map(({ id }) => id);
    };
    expect(await found({ user_id: old.user_id })).toEqual([old.id]);
    expect(await found({ order_ids: old.id })).toEqual([old.id]);
    expect(await found({ order_transaction_id: fresh.order_transaction.id })).toEqual([fresh.id]);
    expect(await found({ status: 'completed' })).toEqual([fresh.id]);
    expect(await found({ interpretation: 'abnormal' })).toEqual([fresh.id]);
    expect(await found({ interpretation: 'critical' })).toEqual([]);
    expect(await found({ start_date: between })).toEqual([fresh.id]);
    expect(await found({ end_date: between })).toEqual([old.id]);
    expect(await found({ updated_start_date: between })).toEqual([fresh.id]);
    expect(await found({ updated_end_date: between })).toEqual([old.id]);
    expect(await found({ order_key: 'last_status', order_direction: 'desc' })).toEqual([fresh.id, old.id]);
    await control.advanceClock('1d');
    await control.move(old.id, 'transit_customer');
    expect(await found({ updated_start_date: between, end_date: between })).toEqual([old.id]);
  });

  test.each(['size=101', 'size=0', 'page=0', 'page=x', 'user_id=abc', 'interpretation=odd', 'start_date=soon'])(
    'with %s is refused with 422',
    async (query) => {
      const { call } = await startSandbox();
      const answer = await call('GET', `/orders?${query}`);
      expect(answer.status).toBe(422);
      expect(answer.body.detail[0]?.loc).toEqual(['query', query.split('=')[0]]);
    },
  );
});

describe('results', () => {
  test('are 404 until they exist, then the same at every reading', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    await call('POST', '/v3/order/testkit/register', registerBody(order.user_id, 'INVENTED-1'));
    const paths = [`order/${order.id}/result`, `order/${order.id}/result/metadata`];
    const all = [...paths, `order_transaction/${order.order_transaction.id}/result`];
    for (const path of all) expect((await call('GET', `/v3/${path}`)).status).toBe(404);
    await control.move(order.id, { status: 'completed', interpretation: 'critical' });
    const results = (await call('GET', `/v3/${paths[0]}`)).body;
    expect((await call('GET', `/v3/${paths[0]}`)).body).toEqual(results);
    expect((await call('GET', `/v3/${all[2]}`)).body).toEqual(results);
    expect((await call('GET', `/v3/${paths[1]}`)).body).toEqual(results.metadata);
    expect(results.metadata).toMatchObject({
      interpretation: 'critical',
      status: 'final',
      specimen_number: 'INVENTED-1',
    });
    expect(results.results).toHaveLength(3);
    expect(results.results[0]).toMatchObject({ type: 'numeric', is_above_max_range: true, interpretation: 'critical' });
    expect(results.order_transaction.status).toBe('completed');
  });

  test('change with a correction, and may lack a marker', async () => {
    const { call, control, newKit } = await startSandbox();
    const { id } = await newKit();
    await control.move(id, { status: 'completed', has_missing_results: true });
    const before = (await call('GET', `/v3/order/${id}/result`)).body;
    expect(before.missing_results).toMatchObject([{ inferred_failure_type: 'quantity_not_sufficient_failure' }]);
    await control.move(id, 'corrected');
    const after = (await call('GET', `/v3/order/${id}/result`)).body;
    expect(after.metadata.status).toBe('corrected');
    expect(after.results).not.toEqual(before.results);
  });
});

describe('the simulation', () => {
  test('walks a kit along the success path to its end', async () => {
    const { call, newKit } = await startSandbox();
    const { id } = await newKit();
    const answer = await call('POST', `/v3/order/${id}/test`, { interpretation: 'abnormal' });
    expect(answer).toMatchObject({ status: 200, text: '"Success"' });
    const order = (await call('GET', `/v3/order/${id}`)).body;
    expect(lows(order)).toEqual([
      'ordered',
      'awaiting_registration',
      'transit_customer',
      'out_for_delivery',
      'with_customer',
      'requisition_created',
      'testkit_registered',
      'transit_lab',
      'delivered_to_lab',
      'completed',
    ]);
    expect(order).toMatchObject({ status: 'completed', interpretation: 'abnormal' });
  });

  test('does not repeat what an order has been through, and branches off to a failure', async () => {
    const { call, newKit } = await startSandbox();
    const order = await newKit();
    await call('POST', '/v3/order/testkit/register', registerBody(order.user_id, 'INVENTED-1'));
    await call('POST', `/v3/order/${order.id}/test?final_status=failed.testkit.sample_error`);
    expect(lows((await call('GET', `/v3/order/${order.id}`)).body).slice(4)).toEqual([
      'transit_customer',
      'out_for_delivery',
      'with_customer',
      'transit_lab',
      'delivered_to_lab',
      'sample_error',
    ]);
  });

  test('takes its time where a delay is given, and stops when the order is cancelled', async () => {
    const { call, control, newUser } = await startSandbox();
    const { id } = (await call('POST', '/v3/order', knownPatientBody(await newUser()))).body.order;
    await call('POST', `/v3/order/${id}/test?final_status=completed.testkit.completed&delay=60`);
    const statuses = async () => lows((await call('GET', `/v3/order/${id}`)).body).slice(2);
    expect(await statuses()).toEqual([]);
    await control.advanceClock('121s');
    expect(await statuses()).toEqual(['transit_customer', 'out_for_delivery']);
    await control.move(id, 'cancelled');
    await control.advanceClock('1h');
    expect((await statuses()).at(-1)).toBe('cancelled');
  });

  test('refuses a status that it does not know or that belongs to another collection method', async () => {
    const { call, newKit } = await startSandbox();
    const { id } = await newKit();
    for (const status of ['completed.testkit.odd', 'completed.walk_in_test.completed']) {
      expect((await call('POST', `/v3/order/${id}/test?final_status=${status}`)).status).toBe(422);
    }
  });
});

describe('the variants of a deployment', () => {
  test('are played by switches', async () => {
    const { call, control, newUser } = await startSandbox({
      echoPassthrough: false,
      healthInsuranceKey: 'health_insurace_id',
      naiveTimestamps: true,
      dobAsTimestamp: true,
      transactionInBodies: false,
      lastEvent: false,
    });
    const body = { ...knownPatientBody(await newUser()), passthrough: 'hidden', health_insurance: { payor_code: 'X' } };
    const { order } = (await call('POST', '/v3/order', body)).body;
    expect(order).not.toHaveProperty('passthrough');
    expect(order).not.toHaveProperty('order_transaction');
    expect(order).not.toHaveProperty('last_event');
    expect(order).not.toHaveProperty('health_insurance_id');
    expect(order.health_insurace_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(order.created_at).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}$/);
    expect(order.patient_details.dob).toBe('1990-01-01T00:00:00+00:00');
    expect((await control.order(order.id)).passthrough).toBe('hidden');
    await control.changeSettings({ naiveTimestamps: false });
    expect((await call('GET', `/v3/order/${order.id}`)).body.created_at).toMatch(/\+00:00$/);
  });
});

describe('a transaction', () => {
  test('takes in the redraw that the service makes, with the first order as its parent', async () => {
    const { call, control, newKit } = await startSandbox();
    const first = await newKit({ passthrough: 'own' });
    await call('POST', '/v3/order/testkit/register', registerBody(first.user_id, 'INVENTED-1'));
    await control.move(first.id, { status: 'sample_error', status_detail: 'sample_hemolyzed' });
    const { order: redraw } = await control.redraw(first.id);
    expect(redraw).toMatchObject({
      origin: 'redraw',
      user_id: first.user_id,
      passthrough: null,
      patient_details: patient,
    });
    expect((await call('GET', `/v3/order/${redraw.id}`)).body.order_transaction.orders).toMatchObject([
      { id: first.id, origin: 'initial', parent_id: null, low_level_status: 'sample_error' },
      { id: redraw.id, origin: 'redraw', parent_id: first.id, low_level_status: 'requisition_created' },
    ]);
    const path = `/v3/order_transaction/${first.order_transaction.id}`;
    expect((await call('GET', path)).body).toMatchObject({
      id: first.order_transaction.id,
      team_id: TEAM_ID,
      status: 'active',
      orders: [
        { id: first.id, last_status: 'sample_error' },
        { id: redraw.id, parent_id: first.id, last_status: 'requisition_created' },
      ],
    });
    await control.move(redraw.id, 'completed');
    expect((await call('GET', path)).body.status).toBe('completed');
  });
});
