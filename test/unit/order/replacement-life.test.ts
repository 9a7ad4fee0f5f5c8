import { describe, expect, test } from 'vitest';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { silent, unavailable, type Answers } from '../life.js';
import { day, eventsOf, happyPath, kitOf, pathTo, start, transactionOf } from './histories.js';
import {
  atLab,
  awaited,
  begun,
  conflict,
  lateLife,
  life,
  lost,
  newId,
  newKit,
  numbered,
  orderId,
  placed,
  reading,
  redraw,
  refusal,
  replaced,
  resolvingPolicy,
  shipped,
  showing,
  shownAt,
  spoiled,
  stateIn,
  stuck,
  thirdId,
  transaction,
  wait,
} from './lives.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/* The lives of kits that are replaced: by the policy or by a command, and what comes of an answer that is lost. */

const refused = refusal('OrderRefused');
const stopped = refusal('PlacingStopped', { fields: [], stopReason: 'recalled', nothingSent: true });
const movedOn = (snapshot: OrderSnapshot) => refusal('OrderMovedOn', { fields: [], snapshot });

describe('a replacement', () => {
  test('that a person asks for while placing is stopped is refused with that, and ordered when it is asked for again', async () => {
    const order = await life(lost, {}, { replaceKitOrder: stopped });
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ refused: 'PlacingStopped' });
    order.answers['replaceKitOrder'] = replaced;
    expect(stateIn(await order.update('replaceKit', { orderId }))).toMatchObject({ orderId: newId });
    expect(order.argumentsOf('replaceKitOrder').at(-1)).toMatchObject({ n: 2, triedBefore: false });
  });

  test('is asked for with all that the service has to know', async () => {
    const more = { labTestId: 'test-1', labAccountId: 'account-1' };
    const order = await life(lost, { creationTimeout: '40s' }, { replaceKitOrder: replaced }, more);
    await order.update('replaceKit', { orderId });
    expect(order.argumentsOf('replaceKitOrder')).toEqual([
      {
        ...{ failedOrderId: orderId, decidedOn: { eventId: 4 }, rootOrderId: orderId, reference: 'ref-1', n: 2 },
        ...{ chain: [orderId], claimedAt: '2024-03-01T10:00:00.000Z', triedBefore: false, ...more },
        ...{ creationTimeout: 40_000, creationSettling: 60_000 },
      },
    ]);
    expect(order.run.summaries).toContain('replacement 1');
    expect(order.callsOf('replaceKitOrder')).toEqual(['0h replaceKitOrder']);
    const chain = [
      { orderId, replacedBy: newId },
      { orderId: newId, replaces: orderId },
    ];
    expect(await order.state()).toMatchObject({ orderId: newId, chain });
    // Sent again, it has its answer.
    expect(stateIn(await order.update('replaceKit', { orderId }))).toMatchObject({ orderId: newId });
    expect(order.callsOf('replaceKitOrder')).toHaveLength(1);
  });

  test('whose webhooks would not lead to the chain is led there', async () => {
    const snapshot = kitOf(newId, ['ordered']);
    const order = await life(lost, {}, { replaceKitOrder: { snapshot }, joinChain: silent });
    await order.update('replaceKit', { orderId });
    expect(order.run.replies).toEqual([]);
    await order.given({ joinChain: null });
    expect(order.run.replies).toMatchObject([{ value: { orderId: newId } }]);
    expect(order.argumentsOf('joinChain')).toEqual([{ rootOrderId: orderId, snapshot, reference: 'ref-1' }]);
    expect(order.run.summaries).toContain('00000000 joins the chain');
  });

  test.each<[string, object]>([
    ['replaceKit', {}],
    ['resolveProblem', { decision: 'replace' }],
  ])('that the service made a redraw of itself is in nobody’s record of %s', async (name, more) => {
    const order = await life(lost, {}, { replaceKitOrder: { snapshot: redraw(['ordered']) } });
    const command = { orderId, by: 'nurse-7', ...more };
    const { timeline } = stateIn(await order.update(name, command));
    expect(timeline.filter(({ by }) => by !== undefined)).toEqual([]);
    expect(order.run.shown.details).toContain('**the service has redrawn the kit: no other was ordered**');
    // Sent again, it has no other answer.
    expect(await order.update(name, command)).toMatchObject({ value: { orderId: newId } });
  });

  test('that the service made a redraw of itself is none of ours', async () => {
    const order = await life(shipped, {}, { replaceKitOrder: { snapshot: redraw(['ordered'], numbered(2)) } });
    await order.report(lost, { transaction: transactionOf({ id: orderId, origin: 'initial' }) });
    const { chain } = stateIn(await order.update('replaceKit', { orderId }));
    expect(chain).toMatchObject([{ orderId }, { orderId: newId, origin: 'redraw' }]);
    expect(order.callsOf('joinChain')).toEqual([]);
    await order.signal('orderChanged', redraw(lost, numbered(2)));
    order.answers['readOrder'] = newKit(lost, { transaction });
    // The policy's one replacement is left.
    order.answers['replaceKitOrder'] = { snapshot: kitOf(thirdId, awaited) };
    expect(await order.update('replaceKit', { orderId: newId })).toMatchObject({ value: { chain: [{}, {}, {}] } });

    const twice = await life(lost, { replacementLimit: 2 }, { replaceKitOrder: replaced });
    await twice.update('replaceKit', { orderId });
    const own = transactionOf({ id: newId, origin: 'initial' });
    await twice.signal('orderChanged', newKit(spoiled, { transaction: own }));
    // Its answer may name nothing but its parent.
    const redrawn = kitOf(thirdId, awaited, { origin: 'redraw', parentId: newId });
    twice.answers['replaceKitOrder'] = { snapshot: redrawn };
    const reply = await twice.update('replaceKit', { orderId: newId });
    expect(stateIn(reply).chain).toMatchObject([{ orderId }, { replaces: orderId }, { origin: 'redraw' }]);
  });

  test.each([
    ['preparing', ['ordered'], false],
    ['not delivered', awaited, false],
    ['on its way to the customer', shipped, true],
    ['delivered, and not registered', pathTo('with_customer'), true],
    ['with the customer', pathTo('testkit_registered'), true],
    ['on its way to the lab', pathTo('transit_lab'), true],
    ['at the lab', atLab, false],
    ['somewhere', ['ordered', 'collecting_sample.testkit.on_a_ship'], true],
    ['lost', lost, true],
    ['spoiled', spoiled, true],
  ])('of a kit that is %s', async (_where, statuses, isPossible) => {
    const order = await life(statuses, {}, { replaceKitOrder: replaced });
    const reply = await order.update('replaceKit', { orderId });
    expect(reply).toMatchObject(isPossible ? { value: {} } : { refused: 'NotReplaceable' });
    expect(order.run.refusals.map((details) => Object.keys(details as object))).toEqual(
      isPossible ? [] : [['fields', 'reason']],
    );
  });

  test.each([
    [{ method: 'walk_in_test' }],
    [{ events: [{ id: 1, at: '2024-03-01T10:00:00.000Z', status: 'received.testkit.sample_imported' }] }],
  ])('of what is not a kit is refused', async (more) => {
    const snapshot = shownAt(lost, more);
    const order = await life(['ordered'], {}, { replaceKitOrder: replaced, readOrder: snapshot }, { snapshot });
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ refused: 'NotReplaceable' });
    expect(order.callsOf('replaceKitOrder')).toEqual([]);
  });

  test('is one of as many as the policy allows', async () => {
    const order = await life(lost, {}, { replaceKitOrder: replaced });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', newKit(lost));
    expect(await order.update('replaceKit', { orderId: newId })).toMatchObject({ refused: 'ReplacementLimitReached' });

    const more = await life(lost, { replacementLimit: 2 }, { replaceKitOrder: replaced });
    await more.update('replaceKit', { orderId });
    await more.signal('orderChanged', newKit(lost));
    more.answers['replaceKitOrder'] = refusal('OrderMovedOn', null);
    expect(await more.update('replaceKit', { orderId: newId })).toMatchObject({ refused: 'OrderMovedOn' });
    expect((await more.state()).chain).toMatchObject([{ orderId }, { orderId: newId, replaces: orderId }]);
    const own = { id: 'transaction-2', orders: [{ id: thirdId, origin: 'initial' }] };
    more.answers['replaceKitOrder'] = { snapshot: kitOf(thirdId, awaited, { transaction: own }) };
    const { chain } = stateIn(await more.update('replaceKit', { orderId: newId }));
    const third = more.argumentsOf('replaceKitOrder').at(-1);
    expect(third).toMatchObject({ failedOrderId: newId, n: 3, chain: [orderId, newId] });
    expect(chain.at(-1)).toMatchObject({ orderId: thirdId, origin: 'replacement', replaces: newId });
  });

  test('whose answer was lost goes on as the same, once what was sent has settled', async () => {
    const order = await life(lost, {}, { replaceKitOrder: unavailable });
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ refused: 'ServiceUnavailable' });
    await order.update('replaceKit', { orderId });
    expect(order.callsOf('replaceKitOrder')).toHaveLength(1);
    await order.until(0.02);
    expect(order.callsOf('replaceKitOrder')).toEqual(['0h replaceKitOrder', '0.013h replaceKitOrder']);
    expect(order.run.summaries).toContain('before the next attempt');
    const same = { n: 2, claimedAt: '2024-03-01T10:00:00.000Z' };
    expect(order.argumentsOf('replaceKitOrder')).toMatchObject([
      { ...same, triedBefore: false },
      { ...same, triedBefore: true },
    ]);
    await order.until(1);
    order.answers['replaceKitOrder'] = replaced;
    expect(stateIn(await order.update('replaceKit', { orderId }))).toMatchObject({ orderId: newId });
    expect(order.calls.at(-1)).toBe('1h replaceKitOrder');
  });

  test('that the service knew better of is not made, and takes none of the number', async () => {
    const moved = shownAt([...lost, 'with_customer']);
    const order = await life(lost, {}, { replaceKitOrder: movedOn(moved) });
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ refused: 'OrderMovedOn' });
    expect(order.run.refusals.at(-1)).toMatchObject({ reason: 'awaiting_registration' });
    expect(await order.state()).toMatchObject({ phase: 'awaiting_registration' });
    order.answers['replaceKitOrder'] = replaced;
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ value: { orderId: newId } });
  });

  test('that an earlier run has lost is known by its number', async () => {
    const later = { createdAt: '2024-03-02T10:00:00.000Z' };
    const order = await life(lost, { replacementLimit: 3 }, { replaceKitOrder: replaced });
    // Of two with the same time the one with the smaller id stands first.
    await order.signal('orderChanged', newKit(lost, numbered(3)));
    await order.signal('orderChanged', kitOf(thirdId, lost, numbered(2)));
    const { chain } = stateIn(await order.update('replaceKit', { orderId }));
    expect(order.callsOf('replaceKitOrder')).toEqual([]);
    expect(chain.find((each) => each.orderId === thirdId)).toMatchObject({ origin: 'replacement', replaces: orderId });

    const next = await life(lost, { replacementLimit: 3 }, { replaceKitOrder: replaced });
    await next.signal('orderChanged', newKit(lost));
    await next.signal('orderChanged', kitOf(thirdId, lost, { ...numbered(3), ...later }));
    for (const failed of [orderId, newId]) await next.update('replaceKit', { orderId: failed });
    expect(next.callsOf('replaceKitOrder')).toEqual([]);
    expect((await next.state()).chain.at(-1)).toMatchObject({ orderId: thirdId, replaces: newId });
  });

  test('that a run ended from outside may have sent is waited and searched for before another is sent', async () => {
    const requestedAfter = async (more: object) => {
      const readChain = reading({ snapshots: [shownAt(lost)], ...more });
      const order = await begun(shownAt(lost), { readChain, readOrder: shownAt(lost), replaceKitOrder: replaced });
      await order.update('replaceKit', { orderId });
      const atOnce = order.callsOf('replaceKitOrder').length;
      await order.until(0.02);
      return { atOnce, asked: order.argumentsOf('replaceKitOrder') };
    };
    const { result: previous } = await (await life(['ordered'], { giveUpAfter: '5d' })).until(1000);
    for (const more of [{}, { previous }]) {
      const broken = { ...more, followsBrokenRun: true };
      expect(await requestedAfter(broken)).toMatchObject({ atOnce: 0, asked: [{ n: 2, triedBefore: true }] });
      expect(await requestedAfter(more)).toMatchObject({ atOnce: 1, asked: [{ n: 2, triedBefore: false }] });
    }
  });

  const own = (id: string) => ({ ...transactionOf({ id, origin: 'initial' }), id: `transaction-${id}` });

  test.each([
    ['begins another transaction', { transaction: own(orderId) }, { transaction: own(newId) }],
    ['shows no transaction', { transaction: own(orderId) }, {}],
    ['shows one, and the first order none', {}, { transaction: own(newId) }],
  ])('that an earlier run lost is recognised without its number, too, if it %s', async (_how, first, second) => {
    const order = await life(lost, {}, { replaceKitOrder: replaced }, { snapshot: shownAt(lost, first) });
    const joined = kitOf(newId, lost, { userId: 'user-1', createdAt: '2024-03-02T10:00:00.000Z', ...second });
    await order.signal('orderChanged', joined);
    const { chain } = stateIn(await order.update('replaceKit', { orderId }));
    expect(order.callsOf('replaceKitOrder')).toEqual([]);
    expect(chain.find((each) => each.orderId === newId)).toMatchObject({ origin: 'replacement', replaces: orderId });
  });

  test('is not taken for a redraw of another order in the chain, which is of another transaction, too', async () => {
    const listed = [
      { id: orderId, origin: 'initial' },
      { id: thirdId, origin: 'redraw', parentId: orderId },
    ];
    const first = { ...transactionOf(...listed), id: 'transaction-a' };
    const second = { ...transactionOf({ id: newId, origin: 'initial' }), id: 'transaction-b' };
    const kit = (statuses: string[]) =>
      newKit(statuses, { transaction: second, createdAt: '2024-03-05T10:00:00.000Z' });
    const more = { snapshot: shownAt(lost, { transaction: first }) };
    const order = await life(lost, { replacementLimit: 3 }, { replaceKitOrder: { snapshot: kit(['ordered']) } }, more);
    await order.update('replaceKit', { orderId });
    const late = { transaction: first, createdAt: '2024-03-06T10:00:00.000Z' };
    await order.signal('orderChanged', { ...redraw(['ordered', 'cancelled'], late), orderId: thirdId });
    await order.signal('orderChanged', kit(stuck));
    order.answers['replaceKitOrder'] = { snapshot: kitOf('third-kit', ['ordered'], numbered(3)) };
    await order.update('replaceKit', { orderId: newId });
    expect(order.argumentsOf('replaceKitOrder').at(-1)).toMatchObject({ failedOrderId: newId, n: 3 });
  });

  test('that has been asked for, or is another kit’s, is not taken for a lost one', async () => {
    const order = await life(lost, { replacementLimit: 3 }, { replaceKitOrder: unavailable });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', kitOf(thirdId, lost, numbered(3)));
    await order.until(1);
    order.answers['replaceKitOrder'] = replaced;
    const { chain } = stateIn(await order.update('replaceKit', { orderId }));
    expect(chain.find((each) => each.orderId === newId)).toMatchObject({ replaces: orderId });
    expect(chain.find((each) => each.orderId === thirdId)).not.toHaveProperty('replaces');

    const listed = transactionOf({ id: orderId, origin: 'initial' }, { id: thirdId, origin: 'redraw' });
    const second = { snapshot: newKit(lost, { createdAt: '2024-03-02T10:00:00.000Z' }) };
    const both = await life(spoiled, { replacementLimit: 3 }, { replaceKitOrder: second });
    await both.signal('orderChanged', { ...redraw(lost, { transaction: listed }), orderId: thirdId });
    await both.update('replaceKit', { orderId });
    both.answers['replaceKitOrder'] = { snapshot: kitOf('another-order', awaited) };
    await both.update('replaceKit', { orderId: thirdId });
    expect(both.argumentsOf('replaceKitOrder').at(-1)).toMatchObject({ failedOrderId: thirdId, n: 3 });
  });

  test('gets a number that no order has', async () => {
    const next = { snapshot: kitOf(thirdId, awaited) };
    const order = await life(lost, { replacementLimit: 3 }, { replaceKitOrder: next });
    await order.signal('orderChanged', newKit(lost, numbered(5)));
    await order.update('replaceKit', { orderId: newId });
    expect(order.argumentsOf('replaceKitOrder')).toMatchObject([{ n: 6 }]);
  });

  test('whose webhook comes before its answer is known by its number, whatever the answer is', async () => {
    const order = await lateLife(lost, {}, { replaceKitOrder: silent });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', kitOf(thirdId, awaited, numbered(3)));
    await order.signal('orderChanged', kitOf('another-order', awaited, numbered(2, newId)));
    await order.signal('orderChanged', kitOf(newId, awaited, numbered(2)));
    await order.given({ replaceKitOrder: unavailable });
    const replacements = stateIn(order.run.replies[0]).chain.filter(({ origin }) => origin === 'replacement');
    expect(replacements).toMatchObject([{ orderId: newId, replaces: orderId }]);
    expect(order.run.logged.filter((line) => !line.startsWith('debug'))).toEqual([]);
  });

  test('that failed once replaces the kit as it is by then, and answers no other question', async () => {
    const order = await (await life(stuck, { onProblem: 'replace' }, { replaceKitOrder: refused })).until(241);
    await order.signal('orderPlaced', { ...conflict, snapshot: shownAt(stuck) });
    await order.report([...stuck, 'out_for_delivery']);
    order.answers['replaceKitOrder'] = replaced;
    const reply = await order.update('replaceKit', { orderId });
    expect(stateIn(reply)).toMatchObject({ orderId: newId, attention: [{ reason: 'reference_conflict' }] });
  });

  test('that waited for another one is refused if the order has got its results meanwhile', async () => {
    const order = await life(spoiled, { replacementLimit: 2 }, { replaceKitOrder: silent });
    await order.signal('orderChanged', redraw(shipped));
    for (const failed of [orderId, newId]) await order.update('replaceKit', { orderId: failed });
    expect(order.run.calls.filter(({ call }) => call.name === 'replaceKitOrder')).toHaveLength(1);
    await order.signal('orderChanged', redraw(happyPath));
    await order.given({ replaceKitOrder: refused });
    expect(order.run.replies).toMatchObject([{ refused: 'OrderRefused' }, { refused: 'OrderEnded' }]);
  });

  /** The policy has a lost kit replaced, and the service has not answered yet. */
  async function beingReplaced(cancelOrder: unknown) {
    const order = await life(shipped, { onLost: 'replace' }, { replaceKitOrder: silent, cancelOrder });
    await order.report(lost);
    return order;
  }

  test('by the policy lets every other command on the order wait', async () => {
    const order = await beingReplaced(refusal('CancelRefused'));
    await order.update('cancel', { orderId });
    expect(order.callsOf('cancelOrder')).toEqual([]);
    await order.given({ replaceKitOrder: replaced });
    expect(order.run.replies).toEqual([{ name: 'cancel', refused: 'CancelRefused' }]);
  });

  test('by the policy lets a cancellation that names no order wait, and that cancels the new kit', async () => {
    const order = await beingReplaced(newKit(['ordered', 'cancelled']));
    for (const command of [{ by: 'nurse-7' }, undefined]) await order.update('cancel', command);
    await order.given({ replaceKitOrder: replaced });
    expect(order.argumentsOf('cancelOrder')).toEqual([newId]);
    expect(stateIn(order.run.replies[0]).timeline).toContainEqual(
      expect.objectContaining({ orderId: newId, status: 'order_cancelled', by: 'nurse-7' }),
    );
    expect(stateIn(order.run.replies[1])).toMatchObject({ orderId: newId, phase: 'cancelled' });
  });

  test('by the policy lets a cancellation that names no order wait, and its failure is noted for the new kit', async () => {
    const order = await beingReplaced(refusal('CancelRefused'));
    await order.update('cancel', { by: 'nurse-7' });
    const snapshot = kitOf('00000001-0000-4000-8000-000000000000', ['ordered'], numbered(2));
    await order.given({ replaceKitOrder: { snapshot } });
    const noted = '| `00000001` | **order cancelled: failed with CancelRefused**, by `nurse-7` |';
    expect(order.run.shown.details).toContain(noted);
  });

  test('lets the cancellation of its placing wait, and that cancels the new kit, or asks about it', async () => {
    for (const [cancelOrder, expected] of [
      [newKit(['ordered', 'cancelled']), { orderId: newId, phase: 'cancelled', attention: [] }],
      [refusal('CancelRefused'), { attention: [{ reason: 'cancellation_failed', orderId: newId }] }],
    ] as const) {
      const order = await life(lost, {}, { replaceKitOrder: silent, cancelOrder, notify: silent });
      await order.update('replaceKit', { orderId });
      await order.signal('orderPlaced', { ...placed, snapshot: shownAt(lost), cancelRequested: true });
      await order.given({ replaceKitOrder: replaced });
      expect(order.argumentsOf('cancelOrder')).toEqual([newId]);
      expect(await order.state()).toMatchObject(expected);
    }
  });

  test('is asked about whatever else is asked, and though more time was given before', async () => {
    const order = await life(shipped);
    await order.signal('orderPlaced', { ...conflict, snapshot: shownAt(shipped) });
    await order.report(lost);
    expect(await order.reasons()).toEqual(['reference_conflict', 'decision_needed']);
    const waiting = await (await life(shipped)).until(24 * 12);
    await waiting.update('resolveProblem', wait);
    await waiting.report(lost);
    expect(await waiting.reasons()).toEqual(['decision_needed']);
  });

  test.each([
    ['for a visit', shownAt(['failed.walk_in_test.lost'], { method: 'walk_in_test' })],
    ['for what ended before its events came', shownAt([], { status: 'failed' })],
    ['for what has no event of its end', shownAt([...shipped, 'collecting_sample.testkit.lost'], { status: 'failed' })],
  ])('is never ordered by the policy %s', async (_what, snapshot) => {
    const answers = { replaceKitOrder: replaced, readOrder: snapshot };
    const order = await life([], { onLost: 'replace' }, answers, { snapshot });
    expect(order.callsOf('replaceKitOrder')).toEqual([]);
    expect(await order.reasons()).toEqual(['decision_needed']);
  });
});

