import { describe, expect, test } from 'vitest';
import type { RequestInvalid } from '../../../service/errors.js';
import { type Order, countryCodeOf, orderSchema } from '../../../service/orders.js';
import { importRequest, orderRequest, registrationRequest, testkitRequest } from './persons.js';
import { answering, rejection, serviceAt } from './recording-server.js';

const answered = {
  order: { id: 'order-1', user_id: 'user-1', status: 'received', events: [] },
  status: 'SUCCESS',
  message: 'ok',
};

describe('a request is sent', () => {
  // proves 1, 80, 101, 206-210
  test('a request is sent for a test kit, field by field', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    expect(await serviceAt(baseUrl).orders.createTestkit(testkitRequest)).toMatchObject(answered);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order/testkit' }]);
    expect(requests[0]?.body).toEqual(testkitRequest);
    expect(requests[0]?.headers).toHaveProperty('content-type', 'application/json');
    expect(requests[0]?.headers).not.toHaveProperty('x-idempotency-key');
  });

  // proves 78, 101, 129-132, 139, 217, 219-221
  test('a request is sent for an order with its patient, field by field', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    expect(await serviceAt(baseUrl).orders.create(orderRequest)).toMatchObject(answered);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order' }]);
    expect(requests[0]?.body).toEqual(orderRequest);
    expect(requests[0]?.headers).not.toHaveProperty('x-idempotency-key');
  });

  test('a request is sent with an idempotency key and the option not to keep failures', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    await serviceAt(baseUrl).orders.create(orderRequest, { idempotencyKey: 'labops:-:ref-1:1' });
    expect(requests[0]?.headers).toMatchObject({
      'x-idempotency-key': 'labops:-:ref-1:1',
      'x-idempotency-error': 'no-cache',
    });
  });

  // proves 218, I4
  test('a request is sent for an order at the configured path', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    await serviceAt(baseUrl, { createOrderPath: '/v3/order/create' }).orders.create(orderRequest);
    expect(requests[0]?.url).toBe('/v3/order/create');
  });

  // proves 132, 189-200
  test('a request is sent for a registration, field by field', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    expect(await serviceAt(baseUrl).orders.register(registrationRequest)).toMatchObject(answered);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order/testkit/register' }]);
    expect(requests[0]?.body).toEqual(registrationRequest);
  });

  // proves 202, I2
  test('a request is sent for a registration whose address lines are spelt street and street_number, unchanged', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    const { city, state, zip, country } = orderRequest.patient_address;
    const patient_address = { street: 'Nowhere Road', street_number: '102', city, state, zip, country };
    const { orders } = serviceAt(baseUrl);
    await orders.register({ ...registrationRequest, patient_address });
    expect(requests[0]?.body).toMatchObject({ patient_address });
    const both = { ...patient_address, first_line: 'Nowhere Road' };
    const neither = { city, state, zip, country };
    for (const odd of [{ ...patient_address, zip: '' }, { ...patient_address, street: ' ' }, both, neither]) {
      const error = await rejection(orders.register({ ...registrationRequest, patient_address: odd }));
      expect(error).toMatchObject({ name: 'RequestInvalid' });
    }
    expect(requests).toHaveLength(1);
    const empty = await rejection(orders.register({ ...registrationRequest, patient_address: {} as never }));
    const named = (empty as RequestInvalid).fields.map(({ field }) => field.replace('patient_address.', ''));
    expect(named.toSorted()).toEqual(['city', 'country', 'first_line', 'state', 'zip']);
  });

  // proves 222
  test('a request is sent for an order that was placed elsewhere, field by field', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    expect(await serviceAt(baseUrl).orders.import(importRequest)).toMatchObject(answered);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order/import' }]);
    expect(requests[0]?.body).toEqual(importRequest);
  });

  // proves 132, 199
  test('a request is sent for consents with their wording and their time, if they are known', async () => {
    const consents = [{ consentType: 'terms-of-use', version: '1.0', timeOfConsent: '2026-01-01T10:00:00Z' }];
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    const { orders } = serviceAt(baseUrl);
    await orders.create({ ...orderRequest, consents });
    await orders.register({ ...registrationRequest, consents });
    expect(requests.map(({ body }) => body)).toMatchObject([{ consents }, { consents }]);
  });

  test('a request is sent for repeated events: of some orders, or of a window', async () => {
    const { baseUrl, requests } = await answering((_request, index) => ({
      body: index === 0 ? { order_ids: ['order-1'] } : {},
    }));
    const { orders } = serviceAt(baseUrl);
    const window = { start_at: '2026-01-01T00:00:00Z', end_at: '2026-03-02T00:00:00+00:00' };
    expect(await orders.resendEvents({ order_ids: ['order-1', 'order-2'] })).toEqual(['order-1']);
    expect(await orders.resendEvents(window)).toEqual([]);
    expect(requests).toMatchObject([
      { method: 'POST', url: '/v3/order/resend_events', body: { order_ids: ['order-1', 'order-2'] } },
      { method: 'POST', url: '/v3/order/resend_events', body: window },
    ]);
  });

  test('a request is sent for repeated events, and succeeds whatever the answer holds', async () => {
    const { baseUrl } = await answering(() => ({ body: { order_ids: 'all' } }));
    expect(await serviceAt(baseUrl).orders.resendEvents({ order_ids: ['order-1'] })).toEqual([]);
  });

  test.each([
    [{}, 'must name orders or a start_at'],
    [{ order_ids: [] }, 'must name orders or a start_at'],
    [{ start_at: '2026-01-01T00:00:00' }, 'must be a timestamp with a zone (ISO 8601)'],
    [{ start_at: '2026-01-01T00:00:00Z', end_at: '2026-03-03T00:00:00Z' }, 'must be a window of at most 60 days'],
    [{ start_at: '2026-01-02T00:00:00Z', end_at: '2026-01-01T00:00:00Z' }, 'must be a window of at most 60 days'],
  ])('a request is never sent for repeated events that are impossible: %j', async (request, rule) => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const error = await rejection(serviceAt(baseUrl).orders.resendEvents(request));
    expect(error).toMatchObject({ name: 'RequestInvalid' });
    expect(String(error)).toContain(rule);
    expect(requests).toEqual([]);
  });

  test('a request is sent for a cancellation, without a body', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answered }));
    expect(await serviceAt(baseUrl).orders.cancel('order-1')).toMatchObject(answered);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order/order-1/cancel', body: undefined }]);
  });

  test('a request is sent for a simulation, whose answer may be anything', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: 'Success' }));
    const { orders } = serviceAt(baseUrl);
    await orders.simulate('order-1', {
      finalStatus: 'completed.testkit.completed',
      delay: 3,
      interpretation: 'critical',
      resultTypes: ['numeric'],
      hasMissingResults: true,
    });
    await orders.simulate('order-1');
    expect(requests).toMatchObject([
      {
        method: 'POST',
        url: '/v3/order/order-1/test?final_status=completed.testkit.completed&delay=3',
        body: { interpretation: 'critical', result_types: ['numeric'], has_missing_results: true },
      },
      { method: 'POST', url: '/v3/order/order-1/test', body: {} },
    ]);
  });

  test('no order id is in an error', async () => {
    const { baseUrl } = await answering(() => ({ status: 500, body: 'Internal Server Error' }));
    const error = await rejection(serviceAt(baseUrl).orders.cancel('order-with-name'));
    expect(String(error)).not.toContain('order-with-name');
    expect(String(error)).toContain('/v3/order/{order_id}/cancel');
  });
});

