import { describe, expect, test } from 'vitest';
import { isOpen, orderEffect, refundableUntil, visitPhaseOf } from '../../../protocol/appointment/lifecycle.js';
import { slotIdOf, slotOf } from '../../../protocol/appointment/slots.js';
import { appointmentSnapshotOf } from '../../../service/appointment/snapshot.js';
import { appointmentSchema } from '../../../service/appointment/appointments.js';
import { readAppointmentSnapshot } from '../../../workflows/appointment/reading.js';
import { caseFileOf, stateOf } from '../../../workflows/appointment/view.js';
import { snapshot, requestedCase } from './appointments.js';

const slot = { day: '2024-03-05', start: '2024-03-05T13:00:00.000Z', end: '2024-03-05T14:00:00.000Z' };

test.each([
  slot,
  { ...slot, site: 'A@1_b' },
  { ...slot, price: 49, site: 'PSC1' },
  { ...slot, price: 49 },
  { ...slot, price: 49.5 },
  { ...slot, price: 0 },
])('a slot’s id names %j', (named) => {
  expect(slotOf(slotIdOf(named))).toEqual(named);
});

test('a slot’s id names a price without what a computed one has beyond the millionth', () => {
  expect(slotOf(slotIdOf({ ...slot, price: 119.99000000000001 }))).toEqual({ ...slot, price: 119.99 });
});

test.each(['', 'bk_x', slotIdOf({ ...slot, day: '2024-3-5' }), `${slotIdOf(slot)}_x`, 7, undefined, null])(
  'a slot’s id is never %j',
  (text) => expect(slotOf(text)).toBeUndefined(),
);

describe('a snapshot', () => {
  const sent = {
    ...{ id: 'appointment-1', order_id: 'order-1', user_id: 'user-1', order_transaction_id: 't' },
    address: { first_line: '1 Invented Street', access_notes: 'Ring twice' },
    location: { lng: -73.9, lat: 40.7 },
    ...{ start_at: '2022-01-01T00:00:00', end_at: '2022-01-01T01:00:00+01:00', iana_timezone: 'America/New_York' },
    ...{ type: 'phlebotomy', provider: 'invented_draws', status: 'confirmed', event_status: 'scheduled' },
    ...{ can_reschedule: true, appointment_notes: 'Invented dog', phlebotomist: { name: 'Testperson' } },
    events: [
      { created_at: '2021-12-30T10:00:00', status: 'pending', data: { name: 'Testperson' } },
      { created_at: '2021-12-30T10:00:01.123456Z', status: 'scheduled' },
      { created_at: null, status: 'lost' },
      'no event',
    ],
  };

  // proves 2
  test('has ids, statuses and times in UTC, even if they have no zone, and nothing personal', () => {
    expect(appointmentSnapshotOf(appointmentSchema.parse(sent))).toEqual({
      ...{ appointmentId: 'appointment-1', orderId: 'order-1', userId: 'user-1', status: 'confirmed' },
      ...{ type: 'phlebotomy', provider: 'invented_draws', canReschedule: true },
      ...{ startAt: '2022-01-01T00:00:00.000Z', endAt: '2022-01-01T00:00:00.000Z' },
      timezone: 'America/New_York',
      events: [
        { at: '2021-12-30T10:00:00.000Z', status: 'pending' },
        { at: '2021-12-30T10:00:01.123Z', status: 'confirmed' },
      ],
    });
  });

  test.each([
    [{ event_status: 'scheduled' }, 'confirmed'],
    [{ event_status: 'a_status_of_next_year' }, 'a_status_of_next_year'],
    [{ status: 'Testperson was not at home.' }, 'other'],
    [{ events: [{ created_at: '2022-01-01T00:00:00Z', status: 'reserved' }] }, 'reserved'],
    [{}, undefined],
  ])('a snapshot of %j has the status %s', (fields, status) => {
    expect(appointmentSnapshotOf(appointmentSchema.parse({ id: 'a', ...fields })).status).toBe(status);
  });

  test('a snapshot from a signal is read field by field; without an id it is refused', () => {
    const sent = { ...snapshot(['pending', 'scheduled']), startAt: '2022-01-01T00:00:00' };
    const read = readAppointmentSnapshot({ ...sent, address: 'x', canReschedule: 'no' });
    expect(read).toMatchObject({ status: 'confirmed', startAt: '2022-01-01T00:00:00.000Z' });
    for (const none of ['address', 'canReschedule']) expect(read).not.toHaveProperty(none);
    const events = [null, 'no event', { at: 'soon', status: 'lost' }, { at: '2022-01-01T00:00:00', status: 7 }];
    const odd = readAppointmentSnapshot({ appointmentId: 'a', canReschedule: true, events });
    expect(odd).toEqual({ appointmentId: 'a', canReschedule: true, events: [] });
    expect(read?.events.at(-1)?.status).toBe('confirmed');
    const empty = readAppointmentSnapshot({ appointmentId: 'a', events: [7, { at: 'x' }], endAt: 5 });
    expect(empty).toEqual({ appointmentId: 'a', events: [] });
    for (const none of [null, 'a', [], {}, { appointmentId: '' }])
      expect(readAppointmentSnapshot(none)).toBeUndefined();
  });
});

