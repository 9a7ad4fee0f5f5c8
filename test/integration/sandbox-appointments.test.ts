import { describe, expect, onTestFinished, test } from 'vitest';
import { cancellationReasons } from '../../sandbox/lab-service/appointment-routes.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import type { AppointmentAddress, Appointments } from '../../service/appointments.js';
import { readEvent } from '../../service/events.js';
import { createLabService } from '../../service/lab-service.js';
import { patientDetails, shippingDetails } from '../rig/cast.js';
import {
  sandboxApiKey,
  webhookSecret,
  startReceiver,
  startSandbox,
  type Received,
  type Sandbox,
} from './sandbox-rig.js';

const home: AppointmentAddress = {
  first_line: shippingDetails.first_line,
  city: shippingDetails.city,
  state: shippingDetails.state,
  zip_code: shippingDetails.zip,
};
const firstReason = { cancellation_reason_id: cancellationReasons[0].id };

interface Visiting extends Sandbox {
  readonly appointments: Appointments;
  readonly received: Received[];
  readonly orderId: string;
  /** Another order that is drawn at home. */
  readonly newOrder: () => Promise<string>;
  /** Keys of all slots of the 14 days. */
  readonly keys: () => Promise<string[]>;
  /** Low-level statuses of the order's events. */
  readonly lows: () => Promise<string[]>;
  readonly cancelOrder: () => Promise<unknown>;
}

/** An order that is drawn at home, and the product's own client, over real HTTP. */
async function startVisiting(settings: Partial<Settings> = {}): Promise<Visiting> {
  const { url: webhookUrl, received } = await startReceiver();
  const sandbox = await startSandbox({ webhookUrl, webhookSecrets: [webhookSecret], ...settings });
  const client = createLabService({ baseUrl: sandbox.service.url, apiKey: sandboxApiKey });
  onTestFinished(() => client.close());
  const newOrder = async (): Promise<string> => {
    const body = { user_id: await sandbox.newUser(), lab_test_id: labTestIds.atHomePhlebotomy };
    const request = {
      ...body,
      patient_details: patientDetails,
      patient_address: { ...shippingDetails, access_notes: 'Ring twice' },
    };
    return (await client.orders.create(request)).order.id;
  };
  const orderId = await newOrder();
  return {
    ...sandbox,
    received,
    appointments: client.appointments,
    orderId,
    newOrder,
    keys: async () => {
      const { slots } = await client.appointments.availability(home);
      return (slots ?? []).flatMap((day) => (day.slots ?? []).flatMap(({ booking_key: key }) => key ?? []));
    },
    lows: async () => {
      const { events } = await client.orders.get(orderId);
      return (events ?? []).map(({ status }) => status?.split('.').at(-1) ?? '');
    },
    cancelOrder: () => client.orders.cancel(orderId),
  };
}

async function firstOf(keys: Promise<string[]>): Promise<string> {
  const [first] = await keys;
  if (first === undefined) throw new Error('there is no slot');
  return first;
}

describe('slots', () => {
  // proves 229, 314
  test('come for 14 days from tomorrow, or from the day that was asked for', async () => {
    const { appointments, control } = await startVisiting();
    const today = (await control.clock()).now.slice(0, 10);
    await control.setClock(`${today}T12:00:00Z`);
    const { slots, timezone } = await appointments.availability(home);
    expect(timezone).toBe('America/New_York');
    expect(slots).toHaveLength(14);
    expect(slots?.[0]?.date).toBe(new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10));
    expect(slots?.[0]?.slots).toHaveLength(5);
    const later = await appointments.availability(home, { startDate: '2999-12-25' });
    expect(later.slots?.map(({ date }) => date)).toEqual([
      ...[25, 26, 27, 28, 29, 30, 31].map((day) => `2999-12-${day}`),
      ...[1, 2, 3, 4, 5, 6, 7].map((day) => `3000-01-0${day}`),
    ]);
  });

  // proves 229, 314
  test('slots of the past are none, but the days are listed', async () => {
    const { appointments } = await startVisiting();
    const { slots } = await appointments.availability(home, { startDate: '2020-01-01' });
    expect(slots).toHaveLength(14);
    expect(slots?.flatMap((day) => day.slots ?? [])).toEqual([]);
  });

  // proves 229, 305
  test('are refused for an invalid address, with all its faults at once', async () => {
    const { call } = await startVisiting();
    const path = '/v3/order/phlebotomy/appointment/availability?start_date=soon';
    expect((await call('POST', path, {})).status).toBe(422);
    const { body } = await call('POST', path.split('?', 1)[0] ?? '', { zip_code: '627', access_notes: 7 });
    expect(body.detail.map(({ type, loc }) => `${loc.join('.')} ${type}`)).toEqual([
      ...['body.first_line missing', 'body.city missing', 'body.state missing'],
      ...['body.zip_code string_pattern_mismatch', 'body.access_notes string_type'],
    ]);
  });
});

