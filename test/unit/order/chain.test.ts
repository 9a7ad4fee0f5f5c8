import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import {
  currentOrder,
  findOrder,
  lateArrivals,
  lastEventId,
  learn,
  needsSuccessor,
  openCase,
  outcomeOf,
  replacementOf,
  unreadOrder,
  type Case,
} from '../../../workflows/order/case.js';
import type { Replacement } from '../../../workflows/order/messages.js';
import { resultOf, stateOf } from '../../../workflows/order/view.js';
import { caseOf, daysAfterStart, happyPath, kitOf, pathTo, transactionOf, withPatient } from './histories.js';

const transaction = transactionOf({ id: 'order-1', origin: 'initial' }, { id: 'order-2', origin: 'redraw' });
const badSample = [...pathTo('delivered_to_lab'), 'sample_error'];
const lost = [...pathTo('transit_customer', withPatient), 'lost'];

const initialOf = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
  kitOf('order-1', statuses, { origin: 'initial', transaction, ...more });
const redrawOf = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
  kitOf('order-2', statuses, { origin: 'redraw', transaction, createdAt: daysAfterStart(20), ...more });
/** A replacement is an order of its own for the service: with its own transaction, of origin initial. */
const replacementKit = (orderId: string, statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
  kitOf(orderId, statuses, {
    origin: 'initial',
    transaction: { id: `transaction of ${orderId}`, orders: [{ id: orderId, origin: 'initial' }] },
    createdAt: daysAfterStart(40),
    ...more,
  });
const replacing = (replaces: string, orderId: string, kit: OrderSnapshot): Replacement => ({
  replaces,
  orderId,
  atEventId: kit.events.at(-1)?.id ?? 0,
  n: 2,
  claimedAt: daysAfterStart(30),
});

const linksOf = (kase: Case) =>
  stateOf(kase).chain.map(({ orderId, origin, replaces, replacedBy }) => ({ orderId, origin, replaces, replacedBy }));

describe('a chain of initial, redraw and replacement', () => {
  const initial = initialOf(badSample);
  const redraw = redrawOf(lost, { parentId: 'order-1' });
  const replacements = [replacing('order-2', 'order-3', redraw)];
  const reports = [replacementKit('order-3', pathTo('transit_customer')), redraw, initial];

  test('is linked both ways, in the order of its creation', () => {
    expect(linksOf(caseOf(reports, { replacements }))).toEqual([
      { orderId: 'order-1', origin: 'initial', replaces: undefined, replacedBy: 'order-2' },
      { orderId: 'order-2', origin: 'redraw', replaces: 'order-1', replacedBy: 'order-3' },
      { orderId: 'order-3', origin: 'replacement', replaces: 'order-2', replacedBy: undefined },
    ]);
  });

  test('follows its last kit to the end, whose outcome is that of the chain', () => {
    const kase = caseOf(reports, { replacements });
    expect(stateOf(kase)).toMatchObject({
      rootOrderId: 'order-1',
      orderId: 'order-3',
      phase: 'in_transit_to_customer',
    });
    expect(outcomeOf(kase)).toBeUndefined();
    learn(kase, replacementKit('order-3', happyPath, { interpretation: 'normal' }));
    expect(resultOf(kase)).toMatchObject({
      outcome: 'completed',
      orderId: 'order-3',
      rootOrderId: 'order-1',
      interpretation: 'normal',
      chain: [{ phase: 'failed' }, { phase: 'failed' }, { phase: 'completed' }],
      replacements,
    });
  });

  test('tells the events of all its kits in one timeline, by their time', () => {
    const { timeline } = stateOf(caseOf(reports, { replacements }));
    expect(timeline).toHaveLength(reports.flatMap(({ events }) => events).length);
    expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted());
  });

  test('is the same after continue-as-new', () => {
    const kase = caseOf(reports, { replacements });
    const carried = openCase('order-1', JSON.parse(JSON.stringify(kase)));
    expect(stateOf(carried)).toEqual(stateOf(kase));
    for (const report of reports) expect(learn(carried, report)).toBe(false);
  });
});

