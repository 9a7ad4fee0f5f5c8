import { describe, expect, test } from 'vitest';
import {
  AppointmentEnded,
  AppointmentExists,
  AppointmentNotFound,
  SlotGone,
} from '../../client/appointments/errors.js';
import { ServiceDown } from '../../client/errors.js';
import { cancellationReasons } from '../../sandbox/lab-service/appointment-routes.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { appointmentChangedSignal } from '../../protocol/appointment/messages.js';
import { labOrderIdKey, labPhaseKey, labUserIdKey } from '../../protocol/search-attributes.js';
import { appointmentPath, Visit, bookPath, loseWebhooks } from './visit.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/* How an appointment is chosen, booked, moved and cancelled, and what the product learns of it. */

const stage = setStage();
const reasonId = cancellationReasons[0].id;

describe('choosing a slot', () => {
  // proves 226, 229
  test('books it, waits for the visit and ends with the draw', async () => {
    const visit = await Visit.start(stage);
    const { slots, timezone } = await visit.handle.slots();
    expect(timezone).toBe('America/New_York');
    expect(slots).toHaveLength(14 * 5);
    expect(JSON.stringify(slots)).not.toContain('bk_');
    const [slot] = slots;
    const state = await visit.handle.choose({ slotId: slot?.id ?? '', notes: 'Invented dog' });
    expect(state).toMatchObject({
      phase: 'confirmed',
      appointment: { status: 'confirmed', startAt: slot?.start, endAt: slot?.end, canReschedule: true },
      waiting: { for: 'the visit' },
    });
    const booked = await stage.service.appointments.get(visit.orderId);
    expect(booked).toMatchObject({ id: state.appointment?.appointmentId, appointment_notes: 'Invented dog' });
    await visit.move('in_progress');
    await visit.expectState({ phase: 'in_progress' });
    await visit.move('completed');
    expect(await visit.result()).toMatchObject({ outcome: 'completed', appointment: { status: 'completed' } });
    await visit.expectNotifications('phase_changed confirmed', 'phase_changed in_progress', 'ended completed');
    expect(await visit.bookings()).toBe(1);
  });

  test('choosing a slot twice at once books it once, and answers both', async () => {
    const visit = await Visit.start(stage);
    const { id: slotId } = await visit.slot();
    const states = await Promise.all([visit.handle.choose({ slotId }), visit.handle.choose({ slotId })]);
    expect(states.map(({ phase }) => phase)).toEqual(['confirmed', 'confirmed']);
    expect(await visit.bookings()).toBe(1);
  });

  test('is refused while there is another appointment', async () => {
    const visit = await Visit.start(stage);
    const other = await visit.slot(5);
    await visit.choose();
    await expect(visit.handle.choose({ slotId: other.id })).rejects.toBeInstanceOf(AppointmentExists);
    expect(await visit.bookings()).toBe(1);
  });

  // proves 226
  test.each([400, 404] as const)(
    'choosing a slot that somebody else took, with status %i, asks for another choice',
    async (status) => {
      await stage.sandbox.changeSettings({ slotConflictStatus: status });
      const visit = await Visit.start(stage);
      const slot = await visit.slot();
      const [first = ''] = await visit.keys();
      await stage.sandbox.takeSlot(first);
      // Gone from the service's list already, or taken between the list and the booking.
      await expect(visit.handle.choose({ slotId: slot.id })).rejects.toBeInstanceOf(SlotGone);
      await visit.expectState({ phase: 'awaiting_choice' });
      expect((await visit.slot()).id).not.toBe(slot.id);
      await visit.choose();
      await visit.expectState({ phase: 'confirmed' });
    },
  );

  test.each([
    { status: 400, body: { detail: 'Booking failed' } },
    { status: 404, body: {} },
  ])('choosing a slot that the service refuses without a reason ($status) asks for another choice', async (answer) => {
    const visit = await Visit.start(stage);
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'answer', ...answer } });
    await expect(visit.choose()).rejects.toMatchObject({ name: 'SlotGone', status: answer.status });
    await visit.choose(1);
    await visit.expectState({ phase: 'confirmed' });
  });

  test('is refused without asking for another choice if the order was cancelled', async () => {
    const visit = await Visit.start(stage);
    const slot = await visit.slot();
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'answer', status: 400, body: {} } });
    await stage.service.orders.cancel(visit.orderId);
    await expect(visit.handle.choose({ slotId: slot.id })).rejects.toMatchObject({ name: 'BookingRefused' });
  });

  test('choosing a slot that the provider declines fails, and nothing is booked', async () => {
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'decline' });
    const visit = await Visit.start(stage);
    await expect(visit.choose()).rejects.toBeInstanceOf(SlotGone);
    await visit.expectState({ phase: 'awaiting_choice' });
  });

  // proves 226
  test('choosing a slot long after its booking key has expired books it with a new key', async () => {
    const visit = await Visit.start(stage);
    const slot = await visit.slot(20);
    await stage.skip('5 hours');
    expect(await visit.handle.choose({ slotId: slot.id })).toMatchObject({ phase: 'confirmed' });
  });

  test('choosing a slot whose key expires on the way tries one more key, and then the slot is gone', async () => {
    const visit = await Visit.start(stage);
    const slot = await visit.slot();
    const body = { detail: 'The booking key has expired.' };
    const expired = { kind: 'answer', status: 400, body } as const;
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: expired });
    expect(await visit.handle.choose({ slotId: slot.id })).toMatchObject({ phase: 'confirmed' });
    await visit.handle.cancel({ rebook: true });
    await stage.sandbox.addFault({ path: bookPath, times: 2, action: expired });
    await expect(visit.choose()).rejects.toMatchObject({ name: 'SlotGone', status: 400 });
  });

  // proves 229
  test('works for a slot that a later day’s list offers again', async () => {
    const visit = await Visit.start(stage);
    await stage.syncClock();
    const { now } = await stage.sandbox.clock();
    const startDate = new Date(Date.parse(now) + 40 * 86_400_000).toISOString().slice(0, 10);
    const { slots } = await visit.handle.slots({ startDate });
    expect(slots[0]?.start.slice(0, 10)).toBe(startDate);
    expect(await visit.handle.choose({ slotId: slots[3]?.id ?? '' })).toMatchObject({
      appointment: { startAt: slots[3]?.start },
    });
  });
});

