import { describe, expect, test } from 'vitest';
import type { OrderPolicy } from '../../../protocol/order/policy.js';
import type { OrderSnapshot } from '../../../service/order/snapshot.js';
import { silent, unavailable, type Answers } from '../life.js';
import { day, happyPath, kitOf, pathTo, start, transactionOf } from './histories.js';
import {
  acknowledgement,
  alarm,
  atLab,
  awaited,
  begun,
  life,
  lost,
  newId,
  newKit,
  numbered,
  opening,
  orderId,
  OrderLife,
  ours,
  placed,
  policy,
  reading,
  redraw,
  registered,
  registration,
  replaced,
  resolvingPolicy,
  shipped,
  shownAt,
  spoiled,
  stateIn,
  thirdId,
  wait,
} from './lives.js';
import { resolvePolicy } from '../../../protocol/policy/policies.js';

/*
 * The lives of runs that have to find out what they are for: started by a webhook, again after an end, or for an order of another
 * chain; and which orders that name a chain join it.
 */

const ended = [...awaited, 'cancelled'];

describe('a run', () => {
  test('that somebody started without a report waits ten seconds for one, then reads what it is for', async () => {
    const order = await begun(undefined);
    expect(order.calls).toEqual([]);
    await order.until(0.1);
    expect(order.calls).toEqual(['0.003h readChain']);
    expect(order.run.summaries).toEqual(expect.arrayContaining(['first report', 'whose order is this']));
  });

  test('that was started without an input follows the order of its ID', async () => {
    const order = await new OrderLife(opening, { readChain: reading(), resolvePolicy: policy }).start(null);
    await order.until(1);
    expect(order.argumentsOf('readChain')).toEqual([orderId]);
    expect(order.run.end).toBeUndefined();
  });

  test('for an order that the service does not know fails', async () => {
    const order = await (await begun(undefined, { readChain: reading({ snapshots: [], gone: true }) })).until(0.1);
    expect(order.run.end).toMatchObject({ kind: 'failed', type: 'OrderNotFound' });
  });

  test.each([
    ['the kit moves', ours([...registered, 'transit_customer'])],
    ['a cancellation is reported', ours([...registered, 'cancelled'])],
  ])('for an order of ours waits for its hand-over until %s', async (_until, next) => {
    const order = await (await begun(ours(awaited))).until(0.5);
    await order.signal('orderChanged', ours(registered));
    expect(order.calls).toEqual([]);
    await order.signal('orderChanged', next);
    expect(order.calls).toEqual(['0.5h readChain']);
  });

  test('for an order of ours waits for its hand-over until the first limit, or until it is known to be of another chain', async () => {
    const late = await (await begun(ours(awaited))).until(119.9);
    expect(late.calls).toEqual([]);
    expect((await late.until(120)).calls).toEqual(['120h readChain', '120h readOrder']);
    const other = await begun(ours(awaited));
    await other.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(awaited) });
    expect(other.calls).toEqual(['0h forwardOrder']);
  });

  test('for an order of ours waits for its hand-over until somebody has a command for the order', async () => {
    const order = await (await begun(ours(awaited), { cancelOrder: shownAt(ended) })).until(0.1);
    expect(order.calls).toEqual([]);
    expect(stateIn(await order.update('cancel'))).toMatchObject({ phase: 'cancelled' });
    expect(order.calls).toEqual(['0.1h readChain', '0.1h cancelOrder']);
  });

  test('goes on waiting for its hand-over if that command could not be answered in time', async () => {
    const order = await begun(ours(awaited), { resolvePolicy: silent }, { policy: undefined });
    await order.update('cancel');
    await order.until(0.06);
    expect(order.run.replies).toEqual([{ name: 'cancel', refused: 'ServiceUnavailable' }]);
    await order.given({ resolvePolicy: policy });
    await order.signal('orderPlaced', { ...placed, snapshot: ours(awaited) });
    expect(order.calls).toEqual(['0.06h resolvePolicy']);
    expect(await order.state()).toMatchObject({ reference: 'ref-1' });
  });

  test.each([
    ['is older than ten minutes', ours(awaited), { after: 1 }],
    ['is ten minutes old', ours(awaited), { after: 1 / 6 }],
    ['is older by its first event', ours(awaited, { createdAt: '' }), { after: 1 }],
    ['has been sent', ours(shipped), {}],
    ['has ended', ours(ended), {}],
    ['is a replacement', ours(awaited, numbered(2)), {}],
    ['is not of ours', shownAt(awaited, { passthrough: 'another' }), {}],
    ['has a critical result', ours(awaited), { signal: alarm }],
    ['has a signal that cannot be read', ours(awaited), { signal: { name: 'unreadable', argument: null } }],
    ['was redrawn', ours(awaited), { signal: { name: 'orderChanged', argument: redraw(awaited) } }],
  ])('waits for no hand-over if the order %s', async (_what, snapshot, more) => {
    expect((await begun(snapshot, more)).callsOf('readChain')).toEqual(['0h readChain']);
  });

  test.each<[string, string | undefined, OrderSnapshot, OrderSnapshot[]?]>([
    ['takes the reference from the webhook', 'ref-9', ours(shipped)],
    ['takes the reference from what it reads', 'ref-9', shownAt(shipped), [ours(shipped)]],
    ['takes no reference that is its own id', undefined, ours(shipped, { passthrough: `labops:-:${orderId}:1` })],
    ['takes no reference from a later order', undefined, newKit(shipped), [shownAt(lost), newKit(shipped)]],
  ])('%s', async (_what, reference, snapshot, snapshots = [shownAt(awaited)]) => {
    const order = await begun(snapshot, { readChain: reading({ snapshots }) });
    expect((await order.state()).reference).toBe(reference);
  });

  test('has no reference if that is copied from another user’s order', async () => {
    const order = await begun(ours(shipped), { readChain: reading({ isAlone: true, snapshots: [shownAt(shipped)] }) });
    await order.signal('orderChanged', ours(registered));
    expect(await order.state()).not.toHaveProperty('reference');
    expect(order.run.shown.attributes).not.toHaveProperty('LabReference');
  });
});

