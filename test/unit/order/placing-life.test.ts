import { describe, expect, test } from 'vitest';
import { labPhaseKey, labReferenceKey, labUserIdKey } from '../../../protocol/search-attributes.js';
import { placeKitOrder } from '../../../workflows/order/placing.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { start } from './histories.js';
import { orderId, refusal, shownAt } from './lives.js';
import { resolvePolicy } from '../../../protocol/policies.js';

/* The lives of placings: what the service is asked, what a caller who cancels is answered, and when a person is asked. */

const policy = resolvePolicy('order');
const userId = '00000000-0000-4000-8000-0000000000AA';
const order = { user_id: userId, lab_test_id: 'test-1' };
const input = { reference: 'ref-1', kind: 'unregistered', order, policy };
const snapshot = shownAt(['ordered']);
const placed = { snapshot, adopted: false, handedOver: true };
const opening = { workflow: placeKitOrder, type: 'placeKitOrder', workflowId: 'place-kit-order/ref-1', now: start };

async function place(answers: Answers, given: unknown = input, more: object = {}): Promise<Life> {
  return new Life({ ...opening, ...more }, answers).start(given);
}

/** Each call with what it was asked. */
function asked(): { of: (name: string, answer: unknown) => unknown; calls: unknown[] } {
  const calls: unknown[] = [];
  const of = (name: string, answer: unknown) => (_now: number, argument: unknown) => {
    calls.push([name, argument]);
    return answer;
  };
  return { of, calls };
}

const minutes = (count: number) => count / 60;
const calledBack = { failure: { ended: 'called_back' } };
const unauthorized = refusal('Unauthorized');
const stateOf = ({ run }: Life) => run.query('state');
const failed = (type: string) => ({ kind: 'failed', type });
const cancelled = { outcome: 'cancelled', reference: 'ref-1' };
const done = { kind: 'completed', result: { orderId, adopted: false } };

/** The creation is under way and is called back by a cancellation. */
async function cancel(of: Life, comesTo: unknown = calledBack): Promise<void> {
  await of.update('cancel');
  of.answers['createKitOrder'] = comesTo;
  await of.settle();
}

