import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvent } from '../../../service/events.js';

const order = {
  id: 'order-1',
  user_id: 'user-of-order',
  team_id: 'team-of-order',
  events: [{ id: 1, status: 'received.testkit.ordered' }],
};

const capitals = 'ABCDEF01-2345-4789-8ABC-DEF012345678';

describe('order events', () => {
  // proves 144-147, 267
  test.each(['labtest.order.created', 'labtest.order.updated', 'labtest.order.update', 'labtest.order.next_year'])(
    '%s carries the order in its data',
    (event_type) => {
      const event = { event_type, data: order, team_id: 'team-1', user_id: 'user-1', client_user_id: 'free text' };
      expect(readEvent(event)).toEqual({
        kind: 'order',
        eventType: event_type,
        order,
        userId: 'user-1',
        teamId: 'team-1',
      });
    },
  );

  // proves 146, 147, 256
  test("order events without envelope ids use the order's", () => {
    expect(readEvent({ event_type: 'labtest.order.updated', data: order })).toMatchObject({
      kind: 'order',
      userId: 'user-of-order',
      teamId: 'team-of-order',
    });
  });

  // proves 256, 267
  test.each(['labtest.order.created', 'labtest.order.updated', 'labtest.order.update'])(
    'order events with the type %s are still orders without envelope ids and events',
    (event_type) => {
      const event = readEvent({ event_type, data: { id: 'order-1' } });
      expect(event).toEqual({ kind: 'order', eventType: event_type, order: { id: 'order-1' } });
    },
  );

  test.each([
    { event_type: 'LabTest.Order.Updated', data: order },
    { event_type: 'labtest.order.updated', data: { order, status: 'success', message: 'an invented message' } },
    { event_type: 'labtest.order.updated', data: { ...order, id: undefined, order_id: 'order-1' } },
    { event_type: 'labtest.order.updated', ...order },
    { event_type: 'labtest.order.updated', data: null, ...order },
  ])('order events in another shape are orders: %j', (body) => {
    expect(readEvent(body)).toMatchObject({
      kind: 'order',
      eventType: 'labtest.order.updated',
      order: { id: 'order-1' },
    });
  });

  test('the UUIDs of orders, of their users and transactions are read in lower case, wherever one order names another', () => {
    const order_transaction = { id: capitals, orders: [{ id: capitals, parent_id: capitals }] };
    const data = { id: capitals, user_id: capitals, parent_id: capitals, order_transaction };
    const lower = capitals.toLowerCase();
    expect(readEvent({ event_type: 'labtest.order.updated', data })).toMatchObject({
      order: {
        id: lower,
        user_id: lower,
        parent_id: lower,
        order_transaction: { id: lower, orders: [{ id: lower, parent_id: lower }] },
      },
    });
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
    expect(readEvent(order)).toEqual({
      kind: 'order',
      eventType: 'order',
      order,
      userId: 'user-of-order',
      teamId: 'team-of-order',
    });
  });

  test.each([
    ['has_abn', 'no'],
    ['events', 'none'],
    ['events', { 0: { id: 1 } }],
    ['status', ['received']],
    ['user_id', { id: 'user-1' }],
    ['created_at', 1_709_287_200],
    ['patient_details', 'text'],
    ['order_transaction', [{ id: 't' }]],
    ['last_event', 7],
    ['details', 'testkit'],
    ['sample_id', 1.5],
  ])('are read without a %s of the wrong type, %j', (field, value) => {
    const event = readEvent({ event_type: 'labtest.order.updated', data: { ...order, [field]: value } });
    expect(event.kind === 'order' && event.order).toEqual({ ...order, [field]: undefined });
  });

  test('keep only the objects of a list', () => {
    const events = [
      null,
      5,
      'text',
      [],
      [{ id: 9 }],
      { id: 1, status: 'received.testkit.ordered' },
      { id: 2, status: {} },
    ];
    const order_transaction = { id: 't', orders: [null, { id: 'order-1' }, 'order-2'] };
    const event = readEvent({
      event_type: 'labtest.order.updated',
      data: { id: 'order-1', events, order_transaction },
    });
    expect(event).toMatchObject({
      order: {
        events: [{ id: 1, status: 'received.testkit.ordered' }, { id: 2 }],
        order_transaction: { orders: [{ id: 'order-1' }] },
      },
    });
    expect(
      event.kind === 'order' && [event.order.events?.length, event.order.order_transaction?.orders?.length],
    ).toEqual([2, 1]);
  });

  // proves 3
  test('order events with numbers as ids have them as texts', () => {
    const data = { id: 4711, user_id: 12, parent_id: 4710, order_transaction: { id: 3, orders: [{ id: 4711 }] } };
    expect(readEvent({ event_type: 'labtest.order.updated', data })).toMatchObject({
      kind: 'order',
      userId: '12',
      order: { id: '4711', user_id: '12', parent_id: '4710', order_transaction: { id: '3', orders: [{ id: '4711' }] } },
    });
  });

  test('order events whose numeric id lost digits on its way name another order: they are unreadable', () => {
    const body = '{"event_type":"labtest.order.updated","data":{"id":12345678901234567890,"events":[]}}';
    expect(readEvent(JSON.parse(body))).toMatchObject({ kind: 'unreadable' });
    const relative = '{"event_type":"labtest.order.updated","data":{"id":"order-1","parent_id":12345678901234567890}}';
    const event = readEvent(JSON.parse(relative));
    expect(event.kind === 'order' && event.order.parent_id).toBeUndefined();
  });

  test.each([
    undefined,
    null,
    'text',
    5,
    [],
    {},
    { id: '' },
    { id: null },
    { id: true },
    { id: 1.5 },
    { id: ['order-1'] },
  ])('order events with the data %j are unreadable', (data) => {
    expect(readEvent({ event_type: 'labtest.order.updated', data })).toMatchObject({
      kind: 'unreadable',
      eventType: 'labtest.order.updated',
    });
  });

  test('order events that are unreadable do not repeat what they hold', () => {
    const data = { id: ['Testperson'], events: 'Testperson', sample_id: ['Testperson'], patient_details: 'Testperson' };
    const event = readEvent({ event_type: 'labtest.order.updated', data });
    expect(event.kind).toBe('unreadable');
    expect(JSON.stringify(event)).not.toContain('Testperson');
  });
});

