import { describe, expect, test } from 'vitest';
import { labPhaseKey, labReferenceKey, labUserIdKey } from '../../../protocol/search-attributes.js';
import { placeKitOrder } from '../../../workflows/order/placing.js';
import { Life, silent, unavailable, type Answers } from '../life.js';
import { start } from './histories.js';
import { orderId, policy, refusal, shownAt } from './lives.js';

/* The lives of placings: what the service is asked, what a caller who cancels is answered, and when a person is asked. */

const userId = '00000000-0000-4000-8000-0000000000AA';
const order = { user_id: userId, lab_test_id: 'test-1' };
const input = { reference: 'ref-1', kind: 'unregistered', order, policy };
const snapshot = shownAt(['ordered']);
const placed = { snapshot, adopted: false, handedOver: true };
const found = { snapshot, adopted: true };
const opening = { workflow: placeKitOrder, type: 'placeKitOrder', workflowId: 'place-kit-order/ref-1', now: start };

async function place(answers: Answers, given: unknown = input, more: object = {}): Promise<Life> {
  return new Life({ ...opening, ...more }, answers).start(given);
}

const calledBack = { failure: { ended: 'called_back' } };
const unauthorized = refusal('Unauthorized');
const stateOf = ({ run }: Life) => run.query('state');
const failed = (type: string) => ({ kind: 'failed', type });
const done = { kind: 'completed', result: { orderId, adopted: false } };
/** What the caller who cancels is answered. */
const cancelled = { name: 'cancel', value: { outcome: 'cancelled', reference: 'ref-1' } };
const wasPlaced = { name: 'cancel', value: { outcome: 'placed', orderId } };
const handOver = { reference: 'ref-1', policy, snapshot, adopted: true, labTestId: 'test-1' };

/** A placing whose creation is under way when it is cancelled, and called back by that. */
async function cancelling(answers: Answers, comesTo: unknown = calledBack): Promise<Life> {
  const placing = await place({ createKitOrder: silent, ...answers });
  await placing.update('cancel');
  placing.answers['createKitOrder'] = comesTo;
  return placing.settle();
}

