import { describe, expect, test } from 'vitest';
import { atOnce } from '../../../workflows/entity/alarm.js';
import { learnFromWebhook } from '../../../workflows/appointment/appointment.js';
import { deadlinesOf, waitingUntil } from '../../../workflows/appointment/deadlines.js';
import { day, hour, snapshot, start, requestedCase } from './appointments.js';

const inBrief = (appointment: Parameters<typeof deadlinesOf>[0]) =>
  deadlinesOf(appointment).map(({ name, at, ordinal }) => `${name} ${ordinal} ${(at - start) / hour}h`);

describe('the next thing to wait for', () => {
  test('is a choice, with two reminders', () => {
    expect(inBrief(requestedCase())).toEqual(['choice_reminder 1 24h', 'choice_reminder 2 72h', 'choice 1 336h']);
  });

  test('has no reminders and no timer for them without a receiver, or if nobody here requested the appointment', () => {
    expect(inBrief(requestedCase(undefined, { notifies: false }))).toEqual(['choice 1 336h']);
    expect(inBrief(requestedCase(undefined, { requested: false }))).toEqual(['choice 1 336h']);
    const booked = requestedCase(snapshot(['pending', 'confirmed']), { notifies: false });
    expect(inBrief(booked)).toEqual(['visit 1 145h']);
  });

  test('is the provider’s confirmation, read at doubling intervals', () => {
    const appointment = requestedCase(snapshot(['pending']));
    expect(inBrief(appointment)).toEqual(['read_the_appointment 1 1h', 'confirmation 1 48h']);
    appointment.silentReads = 2;
    expect(inBrief(appointment)[0]).toBe('read_the_appointment 1 4h');
    appointment.silentReads = 40;
    expect(inBrief(appointment)[0]).toBe('read_the_appointment 1 12h');
  });

  test('is the visit of a slot that is reserved until a scheduled order begins', () => {
    expect(inBrief(requestedCase(snapshot(['reserved'])))).toEqual([
      'read_the_appointment 1 1h',
      'visit_reminder 1 96h',
      'visit_reminder 2 118h',
      'visit 1 145h',
    ]);
  });

  test('is the visit, with reminders that still lie ahead when it is booked', () => {
    expect(inBrief(requestedCase(snapshot(['pending', 'confirmed'])))).toEqual([
      'visit_reminder 1 96h',
      'visit_reminder 2 118h',
      'visit 1 145h',
    ]);
    const soon = snapshot(['pending', 'confirmed'], { startAt: new Date(start + 3 * hour).toISOString() });
    expect(inBrief(requestedCase(soon)).filter((each) => each.startsWith('visit_reminder'))).toEqual([
      'visit_reminder 2 1h',
    ]);
    // One that is due when it is booked says nothing either.
    const inADay = snapshot(['pending', 'confirmed'], { startAt: new Date(start + day).toISOString() });
    expect(inBrief(requestedCase(inADay))[0]).toBe('visit_reminder 2 22h');
  });

  test('is a read, at doubling intervals, while a walk-in is open, and its results are waited for longer', () => {
    const walkIn = requestedCase(snapshot(['pending', 'confirmed'], { type: 'patient_service_center' }), {
      notifies: false,
    });
    expect(inBrief(walkIn)).toEqual(['read_the_appointment 1 1h', 'visit 1 289h']);
    const cancelled = snapshot(['pending', 'cancelled'], { type: 'patient_service_center' });
    expect(inBrief(requestedCase(cancelled, { notifies: false }))).toEqual(['choice 1 336h']);
  });

  test('is the same for an appointment without a time as for one that is not confirmed', () => {
    const { startAt: _startAt, endAt: _endAt, ...timeless } = snapshot(['pending', 'confirmed']);
    expect(inBrief(requestedCase(timeless))).toEqual(['visit 1 48h']);
    const reserved = requestedCase({ ...timeless, status: 'reserved' });
    expect(inBrief(reserved)).toEqual(['read_the_appointment 1 1h', 'confirmation 1 48h']);
  });

  test('is nothing once it has ended', () => {
    expect(deadlinesOf(requestedCase(undefined, { ending: 'expired' }))).toEqual([]);
    expect(deadlinesOf(requestedCase(snapshot(['pending', 'completed'])))).toEqual([]);
  });
});

