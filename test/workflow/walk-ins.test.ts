import { describe, expect, test } from 'vitest';
import type { AppointmentState, Slots } from '../../protocol/appointment/messages.js';
import { Visit } from './visit.js';
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
