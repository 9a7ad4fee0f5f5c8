import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import {
  currentOrder,
  foldIn,
  foreignQuestion,
  isForeign,
  openChain,
  outcomeOf,
  decisionBasisOf,
  rootElsewhere,
  type Chain,
} from '../../../workflows/order/chain.js';
import { raise } from '../../../workflows/order/announcements.js';
import { askAboutWords } from '../../../workflows/order/questions.js';
import { cancellation } from '../../../workflows/order/commands.js';
import { lateArrivals } from '../../../workflows/order/redraws.js';
import type { Replacement } from '../../../protocol/order/state.js';
import type { KitOrderRun } from '../../../workflows/order/run.js';
import { stateOf } from '../../../workflows/order/view.js';
import { caseOf, daysAfterStart, happyPath, kitOf, pathTo, transactionOf, withPatient, start } from './histories.js';

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

const linksOf = (chain: Chain) =>
  stateOf(chain).chain.map(({ orderId, origin, replaces, replacedBy }) => ({ orderId, origin, replaces, replacedBy }));

/** The transaction of the first order, before there is a redraw. */
const alone = transactionOf({ id: 'order-1', origin: 'initial' });

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

  test('shows the events of all its kits in one timeline, by their time', () => {
    const { timeline } = stateOf(caseOf(reports, { replacements }));
    expect(timeline).toHaveLength(reports.flatMap(({ events }) => events).length);
    expect(timeline.map(({ at }) => at)).toEqual(timeline.map(({ at }) => at).toSorted());
  });

  test('is the same after continue-as-new', () => {
    const chain = caseOf(reports, { replacements });
    const carried = openChain({ rootOrderId: 'order-1', carried: JSON.parse(JSON.stringify(chain)) as unknown }, start);
    expect(stateOf(carried)).toEqual(stateOf(chain));
    for (const report of reports) expect(foldIn(carried, report)).toBe(false);
  });
});

