import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { announceNews, announceReplacements, remember } from '../../../workflows/order/announcements.js';
import { raise } from '../../../workflows/order/attention.js';
import { chainOf, learn, openCase, type Case } from '../../../workflows/order/case.js';
import type { OrderNotification } from '../../../workflows/order/notifications.js';
import { caseOf, daysAfterStart, eventsOf, happyPath, kitOf, pathTo, start } from './histories.js';
import { deliveriesOf, reportsOfChain } from './reports.js';

const told = ({ outbox }: Case) => outbox.map(({ id }) => id);

/** What is announced when these reports come one after the other. */
function announce(reports: readonly OrderSnapshot[], kase = caseOf([])): Case {
  for (const report of reports) if (learn(kase, report)) announceNews(kase);
  return kase;
}

/** Every event of these statuses reported as it happens. */
function eachStep(statuses: readonly string[], more: Partial<OrderSnapshot> = {}): OrderSnapshot[] {
  return statuses.map((_, index) => kitOf('order-1', statuses.slice(0, index + 1), more));
}

describe('the product is told', () => {
  test('each phase once, and the result', () => {
    const { outbox } = announce(eachStep(happyPath, { interpretation: 'normal' }));
    expect(
      outbox.map(({ id, type, data }) => ({ id, ...('phase' in data ? { phase: data.phase } : { type }) })),
    ).toEqual([
      { id: 'order-1/1/phase_changed', phase: 'preparing' },
      { id: 'order-1/2/phase_changed', phase: 'awaiting_registration' },
      { id: 'order-1/3/phase_changed', phase: 'in_transit_to_customer' },
      { id: 'order-1/5/phase_changed', phase: 'awaiting_registration' },
      { id: 'order-1/6/phase_changed', phase: 'with_customer' },
      { id: 'order-1/8/phase_changed', phase: 'in_transit_to_lab' },
      { id: 'order-1/9/phase_changed', phase: 'at_lab' },
      { id: 'order-1/10/result', type: 'result' },
      { id: 'order-1/10/phase_changed', phase: 'completed' },
    ]);
    expect(outbox.at(-2)).toEqual({
      id: 'order-1/10/result',
      type: 'result',
      at: daysAfterStart(9),
      orderId: 'order-1',
      rootOrderId: 'order-1',
      data: { interpretation: 'normal' },
    });
  });

  test('only where the order is now, when several events come at once', () => {
    const kase = announce([kitOf('order-1', pathTo('transit_lab'))]);
    expect(told(kase)).toEqual(['order-1/8/phase_changed']);
  });

  test('with the ids and times of the service’s own events, which are not dense', () => {
    const events = [
      { id: 17, at: daysAfterStart(0), status: 'received.testkit.ordered' },
      { id: 170, at: daysAfterStart(3), status: 'completed.testkit.completed' },
    ];
    expect(announce([{ orderId: 'order-1', events }]).outbox).toMatchObject([
      { id: 'order-1/170/result', at: daysAfterStart(3) },
      { id: 'order-1/170/phase_changed', at: daysAfterStart(3) },
    ]);
  });

  test('corrected results as a correction, though the phase stays', () => {
    const kase = announce(eachStep([...happyPath, 'corrected']));
    expect(told(kase).slice(-3)).toEqual(['order-1/10/result', 'order-1/10/phase_changed', 'order-1/11/correction']);
  });

  test('a result and its correction, when both come at once', () => {
    const kase = announce([kitOf('order-1', [...happyPath, 'corrected'])]);
    expect(told(kase)).toEqual(['order-1/10/result', 'order-1/11/correction', 'order-1/10/phase_changed']);
  });

  test.each<[string, readonly string[], readonly string[], object]>([
    [
      'a phase',
      pathTo('transit_customer'),
      ['out_for_delivery', 'invented.testkit.status'],
      { phase: 'in_transit_to_customer', status: 'collecting_sample.testkit.transit_customer' },
    ],
    [
      'a problem',
      [...pathTo('transit_lab'), 'problem_in_transit_lab'],
      ['problem_in_transit_lab'],
      {
        phase: 'in_transit_to_lab',
        status: 'collecting_sample.testkit.problem_in_transit_lab',
        problem: 'collecting_sample.testkit.problem_in_transit_lab',
        detail: 'invented_detail',
      },
    ],
    [
      'the end of a problem',
      [...pathTo('transit_lab'), 'problem_in_transit_lab', 'transit_lab'],
      ['transit_lab'],
      { phase: 'in_transit_to_lab', status: 'collecting_sample.testkit.transit_lab' },
    ],
  ])(
    '%s by the event that brought it, also when later ones that left it so are told with it',
    (_what, path, more, data) => {
      const turn = path.length;
      const events = eventsOf(...path, ...more).map((event) =>
        'detail' in data && event.id === turn ? { ...event, detail: data.detail as string } : event,
      );
      // Told at once, and told one after the other: it is the same notification.
      const atOnce = announce([{ orderId: 'order-1', method: 'testkit', events }]).outbox.at(-1);
      const steps = events.map((_, index) => ({
        orderId: 'order-1',
        method: 'testkit',
        events: events.slice(0, index + 1),
      }));
      expect(atOnce).toMatchObject({ id: `order-1/${turn}/phase_changed`, at: daysAfterStart(turn - 1) });
      expect(atOnce?.data).toEqual(data);
      expect(announce(steps).outbox.at(-1)).toEqual(atOnce);
    },
  );

  test('an event with the id 0, also of an order that was reported without any', () => {
    const events = [{ id: 0, at: daysAfterStart(0), status: 'received.testkit.ordered' }];
    expect(
      told(
        announce([
          { orderId: 'order-1', events: [] },
          { orderId: 'order-1', events },
        ]),
      ),
    ).toEqual(['order-1/0/phase_changed']);
    const resumed = caseOf([{ orderId: 'order-1', events: [] }]);
    for (const order of chainOf(resumed)) remember(resumed, order);
    expect(told(announce([{ orderId: 'order-1', events }], resumed))).toEqual(['order-1/0/phase_changed']);
  });

  test.each(['cancelled', 'do_not_process'])('a cancellation by %s, with its status', (status) => {
    const { outbox } = announce([kitOf('order-1', ['ordered', status])]);
    expect(outbox).toMatchObject([
      { id: 'order-1/2/cancellation', data: { status: `cancelled.testkit.${status}` } },
      { id: 'order-1/2/phase_changed', data: { phase: 'cancelled' } },
    ]);
  });

  test('a problem and its end, though the phase stays', () => {
    const problem = 'collecting_sample.testkit.problem_in_transit_lab';
    const { outbox } = announce(eachStep([...pathTo('transit_lab'), 'problem_in_transit_lab', 'transit_lab']));
    expect(outbox.slice(-2)).toMatchObject([
      { id: 'order-1/9/phase_changed', data: { phase: 'in_transit_to_lab', problem } },
      { id: 'order-1/10/phase_changed', data: { phase: 'in_transit_to_lab' } },
    ]);
    expect(outbox.at(-1)?.data).not.toHaveProperty('problem');
  });

  test('the first phase also of an order that was reported before it had any event', () => {
    const empty = { ...kitOf('order-1', []), status: 'received' };
    expect(told(announce([empty, ...eachStep(['ordered'])]))).toEqual(['order-1/1/phase_changed']);
  });

  test('nothing by an unknown status or detail that moves nothing', () => {
    const steps = eachStep(['ordered', 'received.testkit.invented', 'invented', '']);
    expect(told(announce(steps))).toEqual(['order-1/1/phase_changed']);
  });

  test('nothing twice', () => {
    const steps = eachStep([...happyPath, 'corrected']);
    const once = told(announce(steps));
    expect(told(announce([...steps, ...steps.toReversed(), ...steps]))).toEqual(once);
  });

  test('nothing of what an earlier run has announced, and all that is new since', () => {
    const kase = caseOf([kitOf('order-1', happyPath)]);
    for (const order of chainOf(kase)) remember(kase, order);
    announceNews(kase);
    expect(told(kase)).toEqual([]);
    announce([kitOf('order-1', [...happyPath, 'corrected'])], kase);
    expect(told(kase)).toEqual(['order-1/11/correction']);
  });

  test('nothing, and nothing is kept, where the worker has no target', () => {
    const kase = announce(eachStep(happyPath), caseOf([], { notifies: false }));
    expect(kase.outbox).toEqual([]);
    raise(kase, { key: 'k', reason: 'late_arrival', orderId: 'order-1' }, start);
    expect(kase.outbox).toEqual([]);
    expect(kase.attention).toHaveLength(1);
  });

  test('who it is about, of every order of the chain', () => {
    const userId = 'user-2';
    const redraw = kitOf('order-2', ['ordered'], { userId, createdAt: daysAfterStart(20) });
    const { outbox } = announce([kitOf('order-1', ['ordered']), redraw], caseOf([], { reference: 'ref-1' }));
    expect(outbox).toMatchObject([
      { orderId: 'order-1', rootOrderId: 'order-1', reference: 'ref-1' },
      { orderId: 'order-2', rootOrderId: 'order-1', reference: 'ref-1', userId },
    ]);
  });
});