describe('a placing', () => {
  test('asks the service once, for the user as ids are written here, and shows whose it is', async () => {
    const { of, calls } = asked();
    const placing = await place({ createKitOrder: silent });
    expect(await stateOf(placing)).toEqual({
      ...{ phase: 'placing', reference: 'ref-1', userId: userId.toLowerCase(), attention: [] },
      waiting: { for: 'the lab service to accept the order' },
    });
    expect(placing.run.shown).toEqual({
      details: 'Places the order at the lab service, once.',
      attributes: { LabReference: 'ref-1', LabPhase: 'placing', LabUserId: userId.toLowerCase() },
    });
    // What the start has set is not set again.
    const attributes = [
      { key: labReferenceKey, value: 'ref-1' },
      { key: labPhaseKey, value: 'placing' },
      { key: labUserIdKey, value: userId.toLowerCase() },
    ];
    for (const count of [2, 3]) {
      const { run } = await place({ createKitOrder: silent }, input, { attributes: attributes.slice(0, count) });
      expect(run.shown).toEqual(placing.run.shown);
      expect(run.commands.includes('upsertWorkflowSearchAttributes')).toBe(count === 2);
    }
    placing.answers['createKitOrder'] = of('createKitOrder', placed);
    await placing.settle();
    const request = { kind: 'unregistered', order: { ...order, user_id: userId.toLowerCase() } };
    const { creationTimeout, creationSettling } = policy;
    const about = { reference: 'ref-1', since: '2024-03-01T10:00:00.000Z', creationTimeout, creationSettling, policy };
    expect(calls).toEqual([['createKitOrder', { request, triedBefore: false, ...about }]]);
    expect(placing.calls).toEqual(['0h createKitOrder']);
    expect(placing.run.summaries).toEqual(['order ref-1']);
    expect(placing.run.end).toEqual(done);
    expect(placing.run.shown.details).toBe(
      `Placed order \`${orderId}\`. Workflow \`kit-order/${orderId}\` follows it from here.`,
    );
    expect(await stateOf(placing)).toMatchObject({ orderId });
  });

  test.each([false, undefined])('hands over what its attempt has not: %s', async (handedOver) => {
    const { of, calls } = asked();
    const found = { snapshot, adopted: true, handedOver };
    const placing = await place({ createKitOrder: found, handOver: of('handOver', null) });
    expect(calls).toEqual([['handOver', { reference: 'ref-1', policy, snapshot, adopted: true, labTestId: 'test-1' }]]);
    expect(placing.run.end).toEqual({ kind: 'completed', result: { orderId, adopted: true } });
    expect(placing.run.summaries.at(-1)).toBe(`hand over ${orderId}`);
  });

  test('has its policy resolved before it asks for anything', async () => {
    const placing = await place({ resolvePolicy: silent, createKitOrder: placed }, { ...input, policy: {} });
    expect(placing.calls).toEqual([]);
    placing.answers['resolvePolicy'] = policy;
    await placing.settle();
    expect(placing.calls).toEqual(['0h resolvePolicy', '0h createKitOrder']);
  });

  test.each([
    ['ReferenceInvalid', null],
    ['ReferenceInvalid', { reference: 7 }],
    ['ReferenceInvalid', { reference: 'ref 1' }],
    ['ReferenceInvalid', { reference: 'ref-2' }],
    ['InvalidCommand', { kind: undefined }],
    ['InvalidCommand', { kind: 'another' }],
    ['InvalidCommand', { order: null }],
    ['InvalidCommand', { order: 'test-1' }],
  ])('without a usable input fails as %s: %j', async (type, given) => {
    const placing = await place({ createKitOrder: placed }, given && { ...input, ...given });
    expect(placing.run.end).toMatchObject(failed(type));
    expect(placing.calls).toEqual([]);
  });

  test.each([7, 'ref 1'])('whose ID has an unusable reference fails, too: %s', async (reference) => {
    const placing = await place({}, { ...input, reference }, { workflowId: `place-kit-order/${reference}` });
    expect(placing.run.end).toMatchObject(failed('ReferenceInvalid'));
  });

  test('fails with what the service refused; if it cannot choose among orders, a person has to', async () => {
    const refused = await place({ createKitOrder: refusal('OrderRefused') });
    expect(refused.run.end).toMatchObject(failed('OrderRefused'));
    expect(refused.run.shown.attributes).not.toHaveProperty('LabAttention');
    expect(await stateOf(refused)).not.toHaveProperty('outcome');
    const ambiguous = await place({ createKitOrder: refusal('AmbiguousOrder') });
    expect(ambiguous.run.end).toMatchObject(failed('AmbiguousOrder'));
    expect(ambiguous.run.shown.attributes).toMatchObject({ LabAttention: ['ambiguous_order'] });
    const delayed = await place({ createKitOrder: unavailable });
    delayed.answers['createKitOrder'] = refusal('AmbiguousOrder');
    await delayed.until(0.2);
    expect(delayed.run.shown.attributes).toMatchObject({ LabAttention: ['ambiguous_order'] });
  });

  test('hands its order over again until a worker can read that it did, and looks again for what a cancellation left', async () => {
    const refused = { failure: { type: 'AnswerLost', isFinal: false } };
    const answers = { createKitOrder: { ...placed, handedOver: false }, handOver: refused };
    const placing = await (await place(answers)).until(minutes(3));
    expect(placing.calls.filter((call) => call.endsWith('handOver'))).toHaveLength(4);
    placing.answers['handOver'] = null;
    expect((await placing.until(minutes(4))).run.end).toEqual(done);

    const cancelledOne = await place({ createKitOrder: silent, findKitOrder: refused });
    await cancel(cancelledOne);
    await cancelledOne.until(minutes(10));
    cancelledOne.answers['findKitOrder'] = { snapshot, adopted: true };
    expect((await cancelledOne.until(minutes(11))).run.replies).toEqual([
      { name: 'cancel', value: { outcome: 'placed', orderId } },
    ]);
  });

  test('of an order whose id no workflow can have fails, and hands nothing over', async () => {
    const odd = { ...placed, handedOver: false, snapshot: { ...snapshot, orderId: 'an id' } };
    const placing = await place({ createKitOrder: odd });
    expect(placing.run.end).toMatchObject(failed('AnswerUnreadable'));
    expect(placing.calls).toEqual(['0h createKitOrder']);
  });
});

