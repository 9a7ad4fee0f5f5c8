import { describe, expect, test } from 'vitest';
import { slotIdOf } from '../../../protocol/appointment/slots.js';
import type { AppointmentSnapshot } from '../../../service/appointment/snapshot.js';
import {
  learnFromWebhook,
  recordAnswer,
  recordRead,
  recordDoubtful,
  recordNone,
  acceptRequest,
  compareReceived,
  siteCodeOf,
  type Appointment,
  type Comparison,
} from '../../../workflows/appointment/appointment.js';
import { deadlinesOf, waitingUntil } from '../../../workflows/appointment/deadlines.js';
import { atOnce } from '../../../workflows/entity/loop-timer.js';
import { shortDigest } from '../../../workflows/entity/outbox.js';
import { announceFall, announceNews } from '../../../workflows/appointment/announcements.js';
import { day, hour, snapshot, start, requestedCase } from './appointments.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

const booked = snapshot(['pending', 'confirmed']);
/** It began between the two events of the booked one. */
const another = { appointmentId: 'appointment-2', from: hour / 2 };
const last = { at: new Date(start + day).toISOString(), status: 'confirmed' };
const other = snapshot(['pending'], { appointmentId: 'appointment-2', from: day });

test.each<[string, AppointmentSnapshot | undefined, AppointmentSnapshot, Comparison]>([
  ['the first of all', undefined, booked, 'newer'],
  ['with one more event', booked, snapshot(['pending', 'confirmed', 'cancelled']), 'newer'],
  ['with one event less', booked, snapshot(['pending']), 'nothing'],
  ['the same', booked, { ...booked }, 'nothing'],
  ['the same, of which the envelope names the user', booked, { ...booked, userId: 'u', orderId: 'o' }, 'nothing'],
  ['as many, the last one later', booked, snapshot(['pending', 'cancelled'], { from: hour }), 'newer'],
  ['as many, the last one earlier', booked, snapshot(['pending', 'cancelled'], { from: -hour }), 'nothing'],
  ['as many, the first one the same', booked, { ...booked, events: [...booked.events.slice(0, 1), last] }, 'newer'],
  ['with the same events and another time', booked, { ...booked, startAt: '2024-04-01T00:00:00.000Z' }, 'unclear'],
  ['without any event', booked, { ...booked, status: 'cancelled', events: [] }, 'unclear'],
  ['with events, while the other has none', { ...booked, events: [] }, snapshot(['pending']), 'unclear'],
  ['of an appointment that began later', booked, other, 'newer'],
  ['of an appointment that began earlier', other, booked, 'nothing'],
  ['of one that began later and has not changed since', booked, snapshot(['pending'], another), 'newer'],
  ['of another appointment without events', booked, { ...other, events: [] }, 'unclear'],
  ['of another one that began at the same moment', booked, { ...other, events: booked.events }, 'unclear'],
])('of two snapshots, one that is %s: %4$s', (_what, known, received, expected) => {
  expect(compareReceived(known, received)).toBe(expected);
});