describe('an order that is refused', () => {
  const path = '/v3/order';

  function refusedWith(status: number, body: unknown, idempotencyKey = 'labops:-:ref-1:1') {
    const created = answering(() => ({ status, ...(body !== undefined && { body }) })).then(({ baseUrl }) =>
      serviceAt(baseUrl).orders.create(orderRequest, idempotencyKey === '' ? {} : { idempotencyKey }),
    );
    return rejection(created);
  }

  test.each<[number, unknown]>([
    [409, undefined],
    [409, ''],
    [409, '<html>Conflict</html>'],
    [409, { detail: 'Conflict' }],
    [409, { detail: '409: Conflict' }],
    [409, { detail: 'The request is still being processed.' }],
    [409, { error: 'A request is outstanding for this Idempotency-Key', message: null }],
    [400, { detail: 'There is another in-progress request with this idempotency key' }],
  ])('with %i and %j while its key is in use may be created by the other request', async (status, body) => {
    const error = await refusedWith(status, body);
    expect(error).toMatchObject({ name: 'AnswerLost', status, path });
  });

  test.each<[number, unknown, string]>([
    [409, { detail: 'The user already has this order' }, 'ServiceRefused'],
    [409, { detail: [{ loc: ['body', 'user_id'], msg: 'Conflict' }] }, 'ServiceRefused'],
    [409, { detail: 'Orders are not enabled for your team' }, 'FeatureNotEnabled'],
    [400, { detail: 'Idempotency key is not valid' }, 'ServiceRefused'],
    [400, { detail: 'The laboratory is processing too many orders' }, 'ServiceRefused'],
    [422, { detail: 'Idempotency key of a request in progress with another body' }, 'ServiceRefused'],
    [403, { detail: 'Idempotency key of a request in progress' }, 'Unauthorized'],
  ])('with %i and %j is refused for good', async (status, body, name) => {
    expect(await refusedWith(status, body)).toMatchObject({ name, status });
  });

  test('with 409 and without a key is refused for good', async () => {
    expect(await refusedWith(409, { detail: 'Conflict' }, '')).toMatchObject({ name: 'ServiceRefused', status: 409 });
  });
});