describe('a booking', () => {
  // proves 226, 267
  test('is confirmed at once, moves its order, and sends webhooks for both', async () => {
    const { appointments, orderId, keys, lows, control, received, call } = await startVisiting();
    const request = { booking_key: await firstOf(keys()), appointment_notes: 'Invented dog' };
    const booked = await appointments.book(orderId, request);
    expect(booked).toMatchObject({
      ...{ order_id: orderId, status: 'confirmed', event_status: 'scheduled', type: 'phlebotomy' },
      ...{ appointment_notes: 'Invented dog', can_reschedule: true },
      address: { zip_code: shippingDetails.zip, access_notes: 'Ring twice' },
      events: [{ status: 'pending' }, { status: 'scheduled' }],
    });
    expect(booked.start_at).toMatch(/^\d{4}-\d\d-\d\dT13:00:00\.000000Z$/);
    expect(await appointments.get(orderId)).toEqual(booked);
    expect(await lows()).toEqual(['ordered', 'requisition_created', 'appointment_pending', 'appointment_scheduled']);
    expect((await call('GET', `/v3/order/${orderId}`)).body.details.data).toMatchObject({ appointment_id: booked.id });
    await control.settleWebhooks();
    const events = received.map(({ json }) => readEvent(json));
    expect(events.filter(({ kind }) => kind === 'appointment')).toMatchObject([
      { eventType: 'labtest.appointment.created', orderId, appointment: { event_status: 'pending' } },
      { eventType: 'labtest.appointment.updated', orderId, appointment: { event_status: 'scheduled' } },
    ]);
    expect(events.filter(({ kind }) => kind === 'order')).toHaveLength(4);
    expect(events).toHaveLength(6);
  });

  // proves 226
  test.each([400, 404] as const)(
    'a booking of a slot that somebody else took is a conflict, status %i',
    async (status) => {
      const { appointments, orderId, keys, control, lows } = await startVisiting({ slotConflictStatus: status });
      const key = await firstOf(keys());
      await control.takeSlot(key);
      await expect(appointments.book(orderId, { booking_key: key })).rejects.toMatchObject({
        name: 'SlotUnavailable',
        status,
      });
      expect(await lows()).toEqual(['ordered', 'requisition_created']);
      expect(await control.appointments()).toEqual([]);
    },
  );

  // proves 226
  test('a booking with a key that is too old is refused, and the slot is still there', async () => {
    // Half an hour stays half an hour with a day of 96 s.
    const { appointments, orderId, keys, control } = await startVisiting({ daySeconds: 96 });
    const [key, other] = await keys();
    await control.advanceClock('29m');
    const { slots } = await appointments.availability(home);
    const expiry = Date.parse(slots?.[0]?.slots?.[0]?.expires_at ?? '') - Date.parse((await control.clock()).now);
    expect(expiry).toBeGreaterThan(29 * 60_000);
    expect(expiry).toBeLessThanOrEqual(30 * 60_000);
    await control.advanceClock('61s');
    await expect(appointments.book(orderId, { booking_key: key ?? '' })).rejects.toMatchObject({
      name: 'BookingKeyExpired',
      status: 400,
    });
    await expect(appointments.book(orderId, { booking_key: other ?? '' })).rejects.toMatchObject({
      name: 'BookingKeyExpired',
    });
    await expect(appointments.book(orderId, { booking_key: await firstOf(keys()) })).resolves.toMatchObject({
      status: 'confirmed',
    });
  });

  // proves 226
  test('a booking with an invented key is refused like one that expired', async () => {
    const { appointments, orderId } = await startVisiting();
    await expect(appointments.book(orderId, { booking_key: 'bk_invented' })).rejects.toMatchObject({
      name: 'BookingKeyExpired',
      status: 404,
    });
  });

  // proves 226
  test('a booking that the provider declines is cancelled later, or refused if it waits', async () => {
    const { appointments, orderId, keys, lows, control } = await startVisiting({ appointmentConfirmation: 'decline' });
    const key = await firstOf(keys());
    await expect(appointments.book(orderId, { booking_key: key })).rejects.toMatchObject({ name: 'SlotUnavailable' });
    const [other = ''] = await keys();
    await appointments.book(orderId, { booking_key: other, async_confirmation: true });
    await control.advanceClock('31m');
    expect(await appointments.get(orderId)).toMatchObject({ status: 'cancelled' });
    expect((await lows()).at(-1)).toBe('appointment_cancelled');
  });

  // proves 226
  test('a booking for an order that has one, or is collected otherwise, or ended is refused', async () => {
    const { appointments, orderId, keys, newKit, newOrder, control, call } = await startVisiting();
    const [one = '', two = '', three = ''] = await keys();
    await appointments.book(orderId, { booking_key: one });
    const refused = { name: 'ServiceRefused', status: 400 };
    await expect(appointments.book(orderId, { booking_key: two })).rejects.toMatchObject(refused);
    await expect(appointments.book((await newKit()).id, { booking_key: two })).rejects.toMatchObject(refused);
    const drawn = await newOrder();
    await control.move(drawn, 'draw_completed');
    await expect(appointments.book(drawn, { booking_key: three })).rejects.toMatchObject(refused);
    const unknown = `/v3/order/${labTestIds.kit}/phlebotomy/appointment`;
    expect(await call('GET', unknown)).toMatchObject({ status: 404, body: { detail: "This order doesn't exist." } });
  });

  // proves 226, 305
  test('a booking with notes of 1,001 characters or a wait out of bounds is refused', async () => {
    const { call, orderId } = await startVisiting();
    const body = {
      ...{ booking_key: 'bk', appointment_notes: 'x'.repeat(1_001) },
      ...{ sync_confirmation_timeout_millisecond: 999, async_confirmation_timeout_millisecond: '60000' },
    };
    const { status, body: answer } = await call('POST', `/v3/order/${orderId}/phlebotomy/appointment/book`, body);
    expect(status).toBe(422);
    expect(answer.detail.map(({ type, loc }) => `${loc.join('.')} ${type}`)).toEqual([
      'body.appointment_notes string_too_long',
      'body.async_confirmation_timeout_millisecond int_type',
      'body.sync_confirmation_timeout_millisecond greater_than_equal',
    ]);
  });
});

