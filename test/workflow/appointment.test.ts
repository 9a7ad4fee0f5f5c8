import { describe, expect, test } from 'vitest';
import {
  AppointmentEnded,
  AppointmentExists,
  AppointmentNotFound,
  SlotGone,
} from '../../client/appointments/errors.js';
import { CANCELLATION_REASONS } from '../../sandbox/lab-service/appointment-routes.js';
import { LAB_TEST_IDS } from '../../sandbox/lab-service/seed.js';
import { appointmentChangedSignal } from '../../workflows/appointment/messages.js';
import { labOrderIdKey, labPhaseKey, labUserIdKey } from '../../workflows/search-attributes.js';
import { appointmentPath, AVisit, bookPath, loseWebhooks } from './a-visit.js';
import { eventually } from '../rig/eventually.js';
import { setStage } from './story.js';

/* How an appointment is chosen, booked, moved and cancelled, and what the product learns of it. */

const stage = setStage();
const reasonId = CANCELLATION_REASONS[0].id;

describe('a slot that is chosen', () => {
  test('is booked, waited for, and ends with the draw [226, 229]', async () => {
    const visit = await AVisit.start(stage);
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
    await visit.goes('in_progress');
    await visit.shows({ phase: 'in_progress' });
    await visit.goes('completed');
    expect(await visit.ends()).toMatchObject({ outcome: 'completed', appointment: { status: 'completed' } });
    await visit.tells('phase_changed confirmed', 'phase_changed in_progress', 'ended completed');
    expect(await visit.bookings()).toBe(1);
  });

  test('twice at once is booked once, and both are answered', async () => {
    const visit = await AVisit.start(stage);
    const { id: slotId } = await visit.slot();
    const states = await Promise.all([visit.handle.choose({ slotId }), visit.handle.choose({ slotId })]);
    expect(states.map(({ phase }) => phase)).toEqual(['confirmed', 'confirmed']);
    expect(await visit.bookings()).toBe(1);
  });

  test('is no answer to a second, different choice: there is an appointment', async () => {
    const visit = await AVisit.start(stage);
    const other = await visit.slot(5);
    await visit.chooses();
    await expect(visit.handle.choose({ slotId: other.id })).rejects.toBeInstanceOf(AppointmentExists);
    expect(await visit.bookings()).toBe(1);
  });

  test.each([400, 404] as const)(
    'that somebody else took, with status %i, asks for another choice [226]',
    async (status) => {
      await stage.sandbox.changeSettings({ slotConflictStatus: status });
      const visit = await AVisit.start(stage);
      const slot = await visit.slot();
      const [first = ''] = await visit.keys();
      await stage.sandbox.takeSlot(first);
      // Gone from the service's list already, or taken between the list and the booking.
      await expect(visit.handle.choose({ slotId: slot.id })).rejects.toBeInstanceOf(SlotGone);
      await visit.shows({ phase: 'awaiting_choice' });
      expect((await visit.slot()).id).not.toBe(slot.id);
      await visit.chooses();
      await visit.shows({ phase: 'confirmed' });
    },
  );

  test.each([
    { status: 400, body: { detail: 'Booking failed' } },
    { status: 404, body: {} },
  ])('that the service refuses without a word of it ($status) asks for another choice', async (answer) => {
    const visit = await AVisit.start(stage);
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'answer', ...answer } });
    await expect(visit.chooses()).rejects.toMatchObject({ name: 'SlotGone', status: answer.status });
    await visit.chooses(1);
    await visit.shows({ phase: 'confirmed' });
  });

  test('that is refused without a word because the order was cancelled is a refusal: no other slot would do', async () => {
    const visit = await AVisit.start(stage);
    const slot = await visit.slot();
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'answer', status: 400, body: {} } });
    await stage.service.orders.cancel(visit.orderId);
    await expect(visit.handle.choose({ slotId: slot.id })).rejects.toMatchObject({ name: 'BookingRefused' });
  });

  test('that the provider declines is gone, and nothing is booked', async () => {
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'decline' });
    const visit = await AVisit.start(stage);
    await expect(visit.chooses()).rejects.toBeInstanceOf(SlotGone);
    await visit.shows({ phase: 'awaiting_choice' });
  });

  test('long after its booking key has expired is booked with a new one [226]', async () => {
    const visit = await AVisit.start(stage);
    const slot = await visit.slot(20);
    await stage.skip('5 hours');
    expect(await visit.handle.choose({ slotId: slot.id })).toMatchObject({ phase: 'confirmed' });
  });

  test('under a key that expires on the way is tried with one more, and then it is gone', async () => {
    const visit = await AVisit.start(stage);
    const slot = await visit.slot();
    const body = { detail: 'The booking key has expired.' };
    const expired = { kind: 'answer', status: 400, body } as const;
    await stage.sandbox.addFault({ path: bookPath, times: 1, action: expired });
    expect(await visit.handle.choose({ slotId: slot.id })).toMatchObject({ phase: 'confirmed' });
    await visit.handle.cancel({ rebook: true });
    await stage.sandbox.addFault({ path: bookPath, times: 2, action: expired });
    await expect(visit.chooses()).rejects.toMatchObject({ name: 'SlotGone', status: 400 });
  });

  test('by another day’s list than the first is found again for its booking [229]', async () => {
    const visit = await AVisit.start(stage);
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

describe('what is refused', () => {
  test.each([
    ['no slot', { slotId: 'bk_invented' }],
    ['a slot of a day that is none', { slotId: '2024-13-01_2024-13-01T10:00:00.000Z_2024-13-01T11:00:00.000Z' }],
    ['notes of 1,001 characters', { slotId: '', notes: 'x'.repeat(1_001) }],
  ])('is a choice of %s, before anything is sent [305]', async (_what, choice) => {
    const visit = await AVisit.start(stage);
    const slotId = choice.slotId === '' ? (await visit.slot()).id : choice.slotId;
    await expect(visit.handle.choose({ ...choice, slotId })).rejects.toMatchObject({ name: 'AppointmentInvalid' });
    expect(await visit.bookings()).toBe(0);
  });

  test('is an appointment of an order that is collected otherwise: it ends, and says why', async () => {
    await stage.syncClock();
    const { order } = await stage.service.orders.createTestkit((await stage.input()).order as never);
    const visit = await AVisit.start(stage, { orderId: order.id });
    expect(await visit.ends()).toMatchObject({ outcome: 'order_ended', order: 'not_at_home' });
    await visit.tells('ended order_ended');
    await expect(visit.handle.slots()).rejects.toBeInstanceOf(AppointmentEnded);
  });

  test('is a question for slots while the order shows no address', async () => {
    const visit = await AVisit.start(stage);
    await visit.isFollowed();
    const order = await stage.service.orders.get(visit.orderId);
    const body = JSON.parse(JSON.stringify({ ...order, patient_address: null })) as Record<string, unknown>;
    const path = `/v3/order/${visit.orderId}`;
    await stage.sandbox.addFault({ path, method: 'GET', times: 1, action: { kind: 'answer', status: 200, body } });
    await expect(visit.handle.slots()).rejects.toMatchObject({ name: 'AddressMissing' });
    expect((await visit.slot()).id).toBeDefined();
  });

  test('is everything where the team is not enabled: closed beta', async () => {
    const orderId = await AVisit.newOrder(stage);
    await stage.sandbox.changeSettings({ closedFeatures: ['appointments'] });
    const visit = await AVisit.start(stage, { orderId });
    await expect(visit.handle.slots()).rejects.toMatchObject({ name: 'FeatureNotEnabled' });
    const wish = { provider: 'invented_draws' };
    await expect(visit.handle.request(wish)).rejects.toMatchObject({ name: 'FeatureNotEnabled' });
  });
});

describe('another time', () => {
  test('takes the place of the first, and the product is told [228]', async () => {
    const visit = await AVisit.start(stage);
    const other = await visit.slot(7);
    await visit.chooses();
    const moved = await visit.handle.reschedule({ slotId: other.id, notes: 'Invented cat' });
    expect(moved).toMatchObject({ phase: 'confirmed', appointment: { startAt: other.start } });
    expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ appointment_notes: 'Invented cat' });
    await visit.tells('phase_changed confirmed', 'phase_changed confirmed');
    expect(new Set(visit.notifications.map(({ id }) => id)).size).toBe(2);
  });

  test('that is gone is refused, and the first one stays [228]', async () => {
    const visit = await AVisit.start(stage);
    const other = await visit.slot(1);
    const first = await visit.chooses();
    const [next = ''] = await visit.keys();
    await stage.sandbox.takeSlot(next);
    await expect(visit.handle.reschedule({ slotId: other.id })).rejects.toBeInstanceOf(SlotGone);
    await visit.shows({ phase: 'confirmed', appointment: { startAt: first.start } as never });
  });

  test('is not to be had where the appointment says so: it is cancelled to choose again [228]', async () => {
    await stage.sandbox.changeSettings({ appointmentsReschedulable: false });
    const visit = await AVisit.start(stage);
    const other = await visit.slot(7);
    await visit.chooses();
    await expect(visit.handle.reschedule({ slotId: other.id })).rejects.toMatchObject({ name: 'RescheduleRefused' });
    expect(await visit.handle.cancel({ reasonId, rebook: true })).toMatchObject({ phase: 'awaiting_choice' });
    expect(await visit.handle.choose({ slotId: other.id })).toMatchObject({ appointment: { startAt: other.start } });
    await stage.sandbox.settleWebhooks();
    // The product did it itself: nobody needs to be asked to choose.
    await visit.tells('phase_changed confirmed', 'phase_changed confirmed');
  });

  test('of an appointment that nobody booked is refused', async () => {
    const visit = await AVisit.start(stage);
    const slot = await visit.slot();
    await expect(visit.handle.reschedule({ slotId: slot.id })).rejects.toMatchObject({ name: 'NothingBooked' });
    await expect(visit.handle.cancel({ rebook: true })).rejects.toMatchObject({ name: 'NothingBooked' });
  });
});

