import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { currentOrder, shipsKit, type Chain } from '../../../workflows/order/chain.js';
import {
  deadlinesOf,
  givingUpAt,
  isKeyOfReminder,
  isUnasked,
  momentsOf,
  nextMoment,
} from '../../../workflows/order/deadlines.js';
import { stateOf } from '../../../workflows/order/view.js';
import { caseOf, day, daysAfterStart, happyPath, kitOf, pathTo, start, withPatient } from './histories.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* The times are days from the start of the order, whose events are a day apart: 1 March 2024, 10:00 UTC, is day 0. */

const at = (days: number) => start + days * day;
/** Days until a date is over everywhere on earth, by its midday in UTC. */
const overOn = (days: number) => days + 2 / 24;

const kitCase = (statuses: readonly string[], more: Partial<Chain> = {}, fields: Partial<OrderSnapshot> = {}) =>
  caseOf([kitOf('order-1', statuses, { method: statuses[0]?.split('.')[1] ?? 'testkit', ...fields })], more);

/** A person has given these more time, on each of the days. */
const given = (key: string, ...days: number[]) => ({
  extensions: days.map((since) => ({ baseKey: `order-1/${key}`, since: daysAfterStart(since) })),
});
/** These deadlines have been met or missed. */
const met = (...keys: string[]) => ({ handledDeadlines: keys.map((key) => `order-1/${key}`) });

/** Each deadline by its key, without the order, and its time; reminders of one kind together: `5.return_reminder 7 12`. */
function inBrief(chain: Chain): string {
  const times = new Map<string, number[]>();
  for (const { key, at: due } of deadlinesOf(chain)) {
    const name = key.replace('order-1/', '').replace(/(reminder)\.\d+$/, '$1');
    times.set(name, [...(times.get(name) ?? []), (due - start) / day]);
  }
  return [...times].map(([name, days]) => [name, ...days].join(' ')).join(', ');
}

const awaited = pathTo('awaiting_registration');
const shipped = pathTo('transit_customer');
const delivered = pathTo('with_customer');
const registered = pathTo('testkit_registered');
const registeredOnItsWay = [...pathTo('out_for_delivery'), 'testkit_registered'];
const requested = pathTo('requisition_created');
const sentBack = pathTo('transit_lab');
const atLab = pathTo('delivered_to_lab');
const blocked = [...atLab, 'lab_processing_blocked'];
const stuck = [...sentBack, 'problem_in_transit_lab'];
const stuckStill = [...stuck, 'problem_in_transit_lab'];
const sentBackAgain = [...sentBack, 'with_customer', 'transit_lab'];
const stuckAgain = [...stuck, 'transit_lab', 'problem_in_transit_lab'];
const lost = [...shipped, 'lost'];
const spoiled = [...atLab, 'sample_error'];
const unregistered = [...awaited, 'with_customer', 'transit_lab'];
const registeredFirst = ['ordered', 'requisition_created', 'transit_customer', 'with_customer'];
const visit = ['received.walk_in_test.ordered'];
const scheduled = 'collecting_sample.walk_in_test.appointment_scheduled';
const redrawn = [...visit, 'collecting_sample.walk_in_test.redraw_available'];

const sending = '8.transit_to_lab_overdue 17';
/** The questions for the registration of a kit that is delivered, or taken to be, on that day; with a deadline of the way. */
const asking = (day: number, ...way: string[]) =>
  [`registration_reminder ${day + 3} ${day + 10} ${day + 30}`, ...way, 'registration_overdue 90'].join(', ');

