import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { AppointmentAddress, Appointments } from '../../../service/appointments.js';
import { AnswerUnreadable } from '../../../service/errors.js';
import { answering, rejection, serviceAt } from './recording-server.js';

const key = 'bk_invented_key';
const appointmentPath = '/v3/order/order-1/phlebotomy/appointment';

const home = {
  first_line: '1 Nowhere Lane',
  second_line: null,
  city: 'Phantomville',
  state: 'AZ',
  zip_code: '85004-1234',
  unit: '2',
  access_notes: 'Gate code invented',
} satisfies AppointmentAddress;

const appointment = {
  id: 'appointment-1',
  user_id: 'user-1',
  order_id: 'order-1',
  order_transaction_id: 'transaction-1',
  address: home,
  location: { lng: -112.1, lat: 33.4 },
  start_at: '2026-02-01T16:00:00',
  end_at: '2026-02-01T17:00:00+00:00',
  iana_timezone: 'America/Phoenix',
  type: 'phlebotomy',
  provider: 'a_provider_of_next_year',
  status: 'confirmed',
  provider_id: '17',
  external_id: null,
  can_reschedule: true,
  appointment_notes: null,
  event_status: 'scheduled',
  event_data: { any: [1] },
  events: [{ created_at: '2026-01-20T10:00:00', status: 'pending', data: null }],
  next_year: 1,
};
const appointmentRead = {
  ...appointment,
  start_at: '2026-02-01T16:00:00Z',
  events: [{ ...appointment.events[0], created_at: '2026-01-20T10:00:00Z' }],
};

const calls: [name: string, call: (appointments: Appointments) => Promise<unknown>, method: string, path: string][] = [
  ['book', (a) => a.book('order-1', { booking_key: key }), 'POST', `${appointmentPath}/book`],
  [
    'request',
    (a) => a.request('order-1', { address: home, provider: 'invented' }),
    'POST',
    `${appointmentPath}/request`,
  ],
  ['reschedule', (a) => a.reschedule('order-1', { booking_key: key }), 'PATCH', `${appointmentPath}/reschedule`],
  ['cancel', (a) => a.cancel('order-1', { cancellation_reason_id: 'reason-1' }), 'PATCH', `${appointmentPath}/cancel`],
  ['get', (a) => a.get('order-1'), 'GET', appointmentPath],
];

describe.each(calls)('%s', (_name, call, method, url) => {
  // proves 171, 226-228, 244, 322
  test('goes to its path with the team key and returns the appointment', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: appointment }));
    expect(await call(serviceAt(baseUrl).appointments)).toEqual(appointmentRead);
    expect(requests).toMatchObject([{ method, url }]);
    expect(requests[0]?.headers).toHaveProperty('x-service-api-key');
  });

  // proves 325, 326
  test('reads an appointment with nearly everything missing, null or of the wrong type', async () => {
    const untidy = {
      ...{ id: 'appointment-1', order_id: 'order-1', start_at: null, location: 'home', can_reschedule: 'no' },
      ...{ events: 'none', status: 'a_status_of_next_year', address: null },
    };
    const { baseUrl } = await answering(() => ({ body: untidy }));
    expect(await call(serviceAt(baseUrl).appointments)).toEqual({
      ...{ id: 'appointment-1', order_id: 'order-1', start_at: null, status: 'a_status_of_next_year', address: null },
    });
  });
});

