import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { bookOnce, moveOnce, requestOnce } from '../../../activities/appointment-booking.js';
import { cancelOnce } from '../../../activities/appointment-cancellation.js';
import { readWithOrder } from '../../../activities/appointment-reading.js';
import { slotsFor } from '../../../activities/appointment-slots.js';
import type { AppointmentSnapshot } from '../../../service/appointment-snapshot.js';
import type { LabService } from '../../../service/lab-service.js';
import { slotIdOf } from '../../../protocol/appointment/slots.js';
import { answering, rejection, serviceAt, type Answer } from '../service/recording-server.js';

const start = '2030-02-01T16:00:00.000Z';
const end = '2030-02-01T17:00:00.000Z';
const request = { orderId: 'order-1', slotId: slotIdOf({ day: '2030-02-01', start, end }), bookingTimeout: 5_000 };
const appointmentAt = (id: string, startAt: string): object => ({ id, status: 'confirmed', start_at: startAt });

const order = {
  id: 'order-1',
  patient_address: { first_line: '1 Nowhere Lane', city: 'Phantomville', state: 'AZ', zip: '85004' },
  details: { type: 'at_home_phlebotomy' },
  events: [{ id: 1, created_at: '2030-01-01T00:00:00Z', status: 'received.at_home_phlebotomy.ordered' }],
};
const slots = { slots: [{ date: '2030-02-01', slots: [{ booking_key: 'bk_invented', start, end }] }] };

/** A service that answers by the last part of the path; the answers of a list come one by one, the last one forever. */
async function serviceWith(
  answers: Record<string, Answer[]>,
): Promise<{ service: LabService; asked: string[]; bodyOf: (what: string) => unknown }> {
  const asked: string[] = [];
  const { baseUrl, requests } = await answering(({ method, url }) => {
    const what = `${method} ${url?.split('?')[0]?.split('/').at(-1)}`;
    asked.push(what);
    const [answer = { status: 404, body: { detail: 'Not found' } }, ...rest] = answers[what] ?? [];
    if (rest.length > 0) answers[what] = rest;
    return answer;
  });
  return { service: serviceAt(baseUrl), asked, bodyOf: (what) => requests[asked.lastIndexOf(what)]?.body };
}

const arranged = <T = AppointmentSnapshot>(work: () => Promise<T>) =>
  new MockActivityEnvironment({ startToCloseTimeoutMs: 150_000, scheduleToCloseTimeoutMs: 0 }).run(work);

describe('a move', () => {
  const move = { ...request, appointmentId: 'appointment-1' };

  test('a move whose answer was lost has been made even if the service gave the appointment a new id', async () => {
    const { service, asked } = await serviceWith({
      'GET appointment': [{ body: appointmentAt('appointment-2', start) }],
    });
    const moved = await arranged(() => moveOnce(service, move));
    expect(moved).toMatchObject({ appointmentId: 'appointment-2', startAt: start });
    expect(asked).toEqual(['GET appointment']);
  });

  test('a move of an appointment that another one has replaced is not tried', async () => {
    const { service, asked } = await serviceWith({
      'GET appointment': [{ body: appointmentAt('appointment-2', '2030-02-03T16:00:00Z') }],
    });
    expect(await rejection(arranged(() => moveOnce(service, move)))).toMatchObject({ type: 'NothingBooked' });
    expect(asked).toEqual(['GET appointment']);
  });
});