describe('a run that cannot find out what it is for', () => {
  test('asks again every ten minutes, needs a person, and refuses commands meanwhile', async () => {
    const order = await begun(shownAt(awaited), { readChain: unavailable });
    const asked = { LabAttention: ['order_unreadable'], LabAttentionSince: new Date(start) };
    expect(order.run.shown.attributes).toMatchObject(asked);
    await order.update('cancel');
    await order.until(0.4);
    expect(order.calls).toEqual(['0h readChain', '0.167h readChain', '0.333h readChain']);
    expect(order.run.replies).toEqual([{ name: 'cancel', refused: 'ServiceUnavailable' }]);
    expect(order.run.summaries).toContain('until the order is read again');
    await order.given({ readChain: reading() }, 1);
    expect(order.happened()).toEqual([
      'attention_raised order_unreadable',
      'attention_cleared order_unreadable',
      'phase_changed awaiting_registration',
    ]);
  });

  test('keeps an alarm that came with the first report to be seen', async () => {
    const both = { LabAttention: ['critical_result', 'order_unreadable'] };
    const reported = await begun(shownAt(awaited), { readChain: unavailable, signal: alarm });
    expect(reported.run.shown.attributes).toMatchObject(both);
    const shown = await begun(shownAt(happyPath, { interpretation: 'critical' }), { readChain: unavailable });
    expect(shown.run.shown.attributes).toMatchObject(both);
    await shown.signal('orderChanged', kitOf(newId, awaited));
    await shown.until(0.2);
    expect(shown.run.shown.attributes).toMatchObject(both);
  });

  test.each<[string, { name: string; argument: unknown }]>([
    ['is reported', alarm],
    ['is shown by its order', { name: 'orderChanged', argument: shownAt(happyPath, { interpretation: 'critical' }) }],
  ])('shows operators a critical result in the moment in which it %s', async (_how, { name, argument }) => {
    const order = await (await begun(shownAt(awaited), { readChain: silent })).until(5);
    expect(order.run.shown.attributes).not.toHaveProperty('LabAttention');
    await order.signal(name, argument);
    const at = new Date(start + 5 * 3_600_000);
    expect(order.run.shown.attributes).toMatchObject({ LabAttention: ['critical_result'], LabAttentionSince: at });
    expect(order.run.shown.details).toMatch(/has not answered yet[^]*\*\*Attention\*\* critical result since/);
    await order.until(30);
    await order.given({ readChain: unavailable });
    const both = { LabAttention: ['critical_result', 'order_unreadable'], LabAttentionSince: at };
    expect(order.run.shown.attributes).toMatchObject(both);
    await order.given({ readChain: reading() }, 31);
    expect(order.happened()).toContain('critical_result');
    expect(order.run.shown.attributes).toMatchObject({ LabAttention: ['critical_result'] });
  });

  test('and that an operator cancels ends at once, but with an alarm only when that was announced', async () => {
    const calm = await begun(shownAt(awaited), { readChain: silent });
    await calm.run.cancel();
    expect(calm.run.end).toEqual({ kind: 'failed', type: 'cancelled' });

    const alarmed = await begun(shownAt(awaited), { readChain: unavailable, signal: alarm });
    await alarmed.run.cancel();
    await alarmed.settle();
    await alarmed.until(1);
    expect(alarmed.run.end).toBeUndefined();
    await alarmed.given({ readChain: reading() }, 1.2);
    expect(alarmed.announced.map(({ type }) => type)).toContain('order.critical_result');
    expect(alarmed.run.end).toEqual({ kind: 'failed', type: 'cancelled' });
  });

  test('shows nothing of an order that it does not know yet', async () => {
    const order = await (await begun(undefined, { readChain: unavailable })).until(0.1);
    expect(order.calls).toEqual(['0.003h readChain']);
    expect(order.run.end).toBeUndefined();
    expect(order.run.shown.attributes).toEqual({});
  });
});

