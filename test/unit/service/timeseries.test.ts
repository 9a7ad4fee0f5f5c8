import { describe, expect, test } from 'vitest';
import { AnswerUnreadable, NotFound } from '../../../service/errors.js';
import { answering, rejection, serviceAt } from './recording-server.js';

const channels = [
  ...['time', 'cadence', 'altitude', 'velocity_smooth', 'heartrate', 'lat', 'lng', 'distance', 'power'],
  ...['resistance', 'temperature'],
] as const;

async function streamOf(body: unknown) {
  const { baseUrl, requests } = await answering(() => ({ body }));
  return { stream: await serviceAt(baseUrl).timeseries.workoutStream('workout-1'), requests };
}

describe("a workout's stream", () => {
  // proves 215, 244, 303, 321
  test('is read with the team key by the id of the workout', async () => {
    const { requests } = await streamOf({});
    expect(requests).toMatchObject([{ method: 'GET', url: '/v2/timeseries/workouts/workout-1/stream' }]);
    expect(requests[0]?.headers).toHaveProperty('x-service-api-key');
  });

  // proves 215
  test.each(channels)('has the channel %s, with its gaps', async (channel) => {
    const { stream } = await streamOf({ [channel]: [1, null, 2.5] });
    expect(stream).toEqual({ [channel]: [1, null, 2.5] });
    expect((await streamOf({ [channel]: null })).stream).toEqual({ [channel]: null });
    expect((await streamOf({ [channel]: 'invented' })).stream).toEqual({});
  });

  // proves 215
  test('keeps every channel in step if a value is not a number, and counts a channel that is not a list as missing', async () => {
    const { stream } = await streamOf({ time: [1, 2, 3], heartrate: [60, '61', {}], power: 'none' });
    expect(stream).toEqual({ time: [1, 2, 3], heartrate: [60, null, null] });
  });

  // proves 243, 326
  test('keeps unknown channels', async () => {
    const { stream } = await streamOf({ time: [1], breath: ['in'], sport: { slug: 'invented' } });
    expect(stream).toEqual({ time: [1], breath: ['in'], sport: { slug: 'invented' } });
  });

  // proves 215
  test("a workout's stream that is not an object is unreadable, and one that does not exist is not found", async () => {
    const { baseUrl } = await answering((_request, index) =>
      index === 0 ? { body: [1, 2] } : { status: 404, body: { detail: 'Not found' } },
    );
    const { timeseries } = serviceAt(baseUrl);
    expect(await rejection(timeseries.workoutStream('workout-1'))).toBeInstanceOf(AnswerUnreadable);
    expect(await rejection(timeseries.workoutStream('workout-1'))).toBeInstanceOf(NotFound);
  });
});
