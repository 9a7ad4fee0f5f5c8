import { describe, expect, test } from 'vitest';
import { AnswerUnreadable, ServiceRefused } from '../../../service/errors.js';
import type { Order } from '../../../service/orders.js';
import { countryCodeOf, orderSchema } from '../../../service/orders.js';
import { IMPORT, ORDER, REGISTRATION, TESTKIT } from './persons.js';
import { answering, rejection, serviceAt } from './recording-server.js';

const ANSWERED = {
  order: { id: 'order-1', user_id: 'user-1', status: 'received', events: [] },
  status: 'SUCCESS',
  message: 'ok',
};

describe('what is sent', () => {
  test('a test kit, field by field [1, 80, 101, 206, 207, 208, 209, 210]', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: ANSWERED }));
    expect(await serviceAt(baseUrl).orders.createTestkit(TESTKIT)).toMatchObject(ANSWERED);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order/testkit' }]);
    expect(requests[0]?.body).toEqual(TESTKIT);
    expect(requests[0]?.headers).toHaveProperty('content-type', 'application/json');
    expect(requests[0]?.headers).not.toHaveProperty('x-idempotency-key');
  });

  test('an order with its patient, field by field [78, 101, 129, 130, 131, 132, 139, 217, 219, 220, 221]', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: ANSWERED }));
    expect(await serviceAt(baseUrl).orders.create(ORDER)).toMatchObject(ANSWERED);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order' }]);
    expect(requests[0]?.body).toEqual(ORDER);
    expect(requests[0]?.headers).not.toHaveProperty('x-idempotency-key');
  });

  test('an idempotency key with the wish not to keep failures', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: ANSWERED }));
    await serviceAt(baseUrl).orders.create(ORDER, { idempotencyKey: 'labops:-:ref-1:1' });
    expect(requests[0]?.headers).toMatchObject({
      'x-idempotency-key': 'labops:-:ref-1:1',
      'x-idempotency-error': 'no-cache',
    });
  });

  test('an order at the path that the deployment has [218, I4]', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: ANSWERED }));
    await serviceAt(baseUrl, { createOrderPath: '/v3/order/create' }).orders.create(ORDER);
    expect(requests[0]?.url).toBe('/v3/order/create');
  });

  test('a registration, field by field [132, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199, 200]', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: ANSWERED }));
    expect(await serviceAt(baseUrl).orders.register(REGISTRATION)).toMatchObject(ANSWERED);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order/testkit/register' }]);
    expect(requests[0]?.body).toEqual(REGISTRATION);
  });

  test('an order that was placed elsewhere, field by field [222]', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: ANSWERED }));
    expect(await serviceAt(baseUrl).orders.import(IMPORT)).toMatchObject(ANSWERED);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order/import' }]);
    expect(requests[0]?.body).toEqual(IMPORT);
  });

  test('consents with their wording and their time, where they are known [132, 199]', async () => {
    const consents = [{ consentType: 'terms-of-use', version: '1.0', timeOfConsent: '2026-01-01T10:00:00Z' }];
    const { baseUrl, requests } = await answering(() => ({ body: ANSWERED }));
    const { orders } = serviceAt(baseUrl);
    await orders.create({ ...ORDER, consents });
    await orders.register({ ...REGISTRATION, consents });
    expect(requests.map(({ body }) => body)).toMatchObject([{ consents }, { consents }]);
  });

  test('the wish for events again: of some orders, or of a window', async () => {
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

  test('the wish for events again is granted whatever the answer holds', async () => {
    const { baseUrl } = await answering(() => ({ body: { order_ids: 'all' } }));
    expect(await serviceAt(baseUrl).orders.resendEvents({ order_ids: ['order-1'] })).toEqual([]);
  });

  test.each([
    [{}, 'must name orders or a start_at'],
    [{ order_ids: [] }, 'must name orders or a start_at'],
    [{ start_at: '2026-01-01T00:00:00' }, 'must be a timestamp with a zone (ISO 8601)'],
    [{ start_at: '2026-01-01T00:00:00Z', end_at: '2026-03-03T00:00:00Z' }, 'must be a window of at most 60 days'],
    [{ start_at: '2026-01-02T00:00:00Z', end_at: '2026-01-01T00:00:00Z' }, 'must be a window of at most 60 days'],
  ])('no wish for events again that cannot be met: %j', async (request, rule) => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const error = await rejection(serviceAt(baseUrl).orders.resendEvents(request));
    expect(error).toMatchObject({ name: 'RequestInvalid' });
    expect(String(error)).toContain(rule);
    expect(requests).toEqual([]);
  });

  test('a cancellation, without a body', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: ANSWERED }));
    expect(await serviceAt(baseUrl).orders.cancel('order-1')).toMatchObject(ANSWERED);
    expect(requests).toMatchObject([{ method: 'POST', url: '/v3/order/order-1/cancel', body: undefined }]);
  });

  test('a simulation, whose answer may be anything', async () => {
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

  test('a cancellation that the service refuses says why [311]', async () => {
    const body = {
      error: 'Bad Request',
      message: 'Transition from current_status to cancelled is not allowed',
      status_code: 400,
    };
    const { baseUrl } = await answering(() => ({ status: 400, body }));
    const error = await rejection(serviceAt(baseUrl).orders.cancel('order-1'));
    expect(error).toBeInstanceOf(ServiceRefused);
    expect(error).toMatchObject({ status: 400, reason: body.message });
  });

  test('no order id is in an error', async () => {
    const { baseUrl } = await answering(() => ({ status: 500, body: 'Internal Server Error' }));
    const error = await rejection(serviceAt(baseUrl).orders.cancel('order-with-name'));
    expect(String(error)).not.toContain('order-with-name');
    expect(String(error)).toContain('/v3/order/{order_id}/cancel');
  });
});