describe('the deadlines that stand, with the default policy', () => {
  test.each<[string, readonly string[], string]>([
    ['placed with a patient', ['ordered', 'requisition_created'], 'shipping_overdue 5'],
    ['placed: reminders count from an assumed delivery', awaited, `shipping_overdue 5, ${asking(7)}`],
    ['registered before it ships', [...awaited, 'testkit_registered'], 'shipping_overdue 5'],
    ['on its way: reminders count from shipping', shipped, `3.delivery_overdue 12, ${asking(9)}`],
    ['on its way, registered', pathTo('out_for_delivery', withPatient), '2.delivery_overdue 11'],
    ['delivered: reminders count from that', delivered, asking(4)],
    ['with a requisition, too', requested, '5.return_reminder 7 12, 5.return_overdue 19'],
    ['delivered, and registered before', registeredFirst, '4.return_reminder 5 10, 4.return_overdue 17'],
    ['registered on its way: it has arrived', registeredOnItsWay, '5.return_reminder 6 11, 5.return_overdue 18'],
    ['sent back', sentBack, sending],
    ['sent back once more: it is a new wait', sentBackAgain, '10.transit_to_lab_overdue 19'],
    ['sent back, as a problem is the first to show', [...requested, 'problem_in_transit_lab', 'transit_lab'], sending],
    ['sent back, stuck since its first report', stuckStill, `9.problem_persists 15, ${sending}`],
    ['sent back without being registered: the questions stand', unregistered, asking(2, '4.transit_to_lab_overdue 13')],
    ['at the lab then: they still stand', [...unregistered, 'delivered_to_lab'], asking(2, '5.results_overdue 18')],
    ['registered once it was sent back', [...unregistered, 'testkit_registered'], '4.transit_to_lab_overdue 13'],
    ['at the lab', atLab, '9.results_overdue 22'],
    ['imported: the results count from the import', ['requisition_bypassed'], 'results_overdue 14'],
    ['imported, and sent to the lab', ['requisition_bypassed', 'transit_lab'], '2.transit_to_lab_overdue 11'],
    ['placed, and no requisition is needed', ['ordered', 'requisition_bypassed'], 'shipping_overdue 5'],
    ['blocked at the lab', blocked, '10.problem_persists 16, 9.results_overdue 22'],
    ['completed', happyPath, ''],
    ['cancelled', ['ordered', 'do_not_process'], ''],
    ['completed, and never registered', [...awaited, 'completed'], ''],
    ['lost', lost, '4.decision 33'],
    ['spoiled: first the service may redraw, then a person decides', spoiled, '10.redraw 10, 10.decision 40'],
    ['a redraw that is announced in an unknown way', [...visit, 'a.b.redraw_available'], 'collection_overdue 90'],
    ['a redraw that is announced', redrawn, '2.redraw 2, 2.decision 32'],
    ['collected in an unknown way', ['ordered', 'collecting_sample.testkit.invented'], 'collection_overdue 90'],
    ['in an unknown status', ['invented.testkit.status'], 'collection_overdue 90'],
  ])('of a kit or sample that is %s', (_what, statuses, expected) => {
    expect(inBrief(kitCase(statuses))).toBe(expected);
  });

  test.each(['walk_in_test', 'at_home_phlebotomy', 'on_site_collection', 'invented'])(
    'of an order by %s are one for collecting and one for results; nobody waits for a shipment',
    (method) => {
      const placed = [`received.${method}.ordered`];
      const visited = [...placed, `collecting_sample.${method}.appointment_scheduled`];
      for (const statuses of [placed, visited]) expect(inBrief(kitCase(statuses))).toBe('collection_overdue 90');
      const analysed = [...visited, `sample_with_lab.${method}.partial_results`];
      expect(inBrief(kitCase(analysed))).toBe('3.results_overdue 16');
    },
  );

  test.each<[string, readonly string[], readonly string[]]>([
    ['out for delivery', shipped, ['out_for_delivery', 'out_for_delivery']],
    ['an unknown status', shipped, ['collecting_sample.testkit.invented', '', 'invented.a.b']],
    ['a requisition', registered, ['requisition_created', 'requisition_created']],
    ['the same problem', stuck, ['problem_in_transit_lab']],
    ['a later awaiting_registration', delivered, ['awaiting_registration']],
    ['partial results', atLab, ['sample_with_lab.testkit.partial_results']],
  ])('stay as they are after %s', (_what, statuses, more) => {
    expect(inBrief(kitCase([...statuses, ...more]))).toBe(inBrief(kitCase(statuses)));
  });

  test('have no reminders if nobody is notified of them', () => {
    expect(inBrief(kitCase(registered, { notifies: false }))).toBe('5.return_overdue 19');
  });

  test('of an order without any event count from its creation, wherever its other fields place it', () => {
    const bare = (fields: Partial<OrderSnapshot>) => kitCase([], {}, { createdAt: daysAfterStart(3), ...fields });
    expect(inBrief(bare({ status: 'received' }))).toBe('shipping_overdue 8');
    expect(inBrief(bare({ status: 'failed' }))).toBe('-1.decision 33');
    const taken = { method: 'walk_in_test', resultsBy: '2024-03-20' };
    expect(inBrief(bare(taken))).toBe('results_overdue 17');
    const missed = { ...bare({ status: 'received' }), ...met('shipping_overdue') };
    expect(givingUpAt(missed)).toBe(at(8 + 60));
    expect(inBrief(caseOf([{ orderId: 'order-1', events: [], status: 'received' }]))).toBe('');
  });

  test.each<[string, string, Partial<OrderSnapshot>?]>([
    ['ordered', 'shipping_overdue 5'],
    ['transit_customer', '3.delivery_overdue 10, registration_reminder 10 17 37'],
    ['delivered_to_lab', `9.results_overdue.2024-03-12 ${overOn(12)}`, { resultsBy: '2024-03-12' }],
  ])('of an order without any time in it, which is %s, count from when its workflow began', (last, expected, more) => {
    const { events, createdAt: _createdAt, ...kit } = kitOf('order-1', pathTo(last), more);
    const chain = caseOf([{ ...kit, events: events.map((event) => ({ ...event, at: new Date(0).toISOString() })) }]);
    expect(inBrief(chain)).toContain(expected);
    expect(nextMoment(chain)?.at).toBeGreaterThan(start);
  });

  test('come from the policy', () => {
    const shorter = { returnDeadline: '3d', redrawWait: '2d', decisionWait: '5d' } as const;
    const policy = resolvePolicy('order', { ...shorter, returnReminders: ['1d'] });
    expect(inBrief(kitCase(registered, { policy }))).toBe('5.return_reminder 6, 5.return_overdue 8');
    expect(inBrief(kitCase(spoiled, { policy }))).toBe('10.redraw 11, 10.decision 16');
  });
});

