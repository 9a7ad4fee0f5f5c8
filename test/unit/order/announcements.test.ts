import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AttentionReason } from '../../../protocol/order/state.js';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { announceNews, markAnnounced, raise } from '../../../workflows/order/announcements.js';
import { ordersOf, foldIn, type Chain } from '../../../workflows/order/chain.js';
import { remind } from '../../../workflows/order/decisions.js';
import { clearAnswered } from '../../../workflows/order/questions.js';
import { stateOf } from '../../../workflows/order/view.js';
import { caseOf, day, daysAfterStart, eventsOf, happyPath, kitOf, pathTo, start } from './histories.js';
import { deliveriesOf, forAll, reportsOfChain } from './reports.js';

/** What a chain announces, in the parts that its announcements are made of. */
function announcedBy({ outbox }: Chain) {
  return outbox.map(({ id, at, type, subject, data }) => {
    const { orderId, rootOrderId, reference, userId, ...rest } = data;
    const isAttention = type.startsWith('order.attention_');
    return {
      id,
      at,
      type: type.replace('order.', ''),
      orderId: subject,
      rootOrderId,
      ...(reference !== undefined && { reference }),
      ...(userId !== undefined && { userId }),
      data: { ...(isAttention && { orderId }), ...rest },
    };
  });
}

type AnnouncedByChain = ReturnType<typeof announcedBy>[number];

const announced = (chain: Chain) => announcedBy(chain).map(({ id }) => id);

/** What is announced when these reports come one after the other. */
function announce(reports: readonly OrderSnapshot[], chain = caseOf([])): Chain {
  for (const report of reports) if (foldIn(chain, report)) announceNews(chain);
  return chain;
}

/** A later run of an order, of which an earlier one has announced this. */
function resumed(report: OrderSnapshot): Chain {
  const chain = caseOf([report]);
  for (const order of ordersOf(chain)) markAnnounced(chain, order);
  return chain;
}

/** Every event of these statuses reported as it happens. */
function eachStep(statuses: readonly string[], more: Partial<OrderSnapshot> = {}): OrderSnapshot[] {
  return statuses.map((_, index) => kitOf('order-1', statuses.slice(0, index + 1), more));
}

/** Reports of a sample that is blocked at the lab, each with the reasons of its events, `-` for none; the first of them is event 10. */
const blocked = (...reports: string[]): OrderSnapshot[] => {
  const path = pathTo('delivered_to_lab');
  return reports.map((report) => {
    const reasons = report.split(' ');
    const events = eventsOf(...path, ...reasons.map(() => 'lab_processing_blocked')).map((event, index) => {
      const detail = reasons[index - path.length] ?? '-';
      return detail === '-' ? event : { ...event, detail };
    });
    return { orderId: 'order-1', events };
  });
};

const shipped = ['ordered', 'transit_customer'];
/** The order's own status alone reports its end. */
const byStatus = (status: string, more: Partial<OrderSnapshot> = {}) =>
  kitOf('order-1', shipped, { status, updatedAt: daysAfterStart(5), ...more });