describe('what is read', () => {
  const results = {
    metadata: { patient: 'Testperson Invented', date_reported: '2024-01-01T10:00:00', 'clia_#': 'x' },
    results: [{ name: 'Invented marker', value: 1.5, result: '1.5', type: 'numeric', next_year: 1 }],
    missing_results: [{ name: 'Other', slug: 'other', inferred_failure_type: 'a_type_of_next_year' }],
  };

  test('results, with unknown fields kept', async () => {
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

  test('results that are an object and no list', async () => {
    const { baseUrl } = await answering(() => ({ body: { ...results, results: { marker: { value: 1 } } } }));
    expect(await serviceAt(baseUrl).orders.results('order-1')).toMatchObject({ results: { marker: { value: 1 } } });
  });

  test('result metadata', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: results.metadata }));
    expect(await serviceAt(baseUrl).orders.resultMetadata('order-1')).toMatchObject({ patient: 'Testperson Invented' });
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/v3/order/order-1/result/metadata' });
  });

  test('a transaction with its orders [120, 121, 122, 123, 124]', async () => {
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

  test('an order without an id is unreadable', async () => {
    const { baseUrl } = await answering(() => ({ body: { status: 'received', events: [] } }));
    const error = await rejection(serviceAt(baseUrl).orders.get('order-1'));
    expect(error).toBeInstanceOf(AnswerUnreadable);
    expect(String(error)).toContain('id: ');
  });
});

