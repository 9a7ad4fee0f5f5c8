import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultInstallation } from '../../../../service/installation.js';
import { snapshotOf } from '../../../../service/order/projection.js';
import { orderSchema } from '../../../../service/order/orders.js';
import { untidyOrder } from './untidy-orders.js';
import { rootOf } from '../../../../protocol/order/root-order.js';

const snapshot = (order: object) => snapshotOf(orderSchema.parse({ id: 'order-1', ...order }), defaultInstallation);
const eventsOf = (order: object) => snapshot(order).events;

const placedAt = '2024-03-01T10:00:00.000Z';

test('an order is projected to what the lifecycle needs, and nothing of a person', () => {
  const secret = 'Testperson';
  const completed = 'completed.testkit.completed';
  const person = { receiver_name: secret, first_line: secret, city: secret, phone_number: secret, notes: secret };
  const shipment = {
    ...{ outbound_courier: 'usps', outbound_tracking_number: '1Z', inbound_courier: 'ups' },
    ...{ inbound_tracking_number: '2Z', outbound_tracking_url: `https://example.com/${secret}` },
  };
  const projected = snapshot({
    user_id: 'user-1',
    team_id: 'team-1',
    patient_details: { first_name: secret, dob: '1980-02-29', email: secret },
    patient_address: person,
    shipping_details: person,
    physician: { first_name: secret },
    notes: secret,
    clinical_notes: secret,
    requisition_form_url: `https://example.com/${secret}`,
    next_year: secret,
    lab_account_id: 'account-1',
    lab_test: { id: 'test-1', name: secret, method: 'testkit' },
    details: { type: 'testkit', data: { id: 'kit-1', shipment: { ...shipment, id: 's', notes: secret } } },
    passthrough: 'labops/default:-:ref-1:1',
    origin: 'redraw',
    status: 'completed',
    events: [{ id: 7, created_at: placedAt, status: completed, status_detail: 'a_detail', note: secret }],
    sample_id: 'SAMPLE-1',
    interpretation: 'abnormal',
    has_missing_results: false,
    activate_by: '2024-09-01',
    expected_result_by_date: '2024-04-01',
    created_at: '2024-03-01T10:00:00',
    updated_at: '2024-03-01T12:00:00+01:00',
    order_transaction: {
      id: 'transaction-1',
      status: 'active',
      orders: [
        { id: 'order-0', origin: 'initial', created_at: '2024-02-01T10:00:00', low_level_status: 'redraw_available' },
        { id: 'order-1', origin: 'redraw', parent_id: 'order-0', created_at: placedAt },
      ],
    },
  });
  expect(projected).toEqual({
    activateBy: '2024-09-01',
    orderId: 'order-1',
    userId: 'user-1',
    method: 'testkit',
    passthrough: 'labops:-:ref-1:1',
    origin: 'redraw',
    parentId: 'order-0',
    status: 'completed',
    events: [{ id: 7, at: placedAt, status: completed, detail: 'a_detail' }],
    sampleId: 'SAMPLE-1',
    shipment: {
      ...{ outboundCourier: 'usps', outboundTrackingNumber: '1Z', inboundCourier: 'ups', inboundTrackingNumber: '2Z' },
    },
    transaction: {
      id: 'transaction-1',
      status: 'active',
      orders: [
        { id: 'order-0', origin: 'initial', createdAt: '2024-02-01T10:00:00.000Z' },
        { id: 'order-1', origin: 'redraw', parentId: 'order-0', createdAt: placedAt },
      ],
    },
    interpretation: 'abnormal',
    createdAt: placedAt,
    updatedAt: '2024-03-01T11:00:00.000Z',
  });
  expect(JSON.stringify(projected)).not.toContain(secret);
});

// proves 142
test.each<[what: string, sent: object, more?: object]>([
  ['with nothing in it', { user_id: null, details: null, order_transaction: null, status: null, events: null }],
  ['with an empty sample id', { sample_id: '' }],
  ['with an empty type', { details: { type: '' }, lab_test: { method: 'testkit' } }, { method: 'testkit' }],
])('an order %s has no empty keys', (_what, sent, more) => {
  expect(snapshot(sent)).toEqual({ orderId: 'order-1', events: [], ...more });
});

test('a shipment of which nothing is known yet is none: a kit without one has not shipped', () => {
  const shipment = { id: 'shipment-1', outbound_courier: null, outbound_tracking_number: '', notes: null };
  expect(snapshot({ details: { data: { shipment } } })).not.toHaveProperty('shipment');
  const shipped = { ...shipment, outbound_tracking_number: '9400' };
  expect(snapshot({ details: { data: { shipment: shipped } } }).shipment).toEqual({ outboundTrackingNumber: '9400' });
});

