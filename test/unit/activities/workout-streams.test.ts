import { describe, expect, test } from 'vitest';
import { workoutStreamActivities } from '../../../activities/workout-stream.js';
import { workoutStreamId } from '../../../protocol/ids.js';
import { fetchWorkoutStreamName } from '../../../protocol/workout-stream.js';
import { fetchWorkoutStream } from '../../../workflows/workout-stream.js';
import { Life, silent, unavailable } from '../life.js';
import { answering, rejection, serviceAt, type Answer } from '../service/recording-server.js';

const [userId, workoutId] = ['user-1', 'workout-1'];
const input = { userId, workoutId };

describe('an attempt to fetch a workout’s stream', () => {
  /** @param standing what the store says of the stream; then what it says of the one that is written */
  const fetching = async (answer: Answer, standing = 'due', written = 'stored') => {
    const { baseUrl, requests } = await answering(() => answer);
    const kept: object[] = [];
    const store = {
      streamStanding: async () => ({ standing, notice: 'notice-1' }),
      writeStream: async (stream: object) => (kept.push(stream), written),
    };
    const workerStore = { store: { get: async () => store } } as never;
    const outcome = workoutStreamActivities({ service: serviceAt(baseUrl), workerStore }).fetchStream(input);
    return { outcome, requests, kept };
  };
  const shown: Answer = { body: { time: [1, 2, 3], power: null } };

  test('keeps the stream, and says how long it is', async () => {
    const { outcome, kept } = await fetching(shown);
    expect(await outcome).toEqual({ outcome: 'stored', moments: 3 });
    expect(kept).toMatchObject([{ userId, workoutId, notice: 'notice-1', stream: { time: [1, 2, 3] } }]);
  });

  test.each(['current', 'user_deleted'])('asks the service nothing if the store says %s', async (standing) => {
    const { outcome, requests } = await fetching(shown, standing);
    expect(await outcome).toEqual({ outcome: standing });
    expect(requests).toEqual([]);
  });

  test('keeps nothing of a user who is deleted while the service answers', async () => {
    const { outcome } = await fetching(shown, 'due', 'user_deleted');
    expect(await outcome).toEqual({ outcome: 'user_deleted' });
  });

  test.each([
    [404, { type: 'StreamNotReady', nonRetryable: false }],
    [503, { type: 'ServiceUnavailable', nonRetryable: false }],
    [401, { type: 'Unauthorized', nonRetryable: false, nextRetryDelay: '1 hour' }],
    [422, { type: 'ServiceRefused', nonRetryable: true }],
  ])('fails after %i', async (status, failure) => {
    const { outcome } = await fetching({ status, body: { detail: 'Not found' } });
    expect(await rejection(outcome)).toMatchObject(failure);
  });
});

describe('a workout’s stream', () => {
  const now = Date.parse('2026-03-01T10:00:00Z');
  const workflowId = workoutStreamId(workoutId);
  const followed = (answers: object) =>
    new Life({ workflow: fetchWorkoutStream, type: fetchWorkoutStreamName, workflowId, now }, { ...answers });
  const failing = (type: string, isFinal: boolean) => ({ fetchStream: { failure: { type, isFinal } } });

  test('is fetched again for a notice that comes meanwhile, and not for one that names nobody', async () => {
    const life = await followed({ fetchStream: silent }).start(input);
    for (const notice of [input, undefined, { userId: 7 }]) await life.signal('streamNoticed', notice);
    await life.given({ fetchStream: { outcome: 'stored', moments: 3 } });
    expect(life.calls).toEqual(['0h fetchStream', '0h fetchStream']);
    expect(life.run.end).toMatchObject({ kind: 'completed', result: { workoutId, outcome: 'stored', moments: 3 } });
  });

  test.each([
    ['not_found', failing('StreamNotReady', false)],
    ['refused', failing('ServiceRefused', true)],
  ])('is given up as %s', async (outcome, answers) => {
    const life = await followed(answers).start(input);
    expect(life.run.end).toMatchObject({ kind: 'completed', result: { workoutId, outcome } });
    expect(life.calls).toHaveLength(1);
  });

  test('is tried for seven rounds while the service or the store does not answer; then its run fails', async () => {
    const life = await followed({ fetchStream: unavailable }).start(input);
    await life.until(24);
    expect(life.calls).toHaveLength(7);
    expect(life.events).toEqual(['6h failed: ServiceUnavailable']);
  });

  test.each([{}, { userId }, { userId, workoutId: '../etc' }, { userId, workoutId: 'other' }])(
    'fails at once with %j',
    async (wrong) => {
      const life = await followed({}).start(wrong);
      expect(life.events).toEqual(['0h failed: InvalidCommand']);
    },
  );
});
