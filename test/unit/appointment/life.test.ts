import { describe, expect, test } from 'vitest';
import { resolveAppointmentPolicy, type AppointmentPolicy } from '../../../protocol/appointment/policy.js';
import type { AppointmentSnapshot } from '../../../service/appointment-snapshot.js';
import { bookAppointment } from '../../../workflows/appointment/workflow.js';
import { Life, unavailable } from '../life.js';
import { day, hour, snapshot, start } from './appointments.js';

/* The lives of appointments, from the start to the end: what the product is notified of, and when the service is asked. */

const orderId = '00000000-0000-4000-8000-00000000000a';

const reading = (appointment?: AppointmentSnapshot, order = 'open') => ({
  ...{ order, notifies: true },
  ...(appointment && { appointment }),
});

type Service = object | ((now: number) => object);

/** @param service what it shows, or at which moment what */
async function life(service: Service, policy: AppointmentPolicy = {}, isRequested = true): Promise<Life> {
  const opening = { workflow: bookAppointment, type: 'bookAppointment', workflowId: `appointment/${orderId}` };
  const at = (now: number): object =>
    typeof service === 'function' ? (service as (now: number) => object)(now) : service;
  const identifyAppointment = (now: number) => {
    const shown = at(now);
    return { notifies: true, ...(shown !== unavailable && { reading: shown }) };
  };
  const begun = new Life({ ...opening, now: start }, { identifyAppointment, readAppointment: at });
  const resolved = resolveAppointmentPolicy(policy);
  const requested = { name: 'bookingRequested', argument: { policy: resolved } };
  const { appointment } = at(start) as { appointment?: object };
  const reported = { name: 'appointmentChanged', argument: appointment };
  return begun.start({ orderId, policy: resolved }, isRequested ? requested : reported);
}

/** The service shows another appointment from now on, and a webhook reports it. */
async function report(of: Life, appointment: AppointmentSnapshot, order = 'open'): Promise<void> {
  of.answers['readAppointment'] = reading(appointment, order);
  await of.signal('appointmentChanged', appointment);
}

const confirmed = snapshot(['pending', 'confirmed']);
const walkIn = { ...confirmed, type: 'patient_service_center' };
const until = (hours: number, before: object, after: object) => (now: number) =>
  now < start + hours * hour ? before : after;

describe('an appointment that nobody chooses', () => {
  test('is asked for twice, and expires', async () => {
    const { calls, events } = await (await life(reading())).until(1000);
    expect(calls).toEqual(['0h identifyAppointment', ...[24, 72, 336].map((at) => `${at}h readAppointment`)]);
    expect(events).toEqual([
      '24h appointment.choice_reminder 1',
      '72h appointment.choice_reminder 2',
      '336h appointment.ended expired',
      '336h completed',
    ]);
  });

  test('is announced with the time until which a choice can be made', async () => {
    const { announced } = await (await life(reading())).until(1000);
    const about = { source: `appointment/${orderId}`, subject: orderId };
    const [first, , ended] = announced;
    expect(first).toEqual({
      ...about,
      id: `${orderId}/2024-03-01T10:00:00.000Z/1/choice_reminder`,
      at: '2024-03-02T10:00:00.000Z',
      type: 'appointment.choice_reminder',
      data: { orderId, reminder: 1, until: '2024-03-15T10:00:00.000Z' },
    });
    expect(ended).toEqual({
      ...about,
      id: `${orderId}/none/expired.2024-03-01T10:00:00.000Z/ended`,
      at: '2024-03-15T10:00:00.000Z',
      type: 'appointment.ended',
      data: { orderId, outcome: 'expired' },
    });
  });

  test('expires a day later if the service is silent, which is asked at growing intervals', async () => {
    const silent = await (await life(until(1, reading(), unavailable), { choiceReminders: [] })).until(1000);
    expect(silent.events).toEqual(['360h appointment.ended expired', '360h completed']);
    expect(silent.calls.slice(1)).toEqual([336, 340, 348, 360].map((at) => `${at}h readAppointment`));
  });

  test('has no reminder at or after its end', async () => {
    const { events } = await (await life(reading(), { choiceWait: '72h' })).until(1000);
    expect(events.slice(0, 2)).toEqual(['24h appointment.choice_reminder 1', '72h appointment.ended expired']);
  });
});