describe('a booking', () => {
  const booked = { body: appointmentAt('appointment-1', start) };
  const free = { 'GET order-1': [{ body: order }], 'POST availability': [{ body: slots }], 'POST book': [booked] };

  test('lets the provider confirm it later, and has the notes', async () => {
    const { service, bodyOf } = await serviceWith({ ...free });
    await arranged(() => bookOnce(service, { ...request, notes: 'Invented dog', confirmWithin: 60_000 }));
    const later = { async_confirmation: true, async_confirmation_timeout_millisecond: 60_000 };
    expect(bodyOf('POST book')).toEqual({ booking_key: 'bk_invented', appointment_notes: 'Invented dog', ...later });
    expect(bodyOf('POST availability')).toMatchObject({ first_line: '1 Nowhere Lane', zip_code: '85004' });
  });

  test('of a slot that is not offered any more is a conflict; without an address nothing can be offered', async () => {
    const gone = await serviceWith({ ...free, 'POST availability': [{ body: { slots: [] } }] });
    expect(await rejection(arranged(() => bookOnce(gone.service, request)))).toMatchObject({ type: 'SlotUnavailable' });
    const { service } = await serviceWith({ ...free, 'GET order-1': [{ body: { ...order, patient_address: null } }] });
    expect(await rejection(arranged(() => bookOnce(service, request)))).toMatchObject({ type: 'AddressMissing' });
  });

  test('whose key expires on the way takes one more key, and no third', async () => {
    const expired: Answer = { status: 400, body: { detail: 'The booking key has expired.' } };
    const once = await serviceWith({ ...free, 'POST book': [expired, booked] });
    expect(await arranged(() => bookOnce(once.service, request))).toMatchObject({ appointmentId: 'appointment-1' });
    expect(once.asked.filter((what) => what === 'POST availability')).toHaveLength(2);
    const always = await serviceWith({ ...free, 'POST book': [expired] });
    const failure = await rejection(arranged(() => bookOnce(always.service, request)));
    expect(failure).toMatchObject({ name: 'BookingKeyExpired' });
    expect(always.asked.filter((what) => what === 'POST book')).toHaveLength(2);
  });

  test.each<[string, Answer]>([
    ['lost', { status: 500, body: 'oops' }],
    ['unreadable', { body: 'oops' }],
  ])('whose answer is %s is read, and not made twice', async (_how, answer) => {
    const { service, asked } = await serviceWith({
      ...{ ...free, 'POST book': [answer], 'GET appointment': [{ status: 404, body: {} }, booked] },
    });
    expect(await arranged(() => bookOnce(service, request))).toMatchObject({ appointmentId: 'appointment-1' });
    expect(asked.filter((what) => what === 'POST book')).toHaveLength(1);
  });
});

describe('a request to a provider', () => {
  const asking = { orderId: 'order-1', provider: 'Invented_Draws', notes: 'mornings', bookingTimeout: 5_000 };

  test('has the address and the notes, and is not repeated', async () => {
    const made = { ...appointmentAt('appointment-1', start), provider: 'invented_draws' };
    const fresh = await serviceWith({ 'GET order-1': [{ body: order }], 'POST request': [{ body: made }] });
    expect(await arranged(() => requestOnce(fresh.service, asking))).toMatchObject({ provider: 'invented_draws' });
    expect(fresh.bodyOf('POST request')).toMatchObject({ provider: 'Invented_Draws', appointment_notes: 'mornings' });
    const repeated = await serviceWith({ 'GET appointment': [{ body: made }] });
    await arranged(() => requestOnce(repeated.service, asking));
    expect(repeated.asked).toEqual(['GET appointment']);
    const refused = arranged(() => requestOnce(repeated.service, { ...asking, provider: 'another' }));
    expect(await rejection(refused)).toMatchObject({ type: 'AppointmentExists' });
  });
});

describe('a move', () => {
  test('is not tried if the appointment does not allow it', async () => {
    const fixed = { ...appointmentAt('appointment-1', '2030-02-03T16:00:00Z'), can_reschedule: false };
    const { service } = await serviceWith({ 'GET appointment': [{ body: fixed }] });
    const moving = arranged(() => moveOnce(service, { ...request, appointmentId: 'appointment-1' }));
    expect(await rejection(moving)).toMatchObject({ type: 'RescheduleRefused' });
  });
});

