import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvent } from '../../../../service/webhooks/events.js';

const status = 'received.testkit.ordered';
const order = { id: 'order-1', user_id: 'user-of-order', team_id: 'team-of-order', events: [{ id: 1, status }] };

const capitals = 'ABCDEF01-2345-4789-8ABC-DEF012345678';

const appointment = { id: 'appointment-1', order_id: 'order-1', event_status: 'scheduled', next_year: [1] };
const job = { id: 'job-1', status: 'started', failure_reason: null, data: null, is_reviewed: false };
const ofData = { user_id: 'user-of-data', team_id: 'team-of-data' };
const changes = ['created', 'updated', 'update'];
const asOrder = (data: object) => ({ kind: 'order', order: data });
const asAppointment = (data: object) => ({ kind: 'appointment', orderId: 'order-1', appointment: data });
const asJob = (data: object) => ({ kind: 'parsing_job', jobId: 'job-1', job: data });

// proves 144-147, 256, 265-268
test.each<[prefix: string, changes: string[], least: object, read: (data: object) => object]>([
  ['labtest.order', changes, { id: 'order-1' }, asOrder],
  ['labtest.order', ['next_year'], { id: 'order-1', events: [] }, asOrder],
  ['labtest.appointment', [...changes, 'next_year'], appointment, asAppointment],
  ['lab_report.parsing_job', changes, job, asJob],
])('%s.%s carries its subject, whose ids count if the envelope has none', (prefix, suffixes, least, read) => {
  for (const eventType of suffixes.map((suffix) => `${prefix}.${suffix}`)) {
    const data = { ...least, ...ofData };
    const envelope = { event_type: eventType, client_user_id: 'free text' };
    const named = readEvent({ ...envelope, data, user_id: 'user-1', team_id: 'team-1' });
    expect(named).toEqual({ ...read(data), eventType, userId: 'user-1', teamId: 'team-1' });
    for (const odd of [undefined, null, '', 7, {}]) {
      const event = readEvent({ ...envelope, data, user_id: odd, team_id: odd });
      expect(event).toMatchObject({ ...read(data), eventType, userId: 'user-of-data' });
    }
    expect(readEvent({ ...envelope, data: least })).toEqual({ ...read(least), eventType });
  }
});

// proves 256
test.each<[type: string, id: string, more: object]>([
  ['labtest.order.updated', 'id', {}],
  ['labtest.result.critical', 'order_id', {}],
  ['labtest.appointment.created', 'order_id', { id: 'a' }],
  ['lab_report.parsing_job.updated', 'id', {}],
])('%s without a usable %s is unreadable, and nothing of it is repeated', (eventType, field, more) => {
  const odd = ['', null, true, 1.5, ['Testperson']].map((id) => ({ ...more, [field]: id, sample_id: 'Testperson' }));
  for (const data of [undefined, null, 'Testperson', 5, [], more, ...odd]) {
    const event = readEvent({ event_type: eventType, data });
    expect(event).toMatchObject({ kind: 'unreadable', eventType, problem: expect.stringContaining(':') as string });
    expect(JSON.stringify(event)).not.toContain('Testperson');
  }
});