describe('a redraw', () => {
  test('becomes the current order once its initial one has failed, whichever is heard of first', () => {
    for (const reports of [
      [initialOf(badSample), redrawOf(['ordered'])],
      [redrawOf(['ordered']), initialOf(badSample)],
    ]) {
      expect(currentOrder(caseOf(reports)).orderId).toBe('order-2');
    }
  });

  test('follows the earlier order of its transaction where its parent is not told', () => {
    expect(linksOf(caseOf([initialOf(badSample), redrawOf(['ordered'])]))).toMatchObject([
      { orderId: 'order-1', replacedBy: 'order-2' },
      { orderId: 'order-2', replaces: 'order-1' },
    ]);
  });

  test('of a replacement follows the replacement, not the first order', () => {
    const first = initialOf(lost, { transaction: transactionOf({ id: 'order-1' }) });
    const other = { id: 'transaction-2', orders: [{ id: 'order-3' }, { id: 'order-2' }] };
    const replacement = replacementKit('order-3', badSample, { transaction: other, createdAt: daysAfterStart(10) });
    const redraw = redrawOf(['ordered'], { transaction: other });
    const kase = caseOf([first, replacement, redraw], { replacements: [replacing('order-1', 'order-3', first)] });
    expect(currentOrder(kase).orderId).toBe('order-2');
    expect(linksOf(kase)).toMatchObject([
      { orderId: 'order-1', replacedBy: 'order-3' },
      { orderId: 'order-3', replaces: 'order-1', replacedBy: 'order-2' },
      { orderId: 'order-2', replaces: 'order-3', origin: 'redraw' },
    ]);
  });

  test('follows the last order of its own transaction, though a replacement came between', () => {
    const kits = [
      initialOf(badSample),
      replacementKit('order-3', lost, { createdAt: daysAfterStart(10) }),
      redrawOf(badSample),
      redrawOf(['ordered'], { orderId: 'order-4', createdAt: daysAfterStart(30) }),
    ];
    const replacements = [replacing('order-9', 'order-3', kitOf('order-9', lost))];
    expect(linksOf(caseOf(kits, { replacements }))).toMatchObject([
      { orderId: 'order-1', replacedBy: 'order-2' },
      { orderId: 'order-3' },
      { orderId: 'order-2', replaces: 'order-1', replacedBy: 'order-4' },
      { orderId: 'order-4', replaces: 'order-2' },
    ]);
  });

  test('that is named by the transaction and was never heard of is still to be read; one that cannot be read is not', () => {
    const kase = caseOf([initialOf(badSample)]);
    expect(unreadOrder(kase)).toBe('order-2');
    expect(unreadOrder({ ...kase, unreadable: ['order-2'] })).toBeUndefined();
    learn(kase, redrawOf(['ordered']));
    expect(unreadOrder(kase)).toBeUndefined();
  });

  test('that is cancelled ends the chain as cancelled; one that fails needs a successor itself', () => {
    expect(outcomeOf(caseOf([initialOf(badSample), redrawOf(['ordered', 'cancelled'])]))).toBe('cancelled');
    const kase = caseOf([initialOf(badSample), redrawOf(lost)]);
    expect(outcomeOf(kase)).toBeUndefined();
    expect(currentOrder(kase).orderId).toBe('order-2');
    expect(needsSuccessor(currentOrder(kase))).toBe(true);
  });
});