describe('a placing that the service does not take', () => {
  test.each([
    ['ServiceUnavailable', unavailable],
    ['CommandTimedOut', { failure: { ended: 'out_of_time' } }],
  ])(
    'goes on (%s), looks for what came of the attempts before, and needs a person meanwhile',
    async (type, failure) => {
      const { of, calls } = asked();
      const placing = await place({ createKitOrder: of('createKitOrder', failure) });
      await placing.until(0.2);
      expect(calls).toMatchObject([
        ['createKitOrder', { triedBefore: false }],
        ['createKitOrder', { triedBefore: true }],
      ]);
      expect(placing.calls).toEqual(['0h createKitOrder', '0.167h createKitOrder']);
      expect(await stateOf(placing)).toMatchObject({
        attention: [{ reason: 'placing_delayed', since: '2024-03-01T10:00:00.000Z' }],
        waiting: { for: 'the lab service to accept the order' },
      });
      expect(placing.run.shown.attributes).toMatchObject({ LabAttention: ['placing_delayed'] });
      expect(placing.run.shown.details).toContain(`(${type}). Placing continues.`);
      placing.answers['createKitOrder'] = placed;
      await placing.until(0.4);
      expect(placing.run.end).toEqual(done);
      expect(placing.run.shown.attributes).toMatchObject({ LabAttention: [] });
    },
  );

  test('pauses for as long as the service asks, and no shorter than a creation takes to settle', async () => {
    const details = { fields: [], retryAfterMs: 3_600_000 };
    const asking = await place({ createKitOrder: { failure: { type: 'ServiceBusy', isFinal: false, details } } });
    expect((await asking.until(1.1)).calls).toEqual(['0h createKitOrder', '1h createKitOrder']);
  });

  test('goes on if the key was refused, and says what a person has to correct', async () => {
    const placing = await place({ createKitOrder: unauthorized });
    expect(await stateOf(placing)).toMatchObject({
      attention: [{ reason: 'placing_delayed' }],
      waiting: { for: 'access to the lab service: a key that it accepts, for a user and an account of its team' },
    });
    placing.answers['createKitOrder'] = unavailable;
    await placing.until(0.2);
    expect(await stateOf(placing)).toMatchObject({ waiting: { for: 'the lab service to accept the order' } });
    placing.answers['createKitOrder'] = placed;
    await placing.until(0.4);
    expect(placing.run.end).toEqual(done);
  });

  test('goes on if its search for earlier orders was refused once, and fails with that if it is refused again', async () => {
    const searchRefused = refusal('SearchRefused', { fields: [], reason: 'no such user' });
    const placing = await place({ createKitOrder: searchRefused });
    expect(await stateOf(placing)).toMatchObject({ attention: [{ reason: 'placing_delayed' }] });
    placing.answers['createKitOrder'] = unavailable;
    await placing.until(0.2);
    placing.answers['createKitOrder'] = searchRefused;
    await placing.until(0.4);
    expect(placing.run.end).toBeUndefined();
    await placing.until(0.6);
    expect(placing.run.end).toMatchObject(failed('OrderRefused'));
    const fresh = await place({ createKitOrder: silent });
    await fresh.signal('creationProgress', 'nothing_sent');
    fresh.answers['createKitOrder'] = searchRefused;
    await fresh.settle();
    expect(fresh.run.end).toMatchObject(failed('OrderRefused'));
    const refusedBefore = await place({ createKitOrder: searchRefused, findKitOrder: searchRefused });
    await cancel(refusedBefore);
    await refusedBefore.until(0.1);
    expect(refusedBefore.run.replies, 'the second search may have come too soon').toEqual([]);
    await refusedBefore.until(1);
    expect(refusedBefore.run.replies).toEqual([{ name: 'cancel', refused: 'OrderRefused' }]);
    const cancelledOne = await place({ createKitOrder: silent, findKitOrder: searchRefused });
    await cancel(cancelledOne);
    await cancelledOne.until(0.1);
    expect(cancelledOne.run.replies).toEqual([]);
    await cancelledOne.until(1);
    expect(cancelledOne.run.replies).toEqual([{ name: 'cancel', refused: 'OrderRefused' }]);
    expect(cancelledOne.run.refusals).toMatchObject([{ reason: 'no such user' }]);
  });

  test('goes on in the next run if its history grows long, which looks for what came of the attempts before', async () => {
    const { of, calls } = asked();
    const placing = new Life(opening, { createKitOrder: unavailable, resolvePolicy: policy });
    placing.run.suggestNewRun();
    await placing.start({ ...input, policy: {} });
    expect(placing.run.end).toBeUndefined();
    await placing.until(0.2);
    expect(placing.run.end).toMatchObject({ kind: 'continued', input });
    const next = await place({ createKitOrder: of('createKitOrder', placed) }, input, { continuedFrom: 'run-1' });
    expect(calls).toMatchObject([['createKitOrder', { triedBefore: true }]]);
    expect(next.run.end).toEqual(done);
  });
});

