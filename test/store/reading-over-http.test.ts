import { request } from 'undici';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHealthDataReading } from '../../workers/health-data-reading.js';
import { describeStores } from '../rig/stores.js';
import { activity, glucose, receive, sample } from './received.js';

describeStores('one process’s store, read over HTTP,', (rig) => {
  let reading: Awaited<ReturnType<typeof startHealthDataReading>>;
  beforeAll(async () => {
    reading = await startHealthDataReading(rig().store, 0);
  });
  afterAll(() => reading.close());

  async function read(path: string): Promise<{ status: number; body: unknown }> {
    const answer = await fetch(`${reading.url}/users/${path}`);
    return { status: answer.status, body: await answer.json() };
  }

  test('returns summaries by day, samples by resource and range, and streams by workout, also one without a notice', async () => {
    const { store, userId } = rig();
    await receive(store, activity(userId, 'day'));
    await receive(store, glucose(userId, [sample('2026-01-05T10:00:00Z', 1), sample('2026-01-05T11:00:00Z', 2)]));
    await store.writeStream({ userId, workoutId: 'w', stream: { time: [1, 2] } });
    expect(await read(`${userId}/summaries?from=2026-01-05&to=2026-01-05`)).toMatchObject({
      status: 200,
      body: { summaries: [{ id: 'day', resource: 'activity' }] },
    });
    expect(await read(`${userId}/summaries?resource=sleep`)).toEqual({ status: 200, body: { summaries: [] } });
    const range = 'resource=glucose&from=2026-01-05T10:30:00Z&to=2026-01-06T00:00:00Z';
    expect(await read(`${userId}/samples?${range}`)).toMatchObject({
      status: 200,
      body: { samples: [{ data: { value: 2 } }], cutOff: false },
    });
    expect(await read(`${userId}/workouts/w/stream`)).toMatchObject({
      status: 200,
      body: { notice: null, noticedAt: null, stream: { time: [1, 2] } },
    });
  });

  test.each([
    ['a-user/summaries?from=2026-13-01', 400],
    ['a-user/summaries?since=2026-01-01', 400],
    ['a-user/samples?resource=glucose&from=today&to=tomorrow', 400],
    ['a-user/samples?from=2026-01-05T10:30:00Z&to=2026-01-06T00:00:00Z', 400],
    ['a-user/workouts/none/stream', 404],
  ])('answers %s with %i and a reason', async (path, status) => {
    expect(await read(path)).toEqual({ status, body: { error: expect.any(String) as string } });
  });

  test('listens on this machine only, and refuses web pages that lead there', async () => {
    expect(new URL(reading.url).hostname).toBe('127.0.0.1');
    const answer = await request(`${reading.url}/users/a-user/summaries`, { headers: { host: 'page.example.com' } });
    await answer.body.dump();
    expect(answer.statusCode).toBe(403);
  });
});
