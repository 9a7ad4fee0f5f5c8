import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { currentOrder, type Chain } from '../../../workflows/order/chain.js';
import {
  deadlinesOf,
  givingUpAt,
  isKeyOfReminder,
  isOverdueName,
  isUnasked,
  momentsOf,
  nextMoment,
  shipsKit,
} from '../../../workflows/order/deadlines.js';
import { stateOf } from '../../../workflows/order/view.js';
import {
  caseOf,
  day,
  daysAfterStart,
  happyPath,
  kitOf,
  pathTo,
  start,
  transactionOf,
  withPatient,
} from './histories.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/** Days until a date is over everywhere on earth, by its midday in UTC. */
const overOn = (days: number) => days + 2 / 24;

const kitCase = (statuses: readonly string[], more: Partial<Chain> = {}, fields: Partial<OrderSnapshot> = {}) =>
  caseOf([kitOf('order-1', statuses, fields)], more);
/** Each deadline with the days from the start of the order; one event a day. */
const daysOf = (chain: Chain) => deadlinesOf(chain).map(({ name, at }) => `${name} ${(at - start) / day}`);
const keysOf = (chain: Chain) => deadlinesOf(chain).map(({ key, at }) => `${key} at ${(at - start) / day}`);

describe('the deadlines that stand, with the default policy', () => {
  test.each<[string, readonly string[], string[]]>([
    ['placed with a patient', ['ordered', 'requisition_created'], ['shipping_overdue 5']],
    [
      'placed, not registered: reminders count from an assumed delivery',
      pathTo('awaiting_registration'),
      [
        'shipping_overdue 5',
        'registration_reminder 10',
        'registration_reminder 17',
        'registration_reminder 37',
        'registration_overdue 90',
      ],
    ],
    ['registered before it ships', [...pathTo('awaiting_registration'), 'testkit_registered'], ['shipping_overdue 5']],
    [
      'on its way, not registered: reminders count from shipping and the assumed delivery',
      pathTo('transit_customer'),
      [
        'delivery_overdue 12',
        'registration_reminder 12',
        'registration_reminder 19',
        'registration_reminder 39',
        'registration_overdue 90',
      ],
    ],
    ['on its way, registered', pathTo('transit_customer', withPatient), ['delivery_overdue 11']],
    [
      'delivered, not registered: reminders count from delivery',
      pathTo('with_customer'),
      ['registration_reminder 7', 'registration_reminder 14', 'registration_reminder 34', 'registration_overdue 90'],
    ],
    [
      'delivered and registered: the return counts from registration',
      pathTo('testkit_registered'),
      ['return_reminder 7', 'return_reminder 12', 'return_overdue 19'],
    ],
    [
      'delivered, registered before: the return counts from delivery',
      ['ordered', 'requisition_created', 'transit_customer', 'with_customer'],
      ['return_reminder 5', 'return_reminder 10', 'return_overdue 17'],
    ],
    ['sent back', pathTo('transit_lab'), ['transit_to_lab_overdue 17']],
    [
      'sent back with a problem: the problem counts from its first report',
      [...pathTo('transit_lab'), 'problem_in_transit_lab', 'problem_in_transit_lab'],
      ['problem_persists 15', 'transit_to_lab_overdue 17'],
    ],
    [
      'sent back without ever being registered: the questions for the registration stand',
      ['ordered', 'awaiting_registration', 'with_customer', 'transit_lab'],
      [
        'registration_reminder 5',
        'registration_reminder 12',
        'transit_to_lab_overdue 13',
        'registration_reminder 32',
        'registration_overdue 90',
      ],
    ],
    [
      'at the lab without ever being registered: they still stand',
      ['ordered', 'awaiting_registration', 'with_customer', 'transit_lab', 'delivered_to_lab'],
      [
        'registration_reminder 5',
        'registration_reminder 12',
        'results_overdue 18',
        'registration_reminder 32',
        'registration_overdue 90',
      ],
    ],
    [
      'registered once the sample was sent back',
      ['ordered', 'awaiting_registration', 'with_customer', 'transit_lab', 'testkit_registered'],
      ['transit_to_lab_overdue 13'],
    ],
    ['at the lab', pathTo('delivered_to_lab'), ['results_overdue 22']],
    ['imported: the results count from the import', ['requisition_bypassed'], ['results_overdue 14']],
    ['imported, and then at the lab', ['requisition_bypassed', 'delivered_to_lab'], ['results_overdue 15']],
    ['imported, and sent to the lab', ['requisition_bypassed', 'transit_lab'], ['transit_to_lab_overdue 11']],
    ['imported, for a visit', ['received.walk_in_test.requisition_bypassed'], ['results_overdue 14']],
    ['placed, and no requisition is needed', ['ordered', 'requisition_bypassed'], ['shipping_overdue 5']],
    [
      'blocked at the lab',
      [...pathTo('delivered_to_lab'), 'lab_processing_blocked'],
      ['problem_persists 16', 'results_overdue 22'],
    ],
    ['completed', happyPath, []],
    ['completed, and never registered', ['ordered', 'awaiting_registration', 'completed'], []],
    ['cancelled', ['ordered', 'cancelled'], []],
    ['lost', [...pathTo('transit_customer'), 'lost'], ['decision 33']],
    ['not delivered to the lab', [...pathTo('transit_lab'), 'failure_to_deliver_to_lab'], ['decision 38']],
    [
      'a sample that cannot be used: first the service may redraw, then a person decides',
      [...pathTo('delivered_to_lab'), 'sample_error'],
      ['redraw 10', 'decision 40'],
    ],
    [
      'a redraw that is announced',
      ['received.walk_in_test.ordered', 'a.b.redraw_available'],
      ['collection_overdue 90'],
    ],
    [
      'a redraw that is announced',
      ['received.walk_in_test.ordered', 'collecting_sample.walk_in_test.redraw_available'],
      ['redraw 2', 'decision 32'],
    ],
    ['collected in an unknown way', ['ordered', 'collecting_sample.testkit.invented'], ['collection_overdue 90']],
    ['in an unknown status', ['invented.testkit.status'], ['collection_overdue 90']],
  ])('the deadlines that stand are right: %s', (_name, statuses, expected) => {
    const method = statuses[0]?.split('.')[1] ?? 'testkit';
    expect(daysOf(kitCase(statuses, {}, { method }))).toEqual(expected);
  });

  test.each(['walk_in_test', 'at_home_phlebotomy', 'on_site_collection', 'invented'])(
    'the deadlines for an order by %s are one for collecting and one for results; nobody waits for a shipment',
    (method) => {
      const placed = [`received.${method}.ordered`];
      const visited = [...placed, `collecting_sample.${method}.appointment_scheduled`];
      const analysed = [...visited, `sample_with_lab.${method}.partial_results`];
      expect(daysOf(kitCase(placed, {}, { method }))).toEqual(['collection_overdue 90']);
      expect(daysOf(kitCase(visited, {}, { method }))).toEqual(['collection_overdue 90']);
      expect(daysOf(kitCase(analysed, {}, { method }))).toEqual(['results_overdue 16']);
    },
  );

  test('the deadlines for an order without any event count from its creation', () => {
    const chain = kitCase([], {}, { status: 'received', createdAt: daysAfterStart(3) });
    expect(daysOf(chain)).toEqual(['shipping_overdue 8']);
    expect(daysOf(caseOf([{ orderId: 'order-1', events: [], status: 'received' }]))).toEqual([]);
  });

  test('have no reminders if nobody is notified of them', () => {
    expect(daysOf(kitCase(pathTo('testkit_registered'), { notifies: false }))).toEqual(['return_overdue 19']);
  });

  test('for an order without any event, too, wherever its other fields place it', () => {
    const bare = (fields: Partial<OrderSnapshot>) => kitCase([], {}, { createdAt: daysAfterStart(3), ...fields });
    expect(daysOf(bare({ status: 'failed' }))).toEqual(['decision 33']);
    expect(daysOf(bare({ method: 'walk_in_test', resultsBy: '2024-03-20' }))).toEqual(['results_overdue 17']);
    const missed = { ...bare({ status: 'received' }), met: ['order-1/shipping_overdue'] };
    expect(givingUpAt(missed)).toBe(start + (8 + 60) * day);
  });

  test('do not exist for an event whose time cannot be read, which breaks nothing', () => {
    const events = [{ id: 1, at: 'soon', status: 'received.testkit.awaiting_registration' }];
    expect(deadlinesOf(caseOf([{ orderId: 'order-1', events }]))).toEqual([]);
    expect(stateOf(caseOf([{ orderId: 'order-1', events }])).waiting).toEqual({
      for: 'the kit to be shipped and registered',
    });
  });

  test('come from the policy', () => {
    const policy = resolvePolicy('order', {
      returnReminders: ['1d'],
      returnDeadline: '3d',
      redrawWait: '2d',
      decisionWait: '5d',
    });
    expect(daysOf(kitCase(pathTo('testkit_registered'), { policy }))).toEqual([
      'return_reminder 6',
      'return_overdue 8',
    ]);
    const failed = [...pathTo('delivered_to_lab'), 'sample_error'];
    expect(daysOf(kitCase(failed, { policy }))).toEqual(['redraw 11', 'decision 16']);
  });
});

