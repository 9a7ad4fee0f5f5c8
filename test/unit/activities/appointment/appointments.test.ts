import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { bookOnce, moveOnce, requestOnce, cancelOnce } from '../../../../activities/appointment/booking.js';
import { readWithOrder } from '../../../../activities/appointment/reading.js';
import { slotsFor } from '../../../../activities/appointment/slots.js';
import { slotIdOf } from '../../../../protocol/appointment/slots.js';
import { answering, rejection, serviceAt, type Answer } from '../../service/recording-server.js';

const [start, end, later] = ['2030-02-01T16:00:00.000Z', '2030-02-01T17:00:00.000Z', '2030-02-03T16:00:00Z'];
const slotId = slotIdOf({ day: '2030-02-01', start, end });
const visitAt = (start_at: string, more: object = {}): Answer => ({
  body: { id: 'appointment-1', status: 'confirmed', start_at, ...more },
});
const visit = visitAt(start);
const [pending, cancelled] = ['pending', 'cancelled'].map((status) => visitAt(start, { status })) as [Answer, Answer];
const none: Answer = { status: 404, body: { detail: 'No active appointment' } };
const refusal = (detail: string, status = 400): Answer => ({ status, body: { detail } });

const order = {
  id: 'order-1',
  patient_address: { first_line: '1 Nowhere Lane', city: 'Phantomville', state: 'AZ', zip: '85004' },
  details: { type: 'at_home_phlebotomy' },
  events: [{ id: 1, created_at: '2030-01-01T00:00:00Z', status: 'received.at_home_phlebotomy.ordered' }],
};
const orderWith = (more: object): Answer => ({ body: { ...order, ...more } });
const slot = { booking_key: 'bk_invented', start, end };
const daysWith = (...days: object[]): Answer => ({
  body: { slots: days.map((day) => ({ date: '2030-02-01', slots: [slot], ...day })) },
});

/** A service that answers by the last part of the path; the answers of a list come one by one, the last one forever. */
async function serviceWith(given: Record<string, Answer | Answer[]>, requireNotStopped = () => Promise.resolve()) {
  const answers = Object.fromEntries(Object.entries(given).map(([what, answer]) => [what, [answer].flat()]));
  const asked: string[] = [];
  const { baseUrl, requests } = await answering(({ method, url }) => {
    const what = `${method} ${url?.split('?')[0]?.split('/').at(-1)}`;
    asked.push(what);
    const [answer = { status: 404, body: { detail: 'Not found' } }, ...rest] = answers[what] ?? [];
    if (rest.length > 0) answers[what] = rest;
    return answer;
  });
  const service = serviceAt(baseUrl);
  const creating = { service, requireNotStopped };
  const times = { startToCloseTimeoutMs: 150_000, scheduleToCloseTimeoutMs: 0 };
  const arranged = <T>(work: () => Promise<T>) => new MockActivityEnvironment(times).run(work);
  const common = { orderId: 'order-1', bookingTimeout: 5_000 };
  const toCancel = { orderId: 'order-1', appointmentId: 'appointment-1' };
  return {
    service,
    asked,
    count: (what: string) => asked.filter((each) => each === what).length,
    bodyOf: (what: string) => requests[asked.lastIndexOf(what)]?.body,
    book: (more: object = {}) => arranged(() => bookOnce(creating, { ...common, slotId, ...more })),
    move: () => arranged(() => moveOnce(creating, { ...common, slotId, appointmentId: 'appointment-1' })),
    request: (more: { provider: string; notes?: string; cancelledId?: string }) =>
      arranged(() => requestOnce(creating, { ...common, ...more })),
    slots: (filter: Parameters<typeof slotsFor>[2] = {}) => arranged(() => slotsFor(service, 'order-1', filter)),
    cancel: (more: object = {}, attempt = 1) =>
      new MockActivityEnvironment({ attempt }).run(() => cancelOnce(service, { ...toCancel, ...more }, {})),
  };
}