describe('an order that the service does not know any more when a webhook brings it', () => {
  test('has ended once the service says so for ten minutes', async () => {
    const readChain = reading({ snapshots: [], gone: true });
    const order = await (await begun(shownAt(awaited), { readChain, readOrder: null })).until(1);
    expect(order.calls).toEqual(['0h readChain', '0.167h readOrder']);
    expect(order.happened().slice(-2)).toEqual(['ended order_gone', 'completed']);
  });

  test.each<[string, readonly string[], OrderSnapshot[], boolean]>([
    ['if a later order of its chain lives', awaited, [shownAt(spoiled), redraw(awaited)], true],
    ['if its own end is known', ended, [], false],
  ])('has not %s', async (_why, statuses, snapshots, lives) => {
    const order = await begun(shownAt(statuses), { readChain: reading({ snapshots, gone: true }), readOrder: null });
    await order.until(1);
    expect(order.calls).toEqual(['0h readChain']);
    expect(order.run.end === undefined).toBe(lives);
  });
});

describe('an order that had ended', () => {
  /** A webhook begins another run, which reads what the last one came to. */
  const again = async ({ result: previous }: OrderLife, snapshot: OrderSnapshot, more: Answers = {}) =>
    begun(snapshot, { readChain: reading({ snapshots: [snapshot], previous }), readOrder: snapshot, ...more });

  /** It never moved, and was given up. */
  const givenUp = async (given: OrderPolicy = {}, more: object = {}) =>
    (await life(['ordered'], { giveUpAfter: '5d', ...given }, {}, more)).until(1000);

  test('and moves again goes on where it was: with its reference and policy, and without announcing anything again', async () => {
    const given = { labTestId: 'test-1', labAccountId: 'account-1' };
    const before = await givenUp({ shippingDeadline: '6d' }, given);
    expect(before.result).toMatchObject({ outcome: 'unresolved', ...given });
    const order = await again(before, shownAt(shipped));
    expect(order.happened()).toEqual(['attention_cleared shipping_overdue', 'phase_changed in_transit_to_customer']);
    expect(await order.state()).toMatchObject({ reference: 'ref-1' });
    await order.report(happyPath);
    expect(order.result).toMatchObject({ ...given, policy: { giveUpAfter: 5 * day, shippingDeadline: 6 * day } });
  });

  test('keeps its timeline, its answers and the sample that was registered', async () => {
    const before = await life(awaited, {}, { registerKit: shownAt(registered) });
    await before.update('register', { registration });
    await before.signal(alarm.name, alarm.argument);
    await before.update('acknowledgeCriticalResult', acknowledgement);
    await before.update('resolveProblem', { orderId, decision: 'abandon' });
    const { timeline, answers } = before.result;
    const { result } = await again(before, shownAt([...registered, 'transit_customer']));
    expect(result).toMatchObject({ answers, chain: [{ sampleId: registration.sample_id }] });
    expect(result.timeline).toEqual(expect.arrayContaining(timeline));
    expect(result.timeline).toHaveLength(timeline.length + 1);
  });

  test('as failed needs a person again if its redraw fails, too', async () => {
    const before = await (await life(lost)).until(24 * 100);
    const failed = redraw(['lost']);
    const readChain = reading({ snapshots: [shownAt(lost), failed], previous: before.result });
    const order = await begun(failed, { readChain, readOrder: failed });
    expect(await order.state()).toMatchObject({ attention: [{ reason: 'decision_needed', orderId: newId }] });
  });

  test('because a person stopped following it stays ended, unless the service ends it', async () => {
    const before = await life(['ordered']);
    await before.update('resolveProblem', { orderId, decision: 'abandon', by: 'nurse-7' });
    const order = await again(before, shownAt(shipped));
    const decided = { orderId, at: expect.any(String) as string, status: 'problem_resolved', detail: 'abandon' };
    expect((await order.state()).timeline).toContainEqual({ ...decided, by: 'nurse-7' });
    expect(order.happened()).toEqual(['phase_changed in_transit_to_customer', 'completed']);
    expect(order.result).toMatchObject({ outcome: 'abandoned' });
    const cancelled = await again(before, shownAt(['ordered', 'cancelled']));
    expect(cancelled.happened()).toEqual(['cancellation', 'phase_changed cancelled', 'completed']);
    expect(cancelled.result).toMatchObject({ outcome: 'cancelled' });
  });

  test('is replaced by the policy only if it was handed over once', async () => {
    const answers = { replaceKitOrder: replaced };
    const handedOver = await again(await givenUp({ onLost: 'replace' }), shownAt(lost), answers);
    expect(handedOver.calls).toContain('0h replaceKitOrder');
    const onLost = resolvePolicy('order', { onLost: 'replace', giveUpAfter: '5d' });
    for (const made of [shownAt, ours]) {
      const shown = { readChain: reading({ snapshots: [made(['ordered'])] }), readOrder: made(['ordered']), after: 1 };
      const found = await (await begun(made(['ordered']), shown, { policy: onLost })).until(1000);
      const order = await again(found, made(lost), answers);
      expect(order.callsOf('replaceKitOrder')).toEqual([]);
      expect(await order.reasons()).toEqual(['decision_needed']);
    }
  });

  test('takes the policy of a hand-over that comes only after it moved again', async () => {
    const shown = { readChain: reading({ snapshots: [ours(['ordered'])] }), readOrder: ours(['ordered']), after: 1 };
    const order = await again(await (await begun(ours(['ordered']), shown)).until(5000), ours(shipped));
    const handOver = { ...placed, reference: 'ref-9', policy: resolvePolicy('order', { giveUpAfter: '9d' }) };
    await order.signal('orderPlaced', { ...handOver, snapshot: ours(shipped) });
    await order.signal('orderChanged', ours(happyPath));
    expect(order.result).toMatchObject({ reference: 'ref-9', policy: { giveUpAfter: 9 * day } });
  });

  test('is not replaced by the policy if it was adopted: it takes the reference, and asks, also after another end', async () => {
    const adopt = { ...placed, policy: resolvePolicy('order', { onLost: 'replace', giveUpAfter: '5d' }) };
    const argument = { ...adopt, adopted: true, madeElsewhere: true, snapshot: shownAt(['ordered']) };
    const shown = { readOrder: shownAt(['ordered']), replaceKitOrder: replaced };
    const order = await begun(shownAt(['ordered']), shown);
    await order.signal('orderPlaced', argument);
    expect(await order.state()).toMatchObject({ reference: 'ref-1' });
    expect(order.run.shown.attributes).toMatchObject({ LabReference: 'ref-1' });
    const before = order.announced.length;
    await order.until(1000);
    expect(order.announced[before]?.data).toMatchObject({ reference: 'ref-1' });
    const next = await again(order, shownAt(lost), { replaceKitOrder: replaced });
    const lostAtOnce = await begun(shownAt(['ordered']), shown);
    await lostAtOnce.signal('orderPlaced', argument);
    await lostAtOnce.report(lost);
    for (const each of [next, lostAtOnce]) expect(await each.reasons()).toEqual(['decision_needed']);
    expect([...next.calls, ...lostAtOnce.calls].filter((call) => call.endsWith('replaceKitOrder'))).toEqual([]);
  });

  test('and is handed over again follows the policy of that', async () => {
    const { result: previous } = await givenUp();
    const handOver = { ...placed, adopted: true, snapshot: shownAt(shipped) };
    const argument = { ...handOver, policy: resolvePolicy('order', { giveUpAfter: '9d' }) };
    const readChain = reading({ snapshots: [shownAt(shipped)], previous });
    const order = await begun(undefined, { readChain, signal: { name: 'orderPlaced', argument } });
    await order.report(happyPath);
    expect(order.result).toMatchObject({ policy: { giveUpAfter: 9 * day } });
  });

  test('with a kit and its replacement goes on with both, and each has its own events', async () => {
    const before = await life(spoiled, { onLost: 'fail' }, { replaceKitOrder: replaced, readOrder: newKit(lost) });
    await before.update('replaceKit', { orderId });
    await before.signal('orderChanged', newKit(lost, { interpretation: 'abnormal' }));
    expect(before.result).toMatchObject({ outcome: 'failed' });
    const next = newKit([...lost, 'problem_in_transit_customer', 'lost'], { interpretation: 'abnormal' });
    const order = await again(before, next);
    expect(order.happened()).toEqual(['ended failed', 'completed']);
    expect(order.result).toMatchObject({
      chain: [
        { orderId, replacedBy: newId },
        { orderId: newId, replaces: orderId, origin: 'replacement' },
      ],
    });
  });

  test('as failed stays failed and is not announced again, until it moves', async () => {
    const before = await life(lost, { onLost: 'fail' });
    const order = await again(before, shownAt(lost, { sampleId: 'SAMPLE-1' }));
    expect(order.happened()).toEqual(['completed']);
    expect(order.result).toMatchObject({ outcome: 'failed' });
    const moved = await again(before, shownAt([...lost, 'with_customer']));
    expect(moved.run.end).toBeUndefined();
    const lostAgain = await again(before, shownAt([...lost, 'with_customer', 'lost']));
    expect(lostAgain.happened().at(-2)).toBe('ended failed');
  });

  test('is reminded of what is still due only', async () => {
    const before = await (await life(pathTo('with_customer'), { giveUpAfter: '1d' })).until(24 * 100);
    const order = await (await again(before, shownAt([...pathTo('with_customer'), 'with_customer']))).until(24 * 60);
    expect(order.happened().filter((event) => event.includes('reminder'))).toEqual([]);
  });

  test('keeps its critical result', async () => {
    const before = await life(atLab, { criticalResultReminder: '2h' });
    await before.report(happyPath, { interpretation: 'critical' });
    await before.update('acknowledgeCriticalResult', acknowledgement);
    const order = await again(before, shownAt(happyPath, { interpretation: 'critical', sampleId: 'SAMPLE-1' }));
    expect(order.happened()).toEqual(['completed']);
    expect(order.result).toMatchObject({ criticalResults: [{ isOpen: false, status: 'final' }] });
  });
});

