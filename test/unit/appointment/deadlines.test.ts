import { describe, expect, test } from 'vitest';
import { hearOf } from '../../../workflows/appointment/case.js';
import { deadlinesOf, waitingUntil } from '../../../workflows/appointment/deadlines.js';
import { day, hour, snapshot, start, wantedCase } from './cases.js';

const inBrief = (kase: Parameters<typeof deadlinesOf>[0]) =>
  deadlinesOf(kase).map(({ name, at, ordinal }) => `${name} ${ordinal} ${(at - start) / hour}h`);

describe('what is waited for', () => {
  test('is a choice, with two reminders', () => {
    expect(inBrief(wantedCase())).toEqual(['choice_reminder 1 24h', 'choice_reminder 2 72h', 'choice 1 336h']);
  });

  test('without a receiver, or where nobody here wants one, has no reminders and no timer for them', () => {
    expect(inBrief(wantedCase(undefined, { notifies: false }))).toEqual(['choice 1 336h']);
    expect(inBrief(wantedCase(undefined, { wanted: false }))).toEqual(['choice 1 336h']);
    const booked = wantedCase(snapshot(['pending', 'confirmed']), { notifies: false });
    expect(inBrief(booked)).toEqual(['visit 1 145h']);
  });

  test('is the provider’s word, asked for at doubling distance', () => {
    const kase = wantedCase(snapshot(['pending']));
    expect(inBrief(kase)).toEqual(['read_the_appointment 1 1h', 'confirmation 1 48h']);
    kase.silentReads = 2;
    expect(inBrief(kase)[0]).toBe('read_the_appointment 1 4h');
    kase.silentReads = 40;
    expect(inBrief(kase)[0]).toBe('read_the_appointment 1 12h');
  });

  test('is the visit, with reminders that still lie ahead when it is made', () => {
    expect(inBrief(wantedCase(snapshot(['pending', 'confirmed'])))).toEqual([
      'visit_reminder 1 96h',
      'visit_reminder 2 118h',
      'visit 1 145h',
    ]);
    const soon = snapshot(['pending', 'confirmed'], { startAt: new Date(start + 3 * hour).toISOString() });
    expect(inBrief(wantedCase(soon)).filter((each) => each.startsWith('visit_reminder'))).toEqual([
      'visit_reminder 2 1h',
    ]);
  });

  test('of an appointment without a time is the same as of one that is not confirmed', () => {
    const { startAt: _startAt, endAt: _endAt, ...timeless } = snapshot(['pending', 'confirmed']);
    expect(inBrief(wantedCase(timeless))).toEqual(['visit 1 48h']);
  });

  test('is nothing once it has ended', () => {
    expect(deadlinesOf(wantedCase(undefined, { ending: 'expired' }))).toEqual([]);
  });
});

describe('a read is due', () => {
  test('at once where what was heard cannot be put in order, but not while the service is silent', () => {
    const kase = wantedCase(snapshot(['pending', 'confirmed']));
    hearOf(kase, snapshot([], { status: 'cancelled' }), start);
    expect(inBrief(kase)[0]).toBe('read_the_appointment 1 0h');
    kase.unanswered = true;
    expect(inBrief(kase)[0]).toBe('read_the_appointment 1 1h');
  });

  test('once a booking that was not answered cannot be under way any more', () => {
    expect(inBrief(wantedCase(undefined, { doubtUntil: start + 45_000 }))[0]).toBe('read_the_appointment 1 0.0125h');
  });
});

describe('an end', () => {
  test('waits for a silent service, for a day at most', () => {
    const kase = wantedCase(undefined, { unanswered: true, lookedAt: start + 14 * day, notifies: false });
    expect(inBrief(kase)).toEqual(['choice 1 337h']);
    expect(inBrief({ ...kase, lookedAt: start + 20 * day })).toEqual(['choice 1 360h']);
  });

  test('follows what was overdue and stood still', () => {
    const kase = wantedCase(snapshot(['pending', 'confirmed']), { notifies: false, attention: ['visit_overdue'] });
    kase.met = deadlinesOf(kase)
      .filter(({ name }) => name === 'visit')
      .map(({ key }) => key);
    expect(inBrief(kase)).toEqual(['read_the_appointment 1 1h', 'give_up 1 481h']);
    expect(waitingUntil(kase)).toBe(start + 481 * hour);
  });
});