describe('an answer is read', () => {
  const results = {
    metadata: { patient: 'Testperson Invented', date_reported: '2024-01-01T10:00:00', 'clia_#': 'x' },
    results: [{ name: 'Invented marker', value: 1.5, result: '1.5', type: 'numeric', next_year: 1 }],
    missing_results: [{ name: 'Other', slug: 'other', inferred_failure_type: 'a_type_of_next_year' }],
  };

  test('an answer is read as results, with unknown fields kept', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: results }));
    const { orders } = serviceAt(baseUrl);
    const read = await orders.results('order-1');
    expect(read).toEqual({ ...results, metadata: { ...results.metadata, date_reported: '2024-01-01T10:00:00Z' } });
    await orders.transactionResults('transaction-1');
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v3/order/order-1/result',
      'GET /v3/order_transaction/transaction-1/result',
    ]);
  });

  test('an answer is read as results even if it is an object and not a list', async () => {
    const { baseUrl } = await answering(() => ({ body: { ...results, results: { marker: { value: 1 } } } }));
    expect(await serviceAt(baseUrl).orders.results('order-1')).toMatchObject({ results: { marker: { value: 1 } } });
  });

  test('an answer is read as result metadata', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: results.metadata }));
    expect(await serviceAt(baseUrl).orders.resultMetadata('order-1')).toMatchObject({ patient: 'Testperson Invented' });
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/v3/order/order-1/result/metadata' });
  });

  // proves 120-124
  test('an answer is read as a transaction with its orders', async () => {
    const transaction = {
      id: 'transaction-1',
      status: 'active',
      orders: [
        { id: 'order-1', origin: 'initial' },
        { id: 'order-2', origin: 'recreation', parent_id: 'order-1', last_status: 'ordered' },
      ],
    };
    const { baseUrl, requests } = await answering(() => ({ body: transaction }));
    expect(await serviceAt(baseUrl).orders.transaction('transaction-1')).toEqual(transaction);
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/v3/order_transaction/transaction-1' });
  });
});

