import { describe, expect, test } from 'vitest';
import { type Order, countryCodeOf, orderSchema } from '../../../../service/order/orders.js';
import { resultsSchema } from '../../../../service/order/order.js';
import { all } from '../../../rig/all.js';
import { orderRequest } from '../persons.js';
import { answering, readFrom, rejection, serviceAt, serviceWith } from '../recording-server.js';

test('the orders whose events are sent again are those that the service names, whatever else it answers', async () => {
  const again = (body: unknown) => readFrom(body, ({ orders }) => orders.resendEvents({ order_ids: ['order-1', 'b'] }));
  expect(await again({ order_ids: ['order-1'] })).toEqual(['order-1']);
  expect(await again({ order_ids: 'all' })).toEqual([]);
});

test('the answer to a simulation may be anything', async () => {
  const { orders } = await serviceWith({ body: 'Success' });
  await expect(orders.simulate('order-1')).resolves.toBeUndefined();
});

describe('an order that is refused', () => {
  async function refusedWith(status: number, body: unknown, idempotencyKey = 'labops:-:ref-1:1') {
    const { orders } = await serviceWith({ status, body });
    return rejection(orders.create(orderRequest, idempotencyKey === '' ? {} : { idempotencyKey }));
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
    expect(error).toMatchObject({ name: 'AnswerLost', status, path: '/v3/order' });
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

test('results may be an object instead of a list', async () => {
  const object = { results: { marker: { value: 1 } } };
  expect(await readFrom(object, ({ orders }) => orders.results('order-1'))).toEqual(object);
});

// fields.test.ts reads each number from a text.
test('a result that is not a number has no number: -1 stands for that, and is one if it was measured', () => {
  const sent = [
    { result: 'see note', value: -1, type: 'comment' },
    { result: -1, value: ' -1 ', type: 'numeric' },
  ];
  const read = [
    { result: 'see note', type: 'comment' },
    { result: '-1', value: -1, type: 'numeric' },
  ];
  expect(resultsSchema.parse({ results: sent }).results).toEqual(read);
});

describe('an order', () => {
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
  const ids = (orders: readonly Order[]) => orders.map(({ id }) => id);

  /** Newest first, like the service; before page 2 a new order arrives at the front if `grows`. */
  function orderPages(count: number, extra: { total?: boolean; cap?: number; grows?: boolean } = {}) {
    let listed = Array.from({ length: count }, (_, n) => `order-${count - n}`);
    return answering(({ url }) => {
      const query = new URL(url ?? '', 'http://x').searchParams;
      const [page, size] = [Number(query.get('page')), Math.min(Number(query.get('size')), extra.cap ?? 100)];
      if (extra.grows === true && page === 2) listed = ['order-new', ...listed];
      const orders = listed.slice((page - 1) * size, page * size).map((id) => ({ id }));
      return { body: { orders, page, size, total: extra.total === false ? null : listed.length } };
    });
  }

  // proves 225, I3
  test('is read page by page, newest first, fifty at a time', async () => {
    const { baseUrl, requests } = await orderPages(120);
    const read = ids(await all(serviceAt(baseUrl).orders.list({ userId: 'user-1' })));
    expect(read).toHaveLength(120);
    expect(read.slice(0, 2)).toEqual(['order-120', 'order-119']);
    const query = 'user_id=user-1&order_key=created_at&order_direction=desc&size=50';
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(
      [1, 2, 3].map((page) => `GET /orders?${query}&page=${page}`),
    );
  });

  // proves 225
  test("sends every filter under the service's name", async () => {
    const { orders, requests } = await serviceWith({ body: { orders: [] } });
    const filter = {
      ...{ userId: 'user-1', interpretation: 'critical', status: ['lost', 'sample_error'] },
      ...{ orderIds: ['order-1', 'order-2'], orderTransactionId: 'transaction-1' },
      ...{ startDate: '2024-01-01', endDate: '2024-01-02' },
      ...{ updatedStartDate: '2024-01-03', updatedEndDate: '2024-01-04' },
      ...{ orderType: ['testkit', 'walk_in_test'], isCritical: true, activationTypes: ['scheduled'] },
      ...{ patientName: 'Testperson', shippingRecipientName: 'Invented', searchInput: 'in vented' },
      ...({ orderKey: 'last_status', orderDirection: 'asc' } as const),
    };
    await all(orders.list(filter, { pageSize: 7 }));
    expect(requests[0]?.url?.split('&')).toEqual([
      '/orders?user_id=user-1',
      'interpretation=critical',
      ...['status=lost', 'status=sample_error'],
      ...['order_ids=order-1', 'order_ids=order-2'],
      'order_transaction_id=transaction-1',
      ...['start_date=2024-01-01', 'end_date=2024-01-02'],
      ...['updated_start_date=2024-01-03', 'updated_end_date=2024-01-04'],
      ...['order_type=testkit', 'order_type=walk_in_test'],
      'is_critical=true',
      'order_activation_types=scheduled',
      ...['patient_name=Testperson', 'shipping_recipient_name=Invented', 'search_input=in+vented'],
      ...['order_key=last_status', 'order_direction=asc', 'size=7', 'page=1'],
    ]);
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

  test.each([{ grows: true }, { total: false, cap: 3 }])('has each order once with %j', async (extra) => {
    const { baseUrl } = await orderPages(20, extra);
    const read = ids(await all(serviceAt(baseUrl).orders.list({}, { pageSize: 5 })));
    expect(read).toEqual(Array.from({ length: 20 }, (_, n) => `order-${20 - n}`));
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
