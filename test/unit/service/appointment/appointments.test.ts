import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Appointments } from '../../../../service/appointment/appointments.js';
import { home } from '../persons.js';
import { readFrom, rejection, serviceWith } from '../recording-server.js';

const key = 'bk_invented_key';

describe('slots', () => {
  const availability = (body: unknown) => readFrom(body, ({ appointments }) => appointments.availability(home));

  // proves 229, 325
  test('may be none, and untidy', async () => {
    expect(await availability({})).toEqual({});
    const untidy = { date: '2026-02-01', slots: [{ booking_key: 7 }, null] };
    const read = { date: '2026-02-01', slots: [{ booking_key: '7' }] };
    expect(await availability({ slots: [untidy, 5] })).toEqual({ slots: [read] });
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
      const { appointments } = await serviceWith({ status, body });
      const error = await rejection(call(appointments));
      expect(error).toMatchObject({ name, status });
      expect(inspect(error, { depth: null })).not.toContain(key);
    });
  });
});