describe('a cancellation', () => {
  const [visit, cancelled] = ['confirmed', 'cancelled'].map((status) => ({
    ...appointmentAt('appointment-1', start),
    status,
  }));
  const cancelling = async (answers: Record<string, Answer[]>) => {
    const { service, asked, bodyOf } = await serviceWith(answers);
    const input = { orderId: 'order-1', appointmentId: 'appointment-1', notes: 'ill' };
    const answer = new MockActivityEnvironment().run(() => cancelOnce(service, input, {}));
    return { answer, asked, bodyOf };
  };
  const reasons = {
    'GET cancellation-reasons': [
      {
        body: [
          { id: 'r-1', name: 'a' },
          { id: 'r-2', name: 'b' },
        ],
      },
    ],
  };

  test('has the first of the listed reasons if none is given', async () => {
    const { answer, bodyOf } = await cancelling({
      ...{ ...reasons, 'GET appointment': [{ body: visit }], 'PATCH cancel': [{ body: cancelled }] },
    });
    expect(await answer).toMatchObject({ status: 'cancelled' });
    expect(bodyOf('PATCH cancel')).toEqual({ cancellation_reason_id: 'r-1', notes: 'ill' });
  });

  test('whose answer is lost has happened if a read shows that, and is not repeated', async () => {
    const lost = {
      ...reasons,
      'GET appointment': [{ body: visit }, { body: cancelled }],
      'PATCH cancel': [{ status: 500 }],
    };
    expect(await (await cancelling(lost)).answer).toMatchObject({ status: 'cancelled' });
    const again = await cancelling({ 'GET appointment': [{ body: cancelled }] });
    expect(await again.answer).toMatchObject({ status: 'cancelled' });
    expect(again.asked).toEqual(['GET appointment']);
  });

  test('that the service refuses is refused while the visit stands', async () => {
    const { answer } = await cancelling({
      ...{
        ...reasons,
        'GET appointment': [{ body: visit }],
        'PATCH cancel': [{ status: 400, body: { detail: 'No' } }],
      },
    });
    expect(await rejection(answer)).toMatchObject({ name: 'ServiceRefused' });
  });
});

test('an order is gone by the service’s own word, and not by a proxy’s', async () => {
  const own = await serviceWith({ 'GET order-1': [{ status: 404, body: { detail: 'Order not found' } }] });
  expect(await readWithOrder(own.service, 'order-1')).toEqual({ order: 'gone' });
  const proxy = await serviceWith({ 'GET order-1': [{ status: 404, body: '404 page not found' }] });
  expect(await rejection(readWithOrder(proxy.service, 'order-1'))).toMatchObject({ name: 'NotFound' });
  const slotsAsked = arranged(() => slotsFor(proxy.service, 'order-1', {}));
  expect(await rejection(slotsAsked)).toMatchObject({ name: 'AnswerUnreadable' });
});

describe('a booking that is refused without a reason', () => {
  const refused: Answer = { status: 400, body: { detail: 'Booking failed' } };
  const free = { 'POST availability': [{ body: slots }], 'POST book': [refused] };

  test('is reported as it is', async () => {
    const { service } = await serviceWith({ ...free, 'GET order-1': [{ body: order }] });
    expect(await rejection(arranged(() => bookOnce(service, request)))).toMatchObject({
      ...{ name: 'ServiceRefused', status: 400 },
    });
  });

  test('has happened if the appointment is there after all', async () => {
    const { service } = await serviceWith({
      ...free,
      'GET order-1': [{ body: order }],
      'GET appointment': [{ status: 404, body: {} }, { body: appointmentAt('appointment-1', start) }],
    });
    expect(await arranged(() => bookOnce(service, request))).toMatchObject({ appointmentId: 'appointment-1' });
  });
});