describe('a request is sent', () => {
  async function sent(call: (appointments: Appointments) => Promise<unknown>, body: unknown = appointment) {
    const { baseUrl, requests } = await answering(() => ({ body }));
    await call(serviceAt(baseUrl).appointments);
    return requests[0];
  }

  // proves 226
  test('a request is sent for a booking, field by field', async () => {
    const request = {
      booking_key: key,
      appointment_notes: 'The dog is invented',
      async_confirmation: true,
      sync_confirmation_timeout_millisecond: 10_000,
      async_confirmation_timeout_millisecond: 172_800_000,
    };
    expect((await sent((a) => a.book('order-1', request)))?.body).toEqual(request);
  });

  // proves 227
  test('a request is sent for an appointment, field by field', async () => {
    const request = { address: home, provider: 'invented', appointment_notes: 'The dog is invented' };
    expect((await sent((a) => a.request('order-1', request)))?.body).toEqual(request);
  });

  // proves 228
  test('a request is sent for a new slot, field by field', async () => {
    const request = { booking_key: key, appointment_notes: 'The dog is invented' };
    expect((await sent((a) => a.reschedule('order-1', request)))?.body).toEqual(request);
  });

  test('a request is sent for a cancellation with its reason', async () => {
    const request = { cancellation_reason_id: 'reason-1', notes: 'invented' };
    expect((await sent((a) => a.cancel('order-1', request)))?.body).toEqual(request);
  });

  // proves 229
  test('a request is sent for slots with the address in the body and the first day in the query', async () => {
    const ask = (a: Appointments) => a.availability(home, { startDate: '2026-02-01' });
    const availability = '/v3/order/phlebotomy/appointment/availability';
    expect(await sent(ask, { slots: [] })).toMatchObject({
      method: 'POST',
      url: `${availability}?start_date=2026-02-01`,
      body: home,
    });
    expect(await sent((a) => a.availability(home), { slots: [] })).toMatchObject({ url: availability });
  });

  // proves 226-229
  test('a request is never sent if a rule is broken, and the rule is named', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: appointment }));
    const { appointments } = serviceAt(baseUrl);
    const long = 'x'.repeat(1_001);
    const broken: [Promise<unknown>, string][] = [
      [appointments.book('order-1', { booking_key: '' }), 'booking_key'],
      [appointments.book('order-1', { booking_key: key, appointment_notes: long }), 'appointment_notes'],
      [
        appointments.book('order-1', { booking_key: key, sync_confirmation_timeout_millisecond: 999 }),
        'sync_confirmation_timeout_millisecond',
      ],
      [
        appointments.book('order-1', { booking_key: key, async_confirmation_timeout_millisecond: 172_800_001 }),
        'async_confirmation_timeout_millisecond',
      ],
      [appointments.reschedule('order-1', { booking_key: key, appointment_notes: long }), 'appointment_notes'],
      [
        appointments.request('order-1', { address: home, provider: 'invented', appointment_notes: long }),
        'appointment_notes',
      ],
      [
        appointments.request('order-1', { address: { ...home, zip_code: '850' }, provider: 'invented' }),
        'address.zip_code',
      ],
      [appointments.request('order-1', { address: home, provider: '' }), 'provider'],
      [appointments.cancel('order-1', { cancellation_reason_id: ' ' }), 'cancellation_reason_id'],
      [appointments.availability({ ...home, access_notes: long }), 'access_notes'],
      [appointments.availability(home, { startDate: '2026-02-30' }), 'startDate'],
    ];
    for (const [call, field] of broken) {
      expect(await rejection(call), field).toMatchObject({ name: 'RequestInvalid', fields: [{ field }] });
    }
    expect(requests).toEqual([]);
  });

  // proves 226
  test('a request is sent with notes of 1,000 characters, an emoji being one', async () => {
    const notes = '😀'.repeat(1_000);
    expect((await sent((a) => a.book('order-1', { booking_key: key, appointment_notes: notes })))?.body).toEqual({
      booking_key: key,
      appointment_notes: notes,
    });
  });
});