describe('a webhook', () => {
  test('that reports nothing new changes nothing, and one that does is counted', () => {
    const appointment = requestedCase(booked);
    expect(learnFromWebhook(appointment, booked, start + day)).toBe(false);
    expect(appointment).toEqual(requestedCase(booked));
    learnFromWebhook(appointment, snapshot(['pending', 'confirmed', 'in_progress']), start + day);
    expect(appointment).toMatchObject({ received: 1, stage: { phase: 'in_progress', since: start + day } });
  });

  test('that changes neither the phase nor the time begins no new wait', () => {
    const appointment = requestedCase(booked, { order: 'cancelled' });
    learnFromWebhook(appointment, snapshot(['pending', 'confirmed', 'confirmed']), start + day);
    expect(appointment).toMatchObject({ order: 'cancelled', stage: { since: start } });
    const choosing = requestedCase();
    learnFromWebhook(choosing, snapshot(['pending', 'cancelled']), start + day);
    expect(choosing.stage.since).toBe(start);
  });

  test('names the user, whom a later one does not change; so does an answer', () => {
    const appointment = requestedCase();
    for (const userId of ['u', 'v']) learnFromWebhook(appointment, { ...booked, userId }, start);
    const read = requestedCase();
    for (const userId of ['u', 'v']) recordAnswer(read, { ...booked, userId }, 0, start);
    expect([appointment.userId, read.userId]).toEqual(['u', 'u']);
  });

  const future = ['2062-03-01T10:00:00.000Z', '9999-12-31T23:00:00.000Z'];
  test.each(future)('about another appointment than one of %s is unclear: the service knows the current one', (at) => {
    const dated = { ...booked, events: booked.events.map((event, n) => (n === 0 ? event : { ...event, at })) };
    const appointment = requestedCase(dated);
    const earlier = snapshot(['confirmed'], { appointmentId: 'appointment-2', from: -hour });
    expect(learnFromWebhook(appointment, earlier, start)).toBe(true);
    expect(appointment).toMatchObject({ unclear: true, known: { appointmentId: 'appointment-1' } });
    expect(learnFromWebhook(appointment, dated, start)).toBe(false);
  });

  test('is noted if it brings another status, time or appointment', () => {
    const appointment = requestedCase();
    const startAt = '2024-03-07T10:00:00.000Z';
    const { startAt: _startAt, ...timeless } = snapshot(['pending'], { appointmentId: 'appointment-3', from: 2 * day });
    const moved = snapshot(['pending', 'confirmed', 'confirmed', 'confirmed'], { startAt });
    const third = snapshot(['pending', 'confirmed', 'confirmed']);
    const second = { ...other, status: 'confirmed', startAt };
    for (const each of [booked, third, moved, second, timeless]) learnFromWebhook(appointment, each, start);
    expect(appointment.journal.map(({ what }) => what)).toEqual([
      'confirmed, for 2024-03-06T10:00:00.000Z',
      `confirmed, for ${startAt}`,
      `confirmed, for ${startAt}`,
      'pending',
    ]);
  });
});

describe('an answer of the service', () => {
  test('without an appointment brings nothing new either if nobody was to come', () => {
    for (const known of [undefined, snapshot(['pending', 'cancelled'])]) {
      const appointment = requestedCase(known);
      for (let n = 0; n < 3; n += 1) expect(recordNone(appointment, 0, start)).toBe(false);
      expect(appointment).not.toHaveProperty('fallen');
    }
  });

  const gone = snapshot(['pending', 'confirmed', 'cancelled']);
  const withEvents = (...events: AppointmentSnapshot['events']) => ({ ...booked, events });

  test.each<[string, AppointmentSnapshot, number, string]>([
    ['has fewer events, the last one as late', withEvents(...gone.events.slice(1)), 0, 'older'],
    ['has fewer events, and a later one', withEvents(last), 0, 'newer'],
    ['has as many events', snapshot(['pending', 'confirmed', 'confirmed']), 0, 'newer'],
    ['has no events', withEvents(), 0, 'newer'],
    ['has fewer events of another appointment', { ...booked, appointmentId: 'appointment-2' }, 0, 'newer'],
    ['has no events, and was asked for before the webhook', withEvents(), 1, 'unclear'],
  ])('to a read after a webhook, that %s: %4$s', (_what, read, before, expected) => {
    const appointment = requestedCase(booked);
    learnFromWebhook(appointment, gone, start);
    const isNews = recordRead(appointment, read, appointment.received - before, start);
    expect(isNews ? (appointment.unclear ? 'unclear' : 'newer') : 'older').toBe(expected);
  });

  test('to a read that shows a cancelled appointment open: a minute later it stands, and its next fall is news', () => {
    const cancelled = { appointmentId: booked.appointmentId, at: new Date(start).toISOString() };
    for (const [at, fallen] of [
      [start, undefined],
      [start + hour / 60, { appointmentId: booked.appointmentId, reason: 'cancelled' }],
    ] as const) {
      const appointment = requestedCase(booked, { cancelled });
      expect(recordRead(appointment, booked, 0, at)).toBe(false);
      learnFromWebhook(appointment, gone, at + day);
      expect(appointment.fallen).toEqual(fallen);
    }
    const appointment = requestedCase(undefined, { cancelled });
    recordRead(appointment, other, 0, start);
    expect(appointment).toMatchObject({ cancelled });
  });

  test('an answer of the service without an appointment is believed the second time in a row', () => {
    const appointment = requestedCase(booked);
    expect(recordNone(appointment, 0, start)).toBe(false);
    expect(appointment.stage.phase).toBe('confirmed');
    recordAnswer(appointment, booked, 0, start);
    expect(recordNone(appointment, 0, start)).toBe(false);
    expect(recordNone(appointment, 0, start)).toBe(true);
    expect(appointment).toMatchObject({ stage: { phase: 'awaiting_choice' }, fallen: { reason: 'not_shown' } });
  });

  test('an answer of the service without an appointment says nothing about one at a service centre whose time has come, or received meanwhile', () => {
    const centre = requestedCase({ ...booked, type: 'patient_service_center' });
    const received = requestedCase(booked, { received: 1 });
    for (const appointment of [centre, received]) {
      for (let n = 0; n < 3; n += 1) expect(recordNone(appointment, 0, start + 5 * day)).toBe(false);
      expect(appointment.stage.phase).toBe('confirmed');
    }
  });
});