describe('a placing', () => {
  test('asks the service once, for the user as ids are written here, and shows whose it is', async () => {
    const placing = await place({ createKitOrder: silent });
    expect(await stateOf(placing)).toEqual({
      ...{ phase: 'placing', reference: 'ref-1', userId: userId.toLowerCase(), labTestIds: ['test-1'], attention: [] },
      waiting: { for: 'the lab service to accept the order' },
    });
    expect(placing.run.shown).toEqual({
      details: 'Places the order at the lab service, once.',
      attributes: { LabReference: 'ref-1', LabPhase: 'placing', LabUserId: userId.toLowerCase() },
    });
    await placing.given({ createKitOrder: placed });
    const request = { kind: 'unregistered', order: { ...order, user_id: userId.toLowerCase() } };
    const { creationTimeout, creationSettling } = policy;
    const about = { reference: 'ref-1', since: '2024-03-01T10:00:00.000Z', creationTimeout, creationSettling, policy };
    expect(placing.argumentsOf('createKitOrder')).toEqual([{ request, triedBefore: false, ...about }]);
    expect(placing.calls).toEqual(['0h createKitOrder']);
    expect(placing.run.summaries).toEqual(['order ref-1']);
    expect(placing.run.end).toEqual(done);
    expect(placing.run.shown.details).toBe(
      `Placed order \`${orderId}\`. Workflow \`kit-order/${orderId}\` follows it from here.`,
    );
    expect(await stateOf(placing)).toMatchObject({ orderId });
  });

  test('shows which lab tests it orders, also those of a set', async () => {
    const order_set = { lab_test_ids: ['test-2', 'test-3'], add_on: { marker_ids: [7] } };
    const placing = await place({ createKitOrder: silent }, { ...input, order: { user_id: userId, order_set } });
    expect(await stateOf(placing)).toMatchObject({ labTestIds: ['test-2', 'test-3'] });
  });

  test.each([2, 3])('sets no search attribute again that the start has set: %i of 3', async (count) => {
    const attributes = [
      { key: labReferenceKey, value: 'ref-1' },
      { key: labPhaseKey, value: 'placing' },
      { key: labUserIdKey, value: userId.toLowerCase() },
    ];
    const { run } = await place({ createKitOrder: silent }, input, { attributes: attributes.slice(0, count) });
    const shown = { LabReference: 'ref-1', LabPhase: 'placing', LabUserId: userId.toLowerCase() };
    expect(run.shown.attributes).toEqual(shown);
    expect(run.commands.includes('upsertWorkflowSearchAttributes')).toBe(count === 2);
  });

  test.each([false, undefined])('hands over what its attempt has not: %s', async (handedOver) => {
    const placing = await place({ createKitOrder: { ...found, handedOver } });
    expect(placing.argumentsOf('handOver')).toEqual([handOver]);
    expect(placing.run.end).toEqual({ kind: 'completed', result: { orderId, adopted: true } });
    expect(placing.run.summaries.at(-1)).toBe(`hand over ${orderId}`);
  });

  test('has its policy resolved before it asks for anything', async () => {
    const placing = await place({ resolvePolicy: silent, createKitOrder: placed }, { ...input, policy: {} });
    expect(placing.calls).toEqual([]);
    await placing.given({ resolvePolicy: policy });
    expect(placing.calls).toEqual(['0h resolvePolicy', '0h createKitOrder']);
  });

  test.each<[string, object | null, string?]>([
    ['ReferenceInvalid', null],
    ['ReferenceInvalid', { reference: 7 }, 'place-kit-order/7'],
    ['ReferenceInvalid', { reference: 'ref 1' }, 'place-kit-order/ref 1'],
    ['ReferenceInvalid', { reference: 'ref-2' }],
    ['InvalidCommand', { kind: undefined }],
    ['InvalidCommand', { kind: 'another' }],
    ['InvalidCommand', { order: null }],
    ['InvalidCommand', { order: 'test-1' }],
    ['InvalidCommand', { order: { lab_test_id: 'test-1' } }],
  ])('without a usable input fails as %s: %j', async (type, given, workflowId = opening.workflowId) => {
    const placing = await place({ createKitOrder: placed }, given && { ...input, ...given }, { workflowId });
    expect(placing.run.end).toMatchObject(failed(type));
    expect(placing.calls).toEqual([]);
  });

  test('fails with what the service refused; if it cannot choose among orders, a person has to', async () => {
    const refused = await place({ createKitOrder: refusal('OrderRefused') });
    expect(refused.run.end).toMatchObject(failed('OrderRefused'));
    expect(refused.run.shown.attributes).not.toHaveProperty('LabAttention');
    expect(await stateOf(refused)).not.toHaveProperty('outcome');
    const delayed = await place({ createKitOrder: unavailable });
    await delayed.given({ createKitOrder: refusal('AmbiguousOrder') }, 0.2);
    expect(delayed.run.end).toMatchObject(failed('AmbiguousOrder'));
    expect(delayed.run.shown.attributes).toMatchObject({ LabAttention: ['ambiguous_order'] });
  });

  test('hands its order over again until a worker can read that it did, and looks again for what a cancellation left', async () => {
    const lost = { failure: { type: 'AnswerLost', isFinal: false } };
    const placing = await place({ createKitOrder: { ...placed, handedOver: false }, handOver: lost });
    await placing.until(0.05);
    expect(placing.calls.filter((call) => call.endsWith('handOver'))).toHaveLength(4);
    expect((await placing.given({ handOver: null }, 0.1)).run.end).toEqual(done);

    const cancelledOne = await (await cancelling({ findKitOrder: lost })).until(0.16);
    expect((await cancelledOne.given({ findKitOrder: found }, 0.2)).run.replies).toEqual([wasPlaced]);
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
  ])('goes on (%s), looks for what the attempts before made, and needs a person meanwhile', async (type, failure) => {
    const placing = await (await place({ createKitOrder: failure })).until(0.2);
    expect(placing.argumentsOf('createKitOrder')).toMatchObject([{ triedBefore: false }, { triedBefore: true }]);
    expect(placing.calls).toEqual(['0h createKitOrder', '0.167h createKitOrder']);
    expect(await stateOf(placing)).toMatchObject({
      attention: [{ reason: 'placing_delayed', since: '2024-03-01T10:00:00.000Z' }],
      waiting: { for: 'the lab service to accept the order' },
    });
    expect(placing.run.shown.attributes).toMatchObject({ LabAttention: ['placing_delayed'] });
    expect(placing.run.shown.details).toContain(`(${type}). Placing continues.`);
    await placing.given({ createKitOrder: placed }, 0.4);
    expect(placing.run.end).toEqual(done);
    expect(placing.run.shown.attributes).toMatchObject({ LabAttention: [] });
  });

  test('pauses for as long as the service asks, and no shorter than a creation takes to settle', async () => {
    const details = { fields: [], retryAfterMs: 3_600_000 };
    const busy = await place({ createKitOrder: { failure: { type: 'ServiceBusy', isFinal: false, details } } });
    expect((await busy.until(1.1)).calls).toEqual(['0h createKitOrder', '1h createKitOrder']);
  });

  test('goes on if the key was refused, and says what a person has to correct', async () => {
    const placing = await place({ createKitOrder: unauthorized });
    expect(await stateOf(placing)).toMatchObject({
      attention: [{ reason: 'placing_delayed' }],
      waiting: { for: 'access to the lab service: a key that it accepts, for a user and an account of its team' },
    });
    await placing.given({ createKitOrder: unavailable }, 0.2);
    expect(await stateOf(placing)).toMatchObject({ waiting: { for: 'the lab service to accept the order' } });
  });

  describe('because an operator has stopped placing', () => {
    const details = { fields: [], stopReason: 'recalled *test*' };
    const stopped = refusal('PlacingStopped', details);
    const unsent = refusal('PlacingStopped', { ...details, nothingSent: true });

    test.each([
      ['as at first if nothing was sent', unsent, false],
      ['looking for what came of the attempts before', stopped, true],
    ])('says so, and goes on within ten minutes after the resume, %s', async (_how, refused, triedBefore) => {
      const placing = await (await place({ createKitOrder: refused })).until(24);
      expect(await stateOf(placing)).toMatchObject({
        attention: [{ reason: 'placing_delayed', since: '2024-03-01T10:00:00.000Z' }],
        waiting: { for: 'placing to be resumed (stopped: recalled ·test·)' },
      });
      expect(placing.run.shown.details).toContain('Waits for placing to be resumed (stopped: recalled ·test·).');
      await placing.given({ createKitOrder: placed }, 24.17);
      expect(placing.argumentsOf('createKitOrder').at(-1)).toMatchObject({ triedBefore });
      expect(placing.run.end).toEqual(done);
    });

    test('is cancelled at once if nothing was sent, and otherwise after a search', async () => {
      const placing = await place({ createKitOrder: unsent });
      await placing.update('cancel');
      expect(placing.run.replies).toEqual([cancelled]);
      const doubtful = await place({ createKitOrder: stopped, findKitOrder: found, handOver: null });
      await doubtful.update('cancel');
      expect(doubtful.run.replies).toEqual([]);
      expect((await doubtful.until(1)).run.replies).toEqual([wasPlaced]);
    });

    test('searches after its cancellation if a later attempt may have sent something', async () => {
      const placing = await place({ createKitOrder: unsent, findKitOrder: found, handOver: null });
      await placing.given({ createKitOrder: silent }, 0.2);
      await placing.update('cancel');
      placing.answers['createKitOrder'] = calledBack;
      expect((await (await placing.settle()).until(1)).run.replies).toEqual([wasPlaced]);
    });
  });

  describe('because its search for earlier orders was refused', () => {
    const searchRefused = refusal('SearchRefused', { fields: [], reason: 'no such user' });

    test('goes on once, and fails if it is refused again in the next round', async () => {
      const placing = await place({ createKitOrder: searchRefused });
      expect(await stateOf(placing)).toMatchObject({ attention: [{ reason: 'placing_delayed' }] });
      await placing.given({ createKitOrder: unavailable }, 0.2);
      await placing.given({ createKitOrder: searchRefused }, 0.4);
      expect(placing.run.end).toBeUndefined();
      await placing.until(0.6);
      expect(placing.run.end).toMatchObject(failed('OrderRefused'));
    });

    test('fails at once if nothing was sent: there is no order that it would miss', async () => {
      const placing = await place({ createKitOrder: silent });
      await placing.signal('creationProgress', 'nothing_sent');
      await placing.given({ createKitOrder: searchRefused });
      expect(placing.run.end).toMatchObject(failed('OrderRefused'));
    });

    test.each([
      ['was refused before', searchRefused],
      ['was under way', calledBack],
    ])('searches twice after its cancellation, too, if it %s: the first may come too soon', async (_what, comesTo) => {
      const placing = await (await cancelling({ findKitOrder: searchRefused }, comesTo)).until(0.1);
      expect(placing.run.replies).toEqual([]);
      await placing.until(1);
      expect(placing.run.replies).toEqual([{ name: 'cancel', refused: 'OrderRefused' }]);
      expect(placing.run.refusals).toMatchObject([{ reason: 'no such user' }]);
    });
  });

  test('goes on in the next run if its history grows long, which looks for what came of the attempts before', async () => {
    const placing = new Life(opening, { createKitOrder: unavailable, resolvePolicy: policy });
    placing.run.suggestNewRun();
    await placing.start({ ...input, policy: {} });
    expect(placing.run.end).toBeUndefined();
    await placing.until(0.2);
    expect(placing.run.end).toMatchObject({ kind: 'continued', input });
    const next = await place({ createKitOrder: placed }, input, { continuedFrom: 'run-1' });
    expect(next.argumentsOf('createKitOrder')).toMatchObject([{ triedBefore: true }]);
    expect(next.run.end).toEqual(done);
  });

  test.each(['sending', 'nothing_sent'])(
    'answers a cancellation that comes together with the end of a pause in the run that accepts it, however long its history: %s',
    async (progress) => {
      const placing = await place({ createKitOrder: unavailable, findKitOrder: null });
      await placing.signal('creationProgress', progress);
      placing.run.suggestNewRun();
      await placing.run.fireNextTimer({ update: { name: 'cancel' } });
      await placing.until(1);
      expect(placing.run.replies).toEqual([cancelled]);
      expect(placing.run.end).toMatchObject(failed('PlacingCancelled'));
      expect(placing.calls).toEqual(['0h createKitOrder', ...(progress === 'sending' ? ['0.179h findKitOrder'] : [])]);
    },
  );
});