describe('the product is notified of', () => {
  test('a result and its correction, if the event of the result never came, or comes later', () => {
    const skipped = kitOf('order-1', pathTo('delivered_to_lab'));
    const corrected = { id: 11, at: daysAfterStart(12), status: 'completed.testkit.corrected' };
    const chain = announce([{ ...skipped, events: [...skipped.events, corrected] }]);
    expect(announced(chain)).toEqual(expect.arrayContaining(['order-1/11/result', 'order-1/11/correction']));
    const before = announced(chain).length;
    expect(announced(announce([kitOf('order-1', [...happyPath, 'corrected'])], chain))).toHaveLength(before);
  });

  const completed = kitOf('order-1', happyPath);
  const corrected = kitOf('order-1', [...happyPath, 'corrected']);
  const again = [...happyPath, 'completed', 'sample_with_lab.testkit.partial_results'];
  const bare = { orderId: 'order-1', events: [] };
  const first = { ...bare, events: [{ id: 0, at: daysAfterStart(0), status: 'received.testkit.ordered' }] };
  const sparse = {
    ...first,
    events: [...first.events, { id: 170, at: daysAfterStart(3), status: 'completed.a.completed' }],
  };
  const then = (...statuses: string[]) => kitOf('order-1', [...shipped, ...statuses], { updatedAt: daysAfterStart(8) });
  const back = (day: number, more: object = {}) =>
    byStatus('collecting_sample', { updatedAt: daysAfterStart(day), ...more });
  const takenBack = [
    byStatus('cancelled', { updatedAt: daysAfterStart(9) }),
    back(10),
    back(11, { interpretation: 'normal' }),
  ];
  const cancelled = '2.cancelled/cancellation 2.cancelled/phase_changed';
  const twoPhases = '10/phase_changed 12/phase_changed';
  const normal = { interpretation: 'normal', updatedAt: daysAfterStart(6) };

  /** What is announced has the order's id before it. */
  test.each<[what: string, reports: OrderSnapshot[], announced: string, ofEarlierRun?: OrderSnapshot]>([
    ['a result and its correction, if both come at once', [corrected], '10/result 11/correction 10/phase_changed'],
    [
      'each event with results, but of no partial ones after them',
      [completed, kitOf('order-1', again)],
      '10/result 10/phase_changed 11/result 12/phase_changed',
    ],
    ['an event with the id 0, even for an order that was reported without any', [bare, first], '0/phase_changed'],
    ['events by the service’s own ids, which are not dense', [sparse], '170/result 170/phase_changed'],
    ['that event in a later run', [first], '0/phase_changed', bare],
    ['nothing that an earlier run has announced', [{ ...completed, sampleId: 'SAMPLE-1' }], '', completed],
    ['all that is new since', [corrected], '11/correction', completed],
    ['no reason that came late', blocked('-', 'x', 'x -'), '10/phase_changed'],
    ['the next event that gives it', blocked('-', 'x', 'x y x'), twoPhases],
    ['another reason, once, and of no report without one', blocked('x', 'x -', 'x - y', 'x - y y'), twoPhases],
    ['no reason that came and went between two reports', blocked('x', 'x y x'), '10/phase_changed'],
    [
      'a correction of results that only the status has reported',
      [byStatus('completed'), then('completed', 'corrected')],
      '2.completed/result 2.completed/phase_changed 4/correction',
    ],
    [
      'such a correction, too, if the event of the results never comes',
      [byStatus('completed'), then('corrected')],
      '2.completed/result 2.completed/phase_changed 3/correction',
    ],
    [
      'the way on after a cancellation that only the status has reported',
      [byStatus('cancelled'), then('cancelled', 'transit_lab')],
      `${cancelled} 4/phase_changed`,
    ],
    ['no results of an order that was cancelled', [byStatus('cancelled'), byStatus('cancelled', normal)], cancelled],
    ['nothing again if an end is taken back', [then(), ...takenBack], `2/phase_changed ${cancelled}`],
    [
      'one cancellation that was taken back and comes after all',
      [byStatus('cancelled'), back(6), then('cancelled')],
      cancelled,
    ],
    ['no cancellation that an earlier run has announced', [then('cancelled')], '', byStatus('cancelled')],
  ])('%s', (_what, reports, expected, ofEarlierRun) => {
    const chain = announce(reports, ofEarlierRun && resumed(ofEarlierRun));
    expect(announced(chain).join(' ').replaceAll('order-1/', '')).toBe(expected);
  });

  const stuck = [...pathTo('transit_lab'), 'problem_in_transit_lab'];
  const inTransit = 'collecting_sample.testkit';
  const problem = { problem: `${inTransit}.problem_in_transit_lab`, detail: 'invented_detail' };
  test.each<[string, string[], string[], object]>([
    ['a phase', pathTo('transit_customer'), ['out_for_delivery', 'a.b.c'], { phase: 'in_transit_to_customer' }],
    ['a problem', stuck, ['problem_in_transit_lab'], { phase: 'in_transit_to_lab', ...problem }],
    ['the end of a problem', [...stuck, 'transit_lab'], ['transit_lab'], { phase: 'in_transit_to_lab' }],
  ])('%s by the event that brought it, even if later ones that kept it come with it', (_what, path, more, data) => {
    const turn = path.length;
    const events = eventsOf(...path, ...more).map((event) =>
      'detail' in data && event.id === turn ? { ...event, detail: data.detail as string } : event,
    );
    const kit = { orderId: 'order-1', method: 'testkit' };
    // Received at once or one after the other: it is the same notification.
    const atOnce = announcedBy(announce([{ ...kit, events }])).at(-1);
    const steps = events.map((_, index) => ({ ...kit, events: events.slice(0, index + 1) }));
    expect(atOnce).toMatchObject({ id: `order-1/${turn}/phase_changed`, at: daysAfterStart(turn - 1) });
    expect(atOnce?.data).toEqual({ ...data, status: `${inTransit}.${path.at(-1)}` });
    expect(announcedBy(announce(steps)).at(-1)).toEqual(atOnce);
  });

  test('results that come to mean something else without an event are notified as a correction of their own', () => {
    const results = (interpretation: string | undefined, updatedAt: string) =>
      kitOf('order-1', happyPath, { updatedAt, ...(interpretation !== undefined && { interpretation }) });
    const reports = [
      kitOf('order-1', pathTo('delivered_to_lab'), { interpretation: 'abnormal' }),
      results('normal', daysAfterStart(9)),
      results('abnormal', daysAfterStart(10)),
      results(undefined, daysAfterStart(11)),
      results('normal', daysAfterStart(12)),
    ];
    const chain = announce(reports);
    expect(announcedBy(chain).slice(1)).toMatchObject([
      { id: 'order-1/10/result', data: { interpretation: 'normal' } },
      { id: 'order-1/10/phase_changed' },
      ...[10, 12].map((day) => ({
        id: `order-1/10.${day === 10 ? '8768ef32' : '74abd8b5'}.${daysAfterStart(day)}/correction`,
        at: daysAfterStart(day),
        data: { interpretation: day === 10 ? 'abnormal' : 'normal' },
      })),
    ]);
    expect(announced(announce(reports, chain))).toHaveLength(5);
    const corrected = [...happyPath, 'corrected'];
    announce([kitOf('order-1', corrected, { updatedAt: daysAfterStart(13), interpretation: 'abnormal' })], chain);
    expect(announced(chain).slice(5)).toEqual(['order-1/11/correction']);
  });

  test('an event that leaves the interpretation out takes it back of neither of two orders', () => {
    const last = (statuses: readonly string[], day: number, interpretation?: string) =>
      kitOf('order-2', statuses, { updatedAt: daysAfterStart(day), ...(interpretation && { interpretation }) });
    const corrected = [...happyPath, 'corrected'];
    const chain = announce([
      kitOf('order-1', happyPath, { interpretation: 'normal' }),
      last(happyPath, 9, 'abnormal'),
      last(corrected, 10),
      last(corrected, 11, 'abnormal'),
    ]);
    const ofSecond = announcedBy(chain).filter(({ orderId }) => orderId === 'order-2');
    expect(ofSecond.map(({ id, data }) => [id, data])).toEqual([
      ['order-2/10/result', { interpretation: 'abnormal' }],
      ['order-2/10/phase_changed', { phase: 'completed', status: 'completed.testkit.completed' }],
      ['order-2/11/correction', { interpretation: 'abnormal' }],
    ]);
  });

  test('an interpretation that comes after the results, which it corrects only if they had another, even if something unknown came after them', () => {
    const odd = [...happyPath, 'invented.testkit.status'];
    const words = [undefined, 'normal', 'critical'];
    const chain = announce(
      words.map((word) => kitOf('order-1', odd, word === undefined ? {} : { interpretation: word })),
    );
    const results = announcedBy(chain).filter(({ type }) => type !== 'phase_changed');
    expect(results.map(({ id, at, data }) => [id, at, data])).toEqual([
      ['order-1/10/result', daysAfterStart(9), {}],
      ['order-1/10.74abd8b5/result', daysAfterStart(9), { interpretation: 'normal' }],
      ['order-1/10.06892ce3/correction', daysAfterStart(9), { interpretation: 'critical' }],
    ]);
  });

  test.each(['cancelled', 'do_not_process'])('a cancellation by %s, with its status', (status) => {
    const outbox = announcedBy(announce([kitOf('order-1', ['ordered', status])]));
    expect(outbox).toMatchObject([
      { id: 'order-1/2/cancellation', data: { status: `cancelled.testkit.${status}` } },
      { id: 'order-1/2/phase_changed', data: { phase: 'cancelled' } },
    ]);
  });

  test('partial results whenever there are more, and when a redraw is to bring the others', () => {
    const drawn = ['received.walk_in_test.ordered', 'sample_with_lab.on_site_collection.draw_completed'];
    const partial = 'sample_with_lab.walk_in_test.partial_results';
    const redraw = 'collecting_sample.walk_in_test.redraw_available';
    const outbox = announcedBy(announce(eachStep([...drawn, partial, partial, redraw], { interpretation: 'normal' })));
    expect(outbox.filter(({ type }) => type !== 'phase_changed')).toMatchObject([
      { id: 'order-1/3/partial_results', type: 'partial_results', data: { status: partial, interpretation: 'normal' } },
      { id: 'order-1/4/partial_results' },
      { id: 'order-1/5/partial_results', data: { status: redraw } },
    ]);
  });

  test('what partial results come to mean, but not beside the results themselves', () => {
    const statuses = ['received.walk_in_test.ordered', 'sample_with_lab.walk_in_test.partial_results'];
    const report = (interpretation: string, more: Partial<OrderSnapshot> = {}) =>
      kitOf('order-1', statuses, { interpretation, ...more });
    const later = report('abnormal', { updatedAt: daysAfterStart(2) });
    const ended = report('critical', { updatedAt: daysAfterStart(3), status: 'completed' });
    const chain = announce([report('normal'), later]);
    announce([ended], chain);
    expect(announcedBy(chain).filter(({ type }) => type !== 'phase_changed')).toMatchObject([
      { id: 'order-1/2/partial_results', data: { interpretation: 'normal' } },
      { type: 'partial_results', data: { interpretation: 'abnormal' } },
      { type: 'result', data: { interpretation: 'critical' } },
    ]);
  });

  test('the user of every order of the chain', () => {
    const userId = 'user-2';
    const redraw = kitOf('order-2', ['ordered'], { userId, createdAt: daysAfterStart(20) });
    const outbox = announcedBy(announce([kitOf('order-1', ['ordered']), redraw], caseOf([], { reference: 'ref-1' })));
    expect(outbox).toMatchObject([
      { orderId: 'order-1', rootOrderId: 'order-1', reference: 'ref-1' },
      { orderId: 'order-2', rootOrderId: 'order-1', reference: 'ref-1', userId },
    ]);
  });
});

