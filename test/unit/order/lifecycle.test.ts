import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { phaseOf, readStatus, standingOf } from '../../../protocol/order/lifecycle.js';
import { daysAfterStart, eventsOf, happyPath, pathTo, topOf, withPatient } from './histories.js';
import { inferredEdges, registeredEdges, registrableEdges, seedEdges, textEdges } from './lifecycle-edges.js';

const phaseAfter = (...statuses: string[]) => phaseOf(eventsOf(...statuses));
const standingAfter = (...statuses: string[]) => standingOf(eventsOf(...statuses));

/** None of them is a status, not even `constructor`, a property that every object has. */
const unknownStatuses = [
  '',
  '.',
  '...',
  'invented',
  'invented.testkit.status',
  'constructor',
  'a.b.toString',
  '__proto__',
];

describe.each([
  ['registered (diagram)', registeredEdges],
  ['registrable (diagram)', registrableEdges],
  ['text', textEdges],
  ['specification', seedEdges],
  ['undocumented', inferredEdges],
])('the edges of a test kit: %s', (_name, edges) => {
  test.each(edges)('after %j, %s → %s leads from %s to %s', (before, from, to, phase, nextPhase) => {
    expect(phaseAfter(...before, from)).toBe(phase);
    expect(phaseAfter(...before, from, to)).toBe(nextPhase);
  });
});

// proves 168
test('every known status of a test kit has a known phase, even if it is the only one ever received', () => {
  for (const status of Object.keys(topOf)) expect.soft(phaseAfter(status), status).not.toBe('unknown');
});

// proves 152, 154-165
test.each([
  { status: 'received.testkit.ordered', phase: 'preparing' },
  { status: 'received.testkit.awaiting_registration', phase: 'awaiting_registration' },
  { status: 'received.testkit.requisition_created', phase: 'preparing' },
  { status: 'received.testkit.testkit_registered', phase: 'preparing' },
  { status: 'collecting_sample.testkit.transit_customer', phase: 'in_transit_to_customer' },
  { status: 'collecting_sample.testkit.problem_in_transit_customer', phase: 'in_transit_to_customer' },
  { status: 'collecting_sample.testkit.problem_in_transit_lab', phase: 'in_transit_to_lab' },
  { status: 'a_status.testkit.of_next_year', phase: 'unknown' },
])('an order of which only $status is known is in the phase $phase', ({ status, phase }) => {
  expect(phaseOf([{ id: 1, at: daysAfterStart(0), status }])).toBe(phase);
});

describe('other collection methods', () => {
  /** On the way: the phase that each of these statuses brings. */
  test.each<[string, string, [phase: string, top: string, lows: string][]]>([
    [
      'a walk-in test is prepared, collected, analysed and completed',
      'walk_in_test',
      [
        ['preparing', 'received', 'ordered requisition_created'],
        ['collecting_sample', 'collecting_sample', 'appointment_pending appointment_scheduled appointment_cancelled'],
        ['at_lab', 'sample_with_lab', 'partial_results'],
        ['completed', 'completed', 'completed corrected'],
      ],
    ],
    [
      'a draw at home that is done is still being collected until the lab reports',
      'at_home_phlebotomy',
      [
        ['preparing', 'received', 'requisition_bypassed'],
        ['collecting_sample', 'collecting_sample', 'appointment_scheduled draw_completed'],
        ['at_lab', 'sample_with_lab', 'partial_results'],
        ['failed', 'failed', 'sample_error'],
      ],
    ],
    [
      'an on-site draw counts by its top level',
      'on_site_collection',
      [
        ['preparing', 'received', 'ordered'],
        ['collecting_sample', 'collecting_sample', 'draw_completed'],
        ['at_lab', 'sample_with_lab', 'draw_completed'],
        ['cancelled', 'cancelled', 'cancelled'],
      ],
    ],
  ])('%s', (_what, method, way) => {
    const steps = way.flatMap(([phase, top, lows]) => lows.split(' ').map((low) => [phase, `${top}.${method}.${low}`]));
    const statuses = steps.map(([, status = '']) => status);
    const phases = statuses.map((_, index) => phaseAfter(...statuses.slice(0, index + 1)));
    expect(phases).toEqual(steps.map(([phase]) => phase));
  });

  test('redraw_available is final, and the order goes on if it moves after all', () => {
    const standing = (...lows: string[]) => standingOf(eventsOf('received.walk_in_test.ordered', ...lows));
    const redraw = 'collecting_sample.walk_in_test.redraw_available';
    expect(standing(redraw)).toMatchObject({ phase: 'collecting_sample', final: true });
    const partial = 'sample_with_lab.walk_in_test.partial_results';
    expect(standing(redraw, partial)).toMatchObject({ phase: 'at_lab', final: false });
  });
});