// proves 142, 325
test('an order is followed whatever is odd about its other fields', () => {
  const event = { id: '7', created_at: placedAt, status: 'received.testkit.ordered', status_detail: ['a'] };
  const odd = { id: 4711, has_abn: 'no', has_missing_results: 1, status: {}, user_id: 12, sample_id: [], lab_test: 1 };
  expect(snapshot({ ...odd, events: [null, 5, event], created_at: 5, updated_at: placedAt })).toEqual({
    orderId: '4711',
    userId: '12',
    method: 'testkit',
    events: [{ id: 7, at: placedAt, status: 'received.testkit.ordered' }],
    updatedAt: placedAt,
  });
});

test('the method is that of the events if the order shows neither its details nor its test, and a status is read in any case', () => {
  const events = [{ id: 1, created_at: placedAt, status: 'RECEIVED.Walk_In_Test.ordered' }];
  expect(snapshot({ details: null, lab_test: null, status: 'Received', events })).toMatchObject({
    method: 'walk_in_test',
    status: 'received',
    events: [{ status: 'received.walk_in_test.ordered' }],
  });
});

test('origin and parent are read from the transaction if the order does not have them', () => {
  const own = { id: 'order-1', origin: 'recreation', parent_id: 'order-0' };
  const order_transaction = { id: 't', orders: [{ id: 'order-0' }, own] };
  expect(snapshot({ order_transaction })).toMatchObject({ origin: 'recreation', parentId: 'order-0' });
});

test('a redraw is one in whatever case its origin is written: it is not a root, though it has the passthrough of its parent', () => {
  const passthrough = 'labops/default:-:reference-1:1';
  const initial = { id: 'order-0', origin: 'INITIAL', created_at: '2024-03-02T10:00:00Z' };
  const order_transaction = { id: 't', orders: [{ id: 'order-1', origin: 'REDRAW', created_at: placedAt }, initial] };
  const redraw = snapshot({ origin: 'REDRAW', passthrough, order_transaction });
  const transaction = { orders: [{ origin: 'redraw' }, { origin: 'initial' }] };
  expect(redraw).toMatchObject({ origin: 'redraw', transaction });
  expect(rootOf(redraw)).toBe('order-0');
});

test('an order that was made again for another patient, in another transaction, has nothing of its parent but its id', () => {
  const recreation = { origin: 'recreation', parent_id: 'order-0' };
  const redraw = { id: 'order-2', origin: 'redraw', parent_id: 'order-1' };
  const order_transaction = { id: 'other', orders: [{ id: 'order-1', ...recreation }, redraw] };
  const copied = { passthrough: 'labops/default:order-0:reference-of-another:2', order_transaction };
  for (const own of [recreation, {}]) {
    const read = snapshot({ ...own, ...copied });
    const { recreates, ...others } = read;
    expect(recreates).toBe('order-0');
    expect(JSON.stringify(others)).not.toMatch(/order-0|reference-of-another/);
    expect(rootOf(read)).toBe('order-1');
  }
  expect(rootOf(snapshot({ ...redraw, ...copied }))).toBe('order-1');
});

test('members of a transaction without an id, and a transaction without one, are left out', () => {
  const orders = [{ origin: 'initial' }, { id: 'order-2', origin: null }];
  const { transaction } = snapshot({ order_transaction: { id: 't', orders } });
  expect(transaction).toEqual({ id: 't', orders: [{ id: 'order-2' }] });
  expect(snapshot({ order_transaction: { orders } })).not.toHaveProperty('transaction');
});