describe('while placing is stopped', () => {
  const stopped = () => Promise.reject(ApplicationFailure.nonRetryable('Placing is stopped', 'PlacingStopped'));
  const offered = { 'GET order-1': { body: order }, 'POST availability': daysWith({}) };

  test('nothing is booked, requested or moved', async () => {
    const free = await serviceWith(offered, stopped);
    const booked = await serviceWith({ ...offered, 'GET appointment': visitAt(later) }, stopped);
    const tried = [free.book(), free.request({ provider: 'invented' }), booked.move()].map(rejection);
    for (const refused of await Promise.all(tried)) expect(refused).toMatchObject({ type: 'PlacingStopped' });
    const sent = [...free.asked, ...booked.asked].filter((what) => !what.startsWith('GET'));
    expect(sent).toEqual(['POST availability', 'POST availability']);
  });

  test('what an earlier attempt has booked is found all the same', async () => {
    const { book } = await serviceWith({ 'GET appointment': visit }, stopped);
    expect(await book()).toMatchObject({ appointmentId: 'appointment-1' });
  });
});

describe('a move', () => {
  test('whose answer was lost has been made even if the service gave the appointment a new id', async () => {
    const { move, asked } = await serviceWith({ 'GET appointment': visitAt(start, { id: 'appointment-2' }) });
    expect(await move()).toMatchObject({ appointmentId: 'appointment-2', startAt: start });
    expect(asked).toEqual(['GET appointment']);
  });

  test.each([
    ['another one has replaced', { id: 'appointment-2' }, 'NothingBooked'],
    ['cannot be moved', { can_reschedule: false }, 'RescheduleRefused'],
  ])('of an appointment that %s is not tried', async (_what, more, type) => {
    const { move, asked } = await serviceWith({ 'GET appointment': visitAt(later, more) });
    expect(await rejection(move())).toMatchObject({ type });
    expect(asked).toEqual(['GET appointment']);
  });
});

describe('a booking', () => {
  const free = { 'GET order-1': { body: order }, 'POST availability': daysWith({}), 'POST book': visit };

  test('lets the provider confirm it later, and has the notes', async () => {
    const { book, bodyOf } = await serviceWith(free);
    await book({ notes: 'Invented dog', confirmWithin: 60_000 });
    const confirmation = { async_confirmation: true, async_confirmation_timeout_millisecond: 60_000 };
    const notes = { appointment_notes: 'Invented dog' };
    expect(bodyOf('POST book')).toEqual({ booking_key: 'bk_invented', ...notes, ...confirmation });
    expect(bodyOf('POST availability')).toMatchObject({ first_line: '1 Nowhere Lane', zip_code: '85004' });
  });

  test.each<[string, string, Answer, object]>([
    ['of a slot that is not offered any more', 'POST availability', daysWith(), { type: 'SlotUnavailable' }],
    ['without an address', 'GET order-1', orderWith({ patient_address: null }), { type: 'AddressMissing' }],
    ['refused without a reason', 'POST book', refusal('Booking failed'), { name: 'ServiceRefused', status: 400 }],
  ])('%s says what is wrong', async (_what, call, answer, failure) => {
    const { book } = await serviceWith({ ...free, [call]: answer });
    expect(await rejection(book())).toMatchObject(failure);
  });

  test('whose key expires on the way takes one more key, and no third', async () => {
    const expired = refusal('The booking key has expired.');
    const once = await serviceWith({ ...free, 'POST book': [expired, visit] });
    expect(await once.book()).toMatchObject({ appointmentId: 'appointment-1' });
    expect(once.count('POST availability')).toBe(2);
    const always = await serviceWith({ ...free, 'POST book': expired });
    expect(await rejection(always.book())).toMatchObject({ name: 'BookingKeyExpired' });
    expect(always.count('POST book')).toBe(2);
  });

  test.each<[string, Answer]>([
    ['lost', { status: 500, body: 'oops' }],
    ['unreadable', { body: 'oops' }],
    ['a refusal without a reason', refusal('Booking failed')],
  ])('whose answer is %s has happened if a read shows that, and is not made twice', async (_how, answer) => {
    const { book, count } = await serviceWith({ ...free, 'POST book': answer, 'GET appointment': [none, visit] });
    expect(await book()).toMatchObject({ appointmentId: 'appointment-1' });
    expect(count('POST book')).toBe(1);
  });
});