describe('order events', () => {
  test.each([
    { event_type: 'LabTest.Order.Updated', data: order },
    { event_type: 'labtest.order.updated', data: { order, status: 'success', message: 'an invented message' } },
    { event_type: 'labtest.order.updated', data: { ...order, id: undefined, order_id: 'order-1' } },
    { event_type: 'labtest.order.updated', ...order },
    { event_type: 'labtest.order.updated', data: null, ...order },
  ])('order events in another shape are orders: %j', (body) => {
    const eventType = 'labtest.order.updated';
    expect(readEvent(body)).toMatchObject({ kind: 'order', eventType, order: { id: 'order-1' } });
  });

  test('the UUIDs of orders, of their users and transactions are read in lower case, wherever one order names another', () => {
    const named = (id: string) => {
      const order_transaction = { id, orders: [{ id, parent_id: id }] };
      return { id, user_id: id, parent_id: id, order_transaction };
    };
    const event = readEvent({ event_type: 'labtest.order.updated', data: named(capitals) });
    expect(event).toMatchObject({ order: named(capitals.toLowerCase()) });
  });

  test.each([
    ['labtest.order.updated', { id: 'order-1', user_id: capitals }],
    ['labtest.appointment.updated', { id: 'appointment-1', order_id: 'order-1', user_id: capitals }],
    ['labtest.result.critical', { order_id: 'order-1', user_id: capitals }],
    ['lab_report.parsing_job.updated', { id: 'job-1', user_id: capitals }],
    ['provider.connection.created', { user_id: capitals, source: { slug: 'invented_watch' } }],
  ])('the UUID of a user is read in lower case, in the envelope of %s and inside', (event_type, data) => {
    const userId = capitals.toLowerCase();
    expect(readEvent({ event_type, data, user_id: capitals })).toMatchObject({ userId });
    expect(readEvent({ event_type, data })).toMatchObject({ userId });
  });

  test('order events without an envelope are recognised by id and events', () => {
    const ids = { userId: 'user-of-order', teamId: 'team-of-order' };
    expect(readEvent(order)).toEqual({ kind: 'order', eventType: 'order', order, ...ids });
  });

  test('order events whose numeric id lost digits on its way name another order: they are unreadable', () => {
    const body = '{"event_type":"labtest.order.updated","data":{"id":12345678901234567890,"events":[]}}';
    expect(readEvent(JSON.parse(body))).toMatchObject({ kind: 'unreadable' });
    const relative = '{"event_type":"labtest.order.updated","data":{"id":"order-1","parent_id":12345678901234567890}}';
    const event = readEvent(JSON.parse(relative));
    expect(event.kind === 'order' && event.order.parent_id).toBeUndefined();
  });
});

describe('critical results', () => {
  const event_type = 'labtest.result.critical';
  const data = {
    ...{ order_id: 'order-1', sample_id: 'sample-1', status: 'partial', interpretation: 'normal' },
    ...{ team_id: 'team-of-result', user_id: 'user-of-result' },
    ...{ created_at: '2024-03-01T10:00:00', updated_at: '2024-03-01T11:00:00+00:00' },
  };

  test('are recognised by their type, whatever their interpretation says', () => {
    const event = { event_type, data, team_id: 'team-1', user_id: 'user-1', client_user_id: 'free text' };
    expect(readEvent(event)).toEqual({
      kind: 'critical_result',
      eventType: event_type,
      report: {
        ...{ orderId: 'order-1', userId: 'user-of-result', sampleId: 'sample-1', status: 'partial' },
        ...{ interpretation: 'normal', createdAt: '2024-03-01T10:00:00.000Z', updatedAt: '2024-03-01T11:00:00.000Z' },
      },
      userId: 'user-1',
      teamId: 'team-1',
    });
    expect(readEvent({ event_type, data })).toMatchObject({ userId: 'user-of-result', teamId: 'team-of-result' });
  });

  const odd = { status: {}, interpretation: 5.5, sample_id: null, created_at: 7, updated_at: 'soon' };
  test.each([
    ['order-1', { order_id: 'order-1' }],
    ['4711', { order_id: 4711, next_year: [1] }],
    ['order-1', { order_id: 'order-1', id: 'result-1' }],
    ['order-1', { id: 'order-1' }],
    ['order-1', { order_id: 'order-1', ...odd }],
  ])('critical results of order %s with the data %j are read', (orderId, data) => {
    const read = { kind: 'critical_result', eventType: event_type, report: { orderId } };
    expect(readEvent({ event_type, data })).toEqual(read);
  });

  test.each([
    [{ event_type, order_id: 'order-1', id: 'evt_1' }, 'order-1'],
    [{ event_type, order_id: 'order-1', data: { status: 'final' } }, 'order-1'],
    [{ event_type, data: { order: { id: 'order-1' } } }, 'order-1'],
    [{ event_type: `${event_type}.updated`, data }, 'order-1'],
    [{ event_type: 'LABTEST.RESULT.CRITICAL', data }, 'order-1'],
    [{ event_type: 'labtest.result.updated', data: { ...data, interpretation: 'Critical' } }, 'order-1'],
    [{ event_type, data: { order_id: capitals } }, capitals.toLowerCase()],
  ])('critical results are found wherever a deployment may name them: %j', (body, orderId) => {
    expect(readEvent(body)).toMatchObject({ kind: 'critical_result', report: { orderId } });
  });

  test('an order in another shape is not an alarm of its own: its interpretation raises one', () => {
    const { id: order_id, ...rest } = order;
    const data = { order_id, ...rest, status: 'completed', interpretation: 'critical' };
    const event = readEvent({ event_type: 'labtest.order.updated', data });
    expect(event).toMatchObject({ kind: 'order', order: { id: 'order-1' } });
  });

  test('a whole order beside the result is taken, and the status and times are the result’s', () => {
    const data = { order: { ...order, status: 'completed' }, status: 'final', updated_at: '2024-03-01T11:00:00Z' };
    expect(readEvent({ event_type, data })).toMatchObject({
      report: { orderId: 'order-1', status: 'final', updatedAt: '2024-03-01T11:00:00.000Z' },
      order: { id: 'order-1', status: 'completed' },
      userId: 'user-of-order',
    });
  });

  test('may carry the whole order, whose status is not the result’s', () => {
    const data = { ...order, status: 'completed' };
    const report = { orderId: order.id };
    expect(readEvent({ event_type, data })).toMatchObject({ kind: 'critical_result', order: data, report });
    expect(readEvent({ event_type, data })).not.toHaveProperty('report.status');
  });

  test('critical results of an unknown kind are order events if their data look like an order', () => {
    const unknown = 'labtest.result.next_year';
    expect(readEvent({ event_type: unknown, data: order })).toMatchObject({ kind: 'order', eventType: unknown });
    expect(readEvent({ event_type: unknown, data })).toEqual({ kind: 'other', eventType: unknown });
  });
});