describe('the deadline for results', () => {
  /** 1 March 2024, 10:00 UTC, is day 0; the sample arrives on day 8, 9 March. A date is over everywhere at 12:00 UTC of the next day. */
  const by = (resultsBy: string, statuses = pathTo('delivered_to_lab')) => kitCase(statuses, {}, { resultsBy });

  test('is the date that the service names, once it is over everywhere', () => {
    expect(keysOf(by('2024-03-12'))).toEqual([`order-1/9.results_overdue.2024-03-12 at ${overOn(12)}`]);
    expect(keysOf(by('2024-04-08'))).toEqual([`order-1/9.results_overdue.2024-04-08 at ${overOn(39)}`]);
  });

  test.each(['2024-03-01', '2024-02-30', 'soon', ''])('is the policy’s if that date says nothing: %j', (date) => {
    expect(keysOf(by(date))).toEqual(['order-1/9.results_overdue at 22']);
  });

  test('is never later than the policy allows, however far the date moves away, and is another than without a date', () => {
    for (const date of ['2024-05-09', '2099-01-01']) {
      expect(keysOf(by(date))).toEqual([`order-1/9.results_overdue.limit at ${8 + 60}`]);
    }
  });

  test('counts for every order whose sample was taken, and for no kit on its way', () => {
    const visit = ['received.walk_in_test.ordered', 'collecting_sample.walk_in_test.draw_completed'];
    const taken = kitCase(visit, {}, { method: 'walk_in_test', resultsBy: '2024-03-12' });
    expect(keysOf(taken)).toEqual([`order-1/2.results_overdue.2024-03-12 at ${overOn(12)}`]);
    expect(keysOf(by('2024-03-12', ['requisition_bypassed']))[0]).toContain('results_overdue.2024-03-12');
    expect(daysOf(by('2024-03-12', pathTo('transit_lab')))).toEqual(['transit_to_lab_overdue 17']);
  });

  test('leaves a person the time that was given, and takes a later date', () => {
    const patience = [{ key: 'order-1/9.results_overdue', since: daysAfterStart(14) }];
    const given = (resultsBy: string) => kitCase(pathTo('delivered_to_lab'), { patience }, { resultsBy });
    expect(keysOf(given('2024-03-12'))).toEqual(['order-1/9.results_overdue.2.2024-03-12 at 28']);
    expect(keysOf(given('2024-04-08'))).toEqual([`order-1/9.results_overdue.2.2024-04-08 at ${overOn(39)}`]);
  });
});