describe('critical results', () => {
  const event_type = 'labtest.result.critical';
  const data = {
    order_id: 'order-1',
    sample_id: 'sample-1',
    status: 'partial',
    interpretation: 'normal',
    team_id: 'team-of-result',
    user_id: 'user-of-result',
    created_at: '2024-03-01T10:00:00',
    updated_at: '2024-03-01T11:00:00+00:00',
  };

  test('are recognised by their type, whatever their interpretation says', () => {
    const event = { event_type, data, team_id: 'team-1', user_id: 'user-1', client_user_id: 'free text' };
    expect(readEvent(event)).toEqual({
      kind: 'critical_result',
      eventType: event_type,
      report: {
        orderId: 'order-1',
        userId: 'user-of-result',
        sampleId: 'sample-1',
        status: 'partial',
        interpretation: 'normal',
        createdAt: '2024-03-01T10:00:00.000Z',
        updatedAt: '2024-03-01T11:00:00.000Z',
      },
      userId: 'user-1',
      teamId: 'team-1',
    });
  });

  test('critical results without envelope ids use those of their data', () => {
    expect(readEvent({ event_type, data })).toMatchObject({ userId: 'user-of-result', teamId: 'team-of-result' });
  });

  test.each([
    [{ order_id: 'order-1' }, { orderId: 'order-1' }],
    [{ order_id: 4711, next_year: [1] }, { orderId: '4711' }],
    [{ order_id: 'order-1', id: 'result-1' }, { orderId: 'order-1' }],
    [{ id: 'order-1' }, { orderId: 'order-1' }],
    [
      { order_id: 'order-1', status: {}, interpretation: 5.5, sample_id: null, created_at: 7, updated_at: 'soon' },
      { orderId: 'order-1' },
    ],
  ])('critical results with the data %j are read', (data, report) => {
    expect(readEvent({ event_type, data })).toEqual({ kind: 'critical_result', eventType: event_type, report });
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
    expect(readEvent({ event_type: 'labtest.order.updated', data })).toMatchObject({
      kind: 'order',
      order: { id: 'order-1' },
    });
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
    expect(readEvent({ event_type, data })).toMatchObject({ kind: 'critical_result', order: data });
    expect(readEvent({ event_type, data })).not.toHaveProperty('report.status');
    expect(readEvent({ event_type, data })).toHaveProperty('report.orderId', order.id);
  });

  test.each([undefined, null, 'order-1', [], {}, { order_id: '' }, { order_id: ['Testperson'] }])(
    'critical results with the data %j name no order: they are unreadable, and nothing of them is repeated',
    (data) => {
      const event = readEvent({ event_type, data });
      expect(event).toMatchObject({ kind: 'unreadable', eventType: event_type });
      expect(JSON.stringify(event)).not.toContain('Testperson');
    },
  );

  test('critical results of an unknown kind are order events if their data look like an order', () => {
    const unknown = 'labtest.result.next_year';
    expect(readEvent({ event_type: unknown, data: order })).toMatchObject({ kind: 'order', eventType: unknown });
    expect(readEvent({ event_type: unknown, data })).toEqual({ kind: 'other', eventType: unknown });
  });
});