describe('the deadline for results', () => {
  /** The sample arrives on day 8, 9 March. A date is over everywhere at 12:00 UTC of the next day. */
  const by = (resultsBy: string, statuses: readonly string[] = atLab, more: Partial<Chain> = {}) =>
    inBrief(kitCase(statuses, more, { resultsBy }));

  test('is never later than the policy allows, however far the date moves away, and is another than without a date', () => {
    for (const date of ['2024-05-09', '2099-01-01']) expect(by(date)).toBe(`9.results_overdue.limit ${8 + 60}`);
  });

  test('counts for every order whose sample was taken, and for no kit on its way', () => {
    const drawn = [...visit, 'collecting_sample.walk_in_test.draw_completed'];
    expect(by('2024-03-12', drawn)).toBe(`2.results_overdue.2024-03-12 ${overOn(12)}`);
    expect(inBrief(kitCase(drawn))).toBe('2.results_overdue 15');
    // From the draw, whatever is reported after it.
    expect(inBrief(kitCase([...drawn, 'collecting_sample.walk_in_test.invented']))).toBe('2.results_overdue 15');
    expect(inBrief(kitCase([...drawn, scheduled]))).toMatch(/^collection_overdue/);
    expect(by('2024-03-12', ['requisition_bypassed'])).toContain('results_overdue.2024-03-12');
    expect(by('2024-03-12', sentBack)).toBe('8.transit_to_lab_overdue 17');
  });

  test('leaves a person the time that was given, and takes a later date', () => {
    const longer = given('9.results_overdue', 14);
    expect(by('2024-03-12', atLab, longer)).toBe('9.results_overdue.2.2024-03-12 28');
    expect(by('2024-04-08', atLab, longer)).toBe(`9.results_overdue.2.2024-04-08 ${overOn(39)}`);
  });

  test.each([
    ['2024-03-01', ''],
    ['2024-03-02', '.2024-03-02'],
    ['2024-04-30', '.2024-04-30'],
    ['2024-05-01', '.limit'],
  ])('is a date that is over after the sample came, noon of 2 March, and up to the limit: %s', (resultsBy, which) => {
    const events = [{ id: 1, at: '2024-03-02T12:00:00.000Z', status: 'sample_with_lab.testkit.delivered_to_lab' }];
    const [deadline] = deadlinesOf(caseOf([{ orderId: 'order-1', events, resultsBy }]));
    expect(deadline?.key).toBe(`order-1/1.results_overdue${which}`);
  });
});