test('a date that the service names for the results counts if it is over after the sample came, and up to the limit', () => {
  const arrived = '2024-03-02T12:00:00.000Z';
  const events = [{ id: 1, at: arrived, status: 'sample_with_lab.testkit.delivered_to_lab' }];
  const keys = (resultsBy: string) =>
    deadlinesOf(caseOf([{ orderId: 'order-1', events, resultsBy }])).map(({ key }) => key);
  expect(keys('2024-03-01')).toEqual(['order-1/1.results_overdue']);
  expect(keys('2024-03-02')).toEqual(['order-1/1.results_overdue.2024-03-02']);
  expect(keys('2024-04-30')).toEqual(['order-1/1.results_overdue.2024-04-30']);
  expect(keys('2024-05-01')).toEqual(['order-1/1.results_overdue.limit']);
});

test.each<[string, string[], Partial<OrderSnapshot>?]>([
  ['ordered', ['shipping_overdue 5']],
  ['transit_customer', ['delivery_overdue 10', 'registration_reminder 10', 'registration_reminder 17']],
  ['delivered_to_lab', [`results_overdue ${overOn(12)}`], { resultsBy: '2024-03-12' }],
])('an order without any time in it, which is %s, is counted from when its workflow began', (last, deadlines, more) => {
  const { events, ...kit } = kitOf('order-1', pathTo(last), more);
  const timeless = events.map((event) => ({ ...event, at: new Date(0).toISOString() }));
  const { createdAt: _createdAt, ...snapshot } = { ...kit, events: timeless };
  const chain = caseOf([snapshot]);
  expect(daysOf(chain)).toEqual(expect.arrayContaining(deadlines));
  expect(nextMoment(chain)?.at).toBeGreaterThan(start);
});

