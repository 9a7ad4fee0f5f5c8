import { describe, expect, test } from 'vitest';
import { ServiceDown } from '../../client/errors.js';
import type { AppointmentState, Slots } from '../../protocol/appointment/messages.js';
import { Visit, loseWebhooks } from './visit.js';
import { setStage } from './story.js';

/* Appointments at a patient service centre: the same stories as at home, and where they differ. */

const stage = setStage();
const centrePath = '/v3/order/*/psc/appointment';
const bookPath = `${centrePath}/book`;

async function startWalkIn(): Promise<Visit> {
  return Visit.start(stage, { orderId: await Visit.newWalkIn(stage) });
}

/** The id of the n-th slot at a site. */
function slotAt({ slots }: Slots, site: string, index = 0): string {
  return slots.filter(({ siteCode }) => siteCode === site)[index]?.id ?? '';
}

/** Six days ahead, so no reminder is due in a story of a few hours. */
async function booked(visit: Visit): Promise<AppointmentState> {
  await stage.syncClock();
  return visit.handle.choose({ slotId: slotAt(await visit.handle.slots(), 'PSC1', 60) });
}

/** The provider's answer, and its webhook. */
async function confirmed(visit: Visit): Promise<AppointmentState> {
  await stage.sandbox.advanceClock('31m');
  return visit.expectState({ phase: 'confirmed' });
}

const posted = async (visit: Visit) =>
  stage.sandbox.requests({ method: 'POST', path: bookPath.replace('*', visit.orderId) });