describe('a placing that is cancelled', () => {
  test('ends at once if nothing was sent', async () => {
    const placing = await place({ createKitOrder: silent });
    await placing.signal('creationProgress', 'nothing_sent');
    await placing.update('cancel');
    await placing.given({ createKitOrder: calledBack });
    expect(placing.run.replies).toEqual([cancelled]);
    expect(placing.run.end).toMatchObject(failed('PlacingCancelled'));
    expect(placing.calls).toEqual(['0h createKitOrder']);
    expect(await stateOf(placing)).toMatchObject({ outcome: 'cancelled' });
  });

  test('looks for the order that may have been created, once that has settled, and finds none', async () => {
    const placing = await place({ createKitOrder: silent, findKitOrder: null });
    await placing.signal('creationProgress', 'sending');
    // Of an attempt that was given up.
    await placing.signal('creationProgress', 'nothing_sent');
    await placing.update('cancel');
    await placing.given({ createKitOrder: calledBack });
    expect(await stateOf(placing)).toMatchObject({
      waiting: { for: 'the service to show whether an order was created before the cancellation' },
    });
    expect(placing.run.replies).toEqual([]);
    await placing.until(1);
    expect(placing.calls).toEqual(['0h createKitOrder', '0.013h findKitOrder']);
    expect(placing.argumentsOf('findKitOrder')).toMatchObject([{ triedBefore: true, reference: 'ref-1' }]);
    expect(placing.run.summaries.at(-1)).toBe('order ref-1, if there is one');
    expect(placing.run.replies).toEqual([cancelled]);
    expect(placing.run.end).toMatchObject(failed('PlacingCancelled'));
  });

  test.each([
    ['finds it there', calledBack],
    ['has just got it', placed],
  ])('hands the order over with the cancellation if it %s', async (_how, comesTo) => {
    const placing = await (await cancelling({ findKitOrder: found }, comesTo)).until(1);
    expect(placing.argumentsOf('handOver')).toMatchObject([{ reference: 'ref-1', snapshot, cancelRequested: true }]);
    expect(placing.run.replies).toEqual([wasPlaced]);
    expect(placing.run.end).toMatchObject({ kind: 'completed', result: { orderId } });
    expect(placing.calls.includes('0.013h findKitOrder')).toBe(comesTo === calledBack);
  });

  test('waits for a key that the service accepts, and fails if it refuses the search', async () => {
    const waiting = await (await cancelling({ findKitOrder: unauthorized })).until(0.1);
    expect(await stateOf(waiting)).toMatchObject({ attention: [{ reason: 'placing_delayed' }] });
    await waiting.given({ findKitOrder: null }, 1);
    expect(waiting.calls).toEqual(['0h createKitOrder', '0.013h findKitOrder', '0.179h findKitOrder']);
    expect(waiting.run.replies).toEqual([cancelled]);
    const refused = await (await cancelling({ findKitOrder: refusal('AmbiguousOrder') })).until(1);
    expect(refused.run.replies).toEqual([{ name: 'cancel', refused: 'AmbiguousOrder' }]);
    expect(refused.run.end).toMatchObject(failed('AmbiguousOrder'));
  });

  test('while the service refuses the order has failed with that', async () => {
    const placing = await cancelling({ findKitOrder: null }, refusal('OrderRefused'));
    expect(placing.run.replies).toEqual([{ name: 'cancel', refused: 'OrderRefused' }]);
    expect(placing.run.end).toMatchObject(failed('OrderRefused'));
  });

  test('while the service does not answer looks for the order, and asks nobody', async () => {
    const placing = await cancelling({ findKitOrder: null }, unavailable);
    expect(await stateOf(placing)).toMatchObject({ attention: [] });
    expect(placing.calls).toEqual(['0h createKitOrder']);
    await placing.until(1);
    expect(placing.run.replies).toEqual([cancelled]);
  });

  test.each([
    ['as cancelled if there is none', null, failed('cancelled')],
    ['as placed, without a request to cancel', found, { kind: 'completed', result: { orderId, adopted: true } }],
  ])('by an operator looks for the order, too: it ends %s', async (_how, findKitOrder, end) => {
    const placing = await place({ createKitOrder: silent, findKitOrder });
    await placing.run.cancel();
    placing.answers['createKitOrder'] = calledBack;
    await (await placing.settle()).until(1);
    expect(placing.calls.slice(0, 2)).toEqual(['0h createKitOrder', '0.013h findKitOrder']);
    expect(placing.run.end).toMatchObject(end);
    expect(placing.argumentsOf('handOver')).toEqual(findKitOrder === null ? [] : [handOver]);
  });
});

