import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { readEvent } from '../../service/webhooks/events.js';
import { readHealthData } from '../../service/webhooks/health-data.js';
import { RejectedEventNotFound, RejectedEventSettled } from '../../store/rejected-events.js';
import { describeStores } from '../rig/stores.js';
import { activity, glucose, receive, sample, source, valuesOf } from './received.js';

describeStores('rejected events', (rig) => {
  const ofMessage = async (id: string) =>
    (await rig().store.rejected.list({ limit: 1000 })).find(({ messageId }) => messageId === id);

  const userId = 'a-user';
  const at = '2026-01-05T10:00:00Z';

  test.each([
    ['no user', { event_type: 'daily.data.steps.created', data: { id: '1' } }, /names no user/],
    ['a user with an endless id', activity('x'.repeat(257), '1'), /names no user/],
    ['a user with NUL in the id', activity('a\0b', '1'), /names no user/],
    ['a summary without an id', { ...activity(userId, ''), data: { source } }, /without an id/],
    ['a summary with an odd id', { ...activity(userId, ''), data: { source, id: ['1'] } }, /without an id/],
    ['no summary at all', { event_type: 'daily.data.steps.created', user_id: userId, data: 5 }, /neither/],
    ['samples of no provider', glucose(userId, [sample(at, 1)], { source: null }), /names no provider/],
    ['no workout', { ...activity(userId, '1'), event_type: 'daily.data.workout_stream.created' }, /workout_id/],
    ['a connection of no provider', { event_type: 'provider.connection.created', user_id: userId }, /no provider/],
    ['an unknown way', { ...activity(userId, '1'), event_type: 'daily.data.steps.deleted' }, /not known/],
    ['NUL in a text', activity(userId, '1', { note: 'Testperson\0' }), /cannot be stored/],
    ['half of a surrogate pair in a key', activity(userId, '1', { '\ud800': 1 }), /cannot be stored/],
  ])('%s is put aside whole, with its reason', async (_what, event, reason) => {
    const id = randomUUID();
    expect(await receive(rig().store, event, { id })).toBe('set_aside');
    const listed = await ofMessage(id);
    expect(listed).toMatchObject({ state: 'waiting', reason: expect.stringMatching(reason) as string });
    const { body } = await rig().store.rejected.get(listed?.id ?? '');
    expect(JSON.parse(body ?? '')).toEqual(event);
    expect(JSON.stringify(listed)).not.toContain('Testperson');
  });

  test('the good samples of a batch are stored, and the bad ones are named by their positions', async () => {
    const { store } = rig();
    const id = randomUUID();
    const user = randomUUID();
    const bad = [null, 'text', { value: 7 }, sample('2026-02-30T00:00:00Z', 8), { ...sample(at, 9), note: '\0' }];
    const event = glucose(user, [sample(at, 1), ...bad, sample('2026-01-05T11:00:00Z', 2)]);
    expect(await receive(store, event, { id })).toBe('set_aside');
    expect(await valuesOf(store, user)).toEqual([1, 2]);
    expect(await ofMessage(id)).toMatchObject({
      eventType: 'daily.data.glucose.created',
      userId: user,
      reason:
        '5 of 7 samples cannot be stored: not an object (at 1, 2); neither timestamp nor start can be read (at 3, 4); ' +
        'has a text with a character that cannot be stored (NUL, or half of a surrogate pair) (at 5)',
    });
  });

  test('a reference that might be somebody else’s zip code erases no event in which it is not a reference', async () => {
    const { store } = rig();
    const events = [{ patient_address: { zip: '10001' } }, { data: { client_user_id: '10001' } }];
    const ids = events.map(() => randomUUID());
    for (const [index, event] of events.entries())
      await store.setAside({ reason: 'not_handled' }, { id: ids[index] ?? '', body: JSON.stringify(event) });
    await store.deleteUserData(randomUUID(), { clientUserId: '10001' });
    const kept = (await store.rejected.list({ limit: 1000 }))
      .map(({ messageId }) => messageId)
      .filter((id) => ids.some((sent) => sent === id));
    expect(kept).toEqual([ids[0]]);
  });

  test('a number that is too large for a double is put aside as it was sent, instead of stored as null', async () => {
    const { store } = rig();
    const [id, user] = [randomUUID(), randomUUID()];
    const event = glucose(user, [sample(at, 1), sample('2026-01-05T11:00:00Z', 99)]);
    const body = JSON.stringify(event).replace('"value":99', '"value":1e400');
    const read = readEvent(JSON.parse(body) as object);
    if (read.kind !== 'health_data') throw new Error(read.kind);
    expect(await store.accept(readHealthData(read), { id, body })).toBe('set_aside');
    expect(await valuesOf(store, user)).toEqual([1]);
    const listed = await ofMessage(id);
    const reason = '1 of 2 samples cannot be stored: has a number that is too large for a double (at 1)';
    expect(listed).toMatchObject({ reason });
    expect((await store.rejected.get(listed?.id ?? '')).body).toBe(body);
  });

  test('a timestamp that cannot be read is not replaced by `start`', async () => {
    const event = glucose(randomUUID(), [{ timestamp: 'soon', start: at, value: 1 }]);
    expect(await receive(rig().store, event)).toBe('set_aside');
  });

  test.each([
    ['[', ']'],
    ['{"":', '}'],
  ])('JSON nested a million levels deep with %s is put aside as it was sent', async (open, close) => {
    const { store } = rig();
    const deep = `${open.repeat(1_000_000)}1${close.repeat(1_000_000)}`;
    const id = randomUUID();
    const data: unknown = JSON.parse(deep);
    const read = { kind: 'summary' as const, eventType: 'e', userId, resource: 'r', source: {}, id: '1', data };
    expect(await store.accept(read, { id, body: deep })).toBe('set_aside');
    const { body } = await store.rejected.get((await ofMessage(id))?.id ?? '');
    expect(body === deep).toBe(true);
  });

  test('what only the database refuses is put aside too, instead of being repeated for days', async () => {
    const { store } = rig();
    const id = randomUUID();
    const read = { kind: 'summary' as const, eventType: 'e', userId, resource: 'r', source: {}, id: '1', data: {} };
    expect(await store.accept({ ...read, day: '2026-13-45' }, { id, body: '{}' })).toBe('set_aside');
    expect(await ofMessage(id)).toMatchObject({ reason: 'the database refused a value (SQLSTATE 22008)' });
  });

  test('an event that nobody handles is put aside with what is known of it, once for each message', async () => {
    const { store } = rig();
    const id = randomUUID();
    const before = await store.rejected.count();
    const event = { eventType: 'Testperson\0', userId: 'u', reason: 'not_handled' };
    expect(await store.setAside(event, { id, body: '{}' })).toBe('set_aside');
    expect(await store.setAside(event, { id, body: '{}' })).toBe('repeated');
    expect(await ofMessage(id)).toMatchObject({ eventType: null, userId: 'u', reason: 'not_handled' });
    expect(await store.rejected.count()).toBe(before + 1);
  });

  test('a body that is not JSON is put aside too, with U+FFFD in place of NUL', async () => {
    const { store } = rig();
    const id = randomUUID();
    expect(await store.setAside({ reason: 'not_json' }, { id, body: '{"value":NaN}\0' })).toBe('set_aside');
    const { body } = await store.rejected.get((await ofMessage(id))?.id ?? '');
    expect(body).toBe('{"value":NaN}\ufffd');
  });

  test('are listed the latest first, a page at a time', async () => {
    const { store } = rig();
    for (const body of ['1', '2', '3']) {
      await store.setAside({ reason: 'not_handled' }, { id: randomUUID(), body });
    }
    const [third, second] = await store.rejected.list({ limit: 2 });
    const [first] = await store.rejected.list({ limit: 1, after: second?.id ?? '' });
    const bodies = [first, second, third].map(async (each) => (await store.rejected.get(each?.id ?? '')).body);
    expect(await Promise.all(bodies)).toEqual(['1', '2', '3']);
  });

  describe('discarding', () => {
    test('erases what the event held and keeps the reason', async () => {
      const { store } = rig();
      const id = await aside('{"user_id":"Testperson"}');
      await store.rejected.discard(id, 'a trial of the service');
      expect(await store.rejected.get(id)).toMatchObject({
        ...{ state: 'discarded', discardReason: 'a trial of the service', body: null },
        settledAt: expect.stringMatching(/Z$/) as string,
      });
      expect((await store.rejected.list({ state: 'discarded' })).map((each) => each.id)).toContain(id);
    });

    test('requires a reason, and an event that still waits', async () => {
      const { store } = rig();
      const id = await aside('{}');
      await expect(store.rejected.discard(id, ' ')).rejects.toThrow(TypeError);
      await store.rejected.discard(id, 'a reason');
      await expect(store.rejected.discard(id, 'another')).rejects.toThrow(RejectedEventSettled);
      await expect(store.rejected.discard('999999999', 'a reason')).rejects.toThrow(RejectedEventNotFound);
      await expect(store.rejected.discard("1' or true", 'a reason')).rejects.toThrow(RejectedEventNotFound);
    });
  });

  describe('replaying', () => {
    test('handles the event as it came, with a message id of its own, and erases it', async () => {
      const { store } = rig();
      const id = await aside('{"some":"body"}');
      const { messageId, receivedAt } = await store.rejected.get(id);
      const handled: unknown[] = [];
      await store.rejected.replay(id, (message) => Promise.resolve(handled.push(message)));
      expect(handled).toEqual([{ id: `${messageId}/replay/${id}`, body: '{"some":"body"}', receivedAt }]);
      expect(await store.rejected.get(id)).toMatchObject({ state: 'replayed', body: null });
      await expect(store.rejected.replay(id, () => Promise.resolve())).rejects.toThrow(RejectedEventSettled);
    });

    test('reports when the event was discarded while it was handled', async () => {
      const { store } = rig();
      const id = await aside('{}');
      const handle = () => store.rejected.discard(id, 'a trial of the service');
      await expect(store.rejected.replay(id, handle)).rejects.toThrow(RejectedEventSettled);
      expect(await store.rejected.get(id)).toMatchObject({ state: 'discarded' });
    });

    test('leaves the event waiting when its handling fails', async () => {
      const { store } = rig();
      const id = await aside('{}');
      const failing = () => Promise.reject(new Error('still down'));
      await expect(store.rejected.replay(id, failing)).rejects.toThrow('still down');
      expect(await store.rejected.get(id)).toMatchObject({ state: 'waiting', body: '{}' });
    });

    test('does not replace what came later, and stores what had been missing', async () => {
      const { store } = rig();
      const user = randomUUID();
      const later = '2026-01-05T11:00:00Z';
      const id = randomUUID();
      await receive(store, glucose(user, [sample(at, 1), sample(later, 1), 'bad']), { id });
      await receive(store, glucose(user, [sample(at, 2)]));
      await receive(store, activity(user, 'one', { steps: 2 }));
      const rejected = await ofMessage(id);
      await store.rejected.replay(rejected?.id ?? '', async (message) => {
        const corrected = glucose(user, [sample(at, 1), sample(later, 1), sample('2026-01-05T12:00:00Z', 3)]);
        expect(await receive(store, corrected, message)).toBe('stored');
        const older = activity(user, 'one', { steps: 1 });
        await receive(store, older, { receivedAt: message.receivedAt });
      });
      expect(await valuesOf(store, user)).toEqual([2, 1, 3]);
      expect(await store.summaries({ userId: user })).toMatchObject([{ data: { steps: 2 } }]);
    });

    test('a replay that broke off after the work was done does not do it again', async () => {
      const { store } = rig();
      const user = randomUUID();
      const id = randomUUID();
      await receive(store, glucose(user, ['bad']), { id });
      const rejected = (await ofMessage(id))?.id ?? '';
      const done: unknown[] = [];
      const handle = async (message: { id: string; receivedAt: string }) => {
        done.push(await receive(store, glucose(user, [sample(at, 1)]), message));
        if (done.length === 1) throw new Error('killed');
      };
      await expect(store.rejected.replay(rejected, handle)).rejects.toThrow('killed');
      await store.rejected.replay(rejected, handle);
      expect(done).toEqual(['stored', 'repeated']);
    });

    test('a replay of what still cannot be stored makes a rejected event of its own', async () => {
      const { store } = rig();
      const id = randomUUID();
      const event = glucose(randomUUID(), ['bad']);
      await receive(store, event, { id });
      const before = await store.rejected.count();
      const first = (await ofMessage(id))?.id ?? '';
      await store.rejected.replay(first, (message) => receive(store, event, message));
      expect(await store.rejected.count()).toBe(before);
      expect(await ofMessage(`${id}/replay/${first}`)).toMatchObject({ state: 'waiting' });
    });
  });

  async function aside(body: string): Promise<string> {
    const id = randomUUID();
    await rig().store.setAside({ reason: 'not_handled' }, { id, body });
    return (await ofMessage(id))?.id ?? '';
  }
});