describe('an order that is scheduled for a later date', () => {
  const datedFor = (activateBy: string, statuses: readonly string[] = ['ordered'], more: Partial<Chain> = {}) =>
    inBrief(kitCase(statuses, more, { activateBy }));

  test('begins, once it is sent at once, with its second event, or when that was reported', () => {
    const dated = kitOf('order-1', ['ordered'], { activateBy: '2024-05-01' });
    const sent = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
      inBrief(caseOf([dated, kitOf('order-1', statuses, more)]));
    expect(sent(['ordered', 'requisition_created'])).toBe('shipping_overdue.begun 6');
    expect(sent(['ordered'], { updatedAt: daysAfterStart(3) })).toBe('shipping_overdue.begun 8');
  });

  test('begins when that date is over everywhere on earth', () => {
    expect(datedFor('2024-05-01')).toBe(`shipping_overdue.2024-05-01 ${overOn(62 + 5)}`);
    expect(datedFor('2024-05-01', visit)).toBe(`collection_overdue.2024-05-01 ${overOn(62 + 90)}`);
  });

  test('begins a year after its placing at the latest', () => {
    expect(datedFor('2025-02-27')).toBe(`shipping_overdue.2025-02-27 ${overOn(364 + 5)}`);
    expect(datedFor('9999-12-31')).toBe('shipping_overdue.9999-12-31 371');
  });

  test('has the deadlines of any other if the date is past, or if its kit has shipped', () => {
    for (const statuses of [['ordered'], ['ordered', 'requisition_created']])
      expect(datedFor('2024-02-01', statuses)).toBe('shipping_overdue 5');
    expect(datedFor('2024-05-01', pathTo('transit_customer', withPatient))).toBe('2.delivery_overdue 11');
  });
});

describe('patience', () => {
  const overdue = '8.transit_to_lab_overdue';

  test.each<[string, readonly string[], Partial<Chain>, string]>([
    ['restarts the limit under a new key', sentBack, given(overdue, 20), `${overdue}.2 30`],
    ['does so each time', sentBack, given(overdue, 20, 31), `${overdue}.3 41`],
    [
      'for one problem is none for a later one',
      stuckAgain,
      given('9.problem_persists', 20),
      `${sending}, 11.problem_persists 17`,
    ],
    ['lasts as it is arranged', [...visit, scheduled], given('collection_overdue', 95), 'collection_overdue.2 185'],
    ['for a decision gives the whole wait again', lost, given('4.decision', 10), '4.decision.2 40'],
  ])('%s', (_what, statuses, more, expected) => {
    expect(inBrief(kitCase(statuses, more))).toBe(expected);
  });
});

describe('the time to decide', () => {
  const key = 'order-1/10.decision';
  const asked = (days: number, of: { key: string; reason: Chain['attention'][number]['reason'] }) => ({
    attention: [{ ...of, orderId: 'order-1', since: daysAfterStart(days), time: 1 }],
  });
  const askedOn = (days: number) => asked(days, { key, reason: 'decision_needed' });
  const otherwise = (days: number) => asked(days, { key: 'order-1', reason: 'late_arrival' });

  test.each<[string, Partial<Chain>, number]>([
    ['counts from when the person was asked, if silence delayed that', askedOn(50), 80],
    ['is never shorter than it would be without the question', askedOn(9), 40],
    ['does not count from a question about something else', otherwise(50), 40],
  ])('%s', (_what, more, until) => {
    expect(inBrief(kitCase(spoiled, more))).toBe(`10.redraw 10, 10.decision ${until}`);
  });

  test('cannot be up before anybody was asked, or if the answer was more time; nothing else depends on a question', () => {
    const unasked = (chain: Chain) => deadlinesOf(chain).filter((one) => isUnasked(chain, one));
    for (const more of [{}, { ...otherwise(9), ...given('shipping_overdue', 2) }])
      expect(unasked(kitCase(spoiled, more))).toMatchObject([{ name: 'decision' }]);
    for (const more of [askedOn(50), given('10.decision', 20)]) expect(unasked(kitCase(spoiled, more))).toEqual([]);
    for (const statuses of [atLab, registered]) expect(unasked(kitCase(statuses))).toEqual([]);
  });
});

