import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import type { Case } from '../../../workflows/order/case.js';
import { givingUpAt, nextMoment } from '../../../workflows/order/deadlines.js';
import { stateOf } from '../../../workflows/order/view.js';
import { caseOf, day, daysAfterStart, happyPath, kitOf, pathTo, start, withPatient } from './histories.js';

const badSample = [...pathTo('delivered_to_lab'), 'sample_error'];
const lost = [...pathTo('transit_customer', withPatient), 'lost'];

const kitCase = (statuses: readonly string[], more: Partial<Case> = {}, fields: Partial<OrderSnapshot> = {}) =>
  caseOf([kitOf('order-1', statuses, fields)], more);

describe('the next moment', () => {
  const at = (days: number) => start + days * day;

  test('is the earliest deadline that was not met, or the re-reading, whichever comes first', () => {
    const registered = pathTo('testkit_registered');
    const met = ['order-1/5.return_reminder.1'];
    expect(nextMoment(kitCase(registered))).toMatchObject({ at: at(7), name: 'return_reminder' });
    expect(nextMoment(kitCase(registered, { met }))).toMatchObject({ at: at(12), name: 'return_reminder' });
    expect(nextMoment(kitCase(registered, { recheckAt: at(6) }))).toMatchObject({ at: at(6), name: 'read_again' });
    expect(nextMoment(kitCase(registered, { recheckAt: at(8) }))).toMatchObject({ at: at(7), name: 'return_reminder' });
  });

  test('is giving up once everything was missed, and there is none for an order that has ended', () => {
    const met = ['order-1/9.results_overdue'];
    expect(nextMoment(kitCase(pathTo('delivered_to_lab'), { met }))).toEqual({ at: at(22 + 60), name: 'give_up' });
    expect(nextMoment(kitCase(happyPath))).toBeUndefined();
    expect(nextMoment(kitCase(happyPath, { met }))).toBeUndefined();
  });

  test('is shown as what the order waits until', () => {
    const met = ['order-1/5.return_reminder.1'];
    expect(stateOf(kitCase(pathTo('testkit_registered'), { met })).waiting.until).toBe(daysAfterStart(12));
  });
});

describe('giving up', () => {
  const registered = pathTo('testkit_registered');

  test('counts from a limit that was missed, never from a reminder or a question', () => {
    expect(givingUpAt(kitCase(registered))).toBeUndefined();
    expect(givingUpAt(kitCase(registered, { met: ['order-1/5.return_reminder.1'] }))).toBeUndefined();
    expect(givingUpAt(kitCase(registered, { met: ['order-1/5.return_overdue'] }))).toBe(start + (19 + 60) * day);
    expect(givingUpAt(kitCase(lost, { met: ['order-1/3.decision'] }))).toBeUndefined();
  });

  test('is off once the order moves, or a person gives it time', () => {
    const met = ['order-1/5.return_overdue'];
    expect(givingUpAt(kitCase(registered, { met }))).toBeDefined();
    expect(givingUpAt(kitCase([...registered, 'requisition_created', 'transit_lab'], { met }))).toBeUndefined();
    const patience = [{ key: 'order-1/5.return_overdue', since: daysAfterStart(30) }];
    expect(givingUpAt(kitCase(registered, { met, patience }))).toBeUndefined();
  });
});

describe('an order waits for', () => {
  const waitsFor = (...order: Parameters<typeof kitCase>) => stateOf(kitCase(...order)).waiting.for;
  const decision = 'a decision: wait, replace or abandon';

  test('a decision, once it has failed', () => {
    expect(waitsFor(lost)).toBe(decision);
  });

  test.each([
    [badSample, '10'],
    [['collecting_sample.walk_in_test.redraw_available'], '1'],
  ])('the order that follows %j, and for a decision once no redraw is expected any more', (statuses, eventId) => {
    expect(waitsFor(statuses)).toBe('the order that follows');
    expect(waitsFor(statuses, { met: [`order-1/${eventId}.redraw`] })).toBe(decision);
  });

  test('the order that follows while a replacement is being placed', () => {
    const replacements = [{ replaces: 'order-1', atEventId: lost.length, n: 2 }];
    expect(waitsFor(lost, { replacements })).toBe('the order that follows');
  });

  test('the kit to be shipped, or the sample to be collected where there is no kit', () => {
    expect(waitsFor(['ordered'])).toBe('the kit to be shipped');
    expect(waitsFor(['received.walk_in_test.ordered'], {}, { method: 'walk_in_test' })).toBe(
      'the sample to be collected',
    );
  });
});