// proves 7, 144-150, 257-259
test.each([
  ['daily.data.glucose.created', { kind: 'health_data' }],
  ['daily.data.workout_stream.updated', { kind: 'health_data' }],
  ['historical.data.sleep.created', { kind: 'health_data' }],
  ['provider.connection.created', { kind: 'connection', sourceSlug: 'invented' }],
  ['provider.connection.error', { kind: 'connection', sourceSlug: 'invented' }],
  ['provider.connection.next_year', { kind: 'connection', sourceSlug: 'invented' }],
])('%s is kept as it was sent, as %j, and has the user of its data if its envelope has none', (event_type, read) => {
  const source = { name: 'Invented', slug: 'invented', logo: '' };
  const data = { user_id: 'user-2', source, data: [{ value: 1 }] };
  const kept = { ...read, eventType: event_type, data };
  const event = { event_type, data, team_id: 'team-1', user_id: 'user-1', client_user_id: 'free text' };
  expect(readEvent(event)).toEqual({ ...kept, userId: 'user-1', teamId: 'team-1', clientUserId: 'free text' });
  expect(readEvent({ event_type, data })).toEqual({ ...kept, userId: 'user-2' });
});

// test/unit/service/webhooks/health-data.test.ts has every form of a source.
test('connections without a readable source have no slug', () => {
  const eventType = 'provider.connection.created';
  for (const data of [undefined, null, 'text', [], {}])
    expect(readEvent({ event_type: eventType, data })).toEqual({ kind: 'connection', eventType, data });
});

test.each([
  [{ job_id: 'job-2' }, 'job-2'],
  [{ id: '', job_id: 'job-2' }, 'job-2'],
  [{ id: 7 }, '7'],
  [{ id: 'job-1', job_id: 'job-2' }, 'job-1'],
])('a parsing job with the data %j has the id %s', (data, jobId) => {
  const event = readEvent({ event_type: 'lab_report.parsing_job.created', data });
  expect(event).toMatchObject({ kind: 'parsing_job', jobId, job: { id: jobId } });
});

// proves 268
test.each(['lab_report.parsing_job.deleted', 'an.event.of.next.year', 'daily', '__proto__'])(
  '%s is another event',
  (type) => {
    expect(readEvent({ event_type: type, data: {} })).toEqual({ kind: 'other', eventType: type });
  },
);

