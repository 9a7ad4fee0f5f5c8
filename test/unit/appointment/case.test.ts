import { describe, expect, test } from 'vitest';
import { hearOf, takeAnswer, takeNone, want } from '../../../workflows/appointment/case.js';
import { resolveAppointmentPolicy } from '../../../workflows/appointment/policy.js';
import { compareHeard, type Heard } from '../../../workflows/appointment/state.js';
import type { AppointmentSnapshot } from '../../../service/appointment-snapshot.js';
import { day, hour, snapshot, start, wantedCase } from './cases.js';

const booked = snapshot(['pending', 'confirmed']);
const other = snapshot(['pending'], { appointmentId: 'appointment-2', from: day });

describe('of two snapshots', () => {
  test.each<[string, AppointmentSnapshot | undefined, AppointmentSnapshot, Heard]>([
    ['the first of all', undefined, booked, 'newer'],
    ['with one more event', booked, snapshot(['pending', 'confirmed', 'cancelled']), 'newer'],
    ['with one event less', booked, snapshot(['pending']), 'nothing'],
    ['the same', booked, { ...booked }, 'nothing'],
    ['the same, of which the envelope names the user', booked, { ...booked, userId: 'u', orderId: 'o' }, 'nothing'],
    ['as many, the last one later', booked, snapshot(['pending', 'cancelled'], { from: hour }), 'newer'],
    ['as many, the last one earlier', booked, snapshot(['pending', 'cancelled'], { from: -hour }), 'nothing'],
    ['with the same events and another time', booked, { ...booked, startAt: '2024-04-01T00:00:00.000Z' }, 'unclear'],
    ['without any event', booked, { ...booked, status: 'cancelled', events: [] }, 'unclear'],
    ['of an appointment that began later', booked, other, 'newer'],
    ['of an appointment that began earlier', other, booked, 'nothing'],
    ['of another appointment without events', booked, { ...other, events: [] }, 'unclear'],
    ['of another one that began at the same moment', booked, { ...other, events: booked.events }, 'unclear'],
  ])('one that is %s: %4$s', (_what, known, heard, expected) => {
    expect(compareHeard(known, heard)).toBe(expected);
  });
});

describe('an answer of the service', () => {
  test('counts whatever was heard before it was asked for', () => {
    const kase = wantedCase(snapshot(['pending', 'confirmed', 'cancelled']));
    expect(takeAnswer(kase, booked, kase.heard, start)).toBe(true);
    expect(kase.stage.phase).toBe('confirmed');
  });

  test('that was asked for before a later webhook came does not count', () => {
    const kase = wantedCase();
    const asked = kase.heard;
    hearOf(kase, snapshot(['pending', 'confirmed', 'cancelled']), start);
    expect(takeAnswer(kase, booked, asked, start)).toBe(false);
    expect(kase.stage.phase).toBe('awaiting_choice');
  });

  test('that cannot be put in order with what was heard meanwhile is read once more', () => {
    const kase = wantedCase();
    hearOf(kase, { ...booked, events: [] }, start);
    takeAnswer(kase, snapshot(['pending']), 0, start);
    expect(kase).toMatchObject({ unclear: true, stage: { phase: 'awaiting_confirmation' } });
  });

  test('that shows none is believed the second time in a row', () => {
    const kase = wantedCase(booked);
    expect(takeNone(kase, 0, start)).toBe(false);
    expect(kase.stage.phase).toBe('confirmed');
    takeAnswer(kase, booked, 0, start);
    expect(takeNone(kase, 0, start)).toBe(false);
    expect(takeNone(kase, 0, start)).toBe(true);
    expect(kase).toMatchObject({ stage: { phase: 'awaiting_choice' }, fallen: { reason: 'not_shown' } });
  });

  test('that showed none is not overruled by a late webhook of it: the service is read again', () => {
    const kase = wantedCase(booked);
    for (let n = 0; n < 2; n += 1) takeNone(kase, 0, start);
    expect(hearOf(kase, booked, start)).toBe(true);
    expect(kase).toMatchObject({ unclear: true, stage: { phase: 'awaiting_choice' } });
    expect(takeAnswer(kase, booked, kase.heard, start)).toBe(true);
    expect(kase.stage.phase).toBe('confirmed');
    const again = wantedCase(booked);
    for (let n = 0; n < 2; n += 1) takeNone(again, 0, start);
    hearOf(again, other, start);
    expect(again).toMatchObject({ unclear: false, stage: { phase: 'awaiting_confirmation' } });
  });

  test('that shows none says nothing of one at a service centre, or of one that was heard of meanwhile', () => {
    const centre = wantedCase({ ...booked, type: 'patient_service_center' });
    const heard = wantedCase(booked, { heard: 1 });
    for (const kase of [centre, heard]) {
      for (let n = 0; n < 3; n += 1) expect(takeNone(kase, 0, start)).toBe(false);
      expect(kase.stage.phase).toBe('confirmed');
    }
  });
});

describe('an appointment that is cancelled', () => {
  const cancelled = snapshot(['pending', 'confirmed', 'cancelled']);

  test('by others has fallen away', () => {
    const kase = wantedCase(booked);
    hearOf(kase, cancelled, start);
    expect(kase.fallen).toEqual({ appointmentId: 'appointment-1', reason: 'cancelled' });
  });

  test('by the product, or before anybody knew of it, has not', () => {
    const own = wantedCase(booked, { cancelledId: 'appointment-1' });
    const unknown = wantedCase();
    for (const kase of [own, unknown]) {
      hearOf(kase, cancelled, start);
      expect(kase.stage.phase).toBe('awaiting_choice');
      expect(kase).not.toHaveProperty('fallen');
    }
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
    ['abandoned', other, false],
  ] as const)('%s is contradicted by what is heard: %s %s', (ending, heard, isContradicted) => {
    const kase = wantedCase(snapshot(['pending', 'cancelled'], { from: -day }), { ending });
    hearOf(kase, heard, start);
    expect(kase.ending).toBe(isContradicted ? undefined : ending);
  });

  test('is followed by a new beginning where the product wants another one, but not after a draw', () => {
    const policy = resolveAppointmentPolicy({ choiceWait: '2d' });
    for (const ending of ['cancelled', 'expired', 'unresolved'] as const) {
      const kase = wantedCase(undefined, { ending });
      want(kase, policy, start + day);
      expect(kase).toMatchObject({
        stage: { since: start + day },
        wantedAt: start + day,
        policy: { choiceWait: 2 * day },
      });
      expect(kase.ending).toBeUndefined();
    }
    for (const ending of ['completed', 'order_ended', 'order_gone', 'abandoned'] as const) {
      const kase = wantedCase(undefined, { ending });
      want(kase, policy, start + day);
      expect(kase.ending).toBe(ending);
    }
  });
});

test('a policy is that of whoever wanted the appointment first', () => {
  const kase = wantedCase(undefined, { wanted: false });
  want(kase, resolveAppointmentPolicy({ choiceWait: '2d' }), start);
  want(kase, resolveAppointmentPolicy({ choiceWait: '9d' }), start);
  expect(kase.policy.choiceWait).toBe(2 * day);
});