test('a key is a reminder’s by its end', () => {
  const reminders = ['order-1/registration_reminder.1', 'order-1/5.return_reminder.12'];
  const others = ['order-1/5.return_overdue', 'an_reminder.1/shipping_overdue', 'order-1/return_reminder.x'];
  expect([...reminders, ...others].filter(isKeyOfReminder)).toEqual(reminders);
});

test('a kit is shipped, unless the order is a visit, or an import that stays one', () => {
  const ships = (statuses: readonly string[]) => shipsKit(currentOrder(kitCase(statuses)));
  const imported = ['requisition_bypassed'];
  const kits = [
    ['ordered'],
    [...imported, 'transit_customer', 'lost'],
    [...imported, 'failure_to_deliver_to_customer'],
  ];
  expect(kits.map(ships)).toEqual([true, true, true]);
  expect([imported, [...imported, 'transit_lab'], visit].map(ships)).toEqual([false, false, false]);
});

describe('the next moment', () => {
  const critical = {
    ...{ orderId: 'order-1', status: 'partial', since: daysAfterStart(1), isOpen: true },
    ...{ reminders: 0, announced: [], acknowledgements: [] },
  };
  const reminded = [1, 2, 3].map((ordinal) => `registration_reminder.${ordinal}`);
  const unanswered = (again: number) => ({ orderId: 'order-1', since: at(5), times: 1, againAt: at(again) });
  const alarmReminder = `critical_result_reminder ${1 + 1 / 24}`;
  const next = (chain: Chain) => {
    const moment = nextMoment(chain);
    return moment && `${moment.name} ${(moment.at - start) / day}`;
  };

  test.each<[string, readonly string[], Partial<Chain>, string | undefined]>([
    ['the earliest deadline', registered, {}, 'return_reminder 1 7'],
    ['the earliest that was not met', registered, met('5.return_reminder.1'), 'return_reminder 2 12'],
    ['the re-reading, if that comes first', registered, { recheckAt: at(6) }, 'read_again 6'],
    ['the limit for results', atLab, {}, 'results_overdue 22'],
    ['giving up once everything was missed', atLab, met('9.results_overdue'), `give_up ${22 + 60}`],
    ['none for an order that has ended', happyPath, { ...met('9.results_overdue'), recheckAt: at(20) }, undefined],
    ['none once it was given up', ['ordered'], { ending: 'abandoned' }, undefined],
    ['none once a person has no time left to decide', lost, met('4.decision'), undefined],
    ['a reminder before the next read', registered, { unansweredRead: unanswered(20) }, 'return_reminder 1 7'],
    [
      'a reminder of a critical result before the next read',
      lost,
      { criticalResults: [critical], unansweredRead: unanswered(20) },
      alarmReminder,
    ],
    ['the next read while the service does not answer', ['ordered'], { unansweredRead: unanswered(6) }, 'read_again 6'],
    [
      'the next read in place of giving up',
      awaited,
      { unansweredRead: unanswered(91), ...met(...reminded, 'shipping_overdue', 'registration_overdue') },
      'read_again 91',
    ],
  ])('is %s', (_what, statuses, more, expected) => {
    expect(next(kitCase(statuses, more))).toBe(expected);
  });

  test('is giving up that long after the last move, if the order moves on under a question that still stands', () => {
    const events = [
      { id: 1, at: daysAfterStart(0), status: 'received.testkit.ordered' },
      { id: 2, at: daysAfterStart(1), status: 'received.testkit.awaiting_registration' },
      { id: 3, at: daysAfterStart(100), status: 'collecting_sample.testkit.with_customer' },
    ];
    const handled = ['registration_overdue', ...reminded];
    const late = reminded.map((key) => `late.${key}`);
    // It comes later than assumed, and has reminders of its own.
    expect(next(kitCase([], met(...handled), { events }))).toBe('registration_reminder 1 103');
    expect(next(kitCase([], met(...handled, ...late), { events }))).toBe(`give_up ${100 + 60}`);
  });

  test('is one of all that the policy brings: deadlines that are not met, reminders, giving up', () => {
    const named = (more: Partial<Chain>) =>
      momentsOf(kitCase(['ordered'], more)).map(({ name, at: due }) => `${name} ${(due - start) / day}`);
    expect(named({})).toEqual(['shipping_overdue 5']);
    expect(named(met('shipping_overdue'))).toEqual(['give_up 65']);
    expect(named({ criticalResults: [critical] })).toContain(alarmReminder);
    // After an end only the reminder of a critical result is left.
    expect(named({ ending: 'abandoned' })).toEqual([]);
    expect(named({ ending: 'abandoned', criticalResults: [critical] })).toEqual([alarmReminder]);
    expect(next(kitCase(['ordered'], { ending: 'abandoned', criticalResults: [critical] }))).toBe(alarmReminder);
  });
});