describe('a placing that is cancelled', () => {
  test('ends at once if nothing was sent', async () => {
    const placing = await place({ createKitOrder: silent });
    await placing.signal('creationProgress', 'nothing_sent');
    await cancel(placing);
    expect(placing.run.replies).toEqual([{ name: 'cancel', value: cancelled }]);
    expect(placing.run.end).toMatchObject(failed('PlacingCancelled'));
    expect(placing.calls).toEqual(['0h createKitOrder']);
    expect(await stateOf(placing)).toMatchObject({ outcome: 'cancelled' });
  });

  test('ends at once before its policy is resolved', async () => {
    const placing = await place({ resolvePolicy: silent }, { ...input, policy: {} });
    await placing.update('cancel');
    placing.answers['resolvePolicy'] = calledBack;
    await placing.settle();
    expect(placing.run.replies).toEqual([{ name: 'cancel', value: cancelled }]);
  });

  test('looks for the order that may have been created, once that has settled, and finds none', async () => {
    const { of, calls } = asked();
    const placing = await place({ createKitOrder: silent, findKitOrder: of('findKitOrder', null) });
    await placing.signal('creationProgress', 'sending');
    // Of an attempt that was given up.
    await placing.signal('creationProgress', 'nothing_sent');
    await cancel(placing);
    expect(await stateOf(placing)).toMatchObject({
      waiting: { for: 'the service to show whether an order was created before the cancellation' },
    });
    expect(placing.run.replies).toEqual([]);
    await placing.until(1);
    expect(placing.calls).toEqual(['0h createKitOrder', '0.013h findKitOrder']);
    expect(calls).toMatchObject([['findKitOrder', { triedBefore: true, reference: 'ref-1' }]]);
    expect(placing.run.summaries.at(-1)).toBe('order ref-1, if there is one');
    expect(placing.run.replies).toEqual([{ name: 'cancel', value: cancelled }]);
    expect(placing.run.end).toMatchObject(failed('PlacingCancelled'));
  });

  test.each([
    ['finds it there', calledBack],
    ['has just got it', placed],
  ])('hands the order over with the cancellation if it %s', async (_how, comesTo) => {
    const { of, calls } = asked();
    const findKitOrder = { snapshot, adopted: true };
    const placing = await place({ createKitOrder: silent, findKitOrder, handOver: of('handOver', null) });
    await cancel(placing, comesTo);
    await placing.until(1);
    expect(calls).toMatchObject([['handOver', { reference: 'ref-1', snapshot, cancelRequested: true }]]);
    expect(placing.run.replies).toEqual([{ name: 'cancel', value: { outcome: 'placed', orderId } }]);
    expect(placing.run.end).toMatchObject({ kind: 'completed', result: { orderId } });
    expect(placing.calls.includes('0.013h findKitOrder')).toBe(comesTo === calledBack);
  });

  test('waits for a key that the service accepts, and fails if it refuses the search', async () => {
    const waiting = await place({ createKitOrder: silent, findKitOrder: unauthorized });
    await cancel(waiting);
    await waiting.until(0.1);
    expect(await stateOf(waiting)).toMatchObject({ attention: [{ reason: 'placing_delayed' }] });
    waiting.answers['findKitOrder'] = null;
    await waiting.until(1);
    expect(waiting.calls).toEqual(['0h createKitOrder', '0.013h findKitOrder', '0.179h findKitOrder']);
    expect(waiting.run.replies).toEqual([{ name: 'cancel', value: cancelled }]);
    const refused = await place({ createKitOrder: silent, findKitOrder: refusal('AmbiguousOrder') });
    await cancel(refused);
    await refused.until(1);
    expect(refused.run.replies).toEqual([{ name: 'cancel', refused: 'AmbiguousOrder' }]);
    expect(refused.run.end).toMatchObject(failed('AmbiguousOrder'));
  });

  test('while it pauses between attempts pauses no longer', async () => {
    const placing = await place({ createKitOrder: unavailable, findKitOrder: null });
    await placing.signal('creationProgress', 'nothing_sent');
    await placing.update('cancel');
    expect(placing.run.replies).toEqual([{ name: 'cancel', value: cancelled }]);
    expect(placing.calls).toEqual(['0h createKitOrder']);
  });

  test('while the service refuses the order has failed with that', async () => {
    const placing = await place({ createKitOrder: silent, findKitOrder: null });
    await cancel(placing, refusal('OrderRefused'));
    expect(placing.run.replies).toEqual([{ name: 'cancel', refused: 'OrderRefused' }]);
    expect(placing.run.end).toMatchObject(failed('OrderRefused'));
    const failing = await place({ createKitOrder: silent, findKitOrder: null });
    await cancel(failing, unavailable);
    expect(await stateOf(failing)).toMatchObject({ attention: [] });
    expect(failing.calls).toEqual(['0h createKitOrder']);
    await failing.until(1);
    expect(failing.run.replies).toEqual([{ name: 'cancel', value: cancelled }]);
  });

  test('by an operator looks for the order, too: it ends as cancelled, or as placed without a request to cancel', async () => {
    const none = await place({ createKitOrder: silent, findKitOrder: null });
    await none.run.cancel();
    none.answers['createKitOrder'] = calledBack;
    await none.settle();
    await none.until(1);
    expect(none.calls).toEqual(['0h createKitOrder', '0.013h findKitOrder']);
    expect(none.run.end).toMatchObject(failed('cancelled'));
    const { of, calls } = asked();
    const found = { snapshot, adopted: true };
    const one = await place({ createKitOrder: silent, findKitOrder: found, handOver: of('handOver', null) });
    await one.run.cancel();
    one.answers['createKitOrder'] = calledBack;
    await one.settle();
    await one.until(1);
    expect(one.run.end).toMatchObject({ kind: 'completed', result: { orderId, adopted: true } });
    expect(calls).toEqual([['handOver', { reference: 'ref-1', policy, snapshot, adopted: true, labTestId: 'test-1' }]]);
  });
});