describe('slots', () => {
  // proves 229, 314
  test('come for 14 days, as the service sends them', async () => {
    const slot = {
      booking_key: key,
      start: '2026-02-01T16:00:00',
      end: '2026-02-01T17:00:00',
      expires_at: '2026-01-20T10:30:00',
      price: 49.5,
      is_priority: false,
      num_appointments_available: 2,
      next_year: 1,
    };
    const days = Array.from({ length: 14 }, (_, n) => ({
      date: `2026-02-${String(n + 1).padStart(2, '0')}`,
      location: null,
      slots: [slot],
    }));
    const { baseUrl } = await answering(() => ({ body: { slots: days, timezone: 'America/Phoenix' } }));
    const read = await serviceAt(baseUrl).appointments.availability(home);
    expect(read.timezone).toBe('America/Phoenix');
    expect(read.slots).toHaveLength(14);
    expect(read.slots?.[13]).toEqual({
      date: '2026-02-14',
      location: null,
      slots: [
        {
          ...slot,
          start: '2026-02-01T16:00:00Z',
          end: '2026-02-01T17:00:00Z',
          expires_at: '2026-01-20T10:30:00Z',
        },
      ],
    });
  });

  // proves 229, 325
  test('may be none, and untidy', async () => {
    const { baseUrl } = await answering((_request, index) => ({
      body: index === 0 ? {} : { slots: [{ date: '2026-02-01', slots: [{ booking_key: 7, price: 'free' }, null] }, 5] },
    }));
    const { appointments } = serviceAt(baseUrl);
    expect(await appointments.availability(home)).toEqual({});
    expect(await appointments.availability(home)).toEqual({
      slots: [{ date: '2026-02-01', slots: [{ booking_key: '7' }] }],
    });
  });

  describe.each([
    ['booked', (a: Appointments) => a.book('order-1', { booking_key: key })],
    ['taken instead of another', (a: Appointments) => a.reschedule('order-1', { booking_key: key })],
  ])('a slot that is %s', (_what, call) => {
    test.each<[number, unknown, string]>([
      [400, { detail: 'The slot is no longer available' }, 'SlotUnavailable'],
      [404, { detail: 'Time slot not found' }, 'SlotUnavailable'],
      [400, { error: 'Bad Request', message: 'Selected timeslot unavailable', status_code: 400 }, 'SlotUnavailable'],
      [400, { detail: 'Booking failed' }, 'ServiceRefused'],
      [400, { detail: 'Booking key expired' }, 'BookingKeyExpired'],
      [404, { detail: `booking_key ${key} not found` }, 'BookingKeyExpired'],
      [400, { detail: 'Invalid booking key' }, 'BookingKeyExpired'],
      [400, 'The slot with this booking-key is no longer valid', 'BookingKeyExpired'],
      [400, { detail: 'Order is not in a state to be booked' }, 'ServiceRefused'],
      [400, { detail: 'Appointment cannot be rescheduled' }, 'ServiceRefused'],
      [404, { detail: 'Appointment not found' }, 'NotFound'],
      [404, { detail: "This order doesn't exist." }, 'NotFound'],
      [400, { detail: 'The patient has no phone number' }, 'ServiceRefused'],
      [400, { detail: [{ loc: ['body', 'appointment_notes'], msg: 'Too long', type: 'x' }] }, 'ServiceRefused'],
      [409, {}, 'ServiceRefused'],
      [422, { detail: [{ loc: ['body', 'booking_key'], msg: 'Field required', type: 'missing' }] }, 'ServiceRefused'],
      [401, { detail: 'The slot is no longer available' }, 'Unauthorized'],
    ])('turns the refusal %i %j into a %s', async (status, body, name) => {
      const { baseUrl } = await answering(() => ({ status, body }));
      const error = await rejection(call(serviceAt(baseUrl).appointments));
      expect(error).toMatchObject({ name, status });
      expect(inspect(error, { depth: null })).not.toContain(key);
    });
  });
});

describe('reasons for a cancellation', () => {
  test('are listed with what they cost', async () => {
    const reasons = [{ id: 'reason-1', name: 'Invented', is_refundable: true, next_year: 1 }];
    const { baseUrl, requests } = await answering(() => ({ body: reasons }));
    expect(await serviceAt(baseUrl).appointments.cancellationReasons()).toEqual(reasons);
    expect(requests).toMatchObject([
      { method: 'GET', url: '/v3/order/phlebotomy/appointment/cancellation-reasons', body: undefined },
    ]);
  });
});

test('an appointment without an id is unreadable, and not quoted', async () => {
  const { baseUrl } = await answering(() => ({ body: { ...appointment, id: null } }));
  const error = await rejection(serviceAt(baseUrl).appointments.get('order-1'));
  expect(error).toBeInstanceOf(AnswerUnreadable);
  expect(inspect(error)).not.toContain('Nowhere');
});