describe('an unknown status', () => {
  test.each([
    [[], 'received', 'preparing'],
    [pathTo('awaiting_registration'), 'received', 'awaiting_registration'],
    [pathTo('transit_customer'), 'received', 'in_transit_to_customer'],
    [pathTo('ordered'), 'collecting_sample', 'collecting_sample'],
    [pathTo('out_for_delivery'), 'collecting_sample', 'in_transit_to_customer'],
    [pathTo('with_customer', withPatient), 'collecting_sample', 'with_customer'],
    [pathTo('transit_lab'), 'collecting_sample', 'in_transit_to_lab'],
    [pathTo('delivered_to_lab'), 'collecting_sample', 'collecting_sample'],
    [pathTo('transit_lab'), 'sample_with_lab', 'at_lab'],
    [pathTo('delivered_to_lab'), 'completed', 'completed'],
    [pathTo('transit_customer'), 'failed', 'failed'],
    [pathTo('ordered'), 'cancelled', 'cancelled'],
  ])('an unknown low-level status keeps its top-level meaning: after %j, %s.… is %s', (before, top, phase) => {
    for (const status of [`${top}.testkit.invented`, `${top}.constructor`, `${top}.a.b.invented`, top, `${top}.`]) {
      expect.soft(phaseAfter(...before, status), status).toBe(phase);
    }
  });

  test.each(unknownStatuses)('the status %j alone is the phase unknown', (status) => {
    expect(phaseAfter(status)).toBe('unknown');
    expect(phaseAfter('invented.testkit.first', status)).toBe('unknown');
    expect(phaseOf([], status)).toBe('unknown');
  });

  test.each(unknownStatuses)('the status %j leaves every order where it was, even one that has ended', (status) => {
    const ends = ['lost', 'sample_error', 'cancelled', 'corrected', 'problem_in_transit_lab'];
    for (const path of [...happyPath.map((step) => pathTo(step)), ...ends.map((end) => ['ordered', end])]) {
      const { last: _before, ...before } = standingAfter(...path);
      const { last, ...after } = standingAfter(...path, status);
      expect.soft(after, path.join()).toEqual(before);
      expect.soft(last?.status).toBe(status);
    }
  });

  test.each(['transit_lab', 'invented.transit_lab', 'invented.testkit.extra.transit_lab'])(
    'a missing or unknown top level does not hide a known low-level status: %s',
    (status) => {
      expect(phaseAfter('ordered', status)).toBe('in_transit_to_lab');
      expect(phaseOf([{ id: 1, at: daysAfterStart(0), status }])).toBe('in_transit_to_lab');
    },
  );

  test('the order’s own status counts while there is no event, and if it alone says that the order has ended', () => {
    expect(phaseOf([], 'received')).toBe('preparing');
    expect(phaseOf([], 'sample_with_lab')).toBe('at_lab');
    expect(standingOf([], 'cancelled')).toMatchObject({ phase: 'cancelled', final: true });
    expect(phaseOf([])).toBe('unknown');
    expect(phaseOf(eventsOf('ordered'), 'sample_with_lab')).toBe('preparing');
    for (const end of ['completed', 'cancelled', 'failed']) {
      expect(standingOf(eventsOf('ordered'), end)).toMatchObject({ phase: end, final: true, endedByStatus: true });
    }
  });

  test('the order’s own status takes back no end that an event reported, and none that the order has left', () => {
    expect(standingOf(eventsOf('ordered', 'completed'), 'cancelled')).toMatchObject({ phase: 'completed' });
    expect(standingOf(eventsOf('ordered', 'lost', 'delivered_to_lab'), 'failed')).toMatchObject({ phase: 'at_lab' });
  });

  test('no text breaks the reading of a status', () => {
    const part = fc.oneof(fc.string(), fc.constantFrom(...Object.keys(topOf), ...Object.values(topOf), 'valueOf'));
    const status = fc.array(part, { maxLength: 5 }).map((parts) => parts.join('.'));
    const onItsWay = 'in_transit_to_customer with_customer collecting_sample in_transit_to_lab at_lab';
    const phases = `preparing awaiting_registration ${onItsWay} completed failed cancelled unknown`.split(' ');
    fc.assert(
      fc.property(fc.array(status, { maxLength: 10 }), (statuses) => {
        expect(phases).toContain(phaseOf(statuses.map((one, id) => ({ id, at: daysAfterStart(id), status: one }))));
      }),
    );
  });

  // proves 153
  test('a status is read from its first and its last part', () => {
    expect(readStatus('failed.testkit.sample_error')).toEqual({ top: 'failed', low: 'sample_error' });
    expect(readStatus('a.b.c.d')).toEqual({ top: 'a', low: 'd' });
    expect(readStatus('received')).toEqual({ top: 'received', low: 'received' });
    expect(readStatus('')).toEqual({ top: '', low: '' });
    expect(readStatus('.b')).toEqual({ top: '', low: 'b' });
    expect(readStatus('a.')).toEqual({ top: 'a', low: '' });
  });
});