describe('an order that is scheduled for a later date', () => {
  test('begins, once it is sent at once, with its second event, or when that was reported', () => {
    const sent = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
      keysOf(caseOf([kitOf('order-1', ['ordered'], { activateBy: '2024-05-01' }), kitOf('order-1', statuses, more)]));
    expect(sent(['ordered', 'requisition_created'])).toEqual(['order-1/shipping_overdue.begun at 6']);
    expect(sent(['ordered'], { updatedAt: daysAfterStart(3) })).toEqual(['order-1/shipping_overdue.begun at 8']);
  });

  const scheduled = (
    statuses: readonly string[],
    activateBy: string,
    patience: Chain['patience'] = [],
    method = 'testkit',
  ) => keysOf(kitCase(statuses, { patience }, { activateBy, method }));

  test('begins when that date is over everywhere on earth', () => {
    expect(scheduled(['ordered'], '2024-05-01')).toEqual([`order-1/shipping_overdue.2024-05-01 at ${overOn(62 + 5)}`]);
    const visit = scheduled(['received.walk_in_test.ordered'], '2024-05-01', [], 'walk_in_test');
    expect(visit).toEqual([`order-1/collection_overdue.2024-05-01 at ${overOn(62 + 90)}`]);
  });

  test('begins a year after its placing at the latest', () => {
    expect(scheduled(['ordered'], '2025-02-27')).toEqual([`order-1/shipping_overdue.2025-02-27 at ${overOn(364 + 5)}`]);
    expect(scheduled(['ordered'], '9999-12-31')).toEqual(['order-1/shipping_overdue.9999-12-31 at 371']);
  });

  test('has the deadlines of any other if the date is past, or if its kit has shipped', () => {
    for (const statuses of [['ordered'], ['ordered', 'requisition_created']])
      expect(scheduled(statuses, '2024-02-01')).toEqual(keysOf(kitCase(statuses)));
    const shipped = pathTo('transit_customer', withPatient);
    expect(scheduled(shipped, '2024-05-01')).toEqual(keysOf(kitCase(shipped)));
  });

  test('leaves a person the time that was given, unless it is put off to after it', () => {
    const given = [{ key: 'order-1/shipping_overdue', since: daysAfterStart(50) }];
    expect(scheduled(['ordered'], '2024-03-20', given)).toEqual(['order-1/shipping_overdue.2.2024-03-20 at 55']);
    expect(scheduled(['ordered'], '2024-05-01', given)).toEqual([
      `order-1/shipping_overdue.2.2024-05-01 at ${overOn(62 + 5)}`,
    ]);
  });
});