const untyped = [{}, { data: { id: 'order-1' } }, { event_type: null }, { event_type: '' }, { id: 'order-1' }];
test.each([...untyped, { events: [] }])('%j without a type is another event', (body) => {
  expect(readEvent(body)).toEqual({ kind: 'other' });
});

const mistyped = [{ event_type: 5 }, { event_type: ['labtest.order.updated'] }];
test.each([null, undefined, 'text', 5, true, [], [order], ...mistyped])('%j is unreadable', (body) => {
  expect(readEvent(body)).toMatchObject({ kind: 'unreadable' });
});

describe('whatever arrives,', () => {
  test('nothing throws', () => {
    const types = fc.constantFrom(
      ...['labtest.order.updated', 'labtest.result.critical', 'lab_report.parsing_job.updated'],
      ...['daily.data.steps.created', 'provider.connection.created', 'x', undefined],
    );
    const anything = fc.anything();
    const connection = fc.record({ source: anything, provider: anything, user_id: anything });
    const order = fc.record({ id: anything, events: anything, order_transaction: anything, details: anything });
    const job = fc.record({ id: fc.string({ minLength: 1 }), data: anything, status: anything });
    const enveloped = fc.record({ event_type: types, data: fc.oneof(anything, order, connection, job) });
    const bodies = fc.oneof(anything, enveloped, order);
    fc.assert(fc.property(bodies, (body) => typeof readEvent(body).kind === 'string'));
  });

  test.each(['[', '{"a":'])('JSON nested a hundred thousand levels deep with %s is read in any place', (open) => {
    const levels = 100_000;
    const deep = `${open.repeat(levels)}1${(open === '[' ? ']' : '}').repeat(levels)}`;
    const read = (body: string) => readEvent(JSON.parse(body)).kind;
    expect(read(deep)).toBe(open === '[' ? 'unreadable' : 'other');
    expect(read(`{"id":"order-1","events":[{"id":1,"x":${deep}}]}`)).toBe('order');
    expect(read(`{"id":"order-1","events":[${deep},{"id":1,"status":${deep}}]}`)).toBe('order');
    const kinds = [
      ['labtest.order.updated', `{"id":"order-1","x":${deep}}`, 'order'],
      ['labtest.order.updated', `{"id":"order-1","status":${deep}}`, 'order'],
      ['labtest.order.updated', `{"id":"order-1","events":${deep}}`, 'order'],
      ['labtest.order.updated', `{"id":${deep}}`, 'unreadable'],
      ['labtest.order.updated', deep, 'unreadable'],
      ['daily.data.steps.created', deep, 'health_data'],
      ['provider.connection.created', `{"source":${deep}}`, 'connection'],
      ['lab_report.parsing_job.updated', `{"id":"job-1","status":${deep}}`, 'parsing_job'],
      ['lab_report.parsing_job.updated', `{"id":"job-1","x":${deep}}`, 'parsing_job'],
      ['lab_report.parsing_job.updated', `{"id":"job-1","data":${deep}}`, 'parsing_job'],
    ] as const;
    for (const [type, data, kind] of kinds) {
      expect.soft(read(`{"event_type":"${type}","x":${deep},"data":${data}}`), data.slice(0, 40)).toBe(kind);
    }
  });
});

test('an order in an event of a type that nobody documents is an order all the same, if it has an order’s status', () => {
  const last = { id: 'order-1', last_event: { id: 1, status: 'received.testkit.ordered' } };
  for (const sent of [{ data: order }, { data: last }, last]) {
    const event = readEvent({ event_type: 'order.of.next.year', ...sent });
    expect(event).toMatchObject({ kind: 'order', order: { id: 'order-1' } });
  }
  const odd = { id: 'order-1', events: [{ status: { toString: 1 } }, null] };
  expect(readEvent({ event_type: 'order.of.next.year', data: odd })).toMatchObject({ kind: 'other' });
});

test('an appointment without an envelope is not an order: it names one, and its events are its own', () => {
  const events = [{ status: 'cancelled' }];
  expect(readEvent({ ...appointment, status: 'cancelled', events })).toEqual({ kind: 'other' });
});