describe('after a cancellation, a read that still shows the cancelled appointment', () => {
  const cancelledId = 'appointment-1';
  const made = visitAt(start, { id: 'appointment-2', provider: 'lab' });
  const bookable = { 'GET order-1': { body: order }, 'POST availability': daysWith({}), 'POST book': made };

  test.each([
    ['at the same time', visit],
    ['at another time', visitAt(later)],
  ])('%s, is neither the booking nor in its way', async (_when, old) => {
    const { book } = await serviceWith({ ...bookable, 'GET appointment': old });
    expect(await book({ cancelledId })).toMatchObject({ appointmentId: 'appointment-2' });
  });

  test('is not the one that a provider was asked for', async () => {
    const old = visitAt(start, { provider: 'lab' });
    const { request } = await serviceWith({ ...bookable, 'GET appointment': old, 'POST request': made });
    expect(await request({ provider: 'lab', cancelledId })).toMatchObject({ appointmentId: 'appointment-2' });
  });

  test('does not say how a booking at a service centre stands', async () => {
    const slotAtCentre = slotIdOf({ day: '2030-02-01', start, end, site: 'PSC1' });
    const lab = { details: { type: 'walk_in_test' }, lab_test: { lab: { slug: 'invented-lab' } } };
    const sites = daysWith({ location: { code: 'PSC1' } });
    const atCentre = { ...bookable, 'GET order-1': orderWith(lab), 'POST availability': sites };
    const { book } = await serviceWith({ ...atCentre, 'GET appointment': visit });
    const booked = await book({ slotId: slotAtCentre, idempotencyKey: 'key-1', cancelledId });
    expect(booked).toMatchObject({ appointmentId: 'appointment-2' });
  });
});

test('a request to a provider has the address and the notes, and is not repeated', async () => {
  const asking = { provider: 'Invented_Draws', notes: 'mornings' };
  const made = visitAt(start, { provider: 'invented_draws' });
  const fresh = await serviceWith({ 'GET order-1': { body: order }, 'POST request': made });
  expect(await fresh.request(asking)).toMatchObject({ provider: 'invented_draws' });
  expect(fresh.bodyOf('POST request')).toMatchObject({ provider: 'Invented_Draws', appointment_notes: 'mornings' });
  const repeated = await serviceWith({ 'GET appointment': made });
  await repeated.request(asking);
  expect(repeated.asked).toEqual(['GET appointment']);
  expect(await rejection(repeated.request({ provider: 'another' }))).toMatchObject({ type: 'AppointmentExists' });
});