describe('a deadline’s key', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['out for delivery', pathTo('transit_customer'), ['out_for_delivery', 'out_for_delivery']],
    ['an unknown status', pathTo('transit_customer'), ['collecting_sample.testkit.invented', '', 'invented.a.b']],
    ['a requisition', pathTo('testkit_registered'), ['requisition_created', 'requisition_created']],
    ['the same problem', [...pathTo('transit_lab'), 'problem_in_transit_lab'], ['problem_in_transit_lab']],
    ['a later awaiting_registration', pathTo('with_customer'), ['awaiting_registration']],
    ['partial results', pathTo('delivered_to_lab'), ['sample_with_lab.testkit.partial_results']],
  ])('key and time of a deadline stay unchanged after %s', (_name, statuses, more) => {
    expect(keysOf(kitCase([...statuses, ...more]))).toEqual(keysOf(kitCase(statuses)));
  });

  test('key and time of a deadline stay unchanged when an earlier order is reported again', () => {
    const redraw = kitOf('order-2', ['ordered'], {
      createdAt: daysAfterStart(10),
      origin: 'redraw',
      transaction: transactionOf(),
    });
    const failed = [...pathTo('delivered_to_lab'), 'sample_error'];
    const before = keysOf(caseOf([kitOf('order-1', failed), redraw]));
    expect(before).toEqual(['order-2/shipping_overdue at 5']);
    expect(keysOf(caseOf([kitOf('order-1', [...failed, 'sample_error']), redraw]))).toEqual(before);
  });

  test('carries the event for what can happen more than once', () => {
    const once = [...pathTo('transit_lab'), 'problem_in_transit_lab'];
    const twice = [...once, 'transit_lab', 'problem_in_transit_lab'];
    expect(keysOf(kitCase(once))[0]).toBe('order-1/9.problem_persists at 15');
    expect(keysOf(kitCase(twice))[1]).toBe('order-1/11.problem_persists at 17');
    expect(keysOf(kitCase([...once, 'lost']))).toEqual(['order-1/10.decision at 39']);
  });

  test.each<[string, readonly string[], string[]]>([
    ['not shipped: nothing brought it there', ['ordered'], ['order-1/shipping_overdue at 5']],
    ['on its way', pathTo('out_for_delivery', withPatient), ['order-1/2.delivery_overdue at 11']],
    [
      'with the patient',
      pathTo('requisition_created'),
      ['order-1/5.return_reminder.1 at 7', 'order-1/5.return_reminder.2 at 12', 'order-1/5.return_overdue at 19'],
    ],
    [
      'registered on its way, which is its arrival',
      [...pathTo('out_for_delivery'), 'testkit_registered'],
      ['order-1/5.return_reminder.1 at 6', 'order-1/5.return_reminder.2 at 11', 'order-1/5.return_overdue at 18'],
    ],
    ['sent back', pathTo('transit_lab'), ['order-1/8.transit_to_lab_overdue at 17']],
    [
      'sent back, as a problem is the first to show',
      [...pathTo('requisition_created'), 'problem_in_transit_lab', 'transit_lab'],
      ['order-1/8.transit_to_lab_overdue at 17'],
    ],
    ['at the lab', pathTo('delivered_to_lab'), ['order-1/9.results_overdue at 22']],
  ])('carries the event that brought the kit to its place: %s', (_name, statuses, expected) => {
    expect(keysOf(kitCase(statuses))).toEqual(expected);
  });

  test('changes when the kit is at a place once more: it is a new wait', () => {
    const returned = [...pathTo('transit_lab'), 'with_customer', 'transit_lab'];
    expect(keysOf(kitCase(pathTo('transit_lab')))).toEqual(['order-1/8.transit_to_lab_overdue at 17']);
    expect(keysOf(kitCase(returned))).toEqual(['order-1/10.transit_to_lab_overdue at 19']);
  });

  test.each([
    ['registration', pathTo('awaiting_registration'), ['transit_customer', 'with_customer', 'transit_lab']],
    ['collection', ['received.walk_in_test.ordered'], ['collecting_sample.walk_in_test.appointment_scheduled']],
  ])('carries no event for the %s, which counts from the placement wherever the order is', (name, statuses, more) => {
    const method = statuses[0]?.split('.')[1] ?? 'testkit';
    for (let count = 0; count <= more.length; count++) {
      const chain = kitCase([...statuses, ...more.slice(0, count)], {}, { method });
      expect(keysOf(chain)).toContain(`order-1/${name}_overdue at 90`);
    }
  });

  test('counts reminders', () => {
    expect(deadlinesOf(kitCase(pathTo('testkit_registered')))).toMatchObject([
      { key: 'order-1/5.return_reminder.1', baseKey: 'order-1/5.return_reminder', ordinal: 1 },
      { key: 'order-1/5.return_reminder.2', ordinal: 2 },
      { key: 'order-1/5.return_overdue', ordinal: 1 },
    ]);
  });
});