test('a report that only the service could order, but does not show to this team, is news once, and brings no appointment back that is gone', () => {
  const centre = { ...booked, type: 'patient_service_center' };
  const reported = requestedCase(centre);
  learnFromWebhook(reported, { ...centre, startAt: new Date(start + 6 * day).toISOString() }, start);
  expect([recordDoubtful(reported, start), recordDoubtful(reported, start)]).toEqual([true, false]);
  const appointment = requestedCase(centre);
  for (let n = 0; n < 2; n += 1) recordNone(appointment, 0, start);
  learnFromWebhook(appointment, centre, start);
  expect(recordDoubtful(appointment, start)).toBe(false);
  expect(appointment.stage.phase).toBe('awaiting_choice');
});

describe('what is announced of an appointment', () => {
  const ids = ({ announced }: Appointment) => announced.map((id) => id.replace('order-1/appointment-1/', ''));
  const confirmedFor = (startAt: string, count = '') =>
    `confirmed.2024-03-01T11:00:00.000Z.${shortDigest(`appointment-1/${startAt}`)}${count}/phase_changed`;
  const usual = '2024-03-06T10:00:00.000Z';
  const confirmed = confirmedFor(usual);
  const shown = (appointment: Appointment, snapshot: AppointmentSnapshot) => {
    recordAnswer(appointment, snapshot, appointment.received, start);
    announceNews(appointment, start);
  };

  test('is every time that it has, though its events stay the same, and one that it has again', () => {
    const appointment = requestedCase();
    const moved = { ...booked, startAt: new Date(start + 6 * day).toISOString() };
    for (const each of [booked, booked, moved, booked]) shown(appointment, each);
    expect(ids(appointment)).toEqual([confirmed, confirmedFor('2024-03-07T10:00:00.000Z'), confirmedFor(usual, '.2')]);
  });

  test('is that it is shown again, and that it is not once more', () => {
    const appointment = requestedCase();
    for (let round = 0; round < 2; round += 1) {
      shown(appointment, booked);
      for (let n = 0; n < 2; n += 1) recordNone(appointment, appointment.received, start);
      announceFall(appointment, start);
      announceNews(appointment, start);
    }
    expect(ids(appointment)).toEqual([
      ...[confirmed, 'not_shown/choice_needed'],
      ...[confirmedFor(usual, '.2'), 'not_shown.2/choice_needed'],
    ]);
  });
});

describe('a booking at a service centre', () => {
  const startAt = '2024-03-06T10:00:00.000Z';
  const slotId = slotIdOf({ day: '2024-03-06', start: startAt, end: startAt, site: 'PSC1' });
  const booking = { slotId, key: 'key-1' };

  const { startAt: _startAt, ...timeless } = booked;
  const cancelled = snapshot(['pending', 'cancelled']);
  test.each<[string, boolean, AppointmentSnapshot | undefined, AppointmentSnapshot]>([
    ['a cancelled one, that nobody knew of before, is shown', false, undefined, cancelled],
    ['one that was cancelled before is', true, cancelled, snapshot(['pending', 'cancelled', 'cancelled'])],
    ['another time is shown', true, undefined, { ...booked, startAt: '2024-03-07T10:00:00.000Z' }],
    ['no time is shown', true, undefined, timeless],
    ['a completed visit is shown', true, undefined, snapshot(['pending', 'completed'])],
  ])('a booking at a service centre keeps its key while %s: %s', (_what, stands, known, shown) => {
    const appointment = requestedCase(known, { booking });
    learnFromWebhook(appointment, shown, start);
    expect(appointment.booking).toEqual(stands ? booking : undefined);
    expect(appointment).not.toHaveProperty('site');
  });

  test('a booking at home has no site', () => {
    const atHome = { ...booking, slotId: slotIdOf({ day: '2024-03-06', start: startAt, end: startAt }) };
    const appointment = requestedCase(undefined, { booking: atHome });
    learnFromWebhook(appointment, booked, start);
    expect(appointment).not.toHaveProperty('site');
    expect(appointment).not.toHaveProperty('booking');
  });

  test('a booking at a service centre that is moved elsewhere is at an unknown site', () => {
    const appointment = requestedCase(undefined, { booking });
    learnFromWebhook(appointment, booked, start);
    learnFromWebhook(appointment, snapshot(['pending', 'confirmed', 'confirmed']), start);
    expect(siteCodeOf(appointment, booked)).toBe('PSC1');
    const moved = snapshot(['pending', 'confirmed', 'confirmed', 'confirmed'], { startAt: '2024-03-07T10:00:00.000Z' });
    learnFromWebhook(appointment, moved, start);
    expect(siteCodeOf(appointment, moved)).toBeUndefined();
  });
});

