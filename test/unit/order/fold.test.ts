import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { canonicalJson, compareText } from '../../../protocol/json.js';
import { carriedOrders, foldSnapshot, restoredOrders, type Orders } from '../../../workflows/order/snapshots.js';
import { daysAfterStart, eventsOf, kitOf, statusOf, topOf, transactionOf } from './histories.js';
import { anyOrderOf, deliveriesOf, forAll, reportsOfChain, saysCritical } from './reports.js';

const fold = (snapshots: readonly OrderSnapshot[]): Orders => snapshots.reduce(foldSnapshot, []);
/** An alarm that only a lost report named cannot be restored. */
const withoutAlarm = ({ wasCritical: _alarm, ...order }: Orders[number]) => order;
const only = (orders: Orders) => {
  const [order] = orders;
  if (!order || orders.length > 1) throw new Error('one order expected');
  return order;
};

/** What is reported of a chain, and what arrives of it. */
const arriving = (deliveries: typeof deliveriesOf) =>
  reportsOfChain.chain((reports) => fc.tuple(fc.constant(reports), deliveries(reports)));

describe('any order, repetition and loss of reports', () => {
  // proves 168
  test('any order, repetition and loss of reports with the latest of each order ends in the same state', () => {
    const claim = ([reports, delivery]: [OrderSnapshot[], OrderSnapshot[]]) =>
      expect(fold(delivery).map(withoutAlarm)).toEqual(fold(reports).map(withoutAlarm));
    forAll(arriving(deliveriesOf), claim, 500);
  });

  test('any order and repetition of all reports ends in the same state, with every alarm that one of them was', () => {
    forAll(
      arriving((reports) => anyOrderOf([...reports, ...reports])),
      ([reports, delivery]) => {
        const orders = fold(delivery);
        expect(orders).toEqual(fold(reports));
        for (const { orderId, wasCritical = false } of orders) {
          const own = reports.filter((report) => report.orderId === orderId);
          expect(wasCritical).toBe(own.some(saysCritical));
        }
      },
    );
  });

  test('reports that are repeated change nothing, not even the object, even after continue-as-new', () => {
    forAll(reportsOfChain, (reports) => {
      const orders = fold(reports);
      const carried = restoredOrders(JSON.parse(JSON.stringify(carriedOrders(orders))) as Orders);
      for (const report of reports) {
        expect(foldSnapshot(orders, report)).toBe(orders);
        expect(foldSnapshot(carried, structuredClone(report))).toBe(carried);
      }
    });
  });

  test('a repeated report is compared with its own events alone: a burst of them would compare all events each time', () => {
    const events = eventsOf('ordered', 'transit_customer', 'with_customer');
    const written = () => {
      throw new Error('another event was written as text');
    };
    for (const event of events.slice(1)) Object.defineProperty(event, 'toJSON', { value: written });
    const orders = fold(events.map((event) => ({ orderId: 'order-1', events: [event] })));
    expect(foldSnapshot(orders, { orderId: 'order-1', events: structuredClone(events.slice(0, 1)) })).toBe(orders);
  });

  test('a report of later events alone is added without reading the events before the last', () => {
    const events = eventsOf('ordered', 'transit_customer', 'with_customer', 'transit_lab');
    const orders = fold([{ orderId: 'order-1', events: events.slice(0, 3) }]);
    const read = () => {
      throw new Error('an earlier event was read');
    };
    const unread = only(orders)
      .events.slice(0, 2)
      .map((event) => Object.defineProperty({ ...event }, 'id', { get: read }));
    const record = { ...only(orders), events: [...unread, ...only(orders).events.slice(2)] };
    const after = foldSnapshot([record], { orderId: 'order-1', events: events.slice(3) });
    expect(only(after).events.map(({ status }) => status)).toEqual(events.map(({ status }) => status));
  });

  test('any order and repetition of reports that each show the last event alone ends with all events', () => {
    const events = fc
      .array(fc.constantFrom(...Object.keys(topOf)), { minLength: 1, maxLength: 8 })
      .map((lows) => eventsOf(...lows));
    const scenario = events.chain((all) => {
      const reports = all.map((event) => ({ orderId: 'order-1', events: [event] }));
      return fc.record({ all: fc.constant(all), delivery: anyOrderOf([...reports, ...reports]) });
    });
    forAll(scenario, ({ all, delivery }) => {
      expect(only(fold(delivery)).events).toEqual(all);
    });
  });

  test('reports that contradict each other about an event, which the latest does not have, end in the same state', () => {
    const reports = ['lost', 'transit_lab', 'with_customer'].map((low) => ({
      orderId: 'order-1',
      events: [{ id: 1, at: daysAfterStart(0), status: statusOf(low) }],
    }));
    const latest = { orderId: 'order-1', events: [{ id: 2, at: daysAfterStart(1), status: statusOf('completed') }] };
    const all = [...reports, latest];
    forAll(anyOrderOf(all), (delivery) => {
      // The latest comes first: what it shows was never contradicted.
      expect(fold([latest, ...delivery])).toEqual(fold([latest, ...all]));
    });
  });

  test('leaves its input untouched', () => {
    forAll(reportsOfChain, (reports) => {
      const before = structuredClone(reports);
      fold(reports);
      expect(reports).toEqual(before);
    });
  });
});