describe('an order', () => {
  // proves 3, 123, 165, 325, 326
  test('keeps unknown fields and statuses, and ids that are not UUIDs', async () => {
    const order = {
      id: 'e66321dd-4e0g-5226-9373-6124g811d8cf',
      status: 'a_status_of_next_year',
      origin: 'an_origin_of_next_year',
      interpretation: 'unknown',
      events: [{ id: 4056, status: 'received.testkit.next_year', status_detail: 'next_year', extra: [1] }],
      details: { type: 'a_method_of_next_year', data: { id: 'd', extra: { deep: true } } },
      lab_test: { name: 'Invented', price: 1 },
      next_year: { a: [1] },
    };
    const { baseUrl, requests } = await answering(() => ({ body: order }));
    expect(await serviceAt(baseUrl).orders.get(order.id)).toEqual(order);
    expect(requests[0]).toMatchObject({ method: 'GET', url: `/v3/order/${order.id}` });
  });

  // proves 142
  test('is read with nearly everything null', () => {
    const nothing = {
      id: 'order-1',
      user_id: null,
      patient_details: null,
      patient_address: null,
      shipping_details: null,
      details: null,
      lab_test: null,
      sample_id: null,
      events: null,
      last_event: null,
      order_transaction: null,
      has_abn: null,
      passthrough: null,
    };
    expect(orderSchema.parse(nothing)).toEqual(nothing);
  });

  // proves 87, 88, I1
  test.each([
    [{ health_insurace_id: 'h' }, 'h'],
    [{ health_insurance_id: 'h' }, 'h'],
    [{ health_insurance_id: null, health_insurace_id: 'h' }, 'h'],
    [{ health_insurance_id: 'right', health_insurace_id: 'misspelt' }, 'right'],
    [{}, undefined],
  ])('has the health insurance of %j as %j', (spelt, id) => {
    expect(orderSchema.parse({ id: 'order-1', ...spelt }).health_insurance_id).toBe(id);
  });

  // proves 71, 72, 202, I2
  test.each([
    [{ street: 'Nowhere Road', street_number: '102' }, 'Nowhere Road', '102'],
    [{ street: '1 Nowhere Lane', street_number: 'Flat 2' }, '1 Nowhere Lane', 'Flat 2'],
    [{ street: '1 Nowhere Lane', second_line: 'Flat 3', street_number: 'Flat 2' }, '1 Nowhere Lane', 'Flat 3'],
    [{ first_line: '9 Elsewhere', street: '1 Nowhere Lane', street_number: 'Flat 2' }, '9 Elsewhere', undefined],
    [{ first_line: '9 Elsewhere', second_line: null }, '9 Elsewhere', null],
  ])('reads the address lines %j', (address, first, second) => {
    const order = orderSchema.parse({ id: 'order-1', patient_address: address, shipping_details: address });
    for (const read of [order.patient_address, order.shipping_details]) {
      expect(read?.first_line).toBe(first);
      expect(read?.second_line).toBe(second);
    }
  });

  // proves 2, 90, 91, 117
  test.each([
    ['2020-01-01T00:00:00', '2020-01-01T00:00:00Z'],
    ['2020-01-01 00:00:00.123456', '2020-01-01T00:00:00.123456Z'],
    ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00.123456+00:00', '2020-01-01T00:00:00.123456+00:00'],
    ['no timestamp', 'no timestamp'],
  ])('reads the timestamp %j as %j', (sent, read) => {
    const order = orderSchema.parse({ id: 'order-1', created_at: sent, events: [{ id: 1, created_at: sent }] });
    expect(order.created_at).toBe(read);
    expect(order.events?.[0]?.created_at).toBe(read);
  });

  // proves 67
  test('has a birth date as a date, even if the service sends its midnight', () => {
    const read = (dob: string) => orderSchema.parse({ id: 'order-1', patient_details: { dob } }).patient_details?.dob;
    expect(read('1980-02-29T00:00:00+00:00')).toBe('1980-02-29');
    expect(read('1980-02-29')).toBe('1980-02-29');
  });
});