describe('a replacement', () => {
  const claim = { replaces: 'order-1', atEventId: 3, n: 2, claimedAt: daysAfterStart(5) };
  const lost = kitOf('order-1', ['ordered', 'transit_customer', 'lost']);
  const events = [{ id: 71, at: daysAfterStart(6), status: 'received.testkit.ordered' }];
  const kit = { orderId: 'order-2', userId: 'user-1', events, createdAt: daysAfterStart(6) };

  test('is told once it is known, with the order that it replaces', () => {
    const kase = caseOf([lost, kit], { replacements: [{ ...claim, orderId: 'order-2' }], reference: 'ref-1' });
    announceReplacements(kase, start + 5);
    expect(kase.outbox).toEqual([
      {
        id: 'order-2/71/replacement',
        type: 'replacement',
        at: new Date(start + 5).toISOString(),
        orderId: 'order-2',
        rootOrderId: 'order-1',
        reference: 'ref-1',
        userId: 'user-1',
        data: { replaces: 'order-1' },
      },
    ]);
  });

  test('is told once, also after continue-as-new', () => {
    const kase = caseOf([lost, kit], { replacements: [{ ...claim, orderId: 'order-2' }] });
    announceReplacements(kase, start);
    announceReplacements(kase, start + 1);
    expect(kase.replacements).toEqual([{ ...claim, orderId: 'order-2', told: true }]);
    const carried = openCase('order-1', JSON.parse(JSON.stringify(kase)));
    announceReplacements(carried, start + 2);
    expect(told(carried)).toEqual(['order-2/71/replacement']);
  });

  test('is not told while it is only wanted, or named and not reported yet', () => {
    for (const replacement of [claim, { ...claim, orderId: 'order-2' }]) {
      const kase = caseOf([lost], { replacements: [replacement] });
      announceReplacements(kase, start);
      expect(kase.outbox).toEqual([]);
      expect(kase.replacements).toEqual([replacement]);
    }
  });
});

