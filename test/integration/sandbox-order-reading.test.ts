import { describe, expect, test } from 'vitest';
import { inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { patientDetails } from '../rig/cast.js';
import { knownPatientBody, lows, registerBody, startSandbox, testkitBody } from './sandbox-rig.js';

const lists = ['/orders', '/v3/orders'];

describe('the order list', () => {
  // proves 225
  test.each(lists)('%s returns pages, newest first', async (path) => {
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

  // proves 225
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
    expect(await found({ is_critical: 'true' })).toEqual([]);
    expect(await found({ is_critical: 'false' })).toEqual([fresh.id, old.id]);
    await control.changeSettings({ criticalFilter: 'interpretation' });
    expect(await found({ is_critical: 'true' })).toEqual([fresh.id, old.id]);
    await control.changeSettings({ criticalFilter: 'is_critical' });
    expect(await found({ interpretation: 'critical' })).toEqual([fresh.id, old.id]);
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
    'the order list with %s is refused with 422',
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

  test('takes its time if a delay is given, and stops when the order is cancelled', async () => {
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

  test('refuses a status that is unknown or belongs to another collection method', async () => {
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
    expect(order.patient_details.dob).toBe(`${patientDetails.dob}T00:00:00+00:00`);
    expect((await control.order(order.id)).passthrough).toBe('hidden');
    await control.changeSettings({ naiveTimestamps: false });
    expect((await call('GET', `/v3/order/${order.id}`)).body.created_at).toMatch(/\+00:00$/);
  });
});

describe('a transaction', () => {
  // proves 98, 122, 124
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
      patient_details: patientDetails,
    });
    expect((await call('GET', `/v3/order/${redraw.id}`)).body.order_transaction.orders).toMatchObject([
      { id: first.id, origin: 'initial', parent_id: null, low_level_status: 'sample_error' },
      { id: redraw.id, origin: 'redraw', parent_id: first.id, low_level_status: 'requisition_created' },
    ]);
    const path = `/v3/order_transaction/${first.order_transaction.id}`;
    expect((await call('GET', path)).body).toMatchObject({
      id: first.order_transaction.id,
      team_id: inventedTeamId,
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