describe('a kit that is replaced while it only has a problem', () => {
  const stuck = [...pathTo('transit_lab'), 'problem_in_transit_lab'];
  const initial = initialOf(stuck, { transaction: transactionOf({ id: 'order-1' }) });
  const caseWith = (replacementStatuses: readonly string[], moved: readonly string[] = []) =>
    caseOf(
      [
        { ...initialOf([...stuck, ...moved]), transaction: transactionOf({ id: 'order-1' }) },
        replacementKit('order-3', replacementStatuses),
      ],
      { replacements: [replacing('order-1', 'order-3', initial)] },
    );

  test('stays the current order until the replacement is known', () => {
    const claimed = { replaces: 'order-1', atEventId: stuck.length, n: 2, claimedAt: daysAfterStart(30) };
    const kase = caseOf([initial], { replacements: [claimed] });
    expect(currentOrder(kase).orderId).toBe('order-1');
    expect(lateArrivals(kase)).toEqual([]);
    expect(replacementOf(kase, 'order-1')).toBe(claimed);
  });

  test('is followed by its replacement', () => {
    const kase = caseWith(['ordered']);
    expect(currentOrder(kase).orderId).toBe('order-3');
    expect(lateArrivals(kase)).toEqual([]);
  });

  test('has not come back when it is lost for good', () => {
    const kase = caseWith(['ordered'], ['lost']);
    expect(lateArrivals(kase)).toEqual([]);
    expect(currentOrder(kase).orderId).toBe('order-3');
  });

  test('has not come back when its problem is reported once more: its replacement is still what counts', () => {
    expect(lateArrivals(caseWith(['ordered'], ['problem_in_transit_lab']))).toEqual([]);
    expect(currentOrder(caseWith(['ordered'], ['problem_in_transit_lab'])).orderId).toBe('order-3');
    expect(outcomeOf(caseWith(['ordered', 'cancelled'], ['problem_in_transit_lab']))).toBe('cancelled');
  });

  test('has not come back when its first problem is reported where it stood', () => {
    const sent = pathTo('transit_lab');
    const alone = { transaction: transactionOf({ id: 'order-1' }) };
    const kase = caseOf([initialOf(stuck, alone), replacementKit('order-3', ['ordered'])], {
      replacements: [replacing('order-1', 'order-3', initialOf(sent))],
    });
    expect(lateArrivals(kase)).toEqual([]);
  });

  test.each([
    ['lab_processing_blocked'],
    ['delivered_to_lab', 'lab_processing_blocked'],
    ['transit_lab', 'problem_in_transit_lab'],
    ['delivered_to_lab'],
    ['transit_lab'],
    ['completed'],
    ['lost', 'delivered_to_lab'],
  ])('comes back with %s: the replacement stays the current order', (...moved) => {
    const kase = caseWith(['ordered'], moved);
    expect(lateArrivals(kase).map(({ orderId }) => orderId)).toEqual(['order-1']);
    expect(currentOrder(kase).orderId).toBe('order-3');
    expect(outcomeOf(kase)).toBeUndefined();
  });

  test.each(['cancelled', 'lost'])('decides the outcome once it has come back and its replacement is %s', (end) => {
    expect(outcomeOf(caseWith(['ordered', end], ['delivered_to_lab', 'completed']))).toBe('completed');
    const kase = caseWith(['ordered', end], ['delivered_to_lab']);
    expect(currentOrder(kase).orderId).toBe('order-1');
    expect(outcomeOf(kase)).toBeUndefined();
  });

  test('is not late once it is the current order again', () => {
    expect(lateArrivals(caseWith(['ordered', 'cancelled'], ['delivered_to_lab']))).toEqual([]);
  });

  test('leaves the outcome to its replacement when it has not come back', () => {
    expect(outcomeOf(caseWith(['ordered', 'cancelled']))).toBe('cancelled');
    expect(outcomeOf(caseWith(happyPath))).toBe('completed');
  });
});

describe('an order beside the current one', () => {
  const late = (kase: Case) => lateArrivals(kase).map(({ orderId }) => orderId);
  const alone = transactionOf({ id: 'order-1', origin: 'initial' });
  const first = initialOf(lost, { transaction: alone });
  const replacement = replacementKit('order-3', ['ordered']);
  const replacements = [replacing('order-1', 'order-3', first)];

  test('is late where the service redraws an order after its replacement was ordered', () => {
    const redraw = redrawOf(['ordered'], { createdAt: daysAfterStart(50) });
    const kase = caseOf([initialOf(lost), replacement, redraw], { replacements });
    expect(currentOrder(kase).orderId).toBe('order-2');
    expect(late(kase)).toEqual(['order-3']);
    expect(late(caseOf([initialOf(lost), replacement, redrawOf(['ordered'])], { replacements }))).toEqual(['order-2']);
  });

  test.each<[string, Partial<OrderSnapshot>, Partial<OrderSnapshot>]>([
    ['of its own transaction', {}, {}],
    ['that names it as its parent', {}, { transaction: { id: 'transaction-2', orders: [] }, parentId: 'order-1' }],
  ])('is not late while it has not failed yet, where a redraw follows it: %s', (_which, own, following) => {
    const kase = caseOf([initialOf(pathTo('delivered_to_lab'), own), redrawOf(['ordered'], following)]);
    expect(currentOrder(kase).orderId).toBe('order-2');
    expect(late(kase)).toEqual([]);
  });

  test('is late where an order follows that is no redraw of it, also where neither names a transaction', () => {
    const { transaction: _none, ...bare } = replacement;
    const { transaction: _neither, ...moving } = initialOf(pathTo('delivered_to_lab'));
    expect(late(caseOf([moving, bare]))).toEqual(['order-1']);
    expect(late(caseOf([initialOf(pathTo('delivered_to_lab')), replacement]))).toEqual(['order-1']);
  });

  test('is not late once it has ended without results; with results it is', () => {
    const caseWith = (...statuses: string[]) =>
      caseOf([first, replacementKit('order-3', statuses), replacementKit('order-4', ['ordered'])], { replacements });
    expect(late(caseWith('ordered', 'cancelled'))).toEqual([]);
    expect(late(caseWith('ordered', 'lost'))).toEqual([]);
    expect(late(caseWith(...happyPath))).toEqual(['order-3']);
  });
});