describe('a read is due', () => {
  test('a read is due at once if what was received cannot be ordered, but not while the service is silent', () => {
    const appointment = requestedCase(snapshot(['pending', 'confirmed']));
    learnFromWebhook(appointment, snapshot([], { status: 'cancelled' }), start);
    expect(deadlinesOf(appointment)[0]).toMatchObject({ name: 'read_the_appointment', at: atOnce });
    appointment.unanswered = true;
    expect(inBrief(appointment)[0]).toBe('read_the_appointment 1 1h');
  });

  test('a read is due once an unanswered booking cannot be under way any more', () => {
    const doubtUntil = start + 45_000;
    expect(inBrief(requestedCase(undefined, { doubtUntil }))[0]).toBe('read_the_appointment 1 0.0125h');
    expect(inBrief(requestedCase(undefined, { doubtUntil, unanswered: true }))[0]).toBe('read_the_appointment 1 1h');
  });

  test('a read is due at once if an appointment fell away, until the order was asked why', () => {
    const fallen = { appointmentId: 'appointment-1', reason: 'cancelled' } as const;
    expect(deadlinesOf(requestedCase(undefined, { fallen }))[0]).toMatchObject({
      name: 'read_the_appointment',
      at: atOnce,
    });
    expect(inBrief(requestedCase(undefined, { fallen: { ...fallen, asked: true } }))[0]).toBe('choice_reminder 1 24h');
  });

  test('the order of an appointment that fell away is asked once more, at the usual intervals while the service is silent', () => {
    const askAgainAt = start + 45_000;
    expect(inBrief(requestedCase(undefined, { askAgainAt }))[0]).toBe('read_the_appointment 1 0.0125h');
    expect(inBrief(requestedCase(undefined, { askAgainAt, unanswered: true }))[0]).toBe('read_the_appointment 1 1h');
  });

  test('a read is due when an order that is not known may be believed to be gone, and then at the usual intervals', () => {
    const after = (minutes: number) =>
      inBrief(requestedCase(undefined, { absentSince: start, lookedAt: start + minutes * 60_000 }))[0];
    expect([9, 10, 70].map(after)).toEqual([
      `read_the_appointment 1 ${1 / 6}h`,
      `read_the_appointment 1 ${7 / 6}h`,
      `read_the_appointment 1 ${13 / 6}h`,
    ]);
  });

  test('a read is due while a visit is overdue, and not for another question', () => {
    const asked = (reason: 'visit_overdue' | 'notifications_undelivered') =>
      inBrief(requestedCase(snapshot(['pending', 'confirmed']), { attention: [{ ...visitOverdue, reason }] }))[0];
    expect(asked('visit_overdue')).toBe('read_the_appointment 1 1h');
    expect(asked('notifications_undelivered')).toBe('visit_reminder 1 96h');
  });

  test('a read is due once more if the service did not show an appointment', () => {
    const missing = requestedCase(snapshot(['pending', 'confirmed']), { missing: 1 });
    expect(inBrief(missing)[0]).toBe('read_the_appointment 1 1h');
  });
});

const visitOverdue = { reason: 'visit_overdue' as const, since: new Date(start).toISOString(), time: 1 };

test('an appointment that moves after its deadline has passed is given up only some time after that move', () => {
  // Confirmed when its time was long over.
  const late = start + 10 * day;
  const appointment = requestedCase(snapshot(['pending', 'confirmed']), { attention: [visitOverdue], notifies: false });
  appointment.stage = { ...appointment.stage, since: late };
  appointment.met = deadlinesOf(appointment)
    .filter(({ name }) => name === 'visit')
    .map(({ key }) => key);
  const giveUp = deadlinesOf(appointment).find(({ name }) => name === 'give_up');
  expect(giveUp?.at).toBe(late + appointment.policy.giveUpAfter);
});

describe('an end', () => {
  test('waits for a silent service, for a day at most', () => {
    const appointment = requestedCase(undefined, { unanswered: true, lookedAt: start + 14 * day, notifies: false });
    expect(inBrief(appointment)).toEqual(['choice 1 337h']);
    expect(inBrief({ ...appointment, lookedAt: start + 20 * day })).toEqual(['choice 1 360h']);
  });

  test('follows what was overdue and did not move', () => {
    const appointment = requestedCase(snapshot(['pending', 'confirmed']), {
      notifies: false,
      attention: [visitOverdue],
    });
    appointment.met = deadlinesOf(appointment)
      .filter(({ name }) => name === 'visit')
      .map(({ key }) => key);
    expect(inBrief(appointment)).toEqual(['read_the_appointment 1 1h', 'give_up 1 481h']);
    expect(waitingUntil(appointment)).toBe(start + 481 * hour);
  });
});
