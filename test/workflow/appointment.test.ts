import { describe, expect, test } from 'vitest';
import type { Slots } from '../../protocol/appointment/messages.js';
import { AppointmentEnded } from '../../client/appointment/errors.js';
import { labTestIds } from '../../sandbox/lab-service/seed.js';
import { Visit } from './visit.js';
import { setStage } from './story.js';

/* How an appointment is chosen, booked, moved and cancelled, and what only a server shows of it; every other rule has a life in test/unit/appointment. */

const stage = setStage();

// proves 229
test('a slot can be chosen that a later day’s list offers again', async () => {
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

// proves 267, 268
test('an appointment that was made elsewhere is followed from its first webhook to its end', async () => {
  const orderId = await Visit.newOrder(stage);
  const address = { first_line: '1 Invented Street', city: 'Springfield', state: 'IL', zip_code: '62701' };
  const { slots } = await stage.service.appointments.availability(address);
  const key = slots?.at(-1)?.slots?.[0]?.booking_key ?? '';
  const booked = await stage.service.appointments.book(orderId, { booking_key: key });
  const visit = await Visit.adopted(stage, orderId);
  await visit.expectState({ phase: 'confirmed', appointment: { appointmentId: booked.id } as never });
  await visit.move('in_progress');
  await visit.move('completed');
  expect(await visit.result()).toMatchObject({ outcome: 'completed' });
  expect(visit.notified.at(-1)).toBe('ended completed');
});

test('a start joins the run that is under way, and starts a new one after its end', async () => {
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

/** At a patient service centre. Visits at home are in test/e2e/appointments.test.ts. */
describe('a walk-in', () => {
  async function startWalkIn(): Promise<Visit> {
    return Visit.start(stage, { orderId: await Visit.newOrder(stage, labTestIds.walkIn) });
  }

  /** The id of the n-th slot at a site. */
  function slotAt({ slots }: Slots, site: string, index = 0): string {
    return slots.filter(({ siteCode }) => siteCode === site)[index]?.id ?? '';
  }

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
    // The provider's answer, and its webhook.
    await stage.sandbox.advanceClock('31m');
    expect(await visit.expectState({ phase: 'confirmed' })).not.toHaveProperty('appointment.refundableUntil');
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
    expect(await stage.countRequests('POST', `/v3/order/${visit.orderId}/psc/appointment/book`)).toBe(1);
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