describe('refusals', () => {
  // proves 305
  test.each([
    ['no slot', { slotId: 'bk_invented' }],
    ['a slot of a day that is none', { slotId: '2024-13-01_2024-13-01T10:00:00.000Z_2024-13-01T11:00:00.000Z' }],
    ['notes of 1,001 characters', { slotId: '', notes: 'x'.repeat(1_001) }],
  ])('a choice of %s is refused before anything is sent', async (_what, choice) => {
    const visit = await Visit.start(stage);
    const slotId = choice.slotId === '' ? (await visit.slot()).id : choice.slotId;
    await expect(visit.handle.choose({ ...choice, slotId })).rejects.toMatchObject({ name: 'AppointmentInvalid' });
    expect(await visit.bookings()).toBe(0);
  });

  test('an appointment for an order with another collection method ends and says why', async () => {
    await stage.syncClock();
    const { order } = await stage.service.orders.createTestkit((await stage.input()).order as never);
    const visit = await Visit.start(stage, { orderId: order.id });
    expect(await visit.result()).toMatchObject({ outcome: 'order_ended', order: 'no_appointment' });
    await visit.expectNotifications('ended order_ended');
    await expect(visit.handle.slots()).rejects.toBeInstanceOf(AppointmentEnded);
  });

  test('a request for slots is refused while the order shows no address', async () => {
    const visit = await Visit.start(stage);
    await visit.untilFollowed();
    const order = await stage.service.orders.get(visit.orderId);
    const body = JSON.parse(JSON.stringify({ ...order, patient_address: null })) as Record<string, unknown>;
    const path = `/v3/order/${visit.orderId}`;
    await stage.sandbox.addFault({ path, method: 'GET', times: 1, action: { kind: 'answer', status: 200, body } });
    await expect(visit.handle.slots()).rejects.toMatchObject({ name: 'AddressMissing' });
    expect((await visit.slot()).id).toBeDefined();
  });

  test('a request for slots is answered though a proxy does not find the order for once', async () => {
    const visit = await Visit.start(stage);
    await visit.untilFollowed();
    const action = { kind: 'answer', status: 404, body: '404 page not found' } as const;
    await stage.sandbox.addFault({ path: `/v3/order/${visit.orderId}`, method: 'GET', times: 1, action });
    expect((await visit.slot()).id).toBeDefined();
  });

  test('every command is refused if the team is not enabled for the closed beta', async () => {
    const orderId = await Visit.newOrder(stage);
    await stage.sandbox.changeSettings({ closedFeatures: ['appointments'] });
    const visit = await Visit.start(stage, { orderId });
    await expect(visit.handle.slots()).rejects.toMatchObject({ name: 'FeatureNotEnabled' });
    const request = { provider: 'invented_draws' };
    await expect(visit.handle.request(request)).rejects.toMatchObject({ name: 'FeatureNotEnabled' });
  });
});