describe('an end that only the order’s own status reports', () => {
  test.each([
    ['cancelled', 'cancellation', 'cancelled'],
    ['completed', 'result', 'completed'],
    ['failed', undefined, 'lost'],
  ])('is notified once if it is %s, even if its event comes later', (status, type, low) => {
    const chain = announce([kitOf('order-1', shipped), byStatus(status), byStatus(status, { sampleId: 'SAMPLE-1' })]);
    const ends = announcedBy(chain).slice(1);
    expect(ends).toMatchObject([
      ...(type === undefined ? [] : [{ id: `order-1/2.${status}/${type}`, type, at: daysAfterStart(5) }]),
      { id: `order-1/2.${status}/phase_changed`, data: { phase: status, status } },
    ]);
    announce([kitOf('order-1', [...shipped, low], { status })], chain);
    expect(announcedBy(chain).slice(1)).toEqual(ends);
  });

  test('is notified for an order without any event or time', () => {
    expect(announcedBy(announce([{ orderId: 'order-1', events: [], status: 'cancelled' }]))).toMatchObject([
      { id: 'order-1/0.cancelled/cancellation', at: '1970-01-01T00:00:00.000Z', data: { status: 'cancelled' } },
      { id: 'order-1/0.cancelled/phase_changed' },
    ]);
  });

  test('is notified with the order’s interpretation, and a later one is a correction, with or without the event', () => {
    const chain = announce([byStatus('completed', { interpretation: 'normal' })]);
    expect(announcedBy(chain)[0]).toMatchObject({ type: 'result', data: { interpretation: 'normal' } });
    announce([byStatus('completed', { interpretation: 'abnormal', updatedAt: daysAfterStart(6) })], chain);
    announce([kitOf('order-1', [...shipped, 'completed'], { interpretation: 'critical' })], chain);
    expect(announcedBy(chain).slice(2)).toMatchObject([
      { id: `order-1/2.8768ef32.${daysAfterStart(6)}/correction`, data: { interpretation: 'abnormal' } },
      { id: 'order-1/3.06892ce3/correction', data: { interpretation: 'critical' } },
    ]);
  });
});

