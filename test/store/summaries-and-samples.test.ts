import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { describeStores } from '../rig/stores.js';
import { activity, glucose, receive, sample, samplesOf, source, valuesOf } from './received.js';

describeStores('health data', (rig) => {
  describe('summaries', () => {
    // proves 7, 261, 270
    test('are kept as they were sent, and found by user, resource and day', async () => {
      const { store, userId } = rig();
      const id = randomUUID();
      expect(await receive(store, activity(userId, id))).toBe('stored');
      await receive(store, activity(userId, randomUUID(), { calendar_date: '2026-01-06' }));
      await receive(store, { ...activity(userId, randomUUID()), event_type: 'daily.data.sleep.created' });
      await receive(store, activity(randomUUID(), randomUUID()));
      const found = await store.summaries({ userId, resource: 'activity', from: '2026-01-05', to: '2026-01-05' });
      expect(found).toEqual([
        {
          ...{ userId, resource: 'activity', id, day: '2026-01-05', provider: 'invented_watch', sourceType: '' },
          receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string,
          data: activity(userId, id).data,
        },
      ]);
      expect(await store.summaries({ userId })).toHaveLength(3);
    });

    // proves 269, 271
    test('summaries with one id: the last received wins', async () => {
      const { store, userId } = rig();
      await receive(store, activity(userId, 'one', { steps: 1 }));
      await receive(store, activity(userId, 'one', { steps: 2, calendar_date: '2026-01-06' }));
      const found = await store.summaries({ userId });
      expect(found).toMatchObject([{ id: 'one', day: '2026-01-06', data: { steps: 2 } }]);
    });

    // proves 271
    test('summaries that say when they were made: the latest made wins, whichever was received last', async () => {
      const { store, userId } = rig();
      await receive(store, activity(userId, 'one', { steps: 2, updated_at: '2026-01-05T12:00:00.2Z' }));
      await receive(store, activity(userId, 'one', { steps: 1, updated_at: '2026-01-05T12:00:00.1' }));
      expect(await store.summaries({ userId })).toMatchObject([{ data: { steps: 2 } }]);
      await receive(store, activity(userId, 'one', { steps: 3, updated_at: '2026-01-05T12:00:00.2Z' }));
      expect(await store.summaries({ userId })).toMatchObject([{ data: { steps: 3 } }]);
      await receive(store, activity(userId, 'one', { steps: 4 }));
      expect(await store.summaries({ userId })).toMatchObject([{ data: { steps: 4 } }]);
    });

    test('summaries whose time of making is in the future: it does not hide the versions that follow', async () => {
      const { store, userId } = rig();
      await receive(store, activity(userId, 'one', { steps: 1, updated_at: '2062-01-01T00:00:00Z' }));
      await receive(store, activity(userId, 'one', { steps: 2, updated_at: '2026-01-05T12:00:00Z' }));
      expect(await store.summaries({ userId })).toMatchObject([{ data: { steps: 2 } }]);
    });

    test('summaries of different users or resources do not replace each other, even with one id', async () => {
      const { store } = rig();
      const [one, other] = [randomUUID(), randomUUID()];
      await receive(store, activity(one, 'same', { steps: 1 }));
      await receive(store, activity(other, 'same', { steps: 2 }));
      await receive(store, { ...activity(one, 'same', { steps: 3 }), event_type: 'daily.data.body.created' });
      expect(await store.summaries({ userId: one })).toMatchObject([{ data: { steps: 1 } }, { data: { steps: 3 } }]);
      expect(await store.summaries({ userId: other })).toMatchObject([{ data: { steps: 2 } }]);
    });

    test('summaries without a calendar date count for the date of `date`, and without either for none', async () => {
      const { store, userId } = rig();
      const date = '2026-01-07T00:00:00+00:00';
      await receive(store, activity(userId, 'one', { calendar_date: null, date }));
      await receive(store, activity(userId, 'two', { calendar_date: 'soon', date: 7 }));
      const found = await store.summaries({ userId });
      expect(found.map(({ id, day }) => [id, day])).toEqual([
        ['one', '2026-01-07'],
        ['two', null],
      ]);
      expect(await store.summaries({ userId, from: '2026-01-01' })).toHaveLength(1);
    });

    test('summaries with a number as an id, with numbers of any size and with nothing but an id are kept', async () => {
      const { store, userId } = rig();
      const event = { event_type: 'daily.data.newly_invented.created', user_id: userId };
      const data = { id: 4711, tiny: 5e-324, huge: 1.7976931348623157e308 };
      expect(await receive(store, { ...event, data })).toBe('stored');
      expect(await store.summaries({ userId })).toMatchObject([{ id: '4711', resource: 'newly_invented', data }]);
    });
  });

  describe('samples', () => {
    // proves 7, 260
    test('are found by user, resource and range, in the order of their instants', async () => {
      const { store, userId } = rig();
      const [early, middle, late] = ['2026-01-05T10:00:00Z', '2026-01-05T13:00:00+02:00', '2026-01-05T12:00:00Z'];
      await receive(store, glucose(userId, [sample(late, 3), sample(early, 1), sample(middle, 2)]));
      expect(await valuesOf(store, userId)).toEqual([1, 2, 3]);
      const query = { userId, resource: 'glucose', from: early, to: late };
      const found = [];
      for await (const each of store.samples(query)) found.push(each);
      expect(found).toMatchObject([
        { at: '2026-01-05T10:00:00.000000Z', provider: 'invented_watch', data: sample(early, 1) },
        { at: '2026-01-05T11:00:00.000000Z', sourceType: '', data: sample(middle, 2) },
      ]);
      for await (const each of store.samples({ ...query, provider: 'another' })) expect.unreachable(each.at);
    });

    // proves 295
    test('samples with one key: the last received wins, even with an earlier one in between', async () => {
      const { store, userId } = rig();
      const at = '2026-01-05T10:00:00Z';
      for (const value of [1, 3, 2]) await receive(store, glucose(userId, [sample(at, value)]));
      expect(await valuesOf(store, userId)).toEqual([2]);
    });

    test('samples with one key within one batch: the last of them wins, however the instant is written', async () => {
      const { store, userId } = rig();
      const spellings = ['2026-01-05T10:00:00Z', '2026-01-05T12:00:00+02:00', '2026-01-05 10:00:00.000000'];
      expect(await receive(store, glucose(userId, spellings.map(sample)))).toBe('stored');
      expect(await valuesOf(store, userId)).toEqual([2]);
    });

    // proves 294
    test.each([
      ['resource', { event_type: 'daily.data.ketones.created' }, {}],
      ['provider', {}, { source: { slug: 'invented_band' } }],
      ['source type', {}, { source: { ...source, type: 'scale' } }],
      ['timestamp', {}, { data: [sample('2026-01-05T10:00:00.000001Z', 2)] }],
    ])('samples that differ in their %s do not replace each other', async (_part, envelope, data) => {
      const { store, userId } = rig();
      const samples = [sample('2026-01-05T10:00:00Z', 1)];
      await receive(store, glucose(userId, samples));
      await receive(store, { ...glucose(userId, samples, data), ...envelope });
      const kept = [...(await samplesOf(store, userId, 'glucose')), ...(await samplesOf(store, userId, 'ketones'))];
      expect(kept).toHaveLength(2);
    });

    // proves 287-290, 292
    test('samples from untidy payloads are kept as they were sent', async () => {
      const { store, userId } = rig();
      const untidy = [
        { start: '2026-01-05T10:00:00Z', end: '2026-01-05T10:05:00Z', value: 1, timezone_offset: null },
        { timestamp: null, start: '2026-01-05T11:00:00', value: 2, type: '' },
        { timestamp: '2026-01-05T12:00:00Z', systolic: 120, diastolic: 80, unit: 'mmHg' },
        { timestamp: '2026-01-05T13:00:00Z', value: 'an invented note', type: null, tags: ['one'] },
        { timestamp: '2026-01-05 14:00:00.25', value: 5, new_field: { deep: [null] } },
      ];
      const changes = { source: { provider: 'p', type: 'watch' } };
      expect(await receive(store, glucose(userId, untidy, changes))).toBe('stored');
      const kept = await samplesOf(store, userId, 'glucose');
      expect(kept.map(({ data }) => data)).toEqual(untidy);
      expect(kept.map(({ at }) => at.slice(11, 22))).toEqual([
        ...['10:00:00.00', '11:00:00.00', '12:00:00.00', '13:00:00.00', '14:00:00.25'],
      ]);
      expect(kept[0]).toMatchObject({ provider: 'p', sourceType: 'watch' });
    });

    test('a batch of 5,000 is one statement, and is read back whole, a page at a time', async () => {
      const { store, userId } = rig();
      const start = Date.parse('2026-01-05T00:00:00Z');
      const many = Array.from({ length: 5_003 }, (_, n) => sample(new Date(start + n * 1000).toISOString(), n));
      expect(await receive(store, glucose(userId, many))).toBe('stored');
      expect(await valuesOf(store, userId)).toEqual(many.map(({ value }) => value));
      expect(await receive(store, glucose(userId, many.toReversed()))).toBe('stored');
      expect(await valuesOf(store, userId)).toHaveLength(5_003);
    });

    test('an empty batch is nothing, and not an error', async () => {
      const { store } = rig();
      expect(await receive(store, glucose(randomUUID(), []))).toBe('stored');
    });
  });

  test('what comes now wins even if the clock of the database has been put back', async () => {
    const { store, userId } = rig();
    const at = '2026-01-05T10:00:00Z';
    const connection = { event_type: 'provider.connection.error', user_id: userId, data: { source } };
    const ahead = { receivedAt: '2199-01-01T00:00:00Z' };
    await receive(store, glucose(userId, [sample(at, 1)]), ahead);
    await receive(store, activity(userId, 'one', { steps: 1 }), ahead);
    await receive(store, connection, ahead);
    await receive(store, glucose(userId, [sample(at, 2)]));
    await receive(store, activity(userId, 'one', { steps: 2 }));
    await receive(store, { ...connection, event_type: 'provider.connection.created' });
    expect(await valuesOf(store, userId)).toEqual([2]);
    expect(await store.summaries({ userId })).toMatchObject([{ data: { steps: 2 } }]);
    expect(await store.connections(userId)).toMatchObject([{ eventType: 'provider.connection.created' }]);
  });

  describe('a message', () => {
    test('a message that comes again changes nothing', async () => {
      const { store, userId } = rig();
      const at = '2026-01-05T10:00:00Z';
      const first = { id: randomUUID() };
      await receive(store, glucose(userId, [sample(at, 1)]), first);
      await receive(store, glucose(userId, [sample(at, 2)]));
      expect(await receive(store, glucose(userId, [sample(at, 1)]), first)).toBe('repeated');
      expect(await valuesOf(store, userId)).toEqual([2]);
    });

    test('a message that comes many times at once is taken once', async () => {
      const { store, userId } = rig();
      const id = randomUUID();
      const event = glucose(userId, [sample('2026-01-05T10:00:00Z', 1), 'no sample']);
      const taken = await Promise.all(Array.from({ length: 8 }, () => receive(store, event, { id })));
      expect(taken.toSorted()).toEqual([...Array<string>(7).fill('repeated'), 'set_aside']);
      expect((await store.rejected.list()).filter(({ messageId }) => messageId === id)).toHaveLength(1);
    });

    test('messages with the same samples at the same time do not stop each other', async () => {
      const { store, userId } = rig();
      const times = Array.from({ length: 200 }, (_, n) => new Date(1_767_600_000_000 + n * 60_000).toISOString());
      const batches = Array.from({ length: 8 }, (_, n) => {
        const samples = times.map((at) => sample(at, n));
        return glucose(userId, n % 2 === 0 ? samples : samples.toReversed());
      });
      const taken = await Promise.all(batches.map((batch) => receive(store, batch)));
      expect(new Set(taken)).toEqual(new Set(['stored']));
      expect(await valuesOf(store, userId)).toHaveLength(200);
    });
  });

  describe('notices', () => {
    const provider = { name: 'Invented', slug: 'invented' };

    // proves 264, 303
    test('notices of a workout stream are kept until its stream is written, and with it', async () => {
      const { store, userId } = rig();
      const workoutId = randomUUID();
      const data = { message: 'Read it', provider_id: '17', sport: { id: 1, name: 'Run', slug: 'run' }, source };
      const event = { event_type: 'daily.data.workout_stream.created', user_id: userId };
      expect(await receive(store, { ...event, data: { ...data, workout_id: workoutId } })).toBe('stored');
      const noticed = { workoutId, notice: { ...data, workout_id: workoutId }, stream: null, fetchedAt: null };
      expect(await store.workoutStream({ userId, workoutId })).toMatchObject(noticed);
      for (const heartrate of [[70], [70, null, 71]]) {
        expect(await store.writeStream({ userId, workoutId, stream: { heartrate, lat: null } })).toBe('stored');
      }
      const stream = { heartrate: [70, null, 71], lat: null };
      const fetchedAt = expect.stringMatching(/Z$/) as string;
      expect(await store.workoutStream({ userId, workoutId })).toMatchObject({ ...noticed, stream, fetchedAt });
      expect(await store.workoutStream({ userId, workoutId: randomUUID() })).toBeUndefined();
      expect(await store.workoutStream({ userId: randomUUID(), workoutId })).toBeUndefined();
    });

    test('a workout is the same in upper and lower case', async () => {
      const { store, userId } = rig();
      const workoutId = randomUUID();
      const event = { event_type: 'daily.data.workout_stream.created', user_id: userId };
      await receive(store, { ...event, data: { source, workout_id: workoutId.toUpperCase() } });
      await store.writeStream({ userId, workoutId: workoutId.toUpperCase(), stream: { time: [1] } });
      for (const id of [workoutId, workoutId.toUpperCase()]) {
        const read = await store.workoutStream({ userId, workoutId: id });
        const notice = { workout_id: workoutId.toUpperCase() };
        expect(read).toMatchObject({ workoutId, notice, stream: { time: [1] } });
        expect(await store.streamStanding({ userId, workoutId: id })).toMatchObject({ standing: 'current' });
      }
    });

    test('notices of a past that was fetched are kept, one for each resource and provider', async () => {
      const { store, userId } = rig();
      const event = { event_type: 'historical.data.sleep.created', user_id: userId };
      await receive(store, { ...event, data: { user_id: userId, provider: 'invented', start_date: '2025-01-01' } });
      await receive(store, { ...event, data: { user_id: userId, provider: 'invented', start_date: '2025-02-01' } });
      expect(await receive(store, event)).toBe('stored');
      expect(await store.historyNotices(userId)).toMatchObject([
        { resource: 'sleep', provider: '', data: null },
        { resource: 'sleep', provider: 'invented', data: { start_date: '2025-02-01' } },
      ]);
    });

    test('notices of connections are kept, the last of each provider', async () => {
      const { store, userId } = rig();
      const sent = (event: string, data: object) =>
        receive(store, { event_type: `provider.connection.${event}`, user_id: userId, data });
      await sent('created', { source: provider });
      await sent('created', { provider: 'another' });
      expect(await sent('error', { provider, error: 'expired' })).toBe('stored');
      expect(await store.connections(userId)).toMatchObject([
        { provider: 'another', eventType: 'provider.connection.created' },
        { provider: 'invented', eventType: 'provider.connection.error', data: { error: 'expired' } },
      ]);
    });
  });
});
