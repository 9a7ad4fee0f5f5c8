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

  test('an answer of the service that cannot be ordered against what was received meanwhile is read once more', () => {
    const appointment = requestedCase();
    learnFromWebhook(appointment, { ...booked, events: [] }, start);
    recordAnswer(appointment, snapshot(['pending']), 0, start);
    expect(appointment).toMatchObject({ unclear: true, stage: { phase: 'awaiting_confirmation' } });
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

describe('a report that only the service could order, but does not show to this team', () => {
  const centre = { ...booked, type: 'patient_service_center' };
  const moved = { ...centre, startAt: new Date(start + 6 * day).toISOString() };

  test('counts as the later one', () => {
    const appointment = requestedCase(centre);
    learnFromWebhook(appointment, moved, start);
    expect(appointment).toMatchObject({ unclear: true, known: centre });
    expect(recordDoubtful(appointment, start)).toBe(true);
    expect(appointment.known).toEqual(moved);
    expect(recordDoubtful(appointment, start)).toBe(false);
  });

  test('brings no appointment back that is gone', () => {
    const appointment = requestedCase(centre);
    for (let n = 0; n < 2; n += 1) recordNone(appointment, 0, start);
    learnFromWebhook(appointment, centre, start);
    expect(recordDoubtful(appointment, start)).toBe(false);
    expect(appointment.stage.phase).toBe('awaiting_choice');
  });
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

  test('is nothing again in a later run that finds it where it was', () => {
    const earlier = requestedCase();
    shown(earlier, booked);
    const later = requestedCase(undefined, { announced: earlier.announced });
    announceNews(later, start);
    shown(later, booked);
    expect(ids(later)).toEqual([confirmed]);
  });
});

describe('a booking at a service centre', () => {
  const startAt = '2024-03-06T10:00:00.000Z';
  const slotId = slotIdOf({ day: '2024-03-06', start: startAt, end: startAt, site: 'PSC1' });
  const booking = { slotId, key: 'key-1' };

  test('a booking at a service centre that is cancelled before anybody knew of it ends its key', () => {
    const appointment = requestedCase(undefined, { booking });
    learnFromWebhook(appointment, snapshot(['pending', 'cancelled']), start);
    expect(appointment.booking).toBeUndefined();
    const again = requestedCase(snapshot(['pending', 'cancelled']), { booking });
    learnFromWebhook(again, snapshot(['pending', 'cancelled', 'cancelled']), start);
    expect(again.booking).toEqual(booking);
  });

  test('a booking at a service centre stands while another time, no time or a completed visit is shown', () => {
    const { startAt: _startAt, ...timeless } = booked;
    const elsewhere = { ...booked, startAt: '2024-03-07T10:00:00.000Z' };
    for (const shown of [elsewhere, timeless, snapshot(['pending', 'completed'])]) {
      const appointment = requestedCase(undefined, { booking });
      learnFromWebhook(appointment, shown, start);
      expect(appointment).toMatchObject({ booking });
      expect(appointment).not.toHaveProperty('site');
    }
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