describe('a cancellation', () => {
  test('with a reason of the service’s list is the end', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    const [reason] = await stage.product.appointments.cancellationReasons();
    const state = await visit.handle.cancel({ reasonId: reason?.id ?? '', notes: 'ill' });
    expect(state).toMatchObject({ phase: 'cancelled', outcome: 'cancelled', appointment: { status: 'cancelled' } });
    expect(await visit.ends()).toMatchObject({ outcome: 'cancelled' });
    await visit.tells('phase_changed confirmed', 'ended cancelled');
    expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ status: 'cancelled' });
    await expect(visit.handle.cancel()).rejects.toBeInstanceOf(AppointmentEnded);
  });

  test('without a reason has the first of the list; with one that is none it is refused and nothing ends', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    await expect(visit.handle.cancel({ reasonId: LAB_TEST_IDS.kit })).rejects.toMatchObject({
      name: 'CancellationRefused',
    });
    await visit.shows({ phase: 'confirmed' });
    expect(await visit.handle.cancel()).toMatchObject({ outcome: 'cancelled' });
  });

  test('of an appointment that was made unheard leaves none behind', async () => {
    const visit = await AVisit.start(stage);
    const [key = ''] = await visit.keys();
    await loseWebhooks(stage);
    await stage.service.appointments.book(visit.orderId, { booking_key: key });
    expect(await visit.handle.cancel({ reasonId })).toMatchObject({ outcome: 'cancelled' });
    expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ status: 'cancelled' });
  });

  test('whose answer is lost is looked for, and not sent twice', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    const path = `${appointmentPath}/cancel`;
    await stage.sandbox.addFault({ path, times: 1, action: { kind: 'drop_response' } });
    expect(await visit.handle.cancel({ reasonId })).toMatchObject({ outcome: 'cancelled' });
    expect(await stage.countRequests('PATCH', path.replace('*', visit.orderId))).toBe(1);
  });

  test('of one at a service centre, which the service has no call for, is refused: it stands', async () => {
    const visit = await AVisit.start(stage);
    const workflow = stage.temporal.workflow.getHandle(visit.workflowId);
    await stage.syncClock();
    const { now } = await stage.sandbox.clock();
    const events = [{ at: now, status: 'confirmed' }];
    const type = 'patient_service_center';
    const startAt = new Date(Date.parse(now) + 5 * 86_400_000).toISOString();
    const centre = { appointmentId: 'centre-1', type, status: 'confirmed', startAt, events };
    await workflow.signal(appointmentChangedSignal, centre);
    await visit.shows({ phase: 'confirmed' });
    for (const rebook of [true, false]) {
      await expect(visit.handle.cancel({ rebook })).rejects.toMatchObject({ name: 'CancellationRefused' });
      await visit.shows({
        phase: 'confirmed',
        appointment: { appointmentId: 'centre-1', status: 'confirmed', startAt },
      });
    }
    await workflow.cancel();
  });

  test('by an operator, as a workflow, leaves everything at the service as it is', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    await stage.temporal.workflow.getHandle(visit.workflowId).cancel();
    expect(await visit.ends()).toMatchObject({ outcome: 'abandoned' });
    expect(await stage.service.appointments.get(visit.orderId)).toMatchObject({ status: 'confirmed' });
  });
});