describe('an order of another chain', () => {
  const elsewhere = (more: object = {}) => reading({ rootOrderId: newId, ...more });

  test('passes on each report once, and shows so', async () => {
    const readChain = elsewhere({ snapshots: [shownAt(awaited), kitOf(newId, awaited)] });
    const order = await begun(ours(awaited), { readChain, after: 1 });
    expect(order.passedOn).toEqual([{ rootOrderId: newId, snapshot: expect.objectContaining({ orderId }) as unknown }]);
    expect(order.run.shown).toEqual({
      details: `Passes on what it receives to \`kit-order/${newId}\`, the workflow of its chain.`,
      attributes: { LabAttention: [], LabPhase: 'forwarded', LabReference: 'ref-9' },
    });
    expect(order.run.summaries.at(-1)).toBe('silence');
    expect(order.run.summaries).toContain(`pass on to ${newId}`);
    for (let times = 0; times < 2; times += 1) await order.signal('orderChanged', ours(shipped));
    expect(order.passedOn).toMatchObject([{}, { rootOrderId: newId, snapshot: { events: [{}, {}, {}] } }]);
    expect(order.events).toEqual([]);
    expect((await order.until(24 * 60 - 1)).run.end).toBeUndefined();
    expect((await order.until(24 * 60)).run.end).toMatchObject({ result: { outcome: 'forwarded', forwardsTo: newId } });
  });

  test('asks the service no more than that, however late the order is', async () => {
    const order = await begun(shownAt(['ordered']), { readChain: elsewhere(), after: 240 });
    expect(order.calls).toEqual(['0h readChain', '0h forwardOrder']);
  });

  test('acknowledges nothing: a caller who asks before that is known is answered then', async () => {
    const order = await begun(undefined, { readChain: silent, signal: alarm });
    await order.update('acknowledgeCriticalResult', acknowledgement);
    expect(order.run.replies).toEqual([]);
    await order.given({ readChain: elsewhere() });
    expect(order.run.replies).toEqual([{ name: 'acknowledgeCriticalResult', refused: 'OrderForwarded' }]);
  });

  test('passes on what comes in while it does so before it ends', async () => {
    const order = await begun(shownAt(awaited), { readChain: elsewhere(), forwardOrder: silent });
    await order.signal('orderChanged', shownAt(ended));
    await order.given({ forwardOrder: null });
    expect(order.passedOn).toMatchObject([{ snapshot: { events: [{}, {}] } }, { snapshot: { events: [{}, {}, {}] } }]);
    expect(order.run.end).toMatchObject({ kind: 'completed' });
  });

  test('passes its alarms on though an operator cancels it, whenever they come', async () => {
    const known = await begun(shownAt(awaited), { readChain: silent, signal: alarm });
    await known.run.cancel();
    await known.given({ readChain: elsewhere() });

    const order = await begun(shownAt(awaited), { readChain: elsewhere(), forwardOrder: silent });
    await order.run.cancel();
    await order.signal(alarm.name, alarm.argument);
    await order.given({ forwardOrder: null });
    for (const { passedOn, run } of [known, order]) {
      expect(passedOn).toMatchObject([{ rootOrderId: newId }, { rootOrderId: newId, report: alarm.argument }]);
      expect(run.end).toEqual({ kind: 'failed', type: 'cancelled' });
    }
  });

  test('passes on each alarm once, also one that a later report has overtaken', async () => {
    const order = await begun(shownAt(awaited), { readChain: elsewhere(), signal: alarm });
    expect(order.passedOn.slice(1)).toEqual([{ rootOrderId: newId, report: alarm.argument }]);
    await order.signal('orderChanged', shownAt(shipped));
    expect(order.passedOn).toHaveLength(3);
    await order.signal(alarm.name, { ...alarm.argument, status: 'final' });
    expect(order.passedOn.slice(3)).toMatchObject([{ report: { orderId, status: 'final' } }]);
    expect(order.run.summaries).toContain(`pass a critical result on to ${newId}`);

    const critical = shownAt(atLab, { interpretation: 'critical' });
    const normal = [shownAt(happyPath, { interpretation: 'normal' })];
    const overtaken = await begun(critical, { readChain: elsewhere({ snapshots: normal }) });
    expect(overtaken.passedOn).toMatchObject([{ snapshot: {} }, { report: alarm.argument }]);
    const plain = await begun(critical, { readChain: elsewhere({ snapshots: [critical] }) });
    expect(plain.passedOn).toMatchObject([{ snapshot: { interpretation: 'critical' } }]);
  });

  test('that stays with its run although its chain is known takes no second kit from there', async () => {
    const order = await begun(shownAt(awaited), { readOrder: shownAt(awaited), resolvePolicy: resolvingPolicy });
    await order.update('setPolicy', { policy: { shippingDeadline: '8d' } });
    const transaction = transactionOf({ id: newId, origin: 'initial' }, { id: orderId, origin: 'redraw' });
    order.answers['readOrder'] = kitOf(newId, lost, { transaction, userId: 'user-1' });
    await order.signal('orderChanged', shownAt(lost, { transaction, origin: 'redraw' }));
    const forwarded = { refused: 'OrderForwarded' };
    expect(await order.update('replaceKit', { orderId })).toMatchObject(forwarded);
    expect(await order.update('resolveProblem', { orderId, decision: 'replace' })).toMatchObject(forwarded);
  });

  test('is passed on whatever an earlier run of it came to', async () => {
    const before = await life(['ordered']);
    await before.update('resolveProblem', { orderId, decision: 'abandon' });
    const order = await begun(shownAt(awaited), { readChain: elsewhere({ previous: before.result }) });
    expect(await order.state()).not.toHaveProperty('outcome');
    expect(order.run.end).toBeUndefined();
  });

  test('passes on what it had raised itself, once', async () => {
    const order = await life(atLab);
    await order.signal(alarm.name, alarm.argument);
    await order.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(atLab) });
    expect(order.passedOn).toMatchObject([{ snapshot: {} }, { report: alarm.argument }]);
    await order.signal('orderChanged', shownAt(atLab, { sampleId: 'SAMPLE-1' }));
    expect(order.passedOn.slice(2)).toMatchObject([{ snapshot: {} }]);
  });

  test('passes a flag on with its order, and reports nothing beside it', async () => {
    const flagged = { interpretation: 'normal', flaggedCritical: true } as const;
    const order = await begun(shownAt(ended, flagged), { readChain: elsewhere({ snapshots: [] }) });
    expect(order.passedOn).toMatchObject([{ snapshot: flagged }]);
    expect(order.result).toMatchObject({ chain: [flagged] });
  });

  test('ends only when its alarm has been passed on', async () => {
    const answers = { readChain: elsewhere({ snapshots: [] }), forwardCriticalResult: silent };
    const order = await begun(shownAt(ended), { ...answers, signal: alarm });
    expect(order.run.end).toBeUndefined();
    expect((await order.given({ forwardCriticalResult: null })).run.end).toMatchObject({ kind: 'completed' });
  });

  test('passes on that a signal could not be decrypted, whenever that came: it may have been an alarm', async () => {
    const order = await begun(shownAt(awaited), { readChain: silent });
    await order.signal('unreadable');
    await order.given({ readChain: elsewhere() });
    expect(order.argumentsOf('forwardUnreadable')).toEqual([{ rootOrderId: newId }]);
    await order.signal('unreadable');
    await order.signal('orderChanged', shownAt(registered));
    expect(order.argumentsOf('forwardUnreadable')).toHaveLength(2);
  });

  test('ends only when every caller is answered, and shows nothing of what it answers', async () => {
    const order = await life(awaited, {}, { registerKit: silent });
    await order.update('register', { registration });
    await order.signal('replacementPlaced', { rootOrderId: newId, snapshot: shownAt(ended) });
    expect(order.run.end).toBeUndefined();
    await order.given({ registerKit: shownAt([...registered, 'cancelled']) });
    expect(stateIn(order.run.replies[0])).toMatchObject({ registered: true });
    expect(order.run.shown.details).toMatch(/^Passes on what it receives/);
    expect(order.run.end).toMatchObject({ kind: 'completed' });
  });
});