const spellings = [
  ['testkit_registered', 'requisition_created'],
  ['registered', 'requisition_created'],
  ['requisition_created', 'testkit_registered'],
  ['requisition_created', 'registered'],
  ['testkit_registered', 'requisition_bypassed'],
  ['registered'],
  ['testkit_registered'],
];

describe.each(spellings.map((statuses) => ({ statuses })))('registered as $statuses', ({ statuses }) => {
  // proves I5
  test('before shipping: the kit is prepared, and nobody is asked to register once it is delivered', () => {
    const before = standingAfter(...pathTo('awaiting_registration'), ...statuses);
    expect(before).toMatchObject({ phase: 'preparing', registered: true, awaitsRegistration: false });
    expect(before.registeredAt).toBe(daysAfterStart(2));
    const delivered = [...pathTo('awaiting_registration'), ...statuses, 'transit_customer', 'with_customer'];
    expect(standingAfter(...delivered)).toMatchObject({
      phase: 'with_customer',
      registered: true,
      awaitsRegistration: false,
    });
  });

  test('after delivery: the top level goes back to received, the phase does not go back to preparing', () => {
    const delivered = pathTo('with_customer');
    expect(standingAfter(...delivered)).toMatchObject({ phase: 'awaiting_registration', registered: false });
    for (let count = 1; count <= statuses.length; count++) {
      const standing = standingAfter(...delivered, ...statuses.slice(0, count));
      expect(standing).toMatchObject({ phase: 'with_customer', registered: true, awaitsRegistration: false });
      expect(standing.deliveredAt).toBe(daysAfterStart(4));
      expect(standing.registeredAt).toBe(daysAfterStart(5));
    }
    expect(phaseAfter(...delivered, ...statuses, 'transit_lab')).toBe('in_transit_to_lab');
  });

  test('while it seemed to be on its way: it has arrived, for it is registered by what is printed on it', () => {
    const standing = standingAfter(...pathTo('transit_customer'), ...statuses);
    expect(standing).toMatchObject({ phase: 'with_customer', deliveredAt: daysAfterStart(3) });
  });

  test('once the sample is at the lab: it stays there', () => {
    const arrived = ['ordered', 'awaiting_registration', 'transit_customer', 'transit_lab', 'delivered_to_lab'];
    expect(standingAfter(...arrived)).toMatchObject({ phase: 'at_lab', registered: false, awaitsRegistration: true });
    expect(standingAfter(...arrived, ...statuses)).toMatchObject({ phase: 'at_lab', registered: true });
  });
});