describe('health data', () => {
  // proves 7, 144-148, 258, 259
  test.each(['daily.data.glucose.created', 'daily.data.workout_stream.updated', 'historical.data.sleep.created'])(
    '%s is kept as it was sent',
    (event_type) => {
      const data = { user_id: 'user-2', source: { slug: 'invented' }, data: [{ value: 1 }] };
      const event = { event_type, data, team_id: 'team-1', user_id: 'user-1', client_user_id: 'free text' };
      expect(readEvent(event)).toEqual({
        kind: 'health_data',
        eventType: event_type,
        userId: 'user-1',
        teamId: 'team-1',
        clientUserId: 'free text',
        data,
      });
    },
  );

  // proves 149
  test('health data without an envelope user has the user of its data', () => {
    const data = { user_id: 'user-2' };
    expect(readEvent({ event_type: 'daily.data.steps.created', data })).toEqual({
      kind: 'health_data',
      eventType: 'daily.data.steps.created',
      userId: 'user-2',
      data,
    });
  });
});

describe('connections', () => {
  const envelope = { team_id: 'team-1', user_id: 'user-1', client_user_id: 'free text' };

  // proves 148-150, 257
  test.each(['provider.connection.created', 'provider.connection.error', 'provider.connection.next_year'])(
    '%s names its source, and its data is kept as it was sent',
    (event_type) => {
      const data = { user_id: 'user-2', source: { name: 'Invented', slug: 'invented', logo: '' } };
      expect(readEvent({ event_type, data, ...envelope })).toEqual({
        kind: 'connection',
        eventType: event_type,
        userId: 'user-1',
        teamId: 'team-1',
        clientUserId: 'free text',
        sourceSlug: 'invented',
        data,
      });
    },
  );

  test.each([
    ['source.slug', { source: { name: 'Invented', slug: 'invented' } }],
    ['source.provider', { source: { provider: 'invented', type: 'unknown' } }],
    ['source', { source: 'invented' }],
    ['provider.slug', { provider: { name: 'Invented', slug: 'invented' } }],
    ['provider.provider', { provider: { provider: 'invented', type: 'unknown' } }],
    ['provider', { provider: 'invented' }],
    ['provider if the source names none', { source: { name: 'Invented', slug: '' }, provider: 'invented' }],
    ['source before provider', { source: 'invented', provider: 'other' }],
  ])('have the slug of %s', (_where, data) => {
    expect(readEvent({ event_type: 'provider.connection.created', data })).toMatchObject({ sourceSlug: 'invented' });
  });

  test.each([undefined, null, 'text', [], {}, { source: null }, { source: 5, provider: [] }, { source: { slug: {} } }])(
    'connections with the data %j have no slug',
    (data) => {
      expect(readEvent({ event_type: 'provider.connection.created', data })).toEqual({
        kind: 'connection',
        eventType: 'provider.connection.created',
        data,
      });
    },
  );

  test.each([undefined, null, '', 5, {}, ['user-1']])(
    'connections with the envelope user %j have the user of their data',
    (user_id) => {
      const data = { user_id: 'user-2', source: 'invented' };
      const read = readEvent({ event_type: 'provider.connection.created', user_id, data });
      expect(read).toMatchObject({ userId: 'user-2' });
    },
  );
});