describe('a start', () => {
  test('again while one runs is the same run, and after its end a new one', async () => {
    const visit = await AVisit.start(stage, { policy: { choiceWait: '2d' } });
    const runId = async () => (await stage.temporal.workflow.getHandle(visit.workflowId).describe()).runId;
    const first = await runId();
    await AVisit.start(stage, { orderId: visit.orderId, policy: { choiceWait: '9d' } });
    expect(await runId()).toBe(first);
    const { timeline, waiting } = await visit.handle.state();
    expect(timeline).toEqual([]);
    const { now } = await stage.sandbox.clock();
    expect(Date.parse(waiting.until ?? '') - Date.parse(now)).toBeLessThan(3 * 86_400_000);
    await visit.handle.cancel();
    await visit.ends();
    await AVisit.start(stage, { orderId: visit.orderId });
    expect(await runId()).not.toBe(first);
    await visit.chooses();
    await visit.shows({ phase: 'confirmed' });
  });

  test('while the end of the one before is only being told begins anew in its place', async () => {
    const visit = await AVisit.start(stage);
    await visit.chooses();
    stage.receiver.isDown = true;
    await visit.handle.cancel({ reasonId });
    await expect(visit.chooses(3)).rejects.toBeInstanceOf(AppointmentEnded);
    await AVisit.start(stage, { orderId: visit.orderId });
    await visit.chooses(3);
    await visit.shows({ phase: 'confirmed' });
    stage.receiver.isDown = false;
  });

  test('for an order that has an appointment from elsewhere finds it', async () => {
    const orderId = await AVisit.newOrder(stage);
    await loseWebhooks(stage);
    const { slots } = await stage.service.appointments.availability({
      ...{ first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip_code: '62701' },
    });
    const key = slots?.[0]?.slots?.[0]?.booking_key ?? '';
    await stage.service.appointments.book(orderId, { booking_key: key });
    const visit = await AVisit.start(stage, { orderId });
    await visit.shows({ phase: 'confirmed' });
  });

  test('for an order that was cancelled, or that nobody knows, ends at once', async () => {
    const orderId = await AVisit.newOrder(stage);
    await stage.service.orders.cancel(orderId);
    const visit = await AVisit.start(stage, { orderId });
    expect(await visit.ends()).toMatchObject({ outcome: 'order_ended', order: 'cancelled' });
    const nobody = await AVisit.start(stage, { orderId: LAB_TEST_IDS.kit });
    expect(await nobody.ends()).toMatchObject({ outcome: 'order_gone' });
  });

  test('is refused without an order or with a policy that cannot be followed; what nobody started is not found', async () => {
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
  const visit = await AVisit.start(stage);
  await visit.chooses();
  const attributes = async () =>
    (await stage.temporal.workflow.getHandle(visit.workflowId).describe()).typedSearchAttributes;
  await eventually(async () => expect((await attributes()).get(labPhaseKey)).toBe('confirmed'));
  expect((await attributes()).get(labOrderIdKey)).toEqual([visit.orderId]);
  expect((await attributes()).get(labUserIdKey)).toBe((await visit.handle.state()).userId);
});

test('a signal that is none of this order’s appointment changes nothing', async () => {
  const visit = await AVisit.start(stage);
  const workflow = stage.temporal.workflow.getHandle(visit.workflowId);
  await workflow.signal(appointmentChangedSignal, null as never);
  await workflow.signal(appointmentChangedSignal, { appointmentId: 7 } as never);
  await workflow.signal(appointmentChangedSignal, { appointmentId: 'a', orderId: 'another', events: [] });
  await visit.chooses();
  await visit.shows({ phase: 'confirmed' });
});