describe('a redraw', () => {
  const ofParent = { parentId: 'order-1', createdAt: daysAfterStart(20) };
  test.each<[string, OrderSnapshot]>([
    ['of the same transaction', redrawOf(['ordered'])],
    ['whose parent is itself', redrawOf(['ordered'], { parentId: 'order-2' })],
    ['that reports its parent and no origin', kitOf('order-2', ['ordered'], ofParent)],
  ])('%s follows the first order and becomes the current one, whichever is received first', (_what, redraw) => {
    const reports = [initialOf(badSample), redraw];
    for (const received of [reports, reports.toReversed()]) {
      expect(currentOrder(caseOf(received)).orderId).toBe('order-2');
      expect(linksOf(caseOf(received))).toMatchObject([
        { orderId: 'order-1', replacedBy: 'order-2' },
        { orderId: 'order-2', replaces: 'order-1' },
      ]);
    }
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
});

const idsOf = (orders: readonly { orderId: string }[]) => orders.map(({ orderId }) => orderId);

describe('a kit that is replaced while it only has a problem', () => {
  const sent = pathTo('transit_lab');
  const stuck = [...sent, 'problem_in_transit_lab'];
  /** The kit moved on, and its replacement has come so far. It was replaced when it stood so. */
  const caseWith = (replacement: readonly string[], moved: readonly string[] = [], replacedAt = stuck) =>
    caseOf([initialOf([...stuck, ...moved], { transaction: alone }), replacementKit('order-3', replacement)], {
      replacements: [replacing('order-1', 'order-3', initialOf(replacedAt))],
    });

  test.each<[string, string[], string[]?]>([
    ['when it is lost for good', ['lost']],
    ['when its first problem is reported where it stood', [], sent],
  ])('has not come back %s: its replacement is what counts', (_when, moved, replacedAt) => {
    const chain = caseWith(['ordered'], moved, replacedAt);
    expect(lateArrivals(chain)).toEqual([]);
    expect(currentOrder(chain).orderId).toBe('order-3');
    expect(outcomeOf(caseWith(['ordered', 'cancelled'], moved, replacedAt))).toBe('cancelled');
  });

  test.each([
    ['lab_processing_blocked'],
    ['delivered_to_lab'],
    ['transit_lab'],
    ['completed'],
    ['lost', 'delivered_to_lab'],
  ])('comes back with %s: the replacement stays the current order', (...moved) => {
    const chain = caseWith(['ordered'], moved);
    expect(idsOf(lateArrivals(chain))).toEqual(['order-1']);
    expect(currentOrder(chain).orderId).toBe('order-3');
    expect(outcomeOf(chain)).toBeUndefined();
  });
});

describe('an order beside the current one', () => {
  const replacement = replacementKit('order-3', ['ordered']);
  const moving = initialOf(pathTo('delivered_to_lab'));
  const elsewhere = { transaction: { id: 'transaction-2', orders: [] }, parentId: 'order-1' };
  /** Each lists only itself. */
  const own = (id: 'order-1' | 'order-2') =>
    kitOf(id, ['ordered'], { transaction: transactionOf({ id, origin: 'initial' }), origin: 'initial' });
  const { transaction: _none, ...bare } = replacement;
  const { transaction: _neither, ...movingBare } = moving;
  test.each<[string, OrderSnapshot[], string[]]>([
    ['not while its redraw follows it', [moving, redrawOf(['ordered'])], []],
    ['not while a redraw shows the id of its transaction', [own('order-1'), own('order-2')], []],
    ['not while a redraw follows it whose transaction alone lists it', [movingBare, redrawOf(['ordered'])], []],
    ['not while an order follows that names it as its parent', [moving, redrawOf(['ordered'], elsewhere)], []],
    ['if an order follows that is not its redraw', [moving, replacement], ['order-1']],
    ['if that is so and neither names a transaction', [movingBare, bare], ['order-1']],
  ])('that has not failed yet is late %s', (_when, reports, expected) => {
    expect(idsOf(lateArrivals(caseOf(reports)))).toEqual(expected);
  });

  test('is late until a person gives it up; a decision to wait changes nothing', () => {
    const after = (decision: 'wait' | 'abandon') =>
      caseOf([moving, replacement], { resolutions: [{ orderId: 'order-1', eventId: 9, decision }] });
    expect([after('wait'), after('abandon')].map((chain) => idsOf(lateArrivals(chain)))).toEqual([['order-1'], []]);
  });

  test('is late if it is a redraw that was made before the replacement, and reported after it', () => {
    const replacements = [replacing('order-1', 'order-3', initialOf(lost))];
    const chain = caseOf([initialOf(lost), replacement, redrawOf(['ordered'])], { replacements });
    expect([currentOrder(chain).orderId, ...idsOf(lateArrivals(chain))]).toEqual(['order-3', 'order-2']);
  });
});

describe('an order', () => {
  const own = kitOf('order-1', ['ordered'], { userId: 'user-1' });
  /** Its passthrough names the chain, with the number 2. */
  const naming = { orderId: 'order-2', events: [], passthrough: 'labops:order-1:ref-1:2' };
  const anothers = { ...naming, userId: 'user-2' };
  const { passthrough: _none, ...bare } = anothers;
  const reserved = (n: number, orderId?: string): Partial<Chain> => ({
    replacements: [{ replaces: 'order-1', atEventId: 1, n, claimedAt: daysAfterStart(1), ...(orderId && { orderId }) }],
  });
  const ofFirst = { transaction: transactionOf({ id: 'order-1', origin: 'initial' }) };
  const second = kitOf('order-3', ['ordered'], { userId: 'user-1' });
  const third = { ...anothers, orderId: 'order-3', passthrough: 'labops:order-1:ref-1:3' };
  const thirdUsers = [kitOf('order-1', []), { ...third, userId: 'user-3' }];
  const elsewhere = { ...anothers, passthrough: 'labops:order-9:ref-1:2' };

  test.each<[is: string, whose: string, order: OrderSnapshot, chain: OrderSnapshot[], more?: Partial<Chain>]>([
    ['is', 'another user’s', anothers, [own]],
    ['is', 'another user’s, and was reported before without its passthrough', anothers, [own, bare]],
    ['is', 'another user’s, as is another order that names the chain', anothers, [own, third]],
    ['is', 'another user’s than a replacement, and no other order has a user', anothers, thirdUsers, reserved(3)],
    ['is', 'another user’s, and another number is reserved', anothers, [own], reserved(3)],
    ['is', 'another user’s, and its number is that of another order', anothers, [own], reserved(2, 'order-3')],
    ['is not', 'the same user’s', { ...anothers, userId: 'user-1' }, [own]],
    ['is not', 'reported without a user', naming, [own]],
    ['is not', 'a user’s, and no order of the chain has one', anothers, [kitOf('order-1', ['ordered'])]],
    ['is not', 'another user’s, and its parent is in the chain', { ...anothers, parentId: 'order-1' }, [own, second]],
    [
      'is not',
      'another user’s, and of the transaction of one of the chain',
      { ...anothers, ...ofFirst },
      [own, second],
    ],
    ['is not', 'another user’s, with a number that is reserved', anothers, [own], reserved(2)],
    ['is not', 'another user’s, with the number that was reserved for it', anothers, [own], reserved(2, 'order-2')],
    ['is not', 'another user’s, and names no chain', bare, [own]],
    ['is not', 'another user’s, and names another chain', elsewhere, [own]],
    ['is not', 'another user’s, but the chain’s first order', { ...anothers, orderId: 'order-1' }, [second]],
  ])('%s foreign if it is %s', (is, _whose, order, orders, more) => {
    expect(isForeign(caseOf(orders, more), order)).toBe(is === 'is');
  });

  test('stays foreign whatever a later report leaves out, but not once a report without its user has joined', () => {
    const chain = caseOf([own]);
    raise(chain, foreignQuestion(chain, 'order-2'), start);
    for (const order of [naming, bare]) expect(isForeign(chain, order)).toBe(true);
    foldIn(chain, naming);
    expect(isForeign(chain, naming)).toBe(false);
  });

  const listed = transactionOf({ id: 'order-0', origin: 'initial' }, { id: 'order-1', origin: 'redraw' });
  const redraw = { ...own, parentId: 'order-0', transaction: listed };
  const child = { ...own, parentId: 'order-0' };
  const named = { ...own, passthrough: 'labops:order-0:ref-1:2' };
  const first = (userId: string, day: number) =>
    kitOf('order-0', ['ordered'], { userId, origin: 'initial', createdAt: daysAfterStart(day) });

  test.each<[known: string, why: string, chain: OrderSnapshot[], more?: Partial<Chain>]>([
    [
      'known',
      'nobody handed it over, and the first order was read and is the same user’s',
      [redraw, first('user-1', 9)],
    ],
    ['known', 'it has a parent, and no transaction', [child]],
    ['not known', 'it was handed over', [redraw, first('user-1', 9)], { handedOver: true }],
    ['not known', 'it has a transaction whose first order was not read', [redraw]],
    ['not known', 'only its passthrough says so', [named]],
    ['not known', 'the first order is another user’s', [redraw, first('user-2', 9)]],
    ['not known', 'the first order is another user’s, and older', [redraw, first('user-2', -9)]],
  ])('is %s to belong to another chain if %s', (known, _why, orders, more) => {
    const root = known === 'known' ? 'order-0' : undefined;
    expect(rootElsewhere(caseOf(orders, { handedOver: false, ...more }))).toBe(root);
  });
});

test('an unknown interpretation is asked about once for each order, until another word takes its place', () => {
  const chain = caseOf([]);
  const asked = (orderId: string, interpretation: string, day: number) => {
    foldIn(chain, kitOf(orderId, happyPath, { interpretation, updatedAt: daysAfterStart(day) }));
    for (const _again of [1, 2]) askAboutWords(chain, start);
    return [...chain.attention.map((question) => question.orderId), chain.outbox.length];
  };
  expect(asked('order-1', 'invented', 1)).toEqual(['order-1', 1]);
  expect(asked('order-2', 'invented', 1)).toEqual(['order-1', 'order-2', 2]);
  expect(asked('order-2', 'invented, too', 2)).toEqual(['order-1', 'order-2', 4]);
  expect(asked('order-1', 'normal', 2)).toEqual(['order-2', 5]);
});

test('a chain has no current order before the first report, and takes no command', () => {
  expect(() => currentOrder(caseOf([]))).toThrow('no current order');
  const cancelling = () => cancellation({ chain: caseOf([]) } as unknown as KitOrderRun);
  expect(cancelling).toThrow(expect.objectContaining({ type: 'OrderNotFound' }));
});

test('the state says what is known of the current order, and nothing else', () => {
  const shipment = { outboundCourier: 'usps', outboundTrackingNumber: '1Z' };
  const shown = { userId: 'user-1', sampleId: 'SAMPLE-1', shipment };
  const kit = kitOf('order-1', [...pathTo('transit_lab'), 'problem_in_transit_lab'], shown);
  const status = 'collecting_sample.testkit.problem_in_transit_lab';
  expect(stateOf(caseOf([kit], { reference: 'ref-1' }))).toMatchObject({
    ...{ ...shown, reference: 'ref-1', phase: 'in_transit_to_lab', status, registered: true },
    problem: { status, since: daysAfterStart(8) },
    waiting: { for: 'the problem in transit to clear', until: daysAfterStart(15) },
    attention: [],
  });
});

test('what a decision about an order is based on is its last event, and its own status', () => {
  const standing = (more: Partial<OrderSnapshot>) =>
    decisionBasisOf(currentOrder(caseOf([kitOf('order-1', ['ordered'], more)])));
  expect(standing({})).toEqual({ eventId: 1 });
  expect(standing({ status: 'received' })).toEqual({ eventId: 1, status: 'received' });
});