describe('patience', () => {
  const overdue = 'order-1/8.transit_to_lab_overdue';

  test('restarts the limit under a new key, each time it is given', () => {
    const once = { patience: [{ key: overdue, since: daysAfterStart(20) }] };
    expect(keysOf(kitCase(pathTo('transit_lab'), once))).toEqual([`${overdue}.2 at 30`]);
    const twice = { patience: [...once.patience, { key: overdue, since: daysAfterStart(31) }] };
    expect(keysOf(kitCase(pathTo('transit_lab'), twice))).toEqual([`${overdue}.3 at 41`]);
  });

  test('patience for one limit leaves the others, and later problems, unchanged', () => {
    const patience = [{ key: 'order-1/9.problem_persists', since: daysAfterStart(20) }];
    const once = [...pathTo('transit_lab'), 'problem_in_transit_lab'];
    expect(keysOf(kitCase(once, { patience }))).toEqual([`${overdue} at 17`, 'order-1/9.problem_persists.2 at 27']);
    expect(keysOf(kitCase([...once, 'transit_lab', 'problem_in_transit_lab'], { patience }))).toEqual([
      `${overdue} at 17`,
      'order-1/11.problem_persists at 17',
    ]);
  });

  test('patience for one wait is none for a later wait at the same place', () => {
    const patience = [{ key: overdue, since: daysAfterStart(20) }];
    const returned = [...pathTo('transit_lab'), 'with_customer', 'transit_lab'];
    expect(keysOf(kitCase(returned, { patience }))).toEqual(['order-1/10.transit_to_lab_overdue at 19']);
  });

  test('patience to collect the sample lasts while the visit is arranged', () => {
    const patience = [{ key: 'order-1/collection_overdue', since: daysAfterStart(95) }];
    const arranged = ['received.walk_in_test.ordered', 'collecting_sample.walk_in_test.appointment_scheduled'];
    expect(keysOf(kitCase(arranged, { patience }, { method: 'walk_in_test' }))).toEqual([
      'order-1/collection_overdue.2 at 185',
    ]);
  });

  test('patience for a decision gives the whole wait again', () => {
    const lost = [...pathTo('transit_customer'), 'lost'];
    const patience = [{ key: 'order-1/4.decision', since: daysAfterStart(10) }];
    expect(keysOf(kitCase(lost, { patience }))).toEqual(['order-1/4.decision.2 at 40']);
  });
});

describe('the time to decide', () => {
  const failed = [...pathTo('delivered_to_lab'), 'sample_error'];
  const key = 'order-1/10.decision';
  const askedOn = (days: number, more: Partial<Chain> = {}) => {
    const question = {
      key,
      reason: 'decision_needed',
      orderId: 'order-1',
      since: daysAfterStart(days),
      time: 1,
    } as const;
    return kitCase(failed, { attention: [question], ...more });
  };
  const decisionOf = (chain: Chain) => deadlinesOf(chain).flatMap((one) => (one.name === 'decision' ? [one] : []));

  test('counts from when the person was asked, if silence delayed that', () => {
    expect(keysOf(askedOn(50))).toEqual(['order-1/10.redraw at 10', `${key} at 80`]);
  });

  test('is never shorter than it would be without the question', () => {
    expect(keysOf(askedOn(9))).toEqual(['order-1/10.redraw at 10', `${key} at 40`]);
  });

  test('does not count from a question about something else', () => {
    const other = { key: 'order-1', reason: 'registered_another_order', orderId: 'order-1', time: 1 } as const;
    const chain = kitCase(failed, { attention: [{ ...other, since: daysAfterStart(50) }] });
    expect(keysOf(chain)).toEqual(['order-1/10.redraw at 10', `${key} at 40`]);
  });

  test('cannot be up before anybody was asked, or if the answer was more time', () => {
    const unasked = (chain: Chain) => decisionOf(chain).map((decision) => isUnasked(chain, decision));
    expect(unasked(kitCase(failed))).toEqual([true]);
    const other = {
      key: 'order-1',
      reason: 'late_arrival',
      orderId: 'order-1',
      since: daysAfterStart(9),
      time: 1,
    } as const;
    const elsewhere = { key: 'order-1/shipping_overdue', since: daysAfterStart(2) };
    expect(unasked(kitCase(failed, { attention: [other], patience: [elsewhere] }))).toEqual([true]);
    expect(unasked(askedOn(50))).toEqual([false]);
    expect(unasked(kitCase(failed, { patience: [{ key, since: daysAfterStart(20) }] }))).toEqual([false]);
  });

  test('is the only deadline that depends on a question', () => {
    for (const statuses of [pathTo('delivered_to_lab'), pathTo('testkit_registered'), failed]) {
      const chain = kitCase(statuses);
      const others = deadlinesOf(chain).filter(({ name }) => name !== 'decision');
      expect(others.filter((deadline) => isUnasked(chain, deadline))).toEqual([]);
    }
  });
});