describe('a request', () => {
  // proves 227
  test('has no time until the provider names one', async () => {
    const { appointments, orderId, lows, control } = await startVisiting();
    const request = { address: { ...home, unit: '7' }, provider: 'invented_draws', appointment_notes: 'Invented dog' };
    const asked = await appointments.request(orderId, request);
    expect(asked).toMatchObject({
      ...{ status: 'pending', start_at: null, end_at: null, provider: 'invented_draws' },
      ...{ appointment_notes: 'Invented dog', address: { unit: '7' } },
    });
    await control.advanceClock('31m');
    const named = await appointments.get(orderId);
    expect(named).toMatchObject({ id: asked.id, status: 'confirmed' });
    expect(named.start_at).not.toBeNull();
    expect(await lows()).toEqual(['ordered', 'requisition_created', 'appointment_pending', 'appointment_scheduled']);
  });

  // proves 227, 305
  test('needs an address and a provider', async () => {
    const { call, orderId } = await startVisiting();
    const { body } = await call('POST', `/v3/order/${orderId}/phlebotomy/appointment/request`, {});
    expect(body.detail.map(({ loc }) => loc.join('.'))).toEqual(['body.address', 'body.provider']);
  });
});

describe('another slot', () => {
  // proves 228
  test('replaces the first, which is free again', async () => {
    const { appointments, orderId, keys, lows } = await startVisiting();
    const all = await keys();
    const first = await appointments.book(orderId, { booking_key: all[0] ?? '', appointment_notes: 'Invented dog' });
    const second = await appointments.reschedule(orderId, { booking_key: all[7] ?? '' });
    expect(second).toMatchObject({ id: first.id, status: 'confirmed', appointment_notes: 'Invented dog' });
    expect(second.start_at).not.toBe(first.start_at);
    expect(await keys()).toHaveLength(all.length - 1);
    expect((await lows()).slice(-2)).toEqual(['appointment_scheduled', 'appointment_scheduled']);
  });

  // proves 228
  test('is refused if it is gone, and the first one stays', async () => {
    const { appointments, orderId, keys, control } = await startVisiting();
    const [mine = '', theirs = ''] = await keys();
    const booked = await appointments.book(orderId, { booking_key: mine });
    await control.takeSlot(theirs);
    await expect(appointments.reschedule(orderId, { booking_key: theirs })).rejects.toMatchObject({
      name: 'SlotUnavailable',
    });
    expect(await appointments.get(orderId)).toEqual(booked);
  });

  // proves 228
  test('is refused if the appointment does not allow it, was cancelled, or never existed', async () => {
    const { appointments, orderId, keys, control, newOrder } = await startVisiting();
    const [one = '', two = ''] = await keys();
    await appointments.book(orderId, { booking_key: one });
    expect(await control.moveAppointment(orderId, { can_reschedule: false })).toMatchObject({ can_reschedule: false });
    await expect(appointments.reschedule(orderId, { booking_key: two })).rejects.toMatchObject({
      name: 'ServiceRefused',
      status: 400,
    });
    await appointments.cancel(orderId, firstReason);
    await expect(appointments.reschedule(orderId, { booking_key: two })).rejects.toMatchObject({ status: 400 });
    await expect(appointments.reschedule(await newOrder(), { booking_key: two })).rejects.toMatchObject({
      name: 'NotFound',
    });
    await expect(appointments.book(orderId, { booking_key: two })).resolves.toMatchObject({ status: 'confirmed' });
  });
});