describe('rescheduling', () => {
  // proves 228
  test('replaces the first time, and notifies the product', async () => {
    const visit = await Visit.start(stage);
    const other = await visit.slot(7);
    await visit.choose();
    const moved = await visit.handle.reschedule({ slotId: other.id, notes: 'Invented cat' });
    expect(moved).toMatchObject({ phase: 'confirmed', appointment: { startAt: other.start } });
    expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ appointment_notes: 'Invented cat' });
    await visit.expectNotifications('phase_changed confirmed', 'phase_changed confirmed');
    expect(new Set(visit.notifications.map(({ id }) => id)).size).toBe(2);
  });

  // proves 228
  test('rescheduling to a slot that is gone is refused, and the first time stays', async () => {
    const visit = await Visit.start(stage);
    const other = await visit.slot(1);
    const first = await visit.choose();
    const [next = ''] = await visit.keys();
    await stage.sandbox.takeSlot(next);
    await expect(visit.handle.reschedule({ slotId: other.id })).rejects.toBeInstanceOf(SlotGone);
    await visit.expectState({ phase: 'confirmed', appointment: { startAt: first.start } as never });
  });

  // proves 228
  test('is refused if the appointment does not allow it: it is cancelled to choose again', async () => {
    await stage.sandbox.changeSettings({ appointmentsReschedulable: false });
    const visit = await Visit.start(stage);
    const other = await visit.slot(7);
    await visit.choose();
    await expect(visit.handle.reschedule({ slotId: other.id })).rejects.toMatchObject({ name: 'RescheduleRefused' });
    expect(await visit.handle.cancel({ reasonId, rebook: true })).toMatchObject({ phase: 'awaiting_choice' });
    expect(await visit.handle.choose({ slotId: other.id })).toMatchObject({ appointment: { startAt: other.start } });
    await stage.sandbox.settleWebhooks();
    // The product cancelled it: nobody needs to be asked to choose.
    await visit.expectNotifications('phase_changed confirmed', 'phase_changed confirmed');
  });

  test('an appointment that nobody booked is refused', async () => {
    const visit = await Visit.start(stage);
    const slot = await visit.slot();
    await expect(visit.handle.reschedule({ slotId: slot.id })).rejects.toMatchObject({ name: 'NothingBooked' });
    await expect(visit.handle.cancel({ rebook: true })).rejects.toMatchObject({ name: 'NothingBooked' });
  });
});

describe('cancelling', () => {
  test('cancelling with a reason from the service’s list ends the appointment', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    const [reason] = await stage.product.appointments.cancellationReasons();
    const state = await visit.handle.cancel({ reasonId: reason?.id ?? '', notes: 'ill' });
    expect(state).toMatchObject({ phase: 'cancelled', outcome: 'cancelled', appointment: { status: 'cancelled' } });
    expect(await visit.result()).toMatchObject({ outcome: 'cancelled' });
    await visit.expectNotifications('phase_changed confirmed', 'ended cancelled');
    expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ status: 'cancelled' });
    expect(await visit.handle.cancel(), 'again').toEqual(state);
    await expect(visit.handle.cancel({ rebook: true })).rejects.toBeInstanceOf(AppointmentEnded);
  });

  test('cancelling without a reason uses the first of the list; with an unknown reason it is refused and nothing ends', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    await expect(visit.handle.cancel({ reasonId: labTestIds.kit })).rejects.toMatchObject({
      name: 'CancellationRefused',
    });
    await visit.expectState({ phase: 'confirmed' });
    expect(await visit.handle.cancel()).toMatchObject({ outcome: 'cancelled' });
  });

  test('cancels an appointment that was made without a webhook, too', async () => {
    const visit = await Visit.start(stage);
    const [key = ''] = await visit.keys();
    await loseWebhooks(stage);
    await stage.service.appointments.book(visit.orderId, { booking_key: key });
    expect(await visit.handle.cancel({ reasonId })).toMatchObject({ outcome: 'cancelled' });
    expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ status: 'cancelled' });
  });

  test('reads the appointment if the answer is lost, and does not cancel twice', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    const path = `${appointmentPath}/cancel`;
    await stage.sandbox.addFault({ path, times: 1, action: { kind: 'drop_response' } });
    expect(await visit.handle.cancel({ reasonId })).toMatchObject({ outcome: 'cancelled' });
    expect(await stage.countRequests('PATCH', path.replace('*', visit.orderId))).toBe(1);
  });

  test('the workflow, as an operator, leaves everything at the service as it is', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    await stage.temporal.workflow.getHandle(visit.workflowId).cancel();
    expect(await visit.result()).toMatchObject({ outcome: 'abandoned' });
    expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ status: 'confirmed' });
  });
});

