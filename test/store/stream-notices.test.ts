import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { readEvent } from '../../service/webhooks/events.js';
import { openedStore } from '../../store/store-access.js';
import { healthDataSinks } from '../../workers/health-data.js';
import { describeStores } from '../rig/stores.js';
import { source } from './received.js';

describeStores('the notice of a workout stream', (rig) => {
  const workoutOf = () => ({ userId: randomUUID(), workoutId: randomUUID() });

  /** The ingress receives a notice; returns what becomes of it. */
  async function notice(
    { userId, workoutId }: { userId: string; workoutId: string },
    id: string = randomUUID(),
    receivedAt?: string,
  ): Promise<unknown> {
    const data = { user_id: userId, source, workout_id: workoutId, message: 'Read it.' };
    const body = { event_type: 'daily.data.workout_stream.updated', user_id: userId, data };
    const event = readEvent(body);
    if (event.kind !== 'health_data') throw new Error(event.kind);
    const { healthData } = healthDataSinks(openedStore(rig().store), receivedAt);
    return healthData(event, id, JSON.stringify(body));
  }

  // proves 264, 301, 303
  test('has the stream fetched until it exists, however often the notice comes; then a later one does', async () => {
    const { store } = rig();
    const [workout, message] = [workoutOf(), randomUUID()];
    expect(await notice(workout, message)).toBe('stream_due');
    expect(await notice(workout, message), 'Temporal could not be reached').toBe('stream_due');
    const { notice: announced } = await store.streamStanding(workout);
    expect(await store.writeStream({ ...workout, stream: { time: [1] }, notice: announced })).toBe('stored');
    expect(await notice(workout, message)).toBe('repeated');
    expect(await notice(workout)).toBe('stream_due');
  });

  test('that came while the stream was fetched has it fetched again', async () => {
    const { store } = rig();
    const workout = workoutOf();
    await notice(workout);
    const before = await store.streamStanding(workout);
    await notice(workout);
    await store.writeStream({ ...workout, stream: { time: [1] }, notice: before.notice });
    expect(await store.streamStanding(workout)).toMatchObject({ standing: 'due' });
    expect(await store.workoutStream(workout)).toMatchObject({ stream: { time: [1] } });
  });

  test('is answered by the latest read: one that was held up does not bring back what it read before', async () => {
    const { store } = rig();
    const workout = workoutOf();
    await notice(workout);
    const early = await store.streamStanding(workout);
    await notice(workout);
    const late = await store.streamStanding(workout);
    await store.writeStream({ ...workout, stream: { time: [2] }, notice: late.notice });
    await store.writeStream({ ...workout, stream: { time: [1] }, notice: early.notice });
    expect(await store.workoutStream(workout)).toMatchObject({ stream: { time: [2] } });
    expect(await store.streamStanding(workout)).toMatchObject({ standing: 'current' });
  });

  test('that is replayed from before the stream was fetched has nothing fetched', async () => {
    const { store } = rig();
    const workout = workoutOf();
    await notice(workout);
    await store.writeStream({ ...workout, stream: {} });
    expect(await notice(workout, randomUUID(), '2026-01-01T00:00:00Z')).toBe('stored');
  });

  test('about a user whose data were deleted has nothing fetched', async () => {
    const { store } = rig();
    const workout = workoutOf();
    await store.deleteUserData(workout.userId);
    expect(await notice(workout)).toBe('user_deleted');
    expect(await store.streamStanding(workout)).toEqual({ standing: 'user_deleted', notice: null });
  });

  test('whose workout cannot be part of a workflow ID is put aside whole', async () => {
    const { store } = rig();
    const workout = { userId: randomUUID(), workoutId: 'Testperson/Invented' };
    expect(await notice(workout)).toBe('set_aside');
    const [rejected] = await store.rejected.list({ limit: 1 });
    const reason = expect.stringMatching(/^not_addressable/) as string;
    expect(rejected).toMatchObject({ userId: workout.userId, reason });
    expect(rejected?.reason).not.toContain('Testperson');
    expect((await store.rejected.get(rejected?.id ?? '')).body).toContain('Testperson/Invented');
  });

  test('whose stream the database cannot hold is reported as such', async () => {
    const { store } = rig();
    const workout = workoutOf();
    await notice(workout);
    expect(await store.writeStream({ ...workout, stream: { note: 'a\0b' } })).toBe('unstorable');
    expect(await store.workoutStream(workout)).toMatchObject({ stream: null });
  });
});