describe('an appointment that is not confirmed', () => {
  test('is read at doubling intervals, and needs a person until it is given up', async () => {
    const { calls, events } = await (await life(reading(snapshot(['pending'])))).until(1000);
    const reads = [1, 3, 7, 15, 27, 39, 48, 60].map((at) => `${at}h readAppointment`);
    expect(calls.slice(1, 9)).toEqual(reads);
    expect(events).toEqual([
      '0h appointment.phase_changed awaiting_confirmation',
      '48h appointment.attention_raised confirmation_overdue',
      '384h appointment.attention_cleared confirmation_overdue',
      '384h appointment.ended unresolved',
      '384h completed',
    ]);
  });

  test('needs nobody any more once it is confirmed, moved and cancelled; then another choice is asked for', async () => {
    const appointment = await life(reading(snapshot(['pending'])));
    const later = { startAt: new Date(start + 6 * day).toISOString() };
    for (const [at, next] of [
      [50, confirmed],
      [90, snapshot(['pending', 'confirmed', 'confirmed'], later)],
      [100, snapshot(['pending', 'confirmed', 'confirmed', 'cancelled'], later)],
    ] as const) {
      await appointment.until(at);
      await report(appointment, next);
    }
    const { events, announced } = await appointment.until(1000);
    expect(events).toEqual([
      '0h appointment.phase_changed awaiting_confirmation',
      '48h appointment.attention_raised confirmation_overdue',
      '50h appointment.attention_cleared confirmation_overdue',
      '50h appointment.phase_changed confirmed',
      '90h appointment.phase_changed confirmed',
      '100h appointment.choice_needed cancelled',
      '124h appointment.choice_reminder 1',
      '172h appointment.choice_reminder 2',
      '436h appointment.ended expired',
      '436h completed',
    ]);
    expect(announced[5]?.data).toMatchObject({ reason: 'cancelled', until: '2024-03-19T14:00:00.000Z' });
  });

  test('needs nobody either once its slot is reserved', async () => {
    const appointment = await life(reading(snapshot(['pending'])));
    await appointment.until(50);
    await report(appointment, snapshot(['pending', 'reserved']));
    expect(appointment.events.slice(2)).toEqual(['50h appointment.attention_cleared confirmation_overdue']);
  });
});

describe('a visit', () => {
  test('is announced ahead, and needs a person once it is overdue, until it is given up', async () => {
    const { events, announced, calls } = await (await life(reading(confirmed))).until(1000);
    expect(events).toEqual([
      '0h appointment.phase_changed confirmed',
      '96h appointment.visit_reminder 1',
      '118h appointment.visit_reminder 2',
      '145h appointment.attention_raised visit_overdue',
      '481h appointment.attention_cleared visit_overdue',
      '481h appointment.ended unresolved',
      '481h completed',
    ]);
    expect(calls.slice(1, 7)).toEqual([96, 118, 145, 153, 165, 177].map((at) => `${at}h readAppointment`));
    expect(announced[2]).toMatchObject({
      id: `${orderId}/appointment-1/2024-03-06T10:00:00.000Z/2/visit_reminder`,
      data: { orderId, appointmentId: 'appointment-1', reminder: 2, startAt: '2024-03-06T10:00:00.000Z' },
    });
  });

  test('is given up a day later if the service is silent', async () => {
    const { events } = await (await life(until(1, reading(confirmed), unavailable))).until(1000);
    expect(events.slice(3)).toEqual([
      '145h appointment.attention_raised visit_overdue',
      '505h appointment.attention_cleared visit_overdue',
      '505h appointment.ended unresolved',
      '505h completed',
    ]);
  });

  test('that begins late is overdue again at once, and needs nobody once it is completed', async () => {
    const appointment = await life(reading(confirmed));
    await appointment.until(147);
    await report(appointment, snapshot(['pending', 'confirmed', 'in_progress']));
    await appointment.until(200);
    await report(appointment, snapshot(['pending', 'confirmed', 'in_progress', 'completed']));
    expect(appointment.events.slice(3)).toEqual([
      '145h appointment.attention_raised visit_overdue',
      '147h appointment.phase_changed in_progress',
      '200h appointment.attention_cleared visit_overdue',
      '200h appointment.ended completed',
      '200h completed',
    ]);
  });

  test('that was made and cancelled elsewhere needs no other choice', async () => {
    const appointment = await life(reading(confirmed), {}, false);
    await appointment.until(10);
    await report(appointment, snapshot(['pending', 'confirmed', 'cancelled']));
    expect(appointment.events.slice(1)).toEqual(['10h appointment.ended cancelled', '10h completed']);
  });

  test('that was overdue needs nobody for that any more when it is moved', async () => {
    const appointment = await life(reading(confirmed));
    await appointment.until(150);
    const startAt = new Date(start + 20 * day).toISOString();
    await report(appointment, snapshot(['pending', 'confirmed', 'confirmed'], { startAt, endAt: startAt }));
    const { events } = await appointment.until(480);
    expect(events.slice(3)).toEqual([
      '145h appointment.attention_raised visit_overdue',
      '150h appointment.attention_cleared visit_overdue',
      '150h appointment.phase_changed confirmed',
      '456h appointment.visit_reminder 1',
      '478h appointment.visit_reminder 2',
    ]);
  });
});