describe('the order list', () => {
  async function collected(orders: AsyncIterable<Order>): Promise<string[]> {
    const ids = [];
    for await (const order of orders) ids.push(order.id);
    return ids;
  }

  /** Newest first, like the service; before page 2 a new order arrives at the front if `grows`. */
  function orderPages(count: number, extra: { total?: boolean; cap?: number; grows?: boolean } = {}) {
    let ids = Array.from({ length: count }, (_, n) => `order-${count - n}`);
    return answering(({ url }) => {
      const query = new URL(url ?? '', 'http://x').searchParams;
      const [page, size] = [Number(query.get('page')), Math.min(Number(query.get('size')), extra.cap ?? 100)];
      if (extra.grows === true && page === 2) ids = ['order-new', ...ids];
      const orders = ids.slice((page - 1) * size, page * size).map((id) => ({ id }));
      return { body: { orders, page, size, total: extra.total === false ? null : ids.length } };
    });
  }

  // proves 225, I3
  test('is read page by page, newest first, fifty at a time', async () => {
    const { baseUrl, requests } = await orderPages(120);
    const ids = await collected(serviceAt(baseUrl).orders.list({ userId: 'user-1' }));
    expect(ids).toHaveLength(120);
    expect(ids.slice(0, 2)).toEqual(['order-120', 'order-119']);
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(
      [1, 2, 3].map(
        (page) => `GET /orders?user_id=user-1&order_key=created_at&order_direction=desc&size=50&page=${page}`,
      ),
    );
  });

  // proves 225
  test("sends every filter under the service's name", async () => {
    const { baseUrl, requests } = await orderPages(0);
    const filter = {
      userId: 'user-1',
      interpretation: 'critical',
      status: ['lost', 'sample_error'],
      orderIds: ['order-1', 'order-2'],
      orderTransactionId: 'transaction-1',
      startDate: '2024-01-01T00:00:00Z',
      endDate: '2024-01-02T00:00:00Z',
      updatedStartDate: '2024-01-03T00:00:00Z',
      updatedEndDate: '2024-01-04T00:00:00Z',
    };
    await collected(serviceAt(baseUrl).orders.list(filter, { pageSize: 7 }));
    const query = new URL(requests[0]?.url ?? '', baseUrl).searchParams;
    expect([...query]).toEqual([
      ['user_id', 'user-1'],
      ['interpretation', 'critical'],
      ['status', 'lost'],
      ['status', 'sample_error'],
      ['order_ids', 'order-1'],
      ['order_ids', 'order-2'],
      ['order_transaction_id', 'transaction-1'],
      ['start_date', '2024-01-01T00:00:00Z'],
      ['end_date', '2024-01-02T00:00:00Z'],
      ['updated_start_date', '2024-01-03T00:00:00Z'],
      ['updated_end_date', '2024-01-04T00:00:00Z'],
      ['order_key', 'created_at'],
      ['order_direction', 'desc'],
      ['size', '7'],
      ['page', '1'],
    ]);
  });

  // proves 225
  test('accepts the filters of deployments, and another order of the list', async () => {
    const { baseUrl, requests } = await orderPages(0);
    const filter = {
      ...{ orderType: ['testkit', 'walk_in_test'], isCritical: true, activationTypes: ['scheduled'] },
      ...{ patientName: 'Testperson', shippingRecipientName: 'Invented', searchInput: 'in vented' },
      ...{ orderKey: 'last_status', orderDirection: 'asc' as const },
    };
    await collected(serviceAt(baseUrl).orders.list(filter));
    expect([...new URL(requests[0]?.url ?? '', baseUrl).searchParams]).toEqual([
      ['order_type', 'testkit'],
      ['order_type', 'walk_in_test'],
      ['is_critical', 'true'],
      ['order_activation_types', 'scheduled'],
      ['patient_name', 'Testperson'],
      ['shipping_recipient_name', 'Invented'],
      ['search_input', 'in vented'],
      ['order_key', 'last_status'],
      ['order_direction', 'asc'],
      ['size', '50'],
      ['page', '1'],
    ]);
  });

  // proves 225, 322
  test('has its path from the configuration', async () => {
    const { baseUrl, requests } = await orderPages(0);
    await collected(serviceAt(baseUrl, { ordersPath: '/v3/orders' }).orders.list());
    expect(requests[0]?.url).toMatch(/^\/v3\/orders\?/);
  });

  // proves 225
  test('is read one page at a time, with the service’s totals', async () => {
    const { baseUrl, requests } = await answering(({ url }) => {
      const capped = url?.includes('page=2') === true ? { total: 'many', size: 'fifty' } : { total: 120, size: 40 };
      return { body: { orders: [{ id: 'order-1' }], ...capped } };
    });
    const { orders } = serviceAt(baseUrl);
    const page = { orders: [{ id: 'order-1' }], unreadable: 0 };
    expect(await orders.page({}, 1, { pageSize: 60 })).toEqual({ ...page, total: 120, size: 40 });
    expect(await orders.page({}, 2)).toEqual({ ...page, size: 50 });
    expect(requests.map(({ url }) => url)).toEqual([
      '/orders?order_key=created_at&order_direction=desc&size=60&page=1',
      '/orders?order_key=created_at&order_direction=desc&size=50&page=2',
    ]);
  });

  test('returns no order twice if a new one shifts the pages', async () => {
    const { baseUrl } = await orderPages(20, { grows: true });
    const ids = await collected(serviceAt(baseUrl).orders.list({}, { pageSize: 5 }));
    expect(ids).toEqual(Array.from({ length: 20 }, (_, n) => `order-${20 - n}`));
  });

  test.each([{ total: false }, { cap: 3 }, { total: false, cap: 3 }])('loses none with %j', async (extra) => {
    const { baseUrl } = await orderPages(20, extra);
    const ids = await collected(serviceAt(baseUrl).orders.list({}, { pageSize: 5 }));
    expect(new Set(ids).size).toBe(20);
    expect(ids).toHaveLength(20);
  });

  test('requests no page that nobody reads', async () => {
    const { baseUrl, requests } = await orderPages(100);
    const read: string[] = [];
    for await (const order of serviceAt(baseUrl).orders.list()) {
      read.push(order.id);
      break;
    }
    expect(read).toEqual(['order-100']);
    expect(requests).toHaveLength(1);
  });
});

// proves 76, 205, I9
test.each([
  ['United States', 'US'],
  ['united states', 'US'],
  ['US', 'US'],
  ['Germany', 'Germany'],
  ['', ''],
])('the country %j is sent as %j', (country, code) => {
  expect(countryCodeOf(country)).toBe(code);
});