/** An order that names the chain in its passthrough, though it is another user's. */
const naming = (statuses: readonly string[], more: Partial<OrderSnapshot> = {}) =>
  newKit(statuses, { userId: 'user-2', ...more });
const criticalResult = { orderId: newId, interpretation: 'critical' };
const idsOf = async (order: OrderLife) => (await order.state()).chain.map((link) => link.orderId);

describe('an order of another user that names a chain', () => {
  test('does not join it: it is followed by itself, and a person is asked once', async () => {
    const order = await life(awaited);
    for (const statuses of [awaited, happyPath]) await order.signal('orderChanged', naming(statuses));
    expect(await idsOf(order)).toEqual([orderId]);
    expect((await order.state()).attention).toMatchObject([{ reason: 'foreign_order', orderId }]);
    expect(order.run.shown.details).toContain(newId);
    // Without the passthrough: its own workflow takes neither reference nor chain from it.
    const passed = (statuses: readonly string[]) => kitOf(newId, statuses, { userId: 'user-2' });
    expect(order.passedOn).toEqual([
      { snapshot: passed(awaited), rootOrderId: newId },
      { snapshot: passed(happyPath), rootOrderId: newId },
    ]);
    expect(order.happened().filter((event) => event.startsWith('attention_raised'))).toHaveLength(1);
    expect(stateIn(await order.update('resolveProblem', wait)).attention).toEqual([]);
    await order.signal('orderChanged', naming([...happyPath, 'corrected']));
    expect(await order.reasons()).toEqual([]);
  });

  test('does not join it by what is reported later without its user, or without the order', async () => {
    const order = await life(awaited);
    await order.signal('orderChanged', naming(awaited));
    const { userId: _userId, ...unnamed } = naming(happyPath);
    await order.signal('orderChanged', unnamed);
    await order.signal('criticalResultReported', criticalResult);
    const passed = [{ snapshot: { orderId: newId } }, { report: criticalResult, rootOrderId: newId }];
    expect(order.passedOn.slice(1)).toMatchObject(passed);
    expect(await idsOf(order)).toEqual([orderId]);
    expect(await order.state()).not.toHaveProperty('criticalResult');
  });

  test('has its alarm raised here if that comes back from where it was passed on: nobody else raises it', async () => {
    const order = await life(awaited);
    await order.signal('orderChanged', naming(awaited));
    for (let times = 0; times < 3; times += 1) await order.signal('criticalResultReported', criticalResult);
    expect(order.passedOn.slice(1)).toHaveLength(1);
    expect(await idsOf(order)).toEqual([orderId]);
    expect((await order.state()).criticalResult).toMatchObject({ orderId: newId, isOpen: true });
    expect(order.announced.filter(({ type }) => type === 'order.critical_result')).toMatchObject([{ subject: newId }]);
    // The service repeats its own webhook, which names the order: that is passed on as before.
    await order.signal('criticalResultReported', { ...criticalResult, order: naming(awaited) });
    expect(order.passedOn.at(-1)).toMatchObject({ report: criticalResult, rootOrderId: newId });
  });

  test('has its alarm passed on though an operator cancels the chain’s workflow, whenever it comes', async () => {
    const order = await life(awaited, {}, { forwardOrder: silent, notify: silent });
    await order.signal('criticalResultReported', { ...criticalResult, order: naming(awaited) });
    await order.run.cancel();
    await order.given({ forwardOrder: null });
    const passedOn = () => order.argumentsOf('forwardCriticalResult');
    expect(passedOn()).toMatchObject([{ report: criticalResult, rootOrderId: newId }]);
    expect(order.run.end).toBeUndefined();
    await order.signal('criticalResultReported', { ...criticalResult, status: 'final', order: naming(awaited) });
    await order.given({ handOverNotifications: null }, 1);
    expect(passedOn()).toMatchObject([{}, { report: { status: 'final' }, rootOrderId: newId }]);
    expect(order.run.end).toEqual({ kind: 'failed', type: 'cancelled' });
  });

  test('does not join it if its webhook starts the run', async () => {
    const signal = { name: 'criticalResultReported', argument: { ...criticalResult, order: naming(awaited) } };
    const order = await begun(undefined, { readChain: reading(), signal });
    expect(await idsOf(order)).toEqual([orderId]);
    expect(await order.state()).not.toHaveProperty('criticalResult');
    expect(order.passedOn).toMatchObject([{ rootOrderId: newId }, { report: { orderId: newId }, rootOrderId: newId }]);
  });

  test('does not join it in place of the replacement that has the same number', async () => {
    const snapshot = kitOf(thirdId, ['ordered'], { userId: 'user-1', ...numbered(2) });
    const order = await life(lost, {}, { replaceKitOrder: { snapshot } });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', naming(awaited));
    expect(await idsOf(order)).toEqual([orderId, thirdId]);
  });
});

describe('an order joins the chain that it names', () => {
  test('if it is of the same user', async () => {
    const order = await life(lost);
    await order.signal('orderChanged', naming(awaited, { userId: 'user-1' }));
    expect(await idsOf(order)).toEqual([orderId, newId]);
    // A registration may give it to another user.
    await order.signal('orderChanged', naming(registered));
    expect(await order.state()).toMatchObject({ userId: 'user-2', attention: [] });
  });

  test('if its number was reserved, though a registration has given it to another user', async () => {
    const order = await life(lost, {}, { replaceKitOrder: silent });
    await order.update('replaceKit', { orderId });
    await order.signal('orderChanged', naming(registered));
    expect(await idsOf(order)).toEqual([orderId, newId]);
  });

  test('if the service itself says that it follows one of the chain’s', async () => {
    const order = await life(registered);
    await order.signal('orderChanged', redraw(awaited, { userId: 'user-2', ...numbered(2) }));
    expect(await idsOf(order)).toEqual([orderId, newId]);
  });
});