describe('a cancellation', () => {
  const reasons = { 'GET cancellation-reasons': { body: ['r-1', 'r-2'].map((id) => ({ id, name: id })) } };

  test('has the first of the listed reasons if none is given', async () => {
    const { cancel, bodyOf } = await serviceWith({ ...reasons, 'GET appointment': visit, 'PATCH cancel': cancelled });
    expect(await cancel({ notes: 'ill' })).toMatchObject({ status: 'cancelled' });
    expect(bodyOf('PATCH cancel')).toEqual({ cancellation_reason_id: 'r-1', notes: 'ill' });
  });

  test('whose answer is lost has happened if a read shows that, and is not repeated', async () => {
    const lost = { ...reasons, 'GET appointment': [visit, cancelled], 'PATCH cancel': { status: 500 } };
    expect(await (await serviceWith(lost)).cancel()).toMatchObject({ status: 'cancelled' });
    const again = await serviceWith({ 'GET appointment': cancelled });
    expect(await again.cancel()).toMatchObject({ status: 'cancelled' });
    expect(again.asked).toEqual(['GET appointment']);
  });

  test('that the service refuses is refused while the visit stands', async () => {
    const { cancel } = await serviceWith({ ...reasons, 'GET appointment': visit, 'PATCH cancel': refusal('No') });
    expect(await rejection(cancel())).toMatchObject({ name: 'ServiceRefused' });
  });

  describe('of an appointment that a read does not show', () => {
    const gateway: Answer = { status: 404, body: '<html>invented: a gateway</html>' };
    const cancelling = (patched: Answer, reads = [gateway]) =>
      serviceWith({ 'GET appointment': reads, 'PATCH cancel': patched });

    test('is made all the same', async () => {
      const { cancel, asked } = await cancelling(cancelled);
      expect(await cancel({ reasonId: 'r' })).toMatchObject({ status: 'cancelled' });
      expect(asked).toEqual(['GET appointment', 'GET appointment', 'PATCH cancel']);
    });

    test('is not made if another one shows a moment later', async () => {
      const { cancel, asked } = await cancelling(pending, [gateway, visitAt(start, { id: 'appointment-2' })]);
      expect(await cancel({ reasonId: 'r' })).toBeNull();
      expect(asked).not.toContain('PATCH cancel');
    });

    test.each<[name: string, status: number, detail: string]>([
      ['NotFound', 404, 'Not Found'],
      ['ServiceRefused', 400, 'This appointment cannot be cancelled.'],
      ['ServiceRefused', 400, 'It is not possible to cancel so late'],
    ])('fails as %s after %i "%s"', async (name, status, detail) => {
      const { cancel } = await cancelling(refusal(detail, status));
      expect(await rejection(cancel({ reasonId: 'r' }))).toMatchObject({ name });
    });

    test.each<[status: number, detail: string, attempt: number]>([
      [404, 'Appointment not found', 1],
      [400, 'This order does not have an appointment', 1],
      [400, 'There is no active appointment for this order', 1],
      [400, 'The appointment was already cancelled', 1],
      // The attempt before may have cancelled it.
      [400, 'This appointment cannot be cancelled.', 2],
    ])('has nothing to cancel after %i "%s", in attempt %i', async (status, detail, attempt) => {
      const { cancel } = await cancelling(refusal(detail, status));
      expect(await cancel({ reasonId: 'r' }, attempt)).toBeNull();
    });
  });

  test('that was refused for an appointment at a service centre, which is not shown since, has happened if the refusal says so', async () => {
    const refusedWith = async (detail: string) => {
      const { cancel } = await serviceWith({ 'GET appointment': [pending, none], 'PATCH cancel': refusal(detail) });
      return cancel({ reasonId: 'r', type: 'patient_service_center' });
    };
    expect(await refusedWith('The appointment was already cancelled')).toMatchObject({ status: 'cancelled' });
    const refused = await rejection(refusedWith('This appointment is completed'));
    expect(refused).toMatchObject({ name: 'ServiceRefused' });
  });
});

test('an order is gone by the service’s own word, and not by a proxy’s', async () => {
  const own = await serviceWith({ 'GET order-1': refusal('Order not found', 404) });
  expect(await readWithOrder(own.service, 'order-1')).toEqual({ order: 'gone' });
  const proxy = await serviceWith({ 'GET order-1': { status: 404, body: '404 page not found' } });
  expect(await rejection(readWithOrder(proxy.service, 'order-1'))).toMatchObject({ name: 'NotFound' });
  expect(await rejection(proxy.slots())).toMatchObject({ name: 'AnswerUnreadable' });
});