describe('the latest report', () => {
  const kit = (lows: string[], more: Partial<OrderSnapshot> = {}) => kitOf('order-1', lows, more);

  const listed = transactionOf({ id: 'order-1' }, { id: 'order-2', origin: 'redraw' });
  test.each<[what: string, counts: Partial<OrderSnapshot>, other: Partial<OrderSnapshot>]>([
    ['the one whose own status is an end', { status: 'cancelled' }, { status: 'received' }],
    ['the one with a date, whatever else another says', { activateBy: '2024-04-01' }, { userId: 'u', sampleId: 's' }],
    ['the one that says more', { transaction: listed }, {}],
  ])('of two with the same events and the same time is %s, whichever comes first', (_what, counts, other) => {
    const [counting, another] = [kit(['ordered'], counts), kit(['ordered'], other)];
    expect(only(fold([another, counting])).latest).toBe(counting);
    expect(only(fold([counting, another])).latest).toBe(counting);
    const later = { ...another, updatedAt: daysAfterStart(1) };
    expect(only(fold([later, counting])).latest).toBe(later);
  });

  test('without the date that an order was scheduled for leaves it one that was scheduled, whichever comes first', () => {
    const dated = kit(['ordered'], { activateBy: '2024-04-01' });
    const undated = kit(['ordered'], { updatedAt: daysAfterStart(1) });
    for (const reports of [
      [dated, undated],
      [undated, dated],
    ]) {
      expect(only(fold(reports)).wasScheduled).toBe(true);
      expect(only(fold(reports)).latest).not.toHaveProperty('activateBy');
    }
    expect(only(fold([undated]))).not.toHaveProperty('wasScheduled');
  });

  test('is the same however its keys are ordered', () => {
    const orders = fold([{ orderId: 'order-1', events: [], interpretation: 'a', sampleId: 's' }]);
    expect(foldSnapshot(orders, { sampleId: 's', interpretation: 'a', events: [], orderId: 'order-1' })).toBe(orders);
  });
});

test('orders come out by creation, then id; the first event replaces a missing creation time', () => {
  const orders = fold([
    { orderId: 'd', events: [], createdAt: daysAfterStart(2) },
    { orderId: 'c', events: [{ id: 1, at: daysAfterStart(1), status: 'received.testkit.ordered' }] },
    { orderId: 'b', events: [], createdAt: daysAfterStart(0) },
    { orderId: 'a', events: [], createdAt: daysAfterStart(0) },
  ]);
  expect(orders.map(({ orderId }) => orderId)).toEqual(['a', 'b', 'c', 'd']);
});

test('canonical JSON is the same for the same content, whatever the order of its keys', () => {
  forAll(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
    const reversed = Object.fromEntries(Object.entries(value).toReversed());
    expect(canonicalJson(reversed)).toBe(canonicalJson(value));
    expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
  });
});

test('text is compared by code units: capitals before small letters, no language', () => {
  expect(['b', 'a', 'B', 'ä', 'a'].toSorted(compareText)).toEqual(['B', 'a', 'a', 'b', 'ä']);
});