describe('an adoption', () => {
  const adopting = (adoptOrder: unknown, given: object = {}) =>
    place({ adoptOrder }, { kind: 'existing', reference: 'ref-1', orderId: orderId.toUpperCase(), policy, ...given });

  test('asks for its order, shows what it waits for, and ends with the root of the chain', async () => {
    const adoption = await adopting(silent);
    const waiting = { for: `the lab service to show order ${orderId}` };
    expect(await stateOf(adoption)).toEqual({ phase: 'placing', reference: 'ref-1', attention: [], waiting });
    expect(adoption.run.shown.attributes).toEqual({ LabReference: 'ref-1', LabPhase: 'placing' });
    await adoption.given({ adoptOrder: orderId });
    expect(adoption.argumentsOf('adoptOrder')).toEqual([{ orderId, reference: 'ref-1', policy }]);
    expect(adoption.run.end).toEqual({ kind: 'completed', result: { orderId, adopted: true } });
  });

  test.each<[string, unknown, object?]>([
    ['OrderTaken', refusal('OrderTaken')],
    ['ServiceUnavailable', unavailable],
    ['ReferenceInvalid', orderId, { reference: 'ref-2' }],
    ['InvalidCommand', orderId, { orderId: 'an order' }],
    ['InvalidCommand', orderId, { orderId: undefined }],
  ])('that is refused, is not answered, or has no usable input fails as %s', async (type, adoptOrder, given) => {
    expect((await adopting(adoptOrder, given)).run.end).toMatchObject(failed(type));
  });

  test.each([
    [wasPlaced, orderId],
    [{ name: 'cancel', refused: 'OrderTaken' }, refusal('OrderTaken')],
  ])('is not stopped by a cancellation, whose caller learns what came of it: %j', async (reply, adoptOrder) => {
    const adoption = await adopting(silent);
    await adoption.update('cancel');
    await adoption.given({ adoptOrder });
    expect(adoption.run.replies).toEqual([reply]);
  });
});
