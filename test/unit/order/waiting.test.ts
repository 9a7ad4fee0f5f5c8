import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import type { Chain } from '../../../workflows/order/chain.js';
import { givingUpAt, nextMoment } from '../../../workflows/order/deadlines.js';
import { endPostponement, recordAbsence } from '../../../workflows/order/reading.js';
import { stateOf } from '../../../workflows/order/view.js';
import { caseOf, day, daysAfterStart, happyPath, kitOf, pathTo, start, withPatient } from './histories.js';

const badSample = [...pathTo('delivered_to_lab'), 'sample_error'];
const lost = [...pathTo('transit_customer', withPatient), 'lost'];

const kitCase = (statuses: readonly string[], more: Partial<Chain> = {}, fields: Partial<OrderSnapshot> = {}) =>
  caseOf([kitOf('order-1', statuses, fields)], more);

describe('the next moment', () => {
  const at = (days: number) => start + days * day;

  test('is the earliest deadline that was not met, or the re-reading, whichever comes first', () => {
    const registered = pathTo('testkit_registered');
    const met = ['order-1/5.return_reminder.1'];
    expect(nextMoment(kitCase(registered))).toEqual({ at: at(7), name: 'return_reminder 1' });
    expect(nextMoment(kitCase(registered, { met }))).toEqual({ at: at(12), name: 'return_reminder 2' });
    expect(nextMoment(kitCase(registered, { recheckAt: at(6) }))).toEqual({ at: at(6), name: 'read_again' });
    expect(nextMoment(kitCase(registered, { recheckAt: at(8) }))).toEqual({ at: at(7), name: 'return_reminder 1' });
  });

  test('is giving up once everything was missed, and there is none for an order that has ended', () => {
    const met = ['order-1/9.results_overdue'];
    expect(nextMoment(kitCase(pathTo('delivered_to_lab'), { met }))).toEqual({ at: at(22 + 60), name: 'give_up' });
    expect(nextMoment(kitCase(happyPath))).toBeUndefined();
    expect(nextMoment(kitCase(happyPath, { met }))).toBeUndefined();
  });

  test('is giving up that long after the last move, if the order moves on under a question that still stands', () => {
    const events = [
      { id: 1, at: daysAfterStart(0), status: 'received.testkit.ordered' },
      { id: 2, at: daysAfterStart(1), status: 'received.testkit.awaiting_registration' },
      { id: 3, at: daysAfterStart(100), status: 'collecting_sample.testkit.with_customer' },
    ];
    const reminded = [1, 2, 3].map((ordinal) => `order-1/registration_reminder.${ordinal}`);
    const chain = kitCase([], { met: ['order-1/registration_overdue', ...reminded] }, { events });
    expect(givingUpAt(chain)).toBe(at(100 + 60));
    expect(nextMoment(chain)).toEqual({ at: at(100 + 60), name: 'give_up' });
  });

  test('the next moment while a decision waits for an answer is the next read, or what needs none', () => {
    const unanswered = { orderId: 'order-1', since: at(90), times: 1, againAt: at(91) };
    const chain = kitCase(pathTo('awaiting_registration'), { unanswered, recheckAt: at(90) });
    expect(nextMoment(chain)?.name).toBe('registration_reminder 1');
    const reminded = [1, 2, 3].map((ordinal) => `order-1/registration_reminder.${ordinal}`);
    expect(nextMoment({ ...chain, met: reminded })).toEqual({ at: at(91), name: 'read_again' });
    expect(
      nextMoment({ ...chain, met: [...reminded, 'order-1/shipping_overdue', 'order-1/registration_overdue'] }),
    ).toEqual({ at: at(91), name: 'read_again' });
  });

  test('the next moment while the service does not know an order is the read that counts', () => {
    const minute = 60_000;
    const chain = kitCase(pathTo('transit_customer', withPatient));
    for (const later of [0, 4, 9]) {
      expect(recordAbsence(chain, 'order-1', at(20) + later * minute)).toBe(false);
      expect(nextMoment(chain)).toEqual({ at: at(20) + 10 * minute, name: 'read_again' });
      endPostponement(chain, at(20) + later * minute);
    }
    expect(recordAbsence(chain, 'order-1', at(20) + 10 * minute)).toBe(true);
  });

  test('is named by what is due then, reminders with their number', () => {
    expect(nextMoment(kitCase(pathTo('delivered_to_lab')))).toEqual({ at: at(22), name: 'results_overdue' });
    expect(nextMoment(kitCase(badSample))).toEqual({ at: at(10), name: 'redraw' });
    const met = ['order-1/shipping_overdue', 'order-1/registration_reminder.1', 'order-1/registration_reminder.2'];
    expect(nextMoment(kitCase(pathTo('awaiting_registration'), { met }))?.name).toBe('registration_reminder 3');
  });
});