test('a reminder of the registration comes without a link if there is no user', () => {
  const chain = caseOf([kitOf('order-1', pathTo('with_customer'))]);
  remind(chain, start + 8 * day);
  expect(chain.outbox.map(({ type, portalLink }) => [type, portalLink])).toEqual([
    ['order.registration_reminder', undefined],
  ]);
});

const chainAt = (...statuses: string[]) => caseOf([kitOf('order-1', statuses)]);
const ask = (chain: Chain, reason: AttentionReason, key = 'order-1') =>
  raise(chain, { key, reason, orderId: 'order-1' }, start);

/** The questions that are left once the order has come so far. */
function leftAfter(chain: Chain, ...statuses: string[]): string[] {
  foldIn(chain, kitOf('order-1', statuses));
  clearAnswered(chain, start);
  return chain.attention.map(({ key }) => key);
}

/* How a question is raised, counted and cleared, whatever it is about: test/unit/entity/attention.test.ts. */
describe('attention', () => {
  test('is raised once per question, shown without its key, and notified with an id that comes from the question', () => {
    const chain = chainAt(...pathTo('delivered_to_lab'));
    const key = 'order-1/9.results_overdue';
    for (let times = 0; times < 2; times += 1) ask(chain, 'results_overdue', key);
    const shown = { reason: 'results_overdue', orderId: 'order-1', since: daysAfterStart(0) };
    expect(stateOf(chain).attention).toEqual([shown]);
    const about = { at: daysAfterStart(0), type: 'attention_raised', orderId: 'order-1', rootOrderId: 'order-1' };
    const id = `${key}.results_overdue/attention_raised`;
    expect(announcedBy(chain)).toEqual([{ id, ...about, data: shown }]);
  });

  const atLab = pathTo('delivered_to_lab');
  const partial = [...atLab, 'sample_with_lab.testkit.partial_results'];
  const completed = [...partial, 'completed'];
  const registered = pathTo('testkit_registered');
  const back = [...registered, 'transit_lab', 'with_customer'];
  test.each<[what: string, key: string, reason: AttentionReason, at: string[], then: string[], stays: boolean]>([
    ['stays while its deadline stands', 'order-1/9.results_overdue', 'results_overdue', atLab, partial, true],
    ['is cleared when its order moves', 'order-1/9.results_overdue', 'results_overdue', partial, completed, false],
    ['ends when the kit is sent back', 'order-1/5.return_overdue', 'return_overdue', registered, back, false],
    ['stands again if it comes back', 'order-1/8.return_overdue', 'return_overdue', back, back, true],
    ['that no event resolves stays', 'order-1', 'registered_another_order', ['ordered'], happyPath, true],
  ])('%s', (_what, key, reason, at, then, stays) => {
    const chain = chainAt(...at);
    ask(chain, reason, key);
    expect(leftAfter(chain, ...at)).toEqual([key]);
    expect(leftAfter(chain, ...then)).toEqual(stays ? [key] : []);
  });

  test('for an order that was never reported is notified about the current one', () => {
    const chain = caseOf([{ orderId: 'order-1', events: eventsOf('ordered'), userId: 'user-1' }]);
    raise(chain, { key: 'order-9', reason: 'reference_conflict', orderId: 'order-9' }, start);
    expect(announcedBy(chain)).toMatchObject([{ orderId: 'order-1', userId: 'user-1', data: { orderId: 'order-9' } }]);
  });
});