describe('appointment events', () => {
  const appointment = {
    id: 'appointment-1',
    order_id: 'order-1',
    user_id: 'user-of-appointment',
    event_status: 'scheduled',
    can_reschedule: true,
    next_year: [1],
  };

  // proves 267, 268
  test.each(['labtest.appointment.created', 'labtest.appointment.updated', 'labtest.appointment.update'])(
    '%s carries the appointment in its data',
    (event_type) => {
      const event = { event_type, data: appointment, team_id: 'team-1', user_id: 'user-1', client_user_id: 'text' };
      expect(readEvent(event)).toEqual({
        ...{ kind: 'appointment', eventType: event_type, orderId: 'order-1', appointment },
        ...{ userId: 'user-1', teamId: 'team-1' },
      });
    },
  );

  // proves 146, 147, 256
  test("appointment events without envelope ids use the appointment's user, if it has one", () => {
    const event_type = 'labtest.appointment.next_year';
    expect(readEvent({ event_type, data: appointment })).toMatchObject({ userId: 'user-of-appointment' });
    expect(readEvent({ event_type, data: { id: 'a', order_id: 'o' } })).toEqual({
      ...{ kind: 'appointment', eventType: event_type, orderId: 'o', appointment: { id: 'a', order_id: 'o' } },
    });
  });

  // proves 256
  test.each([undefined, null, 'appointment-1', [], {}, { id: '' }, { id: 'a' }, { id: 'a', order_id: '' }])(
    'appointment events with the data %j are unreadable, and not quoted',
    (data) => {
      const event = readEvent({ event_type: 'labtest.appointment.created', data });
      expect(event).toMatchObject({ kind: 'unreadable', eventType: 'labtest.appointment.created' });
      expect(event).toHaveProperty('problem', expect.stringMatching(/^(id|order_id|body): /));
    },
  );
});

describe('parsing job events', () => {
  const job = { id: 'job-1', status: 'started', failure_reason: null, data: null, is_reviewed: false };

  test.each(['', 7, null])('are about the job if the envelope says %j', (odd) => {
    const data = { id: 'job-1', status: 'started', user_id: 'user-1', team_id: 'team-1' };
    const envelope = { event_type: 'lab_report.parsing_job.created', data, user_id: odd, team_id: odd };
    expect(readEvent(envelope)).toMatchObject({ kind: 'parsing_job', userId: 'user-1', teamId: 'team-1' });
  });

  // proves 265, 266
  test.each(['lab_report.parsing_job.created', 'lab_report.parsing_job.updated', 'lab_report.parsing_job.update'])(
    '%s carries the job in its data',
    (event_type) => {
      const event = { event_type, data: job, team_id: 'team-1', user_id: 'user-1', client_user_id: 'free text' };
      expect(readEvent(event)).toEqual({
        kind: 'parsing_job',
        eventType: event_type,
        jobId: 'job-1',
        userId: 'user-1',
        teamId: 'team-1',
        job,
      });
    },
  );

  test("parsing job events without envelope ids use the job's, if it has some", () => {
    const event_type = 'lab_report.parsing_job.updated';
    expect(readEvent({ event_type, data: job })).toEqual({
      kind: 'parsing_job',
      eventType: event_type,
      jobId: 'job-1',
      job,
    });
    const data = { ...job, user_id: 'user-2', team_id: 'team-2' };
    expect(readEvent({ event_type, data })).toMatchObject({ userId: 'user-2', teamId: 'team-2' });
  });

  test.each([
    [{ job_id: 'job-2' }, 'job-2'],
    [{ id: '', job_id: 'job-2' }, 'job-2'],
    [{ id: 7 }, '7'],
    [{ id: 'job-1', job_id: 'job-2' }, 'job-1'],
  ])('parsing job events with the data %j are about %s', (data, jobId) => {
    const event = readEvent({ event_type: 'lab_report.parsing_job.created', data });
    expect(event).toMatchObject({ kind: 'parsing_job', jobId, job: { id: jobId } });
  });

  test.each([null, undefined, 'job-1', [], {}, { id: null }, { id: '', job_id: '' }, { id: ['Testperson'] }])(
    'parsing job events with the data %j are unreadable, and nothing of it is repeated',
    (data) => {
      for (const action of ['created', 'updated', 'update']) {
        const event = readEvent({ event_type: `lab_report.parsing_job.${action}`, data });
        expect(event).toMatchObject({ kind: 'unreadable', eventType: `lab_report.parsing_job.${action}` });
        expect(JSON.stringify(event)).not.toContain('Testperson');
      }
    },
  );
});