test.each([
  ['pending', 'awaiting_confirmation', true],
  ['reserved', 'awaiting_confirmation', true],
  ['confirmed', 'confirmed', true],
  ['in_progress', 'in_progress', true],
  ['completed', 'completed', false],
  ['cancelled', 'cancelled', false],
  ['constructor', 'confirmed', true],
  ['a_status_of_next_year', 'confirmed', true],
])('an appointment that is %s after it was confirmed is %s, and open: %s', (status, phase, isOpenThen) => {
  expect(visitPhaseOf(snapshot(['pending', 'confirmed', status]))).toBe(phase);
  expect(isOpen(snapshot([status]))).toBe(isOpenThen);
});

test.each([
  ['preparing', 'requisition_created', 'open'],
  ['collecting_sample', 'appointment_pending', 'open'],
  ['collecting_sample', 'appointment_scheduled', 'open'],
  ['collecting_sample', 'appointment_cancelled', 'open'],
  ['collecting_sample', 'draw_completed', 'collected'],
  ['collecting_sample', 'redraw_available', 'collected'],
  ['at_lab', 'partial_results', 'collected'],
  ['completed', 'corrected', 'collected'],
  ['failed', 'sample_error', 'collected'],
  ['cancelled', 'cancelled', 'cancelled'],
])('an order that is %s, %s, is %s for its appointment', (phase, low, says) => {
  expect(orderEffect(phase, low)).toBe(says);
  expect(orderEffect(phase, low, 'at_home_phlebotomy')).toBe(says);
});

test.each([
  ['testkit', 'no_appointment'],
  ['walk_in_test', 'open'],
  ['on_site_collection', 'no_appointment'],
  ['an_invented_method', 'open'],
])('an order by %s is %s for its appointment, until it is over', (method, says) => {
  expect(orderEffect('preparing', 'ordered', method)).toBe(says);
  expect(orderEffect('completed', 'completed', method)).toBe('collected');
  expect(orderEffect('cancelled', 'cancelled', method)).toBe('cancelled');
});

test('a case file shows the state, what it waits for and what happened', () => {
  const file = caseFileOf(stateOf(requestedCase(snapshot(['pending', 'confirmed']))));
  expect(file).toContain('### Confirmed');
  expect(file).toContain('**Waits for** the visit until 2024-03-07 11:00:00, appointment at 2024-03-06 10:00:00');
  expect(file).toContain('| 2024-03-01 10:00:00 | Confirmed, for 2024-03-06 10:00:00 |');
  const ended = requestedCase(undefined, { ending: 'order_ended', order: 'cancelled' });
  expect(caseFileOf(stateOf(ended))).toContain('**Outcome** order ended: the order was cancelled');
});

test.each([
  ['QW 4471/22', 'QW 4471/22'],
  ['#88213', '#88213'],
  ['123 Main Street #4', undefined],
  ['Testperson', undefined],
])('the laboratory’s number of an appointment in any letter case: %s', (external_id, externalId) => {
  const sent = { id: 'a', type: 'Patient_Service_Center', status: 'Cancelled', external_id };
  const snapshot = appointmentSnapshotOf(appointmentSchema.parse(sent));
  expect(snapshot).toMatchObject({ type: 'patient_service_center', status: 'cancelled' });
  expect(snapshot.externalId).toBe(externalId);
});

test.each([
  ['Pacific/Honolulu', 'Pacific/Honolulu'],
  ['US/Eastern', 'US/Eastern'],
  ['UTC', 'UTC'],
  ['+01:00', undefined],
  ['Testperson', undefined],
  ['', undefined],
  [null, undefined],
])('the zone of an appointment’s times, if it is one: %j', (iana_timezone, timezone) => {
  expect(appointmentSnapshotOf(appointmentSchema.parse({ id: 'a', iana_timezone })).timezone).toBe(timezone);
});

test('a visit at home is refunded until a day before its start; a service centre has no such rule', () => {
  const startAt = '2026-02-03T10:00:00.000Z';
  const until = Date.parse('2026-02-02T10:00:00.000Z');
  expect(refundableUntil({ ...snapshot(['confirmed']), type: 'phlebotomy', startAt })).toBe(until);
  expect(refundableUntil({ appointmentId: 'a', events: [], startAt })).toBe(until);
  expect(refundableUntil({ appointmentId: 'a', events: [], type: 'patient_service_center', startAt })).toBeUndefined();
  expect(refundableUntil({ appointmentId: 'a', events: [] })).toBeUndefined();
});