describe('the outcome', () => {
  test.each([
    [happyPath, 'completed'],
    [[...happyPath, 'corrected'], 'completed'],
    [['ordered', 'cancelled'], 'cancelled'],
    [['ordered', 'do_not_process'], 'cancelled'],
    [lost, undefined],
    [badSample, undefined],
    [[...lost, 'delivered_to_lab'], undefined],
    [pathTo('transit_lab'), undefined],
  ])('of %j is %s', (statuses, outcome) => {
    expect(outcomeOf(caseOf([kitOf('order-1', statuses)]))).toBe(outcome);
  });

  test('is what was decided, whatever is reported', () => {
    const kase = caseOf([kitOf('order-1', happyPath)], { ending: 'abandoned' });
    expect(outcomeOf(kase)).toBe('abandoned');
    expect(stateOf(kase).waiting).toEqual({ for: 'nothing' });
  });
});

test('a failed order needs a successor, and so does one of which a redraw is announced; an ended one does not', () => {
  const needs = (...statuses: string[]) => needsSuccessor(currentOrder(caseOf([kitOf('order-1', statuses)])));
  expect(needs('ordered', 'lost')).toBe(true);
  expect(needs('collecting_sample.walk_in_test.redraw_available')).toBe(true);
  expect(needs('ordered', 'completed')).toBe(false);
  expect(needs('ordered', 'cancelled')).toBe(false);
  expect(needs('ordered')).toBe(false);
});

test('a case is found by the ids of its orders, and has no current order before the first report', () => {
  const kase = caseOf([kitOf('order-1', ['ordered', 'cancelled'])]);
  expect(findOrder(kase, 'order-1')?.standing.phase).toBe('cancelled');
  expect(findOrder(kase, 'order-9')).toBeUndefined();
  expect(lastEventId(currentOrder(kase))).toBe(2);
  expect(() => currentOrder(openCase('order-1', undefined))).toThrow('no current order');
});

test('the last event of an order without any comes before every event, also before one with the id 0', () => {
  expect(lastEventId(currentOrder(caseOf([kitOf('order-1', [])])))).toBe(-1);
  const events = [{ id: 0, at: daysAfterStart(0), status: 'received.testkit.ordered' }];
  expect(lastEventId(currentOrder(caseOf([{ orderId: 'order-1', events }])))).toBe(0);
});

test('the state says what is known of the current order, and nothing else', () => {
  const shipment = { outboundCourier: 'usps', outboundTrackingNumber: '1Z' };
  const kit = kitOf('order-1', [...pathTo('transit_lab'), 'problem_in_transit_lab'], {
    userId: 'user-1',
    sampleId: 'SAMPLE-1',
    shipment,
  });
  expect(stateOf(caseOf([kit], { reference: 'ref-1' }))).toMatchObject({
    reference: 'ref-1',
    userId: 'user-1',
    phase: 'in_transit_to_lab',
    status: 'collecting_sample.testkit.problem_in_transit_lab',
    registered: true,
    sampleId: 'SAMPLE-1',
    problem: { status: 'collecting_sample.testkit.problem_in_transit_lab', since: daysAfterStart(8) },
    shipment,
    waiting: { for: 'the problem in transit to clear', until: daysAfterStart(15) },
    attention: [],
  });
});

describe('links hold both ways', () => {
  test.each(['order-9', 'order-2', 'no/uuid'])(
    'where the parent that is told, %s, is none of the chain',
    (parentId) => {
      expect(linksOf(caseOf([initialOf(badSample), redrawOf(['ordered'], { parentId })]))).toMatchObject([
        { orderId: 'order-1', replacedBy: 'order-2' },
        { orderId: 'order-2', replaces: 'order-1' },
      ]);
    },
  );

  test('where a redraw tells its parent and not its origin', () => {
    const { origin: _origin, ...redraw } = redrawOf(['ordered'], { parentId: 'order-1' });
    expect(linksOf(caseOf([initialOf(badSample), redraw]))).toMatchObject([
      { orderId: 'order-1', replacedBy: 'order-2' },
      { orderId: 'order-2', replaces: 'order-1' },
    ]);
  });
});