describe('the policy', () => {
  const lives = (statuses: readonly string[], policy: OrderPolicy, answers: Answers = {}) =>
    life(statuses, policy, { replaceKitOrder: replaced, ...answers });

  test('that has replaced a kit at last leaves no question to answer: a decision that waited for it is refused', async () => {
    const readOrder = showing(newKit(['ordered']), shownAt(lost));
    const order = await lives(lost, { onLost: 'replace' }, { replaceKitOrder: refused, readOrder });
    await order.given({ replaceKitOrder: silent }, 23);
    await order.update('resolveProblem', { orderId, decision: 'abandon' });
    await order.given({ replaceKitOrder: replaced });
    expect(order.run.replies.at(-1)).toMatchObject({ refused: 'AlreadyResolved' });
    expect(order.run.end).toBeUndefined();
  });

  test.each(['lost', 'failure_to_deliver_to_customer', 'failure_to_deliver_to_lab'])(
    'replaces a kit that is reported as %s; if it reaches the lab after all, a person is asked until one of both has ended',
    async (low) => {
      const order = await lives([...shipped, low], { onLost: 'replace' });
      expect(await order.state()).toMatchObject({ orderId: newId, attention: [] });
      await order.report([...shipped, low, 'delivered_to_lab']);
      expect(await order.state()).toMatchObject({ orderId: newId, attention: [{ reason: 'late_arrival', orderId }] });
      await order.signal('orderChanged', newKit(['ordered', 'cancelled']));
      expect(await order.state()).toMatchObject({ orderId, phase: 'at_lab', attention: [] });
    },
  );

  const arrived = [...lost, 'delivered_to_lab'];
  const completed = [...arrived, 'completed'];

  test('has replaced a kit that brings the results after all: the order is completed with it once the new kit is given up', async () => {
    const order = await lives(lost, { onLost: 'replace' }, { notify: silent });
    await order.signal('orderChanged', newKit(shipped));
    await order.report(completed);
    expect(await order.state()).toMatchObject({ orderId: newId, attention: [{ reason: 'late_arrival', orderId }] });
    for (let times = 0; times < 2; times += 1) {
      const reply = await order.update('resolveProblem', { orderId: newId, decision: 'abandon' });
      expect(stateIn(reply)).toMatchObject({ orderId, phase: 'completed', outcome: 'completed', attention: [] });
    }
    await order.given({ notify: undefined });
    expect(order.result).toMatchObject({ orderId, outcome: 'completed' });
    expect(order.happened()).not.toContain('ended abandoned');
  });

  test('has replaced a kit that is on its way to results when the new one is given up: the order goes on with it, until either brings results', async () => {
    for (const result of [shownAt(completed), newKit(happyPath)]) {
      const order = await lives(lost, { onLost: 'replace' }, { notify: silent });
      await order.signal('orderChanged', newKit(shipped));
      await order.report(arrived);
      for (let times = 0; times < 2; times += 1) {
        const reply = await order.update('resolveProblem', { orderId: newId, decision: 'abandon' });
        expect(stateIn(reply)).toMatchObject({ orderId, phase: 'at_lab', attention: [] });
      }
      await order.until(24 * 40);
      expect(await order.reasons()).toContain('results_overdue');
      await order.signal('orderChanged', result);
      expect(await order.state()).toMatchObject({ orderId: result.orderId, outcome: 'completed' });
    }
  });

  test('has replaced kits that are all given up: the order is abandoned with the last of them', async () => {
    const order = await lives(lost, { onLost: 'replace' });
    await order.signal('orderChanged', newKit(shipped));
    await order.report(arrived);
    await order.update('resolveProblem', { orderId: newId, decision: 'abandon' });
    await order.update('resolveProblem', { orderId, decision: 'abandon' });
    expect(order.result).toMatchObject({ outcome: 'abandoned' });
  });

  const lateRedraw = (statuses: readonly string[]) =>
    kitOf(thirdId, statuses, { origin: 'redraw', parentId: orderId, createdAt: '2024-06-01T00:00:00.000Z' });

  test('has replaced a kit that the service redraws after all: of the two, the later is current, and a person is asked', async () => {
    const order = await lives(lost, { onLost: 'replace' });
    await order.signal('orderChanged', lateRedraw(awaited));
    const asked = { reason: 'late_arrival', orderId: newId };
    expect(await order.state()).toMatchObject({ orderId: thirdId, attention: [asked] });
    await order.signal('orderChanged', newKit(['ordered', 'cancelled']));
    expect(await order.state()).toMatchObject({ orderId: thirdId, attention: [] });
  });

  test('has replaced a kit that the service redraws, and is given up: if the redraw fails, that is what is asked about', async () => {
    const order = await lives(lost, { onLost: 'replace', replacementLimit: 1 });
    await order.signal('orderChanged', newKit(shipped));
    await order.signal('orderChanged', lateRedraw(awaited));
    await order.update('resolveProblem', { orderId: newId, decision: 'abandon' });
    await order.signal('orderChanged', lateRedraw(lost));
    const asked = { reason: 'decision_needed', orderId: thirdId };
    expect(await order.state()).toMatchObject({ orderId: thirdId, attention: [asked] });
  });

  test('asks about a failed order whose redraw was given up: to replace it would only find that redraw', async () => {
    const found = { replaceKitOrder: { snapshot: redraw(shipped) } };
    const order = await lives(spoiled, { onSampleError: 'replace' }, found);
    await order.signal('orderChanged', redraw(shipped));
    await order.update('resolveProblem', { orderId: newId, decision: 'abandon' });
    await order.until(24 * 10);
    expect(await order.state()).toMatchObject({ orderId, attention: [{ reason: 'decision_needed', orderId }] });
  });

  test.each<[string, readonly string[], OrderPolicy, OrderPolicy, string]>([
    ['asks about a lost kit', lost, { onLost: 'replace' }, { onLost: 'ask' }, 'decision_needed'],
    ['asks about a stuck kit', stuck, { onProblem: 'replace' }, { onProblem: 'ask' }, 'problem_persists'],
  ])('that does not replace any more %s instead of trying again', async (_what, statuses, before, after, reason) => {
    const order = await lives(statuses, before, { replaceKitOrder: refused, resolvePolicy: resolvingPolicy });
    await order.until(241);
    const { length } = order.callsOf('replaceKitOrder');
    await order.update('setPolicy', { policy: after });
    await order.given({ replaceKitOrder: replaced }, 270);
    expect(order.callsOf('replaceKitOrder')).toHaveLength(length);
    expect(await order.reasons()).toEqual([reason]);
    expect(order.happened().slice(-2)).toEqual(['attention_cleared replacement_failed', `attention_raised ${reason}`]);
  });

  test('that fails orders whose kit is lost lets one fail whose replacement failed before', async () => {
    const answers = { replaceKitOrder: refused, resolvePolicy: resolvingPolicy };
    const order = await lives(lost, { onLost: 'replace' }, answers);
    await order.update('setPolicy', { policy: { onLost: 'fail' } });
    await order.given({ replaceKitOrder: replaced }, 25);
    expect(order.callsOf('replaceKitOrder')).toHaveLength(1);
    expect(order.result).toMatchObject({ outcome: 'failed' });
  });

  test('that may not replace a kit because placing is stopped waits, says so, and replaces it once within an hour after the resume', async () => {
    const order = await (await lives(lost, { onLost: 'replace' }, { replaceKitOrder: stopped })).until(2.5);
    expect(order.callsOf('replaceKitOrder')).toEqual([0, 1, 2].map((hours) => `${hours}h replaceKitOrder`));
    expect(await order.state()).toMatchObject({
      attention: [{ reason: 'replacement_failed', orderId }],
      waiting: { for: 'placing to be resumed (stopped: recalled)' },
    });
    expect(order.run.shown.details).toContain('**Waits for** placing to be resumed (stopped: recalled)');
    await order.given({ replaceKitOrder: refused }, 3.5);
    expect(await order.state()).toMatchObject({ waiting: { for: 'the next order' } });
    await order.given({ replaceKitOrder: stopped }, 30);
    await order.given({ replaceKitOrder: replaced }, 31);
    expect(order.argumentsOf('replaceKitOrder').at(-1)).toMatchObject({ n: 2, triedBefore: true });
    expect(await order.state()).toMatchObject({ orderId: newId, attention: [] });
    const since = ['attention_cleared replacement_failed', 'phase_changed preparing', 'replacement'];
    expect(order.happened().slice(-3)).toEqual(since);
  });

  test('waits no longer for the resume once the kit has moved on', async () => {
    const order = await lives(lost, { onLost: 'replace' }, { replaceKitOrder: stopped });
    await order.report([...lost, 'with_customer']);
    expect(await order.state()).toMatchObject({ attention: [], waiting: { for: 'the kit to be registered' } });
  });

  test('goes on with the replacement that failed if the kit is lost again', async () => {
    const order = await lives(lost, { onLost: 'replace' }, { replaceKitOrder: refused });
    await order.report([...lost, 'with_customer']);
    await order.given({ replaceKitOrder: replaced }, 1);
    await order.report([...lost, 'with_customer', 'lost']);
    expect(await order.state()).toMatchObject({ orderId: newId });
  });

  test.each<[string, readonly string[], object?]>([
    ['the order has been cancelled', [...stuck, 'cancelled']],
    ['the order is shown as cancelled, without an event that says so,', stuck, { status: 'cancelled' }],
    ['the kit has moved on', [...stuck, 'with_customer']],
  ])('asks nobody if %s while the replacement failed', async (_what, statuses, more) => {
    const order = await (await lives(stuck, { onProblem: 'replace' }, { replaceKitOrder: silent })).until(241);
    await order.report(statuses, more);
    await order.given({ replaceKitOrder: refused });
    expect(order.happened().join()).not.toContain('attention');
  });

  test('decides again if the service shows that the kit has moved on', async () => {
    const moved = shownAt([...lost, 'with_customer']);
    const order = await lives(shipped, { onLost: 'replace' }, { replaceKitOrder: movedOn(moved) });
    order.answers['readOrder'] = () => (order.callsOf('replaceKitOrder').length > 0 ? moved : shownAt(lost));
    await order.signal('orderChanged', shownAt(lost));
    expect(order.callsOf('replaceKitOrder')).toHaveLength(1);
    expect(order.happened(1).filter((event) => event.includes('attention'))).toEqual([]);
    expect(await order.state()).toMatchObject({ phase: 'awaiting_registration', attention: [] });
    const stands = await lives(lost, { onLost: 'replace' }, { replaceKitOrder: movedOn(shownAt(lost)) });
    expect(await stands.state()).toMatchObject({ attention: [{ reason: 'replacement_failed', orderId }] });
  });

  test('asks about an order that nobody handed over, which a person may replace', async () => {
    const answers = { readChain: reading({ snapshots: [shownAt(lost)] }), readOrder: shownAt(lost) };
    const found = (onLost: 'replace' | 'fail') =>
      begun(shownAt(lost), { ...answers, replaceKitOrder: replaced }, { policy: resolvePolicy('order', { onLost }) });
    const order = await found('replace');
    expect(order.callsOf('replaceKitOrder')).toEqual([]);
    expect(await order.state()).toMatchObject({ attention: [{ reason: 'decision_needed', orderId }] });
    expect(await order.update('replaceKit', { orderId })).toMatchObject({ value: { orderId: newId } });
    expect((await found('fail')).happened()).toContain('ended failed');
  });

  test('asks about a failure that it does not know, or whose event is still to come, in place of replacing the kit', async () => {
    const unknown = await lives([...shipped, 'failed.testkit.eaten'], { onLost: 'replace' });
    expect(await unknown.reasons()).toEqual(['decision_needed']);
    const byStatus = await lives(shipped, { onLost: 'replace' });
    await byStatus.report(shipped, { status: 'failed' });
    expect(await byStatus.reasons()).toEqual(['decision_needed']);
    const failing = await lives([...shipped, 'failed.testkit.eaten'], { onLost: 'fail' });
    expect(failing.happened().at(-2)).toBe('ended failed');
  });

  test('decides about a spoiled sample after its redraw was waited for', async () => {
    const spoilt = await lateLife(spoiled, { onSampleError: 'replace', onLost: 'fail' }, { replaceKitOrder: replaced });
    await spoilt.until(24 * 10);
    expect(spoilt.callsOf('replaceKitOrder')).toEqual(['240h replaceKitOrder']);
    const announced = await lives([...atLab, 'failed.testkit.redraw_available'], { onSampleError: 'fail' });
    await announced.until(24 * 10);
    expect(await announced.reasons()).toEqual(['decision_needed']);
  });

  test('asks about a sample that is blocked at the lab: no new kit helps it', async () => {
    const blocked = await (await lives([...atLab, 'lab_processing_blocked'], { onProblem: 'fail' })).until(24 * 16);
    expect(await blocked.reasons()).toContain('problem_persists');
  });

  test('that cannot replace a kit that is stuck tries again each day, also when something else is due, until the kit moves', async () => {
    const order = await (await lives(stuck, { onProblem: 'replace' }, { replaceKitOrder: refused })).until(241);
    expect(order.happened().at(-1)).toBe('attention_raised replacement_failed');
    expect(order.run.logged).toContain('warn: replacement failed');
    await order.until(24 * 12.2);
    const tried = ['240h replaceKitOrder', '262.759h replaceKitOrder', '285.518h replaceKitOrder'];
    expect(order.callsOf('replaceKitOrder')).toEqual(tried);
    expect(order.happened()).toContain('attention_raised delivery_overdue');
    await order.report([...stuck, 'out_for_delivery']);
    expect(order.happened()).toContain('attention_cleared replacement_failed');
    await order.until(24 * 14);
    expect(order.callsOf('replaceKitOrder')).toEqual(tried);
  });
});

test('an order that had missed its limit, was replaced, and is the current one again is asked about again', async () => {
  const order = await life(pathTo('with_customer'), { giveUpAfter: '300d' }, { replaceKitOrder: replaced });
  await order.until(24 * 91);
  await order.update('replaceKit', { orderId });
  expect(await order.state()).toMatchObject({ orderId: newId, attention: [{ reason: 'shipping_overdue' }] });
  const at = new Date(start + 91 * day).toISOString();
  const moved = { id: 6, at, status: 'collecting_sample.testkit.transit_lab' };
  await order.report([], { events: [...eventsOf(...pathTo('with_customer')), moved] });
  await order.signal('orderChanged', newKit(lost));
  const asked = order.happened().filter((event) => event.includes('registration_overdue'));
  const verbs = asked.map((event) => event.split(' ')[0]);
  expect(verbs).toEqual(['attention_raised', 'attention_cleared', 'attention_raised']);
  const question = expect.objectContaining({ reason: 'registration_overdue', orderId }) as unknown;
  expect((await order.state()).attention).toContainEqual(question);
  await order.until(24 * 92);
  expect(order.calls.at(-1)).toMatch(/^220\d.* readOrder$/);
});
