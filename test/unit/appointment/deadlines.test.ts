import { describe, expect, test } from 'vitest';
import { atOnce } from '../../../workflows/entity/loop-timer.js';
import { type Appointment } from '../../../workflows/appointment/appointment.js';
import { deadlinesOf, waitingUntil } from '../../../workflows/appointment/deadlines.js';
import { day, hour, snapshot, start, requestedCase } from './appointments.js';

/** `24h choice_reminder, 72h choice_reminder 2`: what is due after how many hours, the earliest first. */
function inBrief(appointment: Appointment): string {
  const due = deadlinesOf(appointment).map(({ name, at, ordinal }) => {
    const when = at === atOnce ? 'at once' : `${Math.round(((at - start) / hour) * 1000) / 1000}h`;
    return `${when} ${name.replace('_the_appointment', '')}${ordinal > 1 ? ` ${ordinal}` : ''}`;
  });
  return due.join(', ');
}

const booked = snapshot(['pending', 'confirmed']);
const { startAt: _startAt, endAt: _endAt, ...timeless } = booked;
const bookedFor = (span: number) => snapshot(['confirmed'], { startAt: new Date(start + span).toISOString() });
const walkIn = { type: 'patient_service_center' };
const questionOf = (reason: 'visit_overdue' | 'notifications_undelivered') => ({
  attention: [{ reason, since: new Date(start).toISOString(), time: 1 }],
});
const choice = '24h choice_reminder, 72h choice_reminder 2, 336h choice';
const reminders = '96h visit_reminder, 118h visit_reminder 2';
const visit = `${reminders}, 145h visit`;
const openWalkIn = requestedCase({ ...booked, ...walkIn });
const longest = requestedCase({ ...booked, endAt: new Date(start + 366 * day).toISOString() });
const reserved = requestedCase({ ...timeless, status: 'reserved' });

describe('what falls due', () => {
  test.each<[string, Appointment, string]>([
    ['has no reminder without a receiver', requestedCase(undefined, { notifies: false }), '336h choice'],
    ['has no reminder if nobody here requested it', requestedCase(undefined, { requested: false }), '336h choice'],
    ['has no reminder of a visit without a receiver', requestedCase(booked, { notifies: false }), '145h visit'],
    ['is the visit of a slot that is reserved', requestedCase(snapshot(['reserved'])), `1h read, ${visit}`],
    ['is only a reminder that lies ahead', requestedCase(bookedFor(3 * hour)), '1h visit_reminder 2, 145h visit'],
    ['has no reminder that is due at the booking', requestedCase(bookedFor(day)), '22h visit_reminder 2, 145h visit'],
    ['is a read while a walk-in is open, whose results take longer', openWalkIn, `1h read, ${reminders}, 289h visit`],
    ['is the confirmation of a reserved slot without a time', reserved, '1h read, 48h confirmation'],
    ['is the end of a visit at the farthest date that is believed', longest, `${reminders}, 8808h visit`],
    ['is a read if it was not shown', requestedCase(booked, { missing: 1 }), `1h read, ${visit}`],
    ['is none for another question', requestedCase(booked, questionOf('notifications_undelivered')), visit],
  ])('%s', (_what, appointment, due) => {
    expect(inBrief(appointment)).toBe(due);
  });

  test.each([
    [9, '0.167h'],
    [10, '1.167h'],
    [70, '2.167h'],
  ])('is a read when an order not known may be believed gone, then at intervals: read after %i min', (minutes, at) => {
    const appointment = requestedCase(undefined, { absentSince: start, lookedAt: start + minutes * 60_000 });
    expect(inBrief(appointment)).toBe(`${at} read, ${choice}`);
  });

  test.each([
    [14, '337h choice'],
    [20, '360h choice'],
  ])('has no end while the service is silent, for a day at most: read last after %i days', (days, due) => {
    const silent = { unanswered: true, lookedAt: start + days * day, notifies: false };
    expect(inBrief(requestedCase(undefined, silent))).toBe(due);
  });

  /** The visit was overdue, and somebody was asked. */
  function overdue(changes: Partial<Appointment> = {}): Appointment {
    const appointment = requestedCase(booked, { notifies: false, ...questionOf('visit_overdue') });
    Object.assign(appointment, changes);
    const keys = deadlinesOf(appointment)
      .filter(({ name }) => name === 'visit')
      .map(({ key }) => key);
    return Object.assign(appointment, { handledDeadlines: keys });
  }

  test('is the end of what was overdue and did not move', () => {
    expect(inBrief(overdue())).toBe('1h read, 481h give_up');
    expect(waitingUntil(overdue())).toBe(start + 481 * hour);
  });
});