// proves 268
test.each(['lab_report.parsing_job.deleted', 'an.event.of.next.year', 'daily', '__proto__'])(
  '%s is another event',
  (event_type) => {
    expect(readEvent({ event_type, data: {} })).toEqual({ kind: 'other', eventType: event_type });
  },
);

test.each([
  {},
  { data: { id: 'order-1' } },
  { event_type: null },
  { event_type: '' },
  { id: 'order-1' },
  { events: [] },
])('%j without a type is another event', (body) => {
  expect(readEvent(body)).toEqual({ kind: 'other' });
});

test.each([
  null,
  undefined,
  'text',
  5,
  true,
  [],
  [order],
  { event_type: 5 },
  { event_type: ['labtest.order.updated'] },
])('%j is unreadable', (body) => {
  expect(readEvent(body)).toMatchObject({ kind: 'unreadable' });
});

describe('whatever arrives,', () => {
  test('nothing throws', () => {
    const types = fc.constantFrom(
      'labtest.order.updated',
      'labtest.result.critical',
      'lab_report.parsing_job.updated',
      'daily.data.steps.created',
      'provider.connection.created',
      'x',
      undefined,
    );
    const connection = fc.record({ source: fc.anything(), provider: fc.anything(), user_id: fc.anything() });
    const order = fc.record({
      id: fc.anything(),
      events: fc.anything(),
      order_transaction: fc.anything(),
      details: fc.anything(),
    });
    const job = fc.record({ id: fc.string({ minLength: 1 }), data: fc.anything(), status: fc.anything() });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({ event_type: types, data: fc.oneof(fc.anything(), order, connection, job) }),
          order,
        ),
        (body) => {
          expect([
            'order',
            'critical_result',
            'parsing_job',
            'connection',
            'health_data',
            'other',
            'unreadable',
          ]).toContain(readEvent(body).kind);
        },
      ),
    );
  });

  test.each(['[', '{"a":'])('JSON nested a hundred thousand levels deep with %s is read in any place', (open) => {
    const levels = 100_000;
    const deep = `${open.repeat(levels)}1${(open === '[' ? ']' : '}').repeat(levels)}`;
    const read = (body: string) => readEvent(JSON.parse(body)).kind;
    expect(read(deep)).toBe(open === '[' ? 'unreadable' : 'other');
    expect(read(`{"event_type":"labtest.order.updated","x":${deep},"data":{"id":"order-1","x":${deep}}}`)).toBe(
      'order',
    );
    expect(read(`{"id":"order-1","events":[{"id":1,"x":${deep}}]}`)).toBe('order');
    for (const field of ['status', 'events']) {
      expect
        .soft(read(`{"event_type":"labtest.order.updated","data":{"id":"order-1","${field}":${deep}}}`), field)
        .toBe('order');
    }
    expect(read(`{"id":"order-1","events":[${deep},{"id":1,"status":${deep}}]}`)).toBe('order');
    expect(read(`{"event_type":"labtest.order.updated","data":{"id":${deep}}}`)).toBe('unreadable');
    expect(read(`{"event_type":"labtest.order.updated","data":${deep}}`)).toBe('unreadable');
    expect(read(`{"event_type":"daily.data.steps.created","data":${deep}}`)).toBe('health_data');
    expect(read(`{"event_type":"provider.connection.created","data":{"source":${deep}}}`)).toBe('connection');
    for (const field of ['status', 'x', 'data']) {
      expect
        .soft(read(`{"event_type":"lab_report.parsing_job.updated","data":{"id":"job-1","${field}":${deep}}}`), field)
        .toBe('parsing_job');
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
  const appointment = {
    id: 'appointment-1',
    order_id: 'order-1',
    status: 'cancelled',
    events: [{ status: 'cancelled' }],
  };
  expect(readEvent(appointment)).toEqual({ kind: 'other' });
});