describe('whatever order reports come in, repeated or lost', () => {
  const deliveries = reportsOfChain.chain((reports) => fc.tuple(deliveriesOf(reports), deliveriesOf(reports)));
  /** A report may tell more of an event later on, so that is left out. */
  const phases = (outbox: OrderNotification[]) =>
    outbox.flatMap((one) =>
      one.type === 'phase_changed' ? [{ ...one, data: { ...one.data, detail: undefined } }] : [],
    );
  const byId = (a: { id: string }, b: { id: string }) => Number(a.id > b.id) - Number(a.id < b.id);
  const identity = ({ id, at, type }: OrderNotification) => ({ id, at, type });

  test('no notification has the id of another', () => {
    fc.assert(
      fc.property(deliveries, ([delivery]) => {
        const ids = told(announce(delivery));
        expect(ids).toHaveLength(new Set(ids).size);
      }),
    );
  });

  test('the same results, corrections and cancellations are told', () => {
    const news = (delivery: OrderSnapshot[]) =>
      announce(delivery)
        .outbox.filter(({ type }) => type !== 'phase_changed')
        .map(identity);
    fc.assert(
      fc.property(deliveries, ([one, other]) => {
        expect(news(one).toSorted(byId)).toEqual(news(other).toSorted(byId));
      }),
    );
  });

  test('a phase that is told under one id is the same phase, at the same time', () => {
    fc.assert(
      fc.property(deliveries, ([one, other]) => {
        const mine = phases(announce(one).outbox);
        const others = phases(announce(other).outbox);
        const inBoth = (some: typeof mine, rest: typeof mine) =>
          some.filter(({ id }) => rest.some((notification) => notification.id === id)).toSorted(byId);
        expect(inBoth(mine, others)).toEqual(inBoth(others, mine));
      }),
    );
  });

  test('the last phase told of an order is the one it is in', () => {
    fc.assert(
      fc.property(deliveries, ([delivery]) => {
        const kase = announce(delivery);
        for (const { orderId, standing } of chainOf(kase)) {
          if (!standing.last) continue;
          const last = phases(kase.outbox).findLast((notification) => notification.orderId === orderId);
          expect(last?.data).toMatchObject({ phase: standing.phase });
        }
      }),
    );
  });
});