describe('a booking at a service centre', () => {
  const slotId = slotIdOf({ day: '2030-02-01', start, end, site: 'PSC1' });
  const walkIn = { ...request, slotId, idempotencyKey: 'key-1', confirmWithin: 60_000 };
  const shown = { ...order, details: { type: 'walk_in_test' }, lab_test: { lab: { slug: 'invented-lab' } } };
  const sites = { slots: [{ ...slots.slots[0], location: { code: 'PSC1' } }] };
  const pending = { ...appointmentAt('appointment-1', start), status: 'pending' };
  const answers = (...read: Answer[]) => ({
    ...{ 'GET order-1': [{ body: shown }], 'POST availability': [{ body: sites }], 'POST book': [{ body: pending }] },
    'GET appointment': [{ status: 404, body: { detail: 'No active appointment' } }, ...read],
  });

  test('is what the service shows after it: the answer may be one that was given before', async () => {
    const { service } = await serviceWith(answers({ body: appointmentAt('appointment-1', start) }));
    const booked = await arranged(() => bookOnce(service, walkIn));
    expect(booked).toMatchObject({ status: 'confirmed', type: 'patient_service_center' });
  });

  test('has fallen through if the service shows that it was cancelled since', async () => {
    const cancelled = { ...appointmentAt('appointment-1', start), status: 'cancelled' };
    const { service } = await serviceWith(answers({ body: cancelled }));
    expect(await rejection(arranged(() => bookOnce(service, walkIn)))).toMatchObject({ type: 'SlotUnavailable' });
  });

  test('is what was answered if nothing can be read after it', async () => {
    const { service, asked } = await serviceWith(answers({ status: 503 }));
    expect(await arranged(() => bookOnce(service, walkIn))).toMatchObject({ status: 'pending' });
    expect(asked).toEqual(['GET appointment', 'GET order-1', 'POST availability', 'POST book', 'GET appointment']);
  });

  test('has fallen through if its key was used before and nothing is shown twice', async () => {
    const { service } = await serviceWith(answers());
    const booking = arranged(() => bookOnce(service, { ...walkIn, isRepeated: true }));
    expect(await rejection(booking)).toMatchObject({ type: 'SlotUnavailable' });
  });

  test('may not be shown yet after the first use of its key', async () => {
    const { service } = await serviceWith(answers());
    expect(await arranged(() => bookOnce(service, walkIn))).toMatchObject({ status: 'pending' });
  });

  test('cannot be chosen at a service centre if the service does not name it; at home no place is named', async () => {
    const { service } = await serviceWith({
      ...answers(),
      'POST availability': [{ body: { slots: [{ ...slots.slots[0], location: { code: 'with a space' } }] } }],
    });
    expect(await arranged(() => slotsFor(service, 'order-1', { siteCodes: ['PSC1'] }))).toEqual({ slots: [] });
    const atHome = await serviceWith({ 'GET order-1': [{ body: order }], 'POST availability': [{ body: sites }] });
    const home = await arranged(() => slotsFor(atHome.service, 'order-1', {}));
    expect(home).toMatchObject({ slots: [{ id: request.slotId }] });
    expect(home).not.toHaveProperty('sites');
  });

  test('is read at its service centre though the order does not name its method', async () => {
    const { service } = await serviceWith({
      'GET order-1': [{ body: { ...order, details: null } }],
      'GET appointment': [{ body: pending }],
    });
    const read = (type?: string) => readWithOrder(service, 'order-1', type);
    expect(await read('patient_service_center')).toMatchObject({ appointment: { type: 'patient_service_center' } });
    expect((await read()).appointment).not.toHaveProperty('type');
  });

  describe('that is not shown any more after its cancellation was refused', () => {
    const refusedWith = async (detail: string) => {
      const { service } = await serviceWith({
        'GET appointment': [{ body: pending }, { status: 404, body: { detail: 'No active appointment' } }],
        'PATCH cancel': [{ status: 400, body: { detail } }],
      });
      const type = 'patient_service_center';
      const input = { orderId: 'order-1', appointmentId: 'appointment-1', reasonId: 'r', type };
      return new MockActivityEnvironment().run(() => cancelOnce(service, input, {}));
    };

    test('is cancelled if the refusal says so', async () => {
      expect(await refusedWith('The appointment was already cancelled')).toMatchObject({ status: 'cancelled' });
    });

    test('is not taken for cancelled otherwise', async () => {
      const refused = refusedWith('This appointment is completed');
      expect(await rejection(refused)).toMatchObject({ name: 'ServiceRefused' });
    });
  });

  describe('that a read does not show when it is to be cancelled', () => {
    const lost = { status: 404, body: '<html>invented: a gateway</html>' };
    const cancelledWith = async (patched: Answer, { attempt = 1, reads = [lost] }: Reads = {}) => {
      const { service, asked } = await serviceWith({ 'GET appointment': reads, 'PATCH cancel': [patched] });
      const input = { orderId: 'order-1', appointmentId: 'appointment-1', reasonId: 'r' };
      const outcome = new MockActivityEnvironment({ attempt }).run(() => cancelOnce(service, input, {}));
      return { outcome, asked };
    };
    interface Reads {
      attempt?: number;
      reads?: Answer[];
    }

    test('is cancelled all the same', async () => {
      const { outcome, asked } = await cancelledWith({ body: { ...pending, status: 'cancelled' } });
      expect(await outcome).toMatchObject({ status: 'cancelled' });
      expect(asked).toEqual(['GET appointment', 'GET appointment', 'PATCH cancel']);
    });

    test('is left alone if another one shows a moment later', async () => {
      const reads = [lost, { body: appointmentAt('appointment-2', start) }];
      const { outcome, asked } = await cancelledWith({ body: pending }, { reads });
      expect(await outcome).toBeNull();
      expect(asked).not.toContain('PATCH cancel');
    });

    test('stands if the deployment does not have the call, and if an earlier attempt may not have cancelled it', async () => {
      const { outcome } = await cancelledWith({ status: 404, body: { detail: 'Not Found' } });
      expect(await rejection(outcome)).toMatchObject({ name: 'NotFound' });
      const refused = { status: 400, body: { detail: 'This appointment cannot be cancelled.' } };
      expect(await rejection((await cancelledWith(refused)).outcome)).toMatchObject({ name: 'ServiceRefused' });
      expect(await (await cancelledWith(refused, { attempt: 2 })).outcome).toBeNull();
    });

    test.each<[number, string]>([
      [404, 'Appointment not found'],
      [400, 'This order does not have an appointment'],
      [400, 'There is no active appointment for this order'],
      [400, 'The appointment was already cancelled'],
    ])('does not exist if the cancellation is refused with %i "%s"', async (status, detail) => {
      const { outcome } = await cancelledWith({ status, body: { detail } });
      expect(await outcome).toBeNull();
    });

    test('stands if the cancellation is refused for another reason', async () => {
      const { outcome } = await cancelledWith({
        status: 400,
        body: { detail: 'It is not possible to cancel so late' },
      });
      expect(await rejection(outcome)).toMatchObject({ name: 'ServiceRefused' });
    });
  });

  test.each([
    'No active appointment',
    'This order does not have an appointment yet',
    "Order doesn't have an appointment",
    'Appointment has not been booked yet',
    'No PSC appointment found for this order',
    'There is no scheduled appointment for this order',
  ])('does not exist yet if a read is answered 400 "%s"', async (detail) => {
    const { service } = await serviceWith({
      'GET order-1': [{ body: shown }],
      'GET appointment': [{ status: 400, body: { detail } }],
    });
    const reading = await readWithOrder(service, 'order-1', 'phlebotomy');
    expect(reading).not.toHaveProperty('appointment');
  });

  test('cannot be chosen if the slot has no room left', async () => {
    const full = { ...slots.slots[0]?.slots[0], num_appointments_available: 0 };
    const { service } = await serviceWith({
      'GET order-1': [{ body: order }],
      'POST availability': [{ body: { slots: [{ date: '2030-02-01', slots: [full] }] } }],
    });
    expect(await arranged(() => slotsFor(service, 'order-1', {}))).toEqual({ slots: [] });
  });

  test('asks an order’s sites for the laboratory that the order does not show', async () => {
    const { lab_test: _labTest, ...bare } = shown;
    const found = {
      ...answers({ status: 503 }),
      'GET order-1': [{ body: bare }],
      'GET info': [{ body: { slug: 'invented-lab' } }],
    };
    const { service, asked } = await serviceWith(found);
    expect(await arranged(() => bookOnce(service, walkIn))).toMatchObject({ status: 'pending' });
    expect(asked).toContain('GET info');
  });
});