describe('an end', () => {
  test.each([
    ['cancelled', other, true],
    ['expired', other, true],
    ['unresolved', other, true],
    ['order_ended', other, true],
    ['cancelled', snapshot(['pending', 'confirmed', 'cancelled']), false],
    ['completed', other, true],
    ['completed', snapshot(['pending', 'completed']), false],
    ['completed', snapshot(['pending', 'cancelled', 'cancelled']), true],
    ['abandoned', other, false],
  ] as const)('%s is contradicted by what is received: %s %s', (ending, received, isContradicted) => {
    const appointment = requestedCase(snapshot(['pending', 'cancelled'], { from: -day }), { ending });
    learnFromWebhook(appointment, received, start);
    expect(appointment.ending).toBe(isContradicted ? undefined : ending);
  });

  test('is followed by a new start if the product requests another appointment, but not after a draw', () => {
    const policy = resolvePolicy('appointment', { choiceWait: '2d' });
    for (const ending of ['cancelled', 'expired', 'unresolved', 'abandoned'] as const) {
      const appointment = requestedCase(undefined, { ending });
      acceptRequest(appointment, policy, start + day);
      const begun = { stage: { since: start + day }, requestedAt: start + day, policy: { choiceWait: 2 * day } };
      expect(appointment).toMatchObject(begun);
      expect(appointment.ending).toBeUndefined();
    }
    for (const ending of ['completed', 'order_ended', 'order_gone'] as const) {
      const appointment = requestedCase(undefined, { ending });
      acceptRequest(appointment, policy, start + day);
      expect(appointment.ending).toBe(ending);
    }
  });
});

test('the policy is that of the first caller who requested the appointment', () => {
  const appointment = requestedCase(undefined, { requested: false });
  acceptRequest(appointment, resolvePolicy('appointment', { choiceWait: '2d' }), start);
  for (const policy of [undefined, resolvePolicy('appointment', { choiceWait: '9d' })])
    acceptRequest(appointment, policy, start + day);
  expect(appointment).toMatchObject({ requestedAt: start, policy: { choiceWait: 2 * day } });
  const ended = requestedCase(undefined, { ending: 'expired' });
  acceptRequest(ended, undefined, start);
  expect(ended.policy).toEqual(resolvePolicy('appointment'));
});

/** `24h choice_reminder, 72h choice_reminder 2`: what is due after how many hours, the earliest first. */
function inBrief(appointment: Appointment): string {
  const due = deadlinesOf(appointment).map(({ name, at, ordinal }) => {
    const when = at === atOnce ? 'at once' : `${Math.round(((at - start) / hour) * 1000) / 1000}h`;
    return `${when} ${name.replace('_the_appointment', '')}${ordinal > 1 ? ` ${ordinal}` : ''}`;
  });
  return due.join(', ');
}

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

  test('is the end of what was overdue, which somebody was asked about, and did not move', () => {
    const overdue = requestedCase(booked, { notifies: false, ...questionOf('visit_overdue') });
    overdue.handledDeadlines = deadlinesOf(overdue).flatMap(({ name, key }) => (name === 'visit' ? [key] : []));
    expect(inBrief(overdue)).toBe('1h read, 481h give_up');
    expect(waitingUntil(overdue)).toBe(start + 481 * hour);
  });
});