describe('a cancellation', () => {
  test('needs a reason from the list, frees the slot, and moves the order', async () => {
    const { appointments, orderId, keys, lows } = await startVisiting();
    const all = await keys();
    await appointments.book(orderId, { booking_key: all[0] ?? '' });
    await expect(appointments.cancel(orderId, { cancellation_reason_id: labTestIds.kit })).rejects.toMatchObject({
      name: 'NotFound',
    });
    const [reason] = await appointments.cancellationReasons();
    expect(reason).toMatchObject({ is_refundable: true });
    const cancelled = await appointments.cancel(orderId, { cancellation_reason_id: reason?.id ?? '', notes: 'ill' });
    expect(cancelled).toMatchObject({ status: 'cancelled', event_status: 'cancelled' });
    expect((await lows()).at(-1)).toBe('appointment_cancelled');
    expect(await keys()).toHaveLength(all.length);
    await expect(appointments.cancel(orderId, firstReason)).rejects.toMatchObject({ status: 400 });
  });

  test('a cancellation of the order cancels the appointment too, whose webhooks come after the order’s', async () => {
    const { appointments, orderId, keys, lows, cancelOrder, control } = await startVisiting();
    const all = await keys();
    await appointments.book(orderId, { booking_key: all[0] ?? '' });
    await cancelOrder();
    expect(await appointments.get(orderId)).toMatchObject({ status: 'cancelled' });
    expect((await lows()).slice(-2)).toEqual(['appointment_scheduled', 'cancelled']);
    expect(await keys()).toHaveLength(all.length);
    const deliveries = await control.deliveries({ order_id: orderId });
    expect(deliveries.slice(-2).map(({ event_type: type, status }) => `${type} ${status}`)).toEqual([
      'labtest.order.updated cancelled',
      'labtest.appointment.updated cancelled',
    ]);
  });
});

describe('a visit', () => {
  test('happens on demand, and the draw is complete with it', async () => {
    const { appointments, orderId, keys, lows, control } = await startVisiting();
    await appointments.book(orderId, { booking_key: await firstOf(keys()) });
    await control.moveAppointment(orderId, 'in_progress');
    expect((await lows()).at(-1)).toBe('appointment_scheduled');
    await expect(appointments.cancel(orderId, firstReason)).rejects.toMatchObject({ status: 400 });
    expect(await control.moveAppointment(orderId, 'completed')).toMatchObject({ status: 'completed' });
    expect((await lows()).at(-1)).toBe('draw_completed');
  });

  test('may take an unknown status', async () => {
    const { appointments, orderId, keys, lows, control } = await startVisiting();
    await appointments.book(orderId, { booking_key: await firstOf(keys()) });
    await control.moveAppointment(orderId, { event_status: 'a_status_of_next_year', webhook: false });
    expect(await appointments.get(orderId)).toMatchObject({ status: 'a_status_of_next_year' });
    expect((await lows()).at(-1)).toBe('appointment_scheduled');
  });
});