describe('an end that the product was not notified of yet', () => {
  const cancelled = snapshot(['pending', 'confirmed', 'cancelled']);
  const unordered = snapshot([], { status: 'confirmed' });

  test('is contradicted by what only the service can put in order, once it was asked', async () => {
    const appointment = await life(reading(confirmed), {}, false);
    appointment.answers['notify'] = unavailable;
    await report(appointment, cancelled);
    appointment.answers['readAppointment'] = reading(snapshot(['pending', 'confirmed', 'cancelled', 'confirmed']));
    await appointment.signal('appointmentChanged', cancelled);
    expect(appointment.calls).not.toContain('0h readAppointment');
    await appointment.signal('appointmentChanged', unordered);
    expect(appointment.calls).toContain('0h readAppointment');
    expect((await appointment.until(2)).run.end).toBeUndefined();
  });

  test('stays if somebody has given the appointment up', async () => {
    const appointment = await life(reading(confirmed), {}, false);
    appointment.answers['notify'] = unavailable;
    await appointment.run.cancel();
    await appointment.settle();
    for (const each of [unordered, cancelled]) await appointment.signal('appointmentChanged', each);
    await appointment.until(2);
    expect(appointment.calls).not.toContain('0h readAppointment');
    expect(appointment.run.end).toMatchObject({ result: { outcome: 'abandoned' } });
  });
});

test('a provider that names no time yet is asked once', async () => {
  const pending = { ...snapshot(['pending']), provider: 'provider-1' };
  const { startAt, endAt, ...unset } = pending as typeof pending & Record<'startAt' | 'endAt', string>;
  const appointment = await life(reading());
  Object.assign(appointment.answers, { requestAppointment: unset, readAppointment: reading(unset) });
  const ask = (provider: string) => appointment.update('requestAppointment', { provider });
  for (const provider of ['Provider-1', 'provider-1']) {
    expect(await ask(provider)).toMatchObject({ value: { phase: 'awaiting_confirmation' } });
  }
  expect(appointment.calls.filter((call) => call.includes('requestAppointment'))).toHaveLength(1);
  expect(await ask('provider-2')).toMatchObject({ refused: 'AppointmentExists' });
  await report(appointment, { ...unset, startAt, endAt });
  expect(await ask('provider-1')).toMatchObject({ refused: 'AppointmentExists' });
});