describe('a walk-in', () => {
  test('is booked at a service centre, confirmed later, moved to another one, and drawn as the results show', async () => {
    const visit = await startWalkIn();
    const near = await visit.handle.slots({ zipCode: '62704-1234', radius: 10 });
    expect(near.sites?.map(({ code }) => code)).toEqual(['PSC1', 'PSC2']);
    expect(near.sites?.[0]).toMatchObject({
      distance: 2,
      timezone: 'America/New_York',
      address: expect.stringContaining('Market') as string,
    });
    expect(JSON.stringify(near)).not.toContain('bk_');
    const slotId = slotAt(near, 'PSC1');
    const pending = await visit.handle.choose({ slotId, notes: 'Invented dog' });
    expect(pending).toMatchObject({
      phase: 'awaiting_confirmation',
      appointment: {
        type: 'patient_service_center',
        siteCode: 'PSC1',
        externalId: expect.stringMatching(/^L\d+$/) as string,
      },
    });
    expect(await confirmed(visit)).not.toHaveProperty('appointment.refundableUntil');
    await expect(visit.handle.choose({ slotId: slotAt(near, 'PSC2') })).rejects.toMatchObject({
      name: 'AppointmentExists',
    });
    const sameHour = visit.handle.reschedule({ slotId: slotAt(near, 'PSC2') });
    await expect(sameHour).rejects.toMatchObject({ name: 'RescheduleRefused' });
    const moved = await visit.handle.reschedule({ slotId: slotAt(near, 'PSC2', 5) });
    expect(moved).toMatchObject({ phase: 'confirmed', appointment: { siteCode: 'PSC2' } });
    expect(await stage.service.walkIns.get(visit.orderId)).toMatchObject({ appointment_notes: 'Invented dog' });
    await stage.skip('5 days');
    await visit.expectState({ phase: 'confirmed', attention: [] });
    await stage.sandbox.move(visit.orderId, 'completed');
    expect(await visit.result()).toMatchObject({ outcome: 'completed', appointment: { siteCode: 'PSC2' } });
    expect(await posted(visit)).toHaveLength(1);
  });

  test('is cancelled with a reason of its own list, and chosen again under another key', async () => {
    const visit = await startWalkIn();
    await booked(visit);
    expect(await visit.handle.cancel({ rebook: true })).toMatchObject({ phase: 'awaiting_choice' });
    expect(await booked(visit)).toMatchObject({ phase: 'awaiting_confirmation' });
    const [reason] = await stage.product.appointments.cancellationReasons({ walkIn: true });
    const path = `${centrePath}/cancel`;
    await stage.sandbox.addFault({ path, times: 1, action: { kind: 'drop_response' } });
    const { appointment, outcome } = await visit.handle.cancel({ reasonId: reason?.id ?? '', notes: 'ill' });
    expect([appointment?.status, outcome]).toEqual(['cancelled', 'cancelled']);
    expect(appointment).not.toHaveProperty('refundable');
    expect(await stage.countRequests('PATCH', path.replace('*', visit.orderId))).toBe(2);
    const keys = (await posted(visit)).map(({ headers }) => headers['x-idempotency-key']);
    expect(new Set(keys).size).toBe(2);
  });

  test('is not cancelled if it is no longer shown after its start: the blood may have been drawn', async () => {
    const visit = await startWalkIn();
    await visit.handle.choose({ slotId: slotAt(await visit.handle.slots(), 'PSC1') });
    await confirmed(visit);
    await stage.skip('5 days');
    const gone = { kind: 'answer', status: 404, body: { detail: 'Appointment not found' } } as const;
    const faults = [centrePath, `${centrePath}/cancel`].map((path) => stage.sandbox.addFault({ path, action: gone }));
    await Promise.all(faults);
    await expect(visit.handle.cancel({ rebook: true })).rejects.toMatchObject({ name: 'CancellationRefused' });
    await expect(visit.handle.cancel()).rejects.toMatchObject({ name: 'CancellationRefused' });
    await stage.sandbox.move(visit.orderId, 'completed');
    expect(await visit.result()).toMatchObject({ outcome: 'completed' });
  });

  test('needs another choice if the centre declines, if the slot is gone, or if no site offers one', async () => {
    const visit = await startWalkIn();
    const choice = { slotId: slotAt(await visit.handle.slots(), 'PSC1') };
    for (const status of [400, 404]) {
      const body = { detail: 'Slot no longer available' };
      await stage.sandbox.addFault({ path: bookPath, times: 1, action: { kind: 'answer', status, body } });
      await expect(visit.handle.choose(choice)).rejects.toMatchObject({ name: 'SlotGone' });
    }
    await stage.sandbox.changeSettings({ appointmentConfirmation: 'decline' });
    await booked(visit);
    await stage.sandbox.advanceClock('31m');
    await visit.expectState({ phase: 'awaiting_choice' });
    await visit.expectNotifications('phase_changed awaiting_confirmation', 'choice_needed cancelled');
    expect(await visit.handle.slots({ zipCode: '00501' })).toEqual({ slots: [] });
    await expect(visit.handle.slots({ siteCodes: ['nowhere'] })).rejects.toMatchObject({ name: 'AvailabilityRefused' });
  });

  test('refuses what belongs to the other kind', async () => {
    const visit = await startWalkIn();
    await expect(visit.handle.request({ provider: 'invented' })).rejects.toMatchObject({ name: 'BookingRefused' });
    const wrong = { siteCodes: ['PSC1'], zipCode: '62704' };
    await expect(visit.handle.slots(wrong)).rejects.toMatchObject({ name: 'AppointmentInvalid' });
    const atHome = await Visit.start(stage);
    await expect(atHome.handle.slots({ siteCodes: ['PSC1'] })).rejects.toMatchObject({
      ...{ name: 'AppointmentInvalid', fields: [{ field: 'siteCodes' }] },
    });
  });
});