describe('an order', () => {
  test('keeps unknown fields and statuses, and ids that are no UUIDs [3, 123, 165, 325, 326]', async () => {
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
    expect(await serviceAt(baseUrl).orders.get('order-1')).toEqual(order);
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/v3/order/order-1' });
  });

  test('is read with nearly everything null [142]', () => {
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

  test.each([
    [{ health_insurace_id: 'h' }, 'h'],
    [{ health_insurance_id: 'h' }, 'h'],
    [{ health_insurance_id: null, health_insurace_id: 'h' }, 'h'],
    [{ health_insurance_id: 'right', health_insurace_id: 'misspelt' }, 'right'],
    [{}, undefined],
  ])('gives the health insurance of %j as %j [87, 88, I1]', (spelt, id) => {
    expect(orderSchema.parse({ id: 'order-1', ...spelt }).health_insurance_id).toBe(id);
  });

  test.each([
    [{ street: '1 Nowhere Lane', street_number: 'Flat 2' }, '1 Nowhere Lane', 'Flat 2'],
    [{ street: '1 Nowhere Lane', second_line: 'Flat 3', street_number: 'Flat 2' }, '1 Nowhere Lane', 'Flat 3'],
    [{ first_line: '9 Elsewhere', street: '1 Nowhere Lane', street_number: 'Flat 2' }, '9 Elsewhere', undefined],
    [{ first_line: '9 Elsewhere', second_line: null }, '9 Elsewhere', null],
  ])('reads the address lines %j [71, 72, 202, I2]', (address, first, second) => {
    const order = orderSchema.parse({ id: 'order-1', patient_address: address, shipping_details: address });
    for (const read of [order.patient_address, order.shipping_details]) {
      expect(read?.first_line).toBe(first);
      expect(read?.second_line).toBe(second);
    }
  });

  test.each([
    ['2020-01-01T00:00:00', '2020-01-01T00:00:00Z'],
    ['2020-01-01 00:00:00.123456', '2020-01-01T00:00:00.123456Z'],
    ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00.123456+00:00', '2020-01-01T00:00:00.123456+00:00'],
    ['no timestamp', 'no timestamp'],
  ])('reads the timestamp %j as %j [2, 90, 91, 117]', (sent, read) => {
    const order = orderSchema.parse({ id: 'order-1', created_at: sent, events: [{ id: 1, created_at: sent }] });
    expect(order.created_at).toBe(read);
    expect(order.events?.[0]?.created_at).toBe(read);
  });

  test('gives a birth date as a date, also where the service sends its midnight [67]', () => {
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

  /** Newest first, like the service; before page 2 a new order arrives at the front where `grows`. */
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

  test('is read page by page, newest first, fifty at a time [225, I3]', async () => {
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

  test("sends every filter under the service's name [225]", async () => {
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

  test('takes the filters of deployments, and another order of the list [225]', async () => {
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

  test('has its path from the configuration [225, 322]', async () => {
    const { baseUrl, requests } = await orderPages(0);
    await collected(serviceAt(baseUrl, { ordersPath: '/v3/orders' }).orders.list());
    expect(requests[0]?.url).toMatch(/^\/v3\/orders\?/);
  });

  test('is read one page at a time, with what the service says of all pages [225]', async () => {
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

  test('gives no order twice where a new one shifts the pages', async () => {
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

  test('ends where the service ignores the page', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: { orders: [{ id: 'order-1' }, { id: 'order-2' }] } }));
    expect(await collected(serviceAt(baseUrl).orders.list({}, { pageSize: 2 }))).toEqual(['order-1', 'order-2']);
    expect(requests).toHaveLength(2);
  });

  test('asks for no page that nobody reads', async () => {
    const { baseUrl, requests } = await orderPages(100);
    for await (const order of serviceAt(baseUrl).orders.list()) {
      expect(order.id).toBe('order-100');
      break;
    }
    expect(requests).toHaveLength(1);
  });
});

test.each([
  ['United States', 'US'],
  ['united states', 'US'],
  ['United States of America', 'US'],
  ['The United States of America', 'US'],
  ['USA', 'US'],
  ['U.S.A.', 'US'],
  ['U.S.', 'US'],
  ['US', 'US'],
  ['us', 'US'],
  ['Germany', 'DE'],
  ['UK', 'GB'],
  ['Great Britain', 'GB'],
  ['Turkey', 'TR'],
  ['Türkiye', 'TR'],
  ['Czech Republic', 'CZ'],
  ['Russian Federation', 'RU'],
  ['Republic of Korea', 'KR'],
  ['Hong Kong', 'HK'],
  ['Macau', 'MO'],
  ['United Kingdom', 'GB'],
  ['Côte d’Ivoire', 'CI'],
  ["Cote d'Ivoire", 'CI'],
  ['Puerto Rico', 'PR'],
  ['Bosnia and Herzegovina', 'BA'],
  ['Atlantis', undefined],
  ['Unknown Region', undefined],
  ['', undefined],
])('the country %j has the code %j [76, 205, I9]', (country, code) => {
  expect(countryCodeOf(country)).toBe(code);
});