describe('a visit that is cancelled', () => {
  const cancelled = snapshot(['pending', 'confirmed', 'cancelled']);

  test('by the product is cancelled, also if the service answers with fewer events than it had reported', async () => {
    const answers = [snapshot(['pending']), { ...cancelled, events: cancelled.events.slice(-1) }];
    for (const cancelAppointment of answers) {
      const appointment = await life(reading(confirmed));
      Object.assign(appointment.answers, { cancelAppointment });
      const reply = await appointment.update('cancel', { reasonId: 'reason-1', rebook: true });
      expect(reply).toMatchObject({ value: { phase: 'awaiting_choice' } });
    }
  });

  test('by the product has the same answer again, until the visit is another one', async () => {
    const appointment = await life(reading(confirmed));
    Object.assign(appointment.answers, { cancelAppointment: cancelled, readAppointment: reading(cancelled) });
    const cancel = () => appointment.update('cancel', { rebook: true });
    expect(await cancel()).toMatchObject({ value: { phase: 'awaiting_choice' } });
    expect(await cancel()).toMatchObject({ value: { phase: 'awaiting_choice' } });
    expect(appointment.calls.filter((call) => call.includes('cancelAppointment'))).toHaveLength(1);
    const another = { ...cancelled, appointmentId: 'another' };
    appointment.answers['readAppointment'] = reading(another);
    await report(appointment, another);
    expect(await cancel()).toMatchObject({ refused: 'NothingBooked' });
  });

  test('with its order needs no other choice', async () => {
    const appointment = await life(reading(confirmed));
    await report(appointment, cancelled, 'cancelled');
    expect(appointment.events.slice(1)).toEqual(['0h appointment.ended order_ended', '0h completed']);
  });

  test('with its order needs no other choice, although a read right after its webhook shows the order as it was before', async () => {
    const appointment = await life(reading(confirmed));
    await report(appointment, cancelled);
    appointment.answers['readAppointment'] = reading(cancelled, 'cancelled');
    expect((await appointment.until(1)).events.slice(1)).toEqual([
      '0h appointment.choice_needed cancelled',
      '0.017h appointment.ended order_ended',
      '0.017h completed',
    ]);
  });

  test('is asked about once more, and not again', async () => {
    const reads = async (appointment: Awaited<ReturnType<typeof life>>) =>
      (await appointment.until(20)).calls.filter((call) => call.endsWith('readAppointment'));
    const appointment = await life(reading(confirmed));
    await report(appointment, cancelled);
    const rebooked = await life(reading(confirmed));
    await report(rebooked, cancelled);
    await report(rebooked, snapshot(['confirmed'], { appointmentId: 'appointment-2', from: day }));
    expect(await reads(appointment)).toEqual(['0h readAppointment', '0.017h readAppointment']);
    expect(await reads(rebooked)).toEqual(['0h readAppointment']);
  });

  test('needs another choice once the service has said that the order needs one', async () => {
    const appointment = await life(reading(confirmed));
    await report(appointment, cancelled);
    const silent = await life(reading(confirmed));
    silent.answers['readAppointment'] = unavailable;
    await silent.signal('appointmentChanged', cancelled);
    expect(appointment.events.slice(1)).toEqual(['0h appointment.choice_needed cancelled']);
    expect(silent.events.slice(1)).toEqual([]);
    silent.answers['readAppointment'] = reading(cancelled);
    expect((await silent.until(2)).events.slice(1)).toEqual(['2h appointment.choice_needed cancelled']);
  });
});

describe('an appointment whose order', () => {
  test('the service does not know ends, once the service has said so twice within ten minutes', async () => {
    const { events, calls } = await (await life(reading(undefined, 'gone'))).until(1000);
    expect(calls).toEqual(['0h identifyAppointment', '0.167h readAppointment']);
    expect(events).toEqual(['0.167h appointment.ended order_gone', '0.167h completed']);
  });

  test('is not known for a moment goes on', async () => {
    const { events } = await (await life(until(0.1, reading(undefined, 'gone'), reading()))).until(30);
    expect(events).toEqual(['24h appointment.choice_reminder 1']);
  });

  test('was cancelled needs somebody who cancels a visit at a service centre, until that is over', async () => {
    const { events } = await (await life(until(30, reading(walkIn), reading(walkIn, 'cancelled')))).until(1000);
    expect(events).toEqual([
      '0h appointment.phase_changed confirmed',
      '39h appointment.attention_raised order_cancelled',
      '96h appointment.visit_reminder 1',
      '118h appointment.visit_reminder 2',
      '130h appointment.attention_cleared order_cancelled',
      '130h appointment.ended order_ended',
      '130h completed',
    ]);
    const reopened = await life(until(30, reading(walkIn), reading(walkIn, 'cancelled')));
    await reopened.until(40);
    reopened.answers['readAppointment'] = reading(walkIn);
    expect((await reopened.until(70)).events.slice(2)).toEqual(['51h appointment.attention_cleared order_cancelled']);
  });
});