describe('a start', () => {
  test('joins the run that is under way, and starts a new one after its end', async () => {
    const visit = await Visit.start(stage, { policy: { choiceWait: '2d' } });
    const runId = async () => (await stage.temporal.workflow.getHandle(visit.workflowId).describe()).runId;
    const first = await runId();
    await Visit.start(stage, { orderId: visit.orderId, policy: { choiceWait: '9d' } });
    expect(await runId()).toBe(first);
    const { timeline, waiting } = await visit.handle.state();
    expect(timeline).toEqual([]);
    const { now } = await stage.sandbox.clock();
    expect(Date.parse(waiting.until ?? '') - Date.parse(now)).toBeLessThan(3 * 86_400_000);
    await visit.handle.cancel();
    await visit.result();
    await Visit.start(stage, { orderId: visit.orderId });
    expect(await runId()).not.toBe(first);
    await visit.choose();
    await visit.expectState({ phase: 'confirmed' });
  });

  test('starts again in place of a run whose end is still being notified', async () => {
    const visit = await Visit.start(stage);
    await visit.choose();
    stage.receiver.isDown = true;
    await visit.handle.cancel({ reasonId });
    await expect(visit.choose(3)).rejects.toBeInstanceOf(AppointmentEnded);
    await Visit.start(stage, { orderId: visit.orderId });
    await visit.choose(3);
    await visit.expectState({ phase: 'confirmed' });
    stage.receiver.isDown = false;
  });

  test('a start for an order with an appointment from elsewhere finds that appointment', async () => {
    const orderId = await Visit.newOrder(stage);
    await loseWebhooks(stage);
    const { slots } = await stage.service.appointments.availability({
      ...{ first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip_code: '62701' },
    });
    const key = slots?.[0]?.slots?.[0]?.booking_key ?? '';
    await stage.service.appointments.book(orderId, { booking_key: key });
    const visit = await Visit.start(stage, { orderId });
    await visit.expectState({ phase: 'confirmed' });
  });

  test('a start for a cancelled order ends at once', async () => {
    const orderId = await Visit.newOrder(stage);
    await stage.service.orders.cancel(orderId);
    const visit = await Visit.start(stage, { orderId });
    expect(await visit.result()).toMatchObject({ outcome: 'order_ended', order: 'cancelled' });
  });

  test('a start for an unknown order ends once the service has reported it as unknown for ten minutes', async () => {
    const nobody = await Visit.start(stage, { orderId: labTestIds.kit });
    await expect(nobody.handle.cancel()).rejects.toBeInstanceOf(ServiceDown);
    await stage.skip('7 minutes');
    await nobody.expectState({ phase: 'awaiting_choice' });
    await stage.skip('3 minutes');
    expect(await nobody.result()).toMatchObject({ outcome: 'order_gone' });
  });

  test.each([
    ['the service does not know for a moment', { detail: 'Order not found' }, '5 minutes'],
    ['a proxy does not find for an hour', '<html>404</html>', '1 hour'],
  ] as const)('a start for an order that %s goes on', async (_who, body, span) => {
    const orderId = await Visit.newOrder(stage);
    const path = `/v3/order/${orderId}`;
    await stage.sandbox.addFault({ method: 'GET', path, action: { kind: 'answer', status: 404, body } });
    const before = await stage.countRequests('GET', path);
    const visit = await Visit.start(stage, { orderId });
    await stage.expectRequests('GET', path, before + 1);
    await stage.skip(span);
    await stage.sandbox.removeFaults();
    await stage.skip('15 minutes');
    await visit.choose();
    await visit.expectState({ phase: 'confirmed' });
  });

  test('a start without an order or with an invalid policy is refused; an appointment that nobody started is not found', async () => {
    const { appointments } = stage.product;
    const policy = { confirmationWait: '3d' } as const;
    await expect(appointments.start({ orderId: 'a/b', policy })).rejects.toMatchObject({
      name: 'AppointmentInvalid',
      fields: [{ field: 'orderId' }, { field: 'policy' }],
    });
    for (const orderId of ['nobody', 'a/b']) {
      await expect(appointments.get({ orderId })).rejects.toBeInstanceOf(AppointmentNotFound);
    }
  });
});

test('operators find an appointment by its order, its user and its phase', async () => {
  const visit = await Visit.start(stage);
  await visit.choose();
  const attributes = async () =>
    (await stage.temporal.workflow.getHandle(visit.workflowId).describe()).typedSearchAttributes;
  await eventually(async () => expect((await attributes()).get(labPhaseKey)).toBe('confirmed'));
  expect((await attributes()).get(labOrderIdKey)).toEqual([visit.orderId]);
  expect((await attributes()).get(labUserIdKey)).toBe((await visit.handle.state()).userId);
});

test('a signal about another order’s appointment changes nothing', async () => {
  const visit = await Visit.start(stage);
  const workflow = stage.temporal.workflow.getHandle(visit.workflowId);
  await workflow.signal(appointmentChangedSignal, null as never);
  await workflow.signal(appointmentChangedSignal, { appointmentId: 7 } as never);
  await workflow.signal(appointmentChangedSignal, { appointmentId: 'a', orderId: 'another', events: [] });
  await visit.choose();
  await visit.expectState({ phase: 'confirmed' });
});