test('a booking whose answers are lost again and again is one booking under one key', async () => {
  const visit = await startWalkIn();
  const choice = { slotId: slotAt(await visit.handle.slots(), 'PSC1') };
  const path = bookPath.replace('*', visit.orderId);
  await loseWebhooks(stage);
  // The last attempt does not change that an earlier one may have booked.
  await stage.sandbox.addFault({ path, times: 1, action: { kind: 'answer', status: 500, body: 'oops' } });
  await stage.sandbox.addFault({ path, action: { kind: 'answer', status: 429, body: 'busy' } });
  const refused = visit.handle.choose(choice).catch((error: unknown) => error);
  await stage.expectRequests('POST', path);
  await stage.skip('6 minutes');
  expect(await refused).toBeInstanceOf(ServiceDown);
  await stage.sandbox.removeFaults();
  await stage.sandbox.addFault({ path, times: 1, action: { kind: 'drop_response' } });
  const state = visit.handle.choose(choice);
  await stage.skip('2 minutes');
  expect(await state).toMatchObject({ phase: 'awaiting_confirmation', appointment: { siteCode: 'PSC1' } });
  const keys = (await posted(visit)).map(({ headers }) => headers['x-idempotency-key']);
  expect(keys.length).toBeGreaterThan(2);
  expect(new Set(keys).size).toBe(1);
  const event = { event_type: 'labtest.appointment.created', order_id: visit.orderId };
  expect(await stage.sandbox.deliveries(event)).toHaveLength(1);
});

test('a cancelled order leaves its walk-in: a person is asked to look until it is cancelled too', async () => {
  const visit = await startWalkIn();
  await booked(visit);
  await confirmed(visit);
  await stage.service.orders.cancel(visit.orderId);
  await stage.skip('12 hours');
  await visit.expectState({ phase: 'confirmed', attention: [{ reason: 'order_cancelled' }] as never });
  expect(await stage.service.walkIns.get(visit.orderId)).toMatchObject({ status: 'confirmed' });
  expect(await visit.handle.cancel()).toMatchObject({ outcome: 'cancelled', attention: [] });
  await visit.expectNotifications(
    ...['phase_changed awaiting_confirmation', 'phase_changed confirmed', 'attention_raised order_cancelled'],
    ...['attention_cleared order_cancelled', 'ended cancelled'],
  );
  await expect(stage.service.walkIns.get(visit.orderId)).rejects.toMatchObject({ name: 'NotFound' });
});

test('a walk-in that nobody cancels with its order ends with the order once its start time has passed', async () => {
  const visit = await startWalkIn();
  await booked(visit);
  await confirmed(visit);
  await stage.service.orders.cancel(visit.orderId);
  expect(await visit.result()).toMatchObject({ outcome: 'order_ended', order: 'cancelled' });
});

test('a walk-in that only the service knows is adopted by its webhook, and ends as cancelled elsewhere', async () => {
  const orderId = await Visit.newWalkIn(stage);
  const { slots } = await stage.service.walkIns.availability({ lab: 'invented-lab', siteCodes: ['PSC3'] });
  const key = slots?.[0]?.slots?.[0]?.booking_key ?? '';
  await stage.service.walkIns.book(orderId, { booking_key: key });
  const visit = await Visit.adopted(stage, orderId);
  await visit.expectState({ phase: 'confirmed' });
  await visit.move('cancelled');
  expect(await visit.result()).toMatchObject({ outcome: 'cancelled' });
});

describe('the refund of a visit at home', () => {
  test.each([
    ['is kept until 24 hours before it', 0, true],
    ['is lost after that, and the answer says so', 1, false],
  ])('%s', async (_what, isLate, refundable) => {
    const visit = await Visit.start(stage);
    const { start } = await visit.choose(9);
    const until = new Date(Date.parse(start) - 86_400_000).toISOString();
    await visit.expectState({ appointment: { refundableUntil: until } as never });
    if (isLate === 1) {
      const { now } = await stage.sandbox.clock();
      await stage.skip(Date.parse(until) - Date.parse(now) + 60_000);
    }
    const { appointment } = await visit.handle.cancel();
    expect(appointment).toMatchObject({ status: 'cancelled', refundable });
    expect(appointment).not.toHaveProperty('refundableUntil');
  });
});