describe('registration', () => {
  test('a requisition for a patient who was known from the start does not make a kit arrive', () => {
    expect(phaseAfter('ordered', 'transit_customer', 'requisition_created')).toBe('in_transit_to_customer');
    const shipped = pathTo('transit_customer', withPatient);
    expect(phaseAfter(...shipped, 'requisition_created')).toBe('in_transit_to_customer');
  });

  test('a late awaiting_registration does not undo it', () => {
    const standing = standingAfter('ordered', 'testkit_registered', 'awaiting_registration');
    expect(standing).toMatchObject({ phase: 'preparing', registered: true, awaitsRegistration: false });
  });
});

describe('a problem', () => {
  test.each([
    ['problem_in_transit_customer', pathTo('out_for_delivery'), 'with_customer'],
    ['problem_in_transit_lab', pathTo('transit_lab'), 'transit_lab'],
    ['problem_in_transit_lab', pathTo('transit_lab'), 'delivered_to_lab'],
    ['lab_processing_blocked', pathTo('delivered_to_lab'), 'delivered_to_lab'],
    ['lab_processing_blocked', pathTo('delivered_to_lab'), 'completed'],
    ['problem_in_transit_customer', pathTo('transit_customer'), 'collecting_sample.testkit.invented'],
    ['problem_in_transit_customer', pathTo('transit_customer'), 'lost'],
  ])('%s after %j is over once %s is reported', (problem, before, next) => {
    expect(standingAfter(...before, problem).problem).toMatchObject({ since: daysAfterStart(before.length) });
    expect(standingAfter(...before, problem, next).problem).toBeUndefined();
  });

  test('a problem that is reported again lasts since its first report, with the latest detail', () => {
    const details = ['demographic_information_mismatch', 'date_of_collection_unspecified'];
    const reports = eventsOf('lab_processing_blocked', 'lab_processing_blocked');
    const events = reports.map((event, index) => ({ ...event, detail: details[index] ?? '' }));
    expect(standingOf(events).problem).toEqual({
      status: 'sample_with_lab.testkit.lab_processing_blocked',
      since: daysAfterStart(0),
      eventId: 1,
      detail: 'date_of_collection_unspecified',
    });
  });

  test('a problem that comes back after it healed is a new one', () => {
    const standing = standingAfter('transit_lab', 'problem_in_transit_lab', 'transit_lab', 'problem_in_transit_lab');
    expect(standing.problem).toMatchObject({ since: daysAfterStart(3), eventId: 4 });
  });

  test('does not restart its way when it heals', () => {
    const standing = standingAfter('ordered', 'transit_lab', 'problem_in_transit_lab', 'transit_lab');
    expect(standing.sentBackAt).toBe(daysAfterStart(1));
  });
});

describe('no status is absorbing', () => {
  test.each([
    [[...pathTo('transit_customer'), 'problem_in_transit_customer', 'lost'], 'with_customer', 'awaiting_registration'],
    [[...pathTo('transit_lab'), 'lost'], 'delivered_to_lab', 'at_lab'],
    [[...pathTo('transit_customer'), 'failure_to_deliver_to_customer'], 'with_customer', 'awaiting_registration'],
    [['ordered', 'cancelled'], 'transit_customer', 'in_transit_to_customer'],
    [['ordered', 'do_not_process'], 'delivered_to_lab', 'at_lab'],
    [pathTo('completed'), 'lab_processing_blocked', 'at_lab'],
  ])('no status is absorbing: after the end of %j, %s makes it %s again', (ended, next, phase) => {
    expect(standingAfter(...ended).final).toBe(true);
    expect(standingAfter(...ended, next)).toMatchObject({ phase, final: false });
  });

  test('a lost kit that reaches the lab after all completes, and its arrival is the one that was reported', () => {
    const path = [...pathTo('transit_lab'), 'problem_in_transit_lab', 'lost', 'delivered_to_lab'];
    expect(standingAfter(...path).arrivedAt).toBe(daysAfterStart(path.length - 1));
    expect(standingAfter(...path, 'completed')).toMatchObject({ phase: 'completed', final: true });
  });
});
