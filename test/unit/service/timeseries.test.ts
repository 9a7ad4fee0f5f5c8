import { describe, expect, test } from 'vitest';
import { AnswerUnreadable, NotFound } from '../../../service/errors.js';
import { answering, rejection, serviceAt } from './recording-server.js';

const CHANNELS = [
  ...['time', 'cadence', 'altitude', 'velocity_smooth', 'heartrate', 'lat', 'lng', 'distance', 'power'],
  ...['resistance', 'temperature'],
] as const;

async function streamOf(body: unknown) {
  const { baseUrl, requests } = await answering(() => ({ body }));
  return { stream: await serviceAt(baseUrl).timeseries.workoutStream('workout-1'), requests };
}

describe("a workout's stream", () => {
  test('is read with the team key under the id of the workout [215, 244, 303, 321]', async () => {
    const { requests } = await streamOf({});
    expect(requests).toMatchObject([{ method: 'GET', url: '/v2/timeseries/workouts/workout-1/stream' }]);
    expect(requests[0]?.headers).toHaveProperty('x-service-api-key');
  });

  test.each(CHANNELS)('has the channel %s, gaps and all [215]', async (channel) => {
    const { stream } = await streamOf({ [channel]: [1, null, 2.5] });
    expect(stream).toEqual({ [channel]: [1, null, 2.5] });
    expect((await streamOf({ [channel]: null })).stream).toEqual({ [channel]: null });
    expect((await streamOf({ [channel]: 'invented' })).stream).toEqual({});
  });

  test('keeps every channel in step where a value is no number, and counts a channel that is no list as missing [215]', async () => {
    const { stream } = await streamOf({ time: [1, 2, 3], heartrate: [60, '61', {}], power: 'none' });
    expect(stream).toEqual({ time: [1, 2, 3], heartrate: [60, null, null] });
  });

  test('keeps channels that nobody knows yet [243, 326]', async () => {
    const { stream } = await streamOf({ time: [1], breath: ['in'], sport: { slug: 'invented' } });
    expect(stream).toEqual({ time: [1], breath: ['in'], sport: { slug: 'invented' } });
  });

  test('that is no object is unreadable, and one that does not exist is not found [215]', async () => {
    const { baseUrl } = await answering((_request, index) =>
      index === 0 ? { body: [1, 2] } : { status: 404, body: { detail: 'Not found' } },
    );
    const { timeseries } = serviceAt(baseUrl);
    expect(await rejection(timeseries.workoutStream('workout-1'))).toBeInstanceOf(AnswerUnreadable);
    expect(await rejection(timeseries.workoutStream('workout-1'))).toBeInstanceOf(NotFound);
  });
});