describe('an order waits', () => {
  const until = (...order: Parameters<typeof kitCase>) => stateOf(kitCase(...order)).waiting.until;

  test('an order waits for the nearest limit that was not missed; reminders on the way to it do not count', () => {
    expect(until(pathTo('testkit_registered'))).toBe(daysAfterStart(19));
    expect(until(pathTo('testkit_registered'), { met: ['order-1/5.return_reminder.1'] })).toBe(daysAfterStart(19));
    expect(until(pathTo('awaiting_registration'))).toBe(daysAfterStart(5));
  });

  test('an order waits for a redraw, and then until the time to decide is up', () => {
    expect(until(badSample)).toBe(daysAfterStart(10));
    expect(until(badSample, { met: ['order-1/10.redraw'] })).toBe(daysAfterStart(40));
  });

  test('an order that is overdue waits until it is given up, whenever it would have to be registered', () => {
    expect(until(pathTo('testkit_registered'), { met: ['order-1/5.return_overdue'] })).toBe(daysAfterStart(19 + 60));
    expect(until(pathTo('awaiting_registration'), { met: ['order-1/shipping_overdue'] })).toBe(daysAfterStart(5 + 60));
    const late = { deliveryDeadline: 50 * day };
    const policy = { ...kitCase([]).policy, ...late };
    expect(until(pathTo('transit_customer'), { policy, met: ['order-1/3.delivery_overdue'] })).toBe(
      daysAfterStart(112),
    );
  });

  test('an order that has ended waits for nothing', () => {
    expect(stateOf(kitCase(happyPath)).waiting).toEqual({ for: 'nothing' });
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

  test('does not happen once the order moves, or a person gives it time', () => {
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

  test('an order waits for a decision, once it has failed', () => {
    expect(waitsFor(lost)).toBe(decision);
  });

  test.each([
    [badSample, '10'],
    [['collecting_sample.walk_in_test.redraw_available'], '1'],
  ])(
    'an order waits for the next order %j, and for a decision once no redraw is expected any more',
    (statuses, eventId) => {
      expect(waitsFor(statuses)).toBe('the next order');
      expect(waitsFor(statuses, { met: [`order-1/${eventId}.redraw`] })).toBe(decision);
    },
  );

  test('an order waits for the next order while a replacement is being placed', () => {
    const claim = { replaces: 'order-1', atEventId: lost.length, n: 2, claimedAt: daysAfterStart(5) };
    expect(waitsFor(lost, { replacements: [claim] })).toBe('the next order');
    // The replacement that was ordered failed, too, without a webhook: it is the person’s turn again.
    expect(waitsFor(lost, { replacements: [{ ...claim, orderId: 'order-2' }] })).toBe(decision);
  });

  test.each<[string, readonly string[]]>([
    ['the kit to be shipped and registered', pathTo('awaiting_registration')],
    ['the kit to be delivered', pathTo('out_for_delivery')],
    ['the kit to be registered', pathTo('with_customer')],
    ['the sample to be sent back', pathTo('testkit_registered')],
    ['the sample to reach the lab', pathTo('transit_lab')],
    ['the results', pathTo('delivered_to_lab')],
    ['the sample to be collected', ['ordered', 'collecting_sample.testkit.invented']],
    ['the next event', ['invented.testkit.status']],
    ['nothing', happyPath],
    ['nothing', ['ordered', 'cancelled']],
  ])('an order waits for %s after %j', (what, statuses) => {
    expect(waitsFor(statuses)).toBe(what);
  });

  test.each<[string, readonly string[], string]>([
    ['the problem in transit to clear', pathTo('transit_customer'), 'problem_in_transit_customer'],
    ['the problem in transit to clear', pathTo('transit_lab'), 'problem_in_transit_lab'],
    ['the lab to continue with the sample', pathTo('delivered_to_lab'), 'lab_processing_blocked'],
  ])('an order waits for %s, if there is one after %j: %s', (what, statuses, problem) => {
    expect(waitsFor([...statuses, problem])).toBe(what);
    expect(waitsFor([...statuses, problem, statuses.at(-1) ?? ''])).toBe(waitsFor(statuses));
  });

  test('an order waits for the kit to be shipped, or the sample to be collected if there is no kit', () => {
    expect(waitsFor(['ordered'])).toBe('the kit to be shipped');
    expect(waitsFor(['received.walk_in_test.ordered'], {}, { method: 'walk_in_test' })).toBe(
      'the sample to be collected',
    );
  });
});