test('a slot cannot be chosen if it has no room left', async () => {
  const full = daysWith({ slots: [{ ...slot, num_appointments_available: 0 }] });
  const { slots } = await serviceWith({ 'GET order-1': { body: order }, 'POST availability': full });
  expect(await slots()).toEqual({ slots: [] });
});

describe('a booking at a service centre', () => {
  const atCentre = slotIdOf({ day: '2030-02-01', start, end, site: 'PSC1' });
  const walkIn = { slotId: atCentre, idempotencyKey: 'key-1', confirmWithin: 60_000 };
  const shown = orderWith({ details: { type: 'walk_in_test' }, lab_test: { lab: { slug: 'invented-lab' } } });
  const sites = daysWith({ location: { code: 'PSC1' } });
  const answers = (...reads: Answer[]) => ({
    'GET order-1': shown,
    'POST availability': sites,
    'POST book': pending,
    'GET appointment': [none, ...reads],
  });

  const confirmed = { status: 'confirmed', type: 'patient_service_center' };
  const unavailable = { type: 'SlotUnavailable' };
  test.each<[what: string, shows: Answer[], outcome: object, more?: object]>([
    ['is what the service shows after it: the answer may be an old one', [visit], confirmed],
    ['has fallen through if the service shows that it was cancelled since', [cancelled], unavailable],
    ['is what was answered if nothing can be read after it', [{ status: 503 }], { status: 'pending' }],
    ['may not be shown yet after the first use of its key', [], { status: 'pending' }],
    ['has fallen through if its key was used before and nothing is shown', [], unavailable, { isRepeated: true }],
  ])('%s', async (_what, shows, outcome, more) => {
    const { book, asked } = await serviceWith(answers(...shows));
    expect(await book({ ...walkIn, ...more }).catch((error: unknown) => error)).toMatchObject(outcome);
    expect(asked.slice(0, 4)).toEqual(['GET appointment', 'GET order-1', 'POST availability', 'POST book']);
  });

  test('cannot be chosen if the service does not name the centre; at home no place is named', async () => {
    const unnamed = daysWith({ location: { code: 'with a space' } });
    const centre = await serviceWith({ ...answers(), 'POST availability': unnamed });
    expect(await centre.slots({ siteCodes: ['PSC1'] })).toEqual({ slots: [] });
    const atHome = await serviceWith({ 'GET order-1': { body: order }, 'POST availability': sites });
    const home = await atHome.slots();
    expect(home).toMatchObject({ slots: [{ id: slotId }] });
    expect(home).not.toHaveProperty('sites');
  });

  test('is read at its service centre though the order does not name its method', async () => {
    const { service } = await serviceWith({ 'GET order-1': orderWith({ details: null }), 'GET appointment': pending });
    const read = (type?: string) => readWithOrder(service, 'order-1', type);
    expect(await read('patient_service_center')).toMatchObject({ appointment: { type: 'patient_service_center' } });
    expect((await read()).appointment).not.toHaveProperty('type');
  });

  test.each([
    'No active appointment',
    'This order does not have an appointment yet',
    "Order doesn't have an appointment",
    'Appointment has not been booked yet',
    'No PSC appointment found for this order',
    'There is no scheduled appointment for this order',
  ])('does not exist yet if a read is answered 400 "%s"', async (detail) => {
    const { service } = await serviceWith({ 'GET order-1': shown, 'GET appointment': refusal(detail) });
    expect(await readWithOrder(service, 'order-1', 'phlebotomy')).not.toHaveProperty('appointment');
  });

  test('asks an order’s sites for the laboratory that the order does not show', async () => {
    const { book, asked } = await serviceWith({
      ...answers({ status: 503 }),
      'GET order-1': orderWith({ details: { type: 'walk_in_test' } }),
      'GET info': { body: { slug: 'invented-lab' } },
    });
    expect(await book(walkIn)).toMatchObject({ status: 'pending' });
    expect(asked).toContain('GET info');
  });
});