describe('an order waits', () => {
  const waiting = (statuses: readonly string[], more: Partial<Chain> = {}) => stateOf(kitCase(statuses, more)).waiting;
  const decision = 'a decision: wait, replace or abandon';

  test.each<[string, readonly string[], Partial<Chain>, number]>([
    ['for the nearest limit, not for reminders on the way', registered, {}, 19],
    ['for the nearest of two limits', awaited, {}, 5],
    ['for a decision after that', spoiled, met('10.redraw'), 40],
    ['until it is given up once it is overdue', registered, met('5.return_overdue'), 19 + 60],
    [
      'until it is given up by the limit that was missed',
      shipped,
      { ...met('3.delivery_overdue'), policy: resolvePolicy('order', { deliveryDeadline: '50d' }) },
      2 + 50 + 60,
    ],
  ])('%s', (_what, statuses, more, until) => {
    expect(waiting(statuses, more).until).toBe(daysAfterStart(until));
  });

  test.each<[string, readonly string[], Partial<Chain>?]>([
    ['the kit to be shipped', ['ordered']],
    ['the kit to be shipped and registered', awaited],
    ['the kit to be delivered', pathTo('out_for_delivery')],
    ['the kit to be registered', delivered],
    ['the sample to be sent back', registered],
    ['the sample to reach the lab', sentBack],
    ['the results', atLab],
    ['the sample to be collected', visit],
    ['the results', [...visit, 'collecting_sample.walk_in_test.draw_completed']],
    ['the next event', ['invented.testkit.status']],
    ['the problem in transit to clear', [...shipped, 'problem_in_transit_customer']],
    ['the lab to continue with the sample', blocked],
    [decision, lost],
    ['the next order', spoiled],
    [decision, spoiled, met('10.redraw')],
    ['the next order', redrawn],
    ['a decision: wait or abandon', redrawn, met('2.redraw')],
  ])('for %s after %j', (what, statuses, more) => {
    expect(waiting(statuses, more).for).toBe(what);
  });

  test.each([[happyPath], [['ordered', 'cancelled']]])('for nothing after %j', (statuses) => {
    expect(waiting(statuses)).toEqual({ for: 'nothing' });
  });

  test('for the next order while a replacement is being placed', () => {
    const claim = { replaces: 'order-1', atEventId: lost.length, n: 2, claimedAt: daysAfterStart(5) };
    expect(waiting(lost, { replacements: [claim] }).for).toBe('the next order');
    // The replacement that was ordered failed, too, without a webhook: it is the person’s turn again.
    expect(waiting(lost, { replacements: [{ ...claim, orderId: 'order-2' }] }).for).toBe(decision);
  });
});