test('limits differ from reminders, the redraw and the decision', () => {
  expect(isOverdueName('problem_persists')).toBe(true);
  expect(isOverdueName('collection_overdue')).toBe(true);
  for (const name of ['registration_reminder', 'return_reminder', 'redraw', 'decision'] as const) {
    expect(isOverdueName(name)).toBe(false);
  }
});

test('a key is a reminder’s by its end', () => {
  for (const key of ['order-1/registration_reminder.1', 'order-1/5.return_reminder.12'])
    expect(isKeyOfReminder(key)).toBe(true);
  for (const key of ['order-1/5.return_overdue', 'an_reminder.1/shipping_overdue', 'order-1/return_reminder.x'])
    expect(isKeyOfReminder(key)).toBe(false);
});

test('a kit is shipped, unless the order is a visit or an import', () => {
  const ships = (statuses: readonly string[], method: string) =>
    shipsKit(currentOrder(kitCase(statuses, {}, { method })));
  expect(ships(['ordered'], 'testkit')).toBe(true);
  expect(ships(['requisition_bypassed'], 'testkit')).toBe(false);
  expect(ships(['received.walk_in_test.ordered'], 'walk_in_test')).toBe(false);
});

describe('the next moment', () => {
  const named = (chain: Chain) => momentsOf(chain).map(({ name, at }) => `${name} ${(at - start) / day}`);
  const key = 'order-1/shipping_overdue';
  const critical = {
    ...{ orderId: 'order-1', status: 'partial', since: daysAfterStart(1), isOpen: true },
    ...{ reminders: 0, announced: [], acknowledgements: [] },
  };

  test('is nothing after an end, except a reminder of a critical result', () => {
    const ended = kitCase(['ordered'], { ending: 'abandoned' });
    expect([nextMoment(ended), momentsOf(ended)]).toEqual([undefined, []]);
    const open = kitCase(['ordered'], { ending: 'abandoned', criticalResults: [critical] });
    expect(named(open)).toEqual([`critical_result_reminder ${1 + 1 / 24}`]);
    expect(nextMoment(open)).toEqual(momentsOf(open)[0]);
  });

  test('is nothing once a person has no time left to decide', () => {
    const failed = kitCase([...pathTo('transit_customer'), 'lost'], { met: ['order-1/4.decision'] });
    expect(nextMoment(failed)).toBeUndefined();
  });

  test('is one of all that the policy brings: deadlines that are not met, reminders, giving up', () => {
    expect(named(kitCase(['ordered']))).toEqual(['shipping_overdue 5']);
    expect(named(kitCase(['ordered'], { met: [key] }))).toEqual(['give_up 65']);
    expect(named(kitCase(['ordered'], { criticalResults: [critical] }))).toContain(
      `critical_result_reminder ${1 + 1 / 24}`,
    );
  });

  test('is the next read while the service does not answer, unless a reminder comes before', () => {
    const unanswered = (again: number) => ({
      unanswered: { since: daysAfterStart(5), attempts: 1, againAt: start + again * day },
    });
    expect(nextMoment(kitCase(['ordered'], unanswered(6) as never))).toEqual({
      name: 'read_again',
      at: start + 6 * day,
    });
    const registered = kitCase(pathTo('testkit_registered'), unanswered(20) as never);
    expect(nextMoment(registered)).toEqual({ name: 'return_reminder 1', at: start + 7 * day });
  });
});