describe('events', () => {
  const status = 'received.testkit.ordered';

  // proves 116, 117
  test.each<[what: string, ids: unknown[], read: number[]]>([
    ['are ordered by id, whatever their order and their times', [9, 4056, 3], [3, 9, 4056]],
    ['with one id are one event; with one status they may be two', [1, 2, 1, 3], [1, 2, 3]],
    ['with numeric texts as ids are the same events', ['10', 9, '9'], [9, 10]],
  ])('events %s', (_what, sent, read) => {
    const events = sent.map((id, index) => ({ id, created_at: `2024-03-0${9 - index}T10:00:00Z`, status }));
    expect(eventsOf({ events }).map(({ id }) => id)).toEqual(read);
  });

  test('events with the id -0, which JSON can write, have the id 0', () => {
    const events = JSON.parse(`[{"id":-0,"created_at":"${placedAt}","status":"a"}]`) as unknown;
    expect(eventsOf({ events })).toEqual([{ id: 0, at: placedAt, status: 'a' }]);
  });

  test('events without any id are numbered by their places', () => {
    const events = [{ status: 'a' }, { id: null, status: 'b' }, { id: 'x', status: 'c' }];
    const numbered = events.map((event, index) => ({ id: index + 1, at: placedAt, status: event.status }));
    expect(eventsOf({ events, created_at: placedAt })).toEqual(numbered);
  });

  test('events without an id among events with one are left out', () => {
    const events = [{ status: 'a' }, { id: 5, created_at: placedAt, status: 'b' }, { id: 1.5, status: 'c' }];
    expect(eventsOf({ events })).toEqual([{ id: 5, at: placedAt, status: 'b' }]);
  });

  // proves 94
  test('are the last event if the list is missing or empty', () => {
    const last_event = { id: 4, created_at: placedAt, status };
    for (const events of [undefined, null, []]) {
      expect(eventsOf({ events, last_event })).toEqual([{ id: 4, at: placedAt, status }]);
    }
    expect(eventsOf({ last_event: { created_at: placedAt, status } })).toEqual([{ id: 1, at: placedAt, status }]);
  });

  test('are those of the list and the last event, if the list does not have it yet', () => {
    const listed = [1, 2].map((id) => ({ id, at: placedAt, status }));
    const sent = listed.map(({ at: created_at, ...event }) => ({ ...event, created_at }));
    const ended = { id: 3, created_at: placedAt, status: 'cancelled.testkit.cancelled' };
    const withLast = (events: object[], last_event: object) => eventsOf({ events, last_event });
    expect(withLast(sent, ended)).toEqual([...listed, { id: 3, at: placedAt, status: ended.status }]);
    expect(withLast(sent, { ...ended, id: '3' })).toHaveLength(3);
    expect(withLast(sent, { ...ended, id: 2 })).toEqual(listed);
    expect(withLast(sent, { ...ended, id: null })).toEqual(listed);
    const idless = sent.map(({ id: _id, ...event }) => event);
    expect(withLast(idless, ended)).toEqual(listed);
  });

  test("events without a usable time use the order's", () => {
    const times = [undefined, 'yesterday', '2024-13-01T00:00:00Z'];
    const events = times.map((created_at, id) => ({ id, status, created_at }));
    const at = (order: object) => eventsOf({ events, ...order }).map((event) => event.at);
    expect(at({ updated_at: placedAt, created_at: '2020-01-01T00:00:00Z' })).toEqual([placedAt, placedAt, placedAt]);
    expect(at({ updated_at: 'never', created_at: placedAt })).toEqual([placedAt, placedAt, placedAt]);
    const unset = [{ id: 1, status, created_at: '1970-01-01T00:00:00Z' }];
    expect(eventsOf({ events: unset, updated_at: placedAt })[0]?.at).toBe(placedAt);
    expect(at({})).toEqual(Array.from({ length: 3 }, () => '1970-01-01T00:00:00.000Z'));
  });

  test.each([
    ['2024-03-01T10:00:00', placedAt],
    ['2024-03-01 10:00:00', placedAt],
    ['2024-03-01T10:00:00.000000+00:00', placedAt],
    ['2024-03-01T12:00:00+02:00', placedAt],
    ['2024-03-01T12:00:00+0200', placedAt],
    ['2024-03-01T12:00:00+02', placedAt],
    ['2024-03-01t10:00z', placedAt],
    ['2024-03-01', '2024-03-01T00:00:00.000Z'],
  ])('events at %j happened at %j', (created_at, at) => {
    expect(eventsOf({ events: [{ id: 1, created_at, status }] })[0]?.at).toBe(at);
  });

  test('keep a status as it was sent', () => {
    const sent = ['received.testkit.testkit_registered', 'received.testkit.registered', 'a.status.of.next.year', ''];
    const events = sent.map((each, id) => ({ id, created_at: placedAt, status: each }));
    expect(eventsOf({ events }).map((event) => event.status)).toEqual(sent);
  });

  test('sentences in the place of a word, and other systems’ texts, do not enter a workflow', () => {
    const about = 'Testperson Invented was not at home';
    const order = orderSchema.parse({
      ...{ id: 'order-1', status: about, origin: about, interpretation: 'abnormal – see comment', passthrough: about },
      details: { type: about },
      events: [{ id: 1, created_at: placedAt, status: about, status_detail: about }],
    });
    expect(snapshotOf(order, defaultInstallation)).toMatchObject({
      status: 'other',
      interpretation: 'other',
      events: [{ detail: 'other' }],
    });
    expect(JSON.stringify(snapshotOf(order, defaultInstallation))).not.toMatch(/Testperson|comment/);
  });

  test('events without a status are left out', () => {
    const events = [{ id: 1 }, { id: 2, status }];
    expect(eventsOf({ events, created_at: placedAt })).toEqual([{ id: 2, at: placedAt, status }]);
  });
});

test('untidy orders are projected without a throw, to plain JSON, with ascending events that have a time', () => {
  fc.assert(
    fc.property(untidyOrder, (order) => {
      const projected = snapshotOf(orderSchema.parse(order), defaultInstallation);
      expect(JSON.parse(JSON.stringify(projected))).toEqual(projected);
      const ids = projected.events.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b));
      for (const { at } of projected.events) expect(new Date(at).toISOString()).toBe(at);
    }),
  );
});