describe('if order reports arrive in any order, repeated or lost,', () => {
  const deliveries = reportsOfChain.chain((reports) => fc.tuple(deliveriesOf(reports), deliveriesOf(reports)));
  /** A later report may say more about an event, so that is left out. */
  const phases = (outbox: AnnouncedByChain[]) =>
    outbox.flatMap((one) =>
      one.type === 'phase_changed' ? [{ ...one, data: { ...one.data, detail: undefined } }] : [],
    );
  const byId = (a: { id: string }, b: { id: string }) => Number(a.id > b.id) - Number(a.id < b.id);
  const identity = ({ id, at, type }: AnnouncedByChain) => ({ id, at, type });

  test('no notification has the id of another', () => {
    forAll(deliveries, ([delivery]) => {
      const ids = announced(announce(delivery));
      expect(ids).toHaveLength(new Set(ids).size);
    });
  });

  /** Which interpretations an order had in between depends on what arrived, as with phases. */
  const isReworded = ({ id }: AnnouncedByChain) => /^[^/]+\/\d+\.[\da-f]{8}[./]/.test(id);

  test('the same results, corrections and cancellations are notified', () => {
    const news = (delivery: OrderSnapshot[]) =>
      announcedBy(announce(delivery))
        .filter((one) => one.type !== 'phase_changed' && !isReworded(one))
        .map(identity);
    forAll(deliveries, ([one, other]) => {
      expect(news(one).toSorted(byId)).toEqual(news(other).toSorted(byId));
    });
  });

  test('the last interpretation announced is the one that the results have', () => {
    forAll(deliveries, ([delivery]) => {
      const chain = announce(delivery);
      for (const { orderId, latest, events } of ordersOf(chain)) {
        if (!events.some(({ status }) => status.startsWith('completed.'))) continue;
        const last = announcedBy(chain).findLast(
          (one) => one.orderId === orderId && (one.type === 'result' || one.type === 'correction'),
        );
        const announced = last && 'interpretation' in last.data ? last.data.interpretation : undefined;
        expect(announced).toBe(latest.interpretation ?? announced);
      }
    });
  });

  test('a phase that is notified under one id is the same phase, at the same time', () => {
    forAll(deliveries, ([one, other]) => {
      const mine = phases(announcedBy(announce(one)));
      const others = phases(announcedBy(announce(other)));
      const inBoth = (some: typeof mine, rest: typeof mine) =>
        some.filter(({ id }) => rest.some((notification) => notification.id === id)).toSorted(byId);
      expect(inBoth(mine, others)).toEqual(inBoth(others, mine));
    });
  });

  test('the last phase notified of an order is the one it is in', () => {
    forAll(deliveries, ([delivery]) => {
      const chain = announce(delivery);
      for (const { orderId, standing } of ordersOf(chain)) {
        if (!standing.last) continue;
        const last = phases(announcedBy(chain)).findLast((notification) => notification.orderId === orderId);
        expect(last?.data).toMatchObject({ phase: standing.phase });
      }
    });
  });
});
