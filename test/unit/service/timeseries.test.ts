import { describe, expect, test } from 'vitest';
import { NotFound } from '../../../service/errors.js';
import { readFrom, rejection, serviceWith } from './recording-server.js';

const channels = [
  ...['time', 'cadence', 'altitude', 'velocity_smooth', 'heartrate', 'lat', 'lng', 'distance', 'power'],
  ...['resistance', 'temperature'],
] as const;

const streamOf = (body: unknown) => readFrom(body, ({ timeseries }) => timeseries.workoutStream('workout-1'));

describe("a workout's stream", () => {
  // proves 215
  test.each(channels)('has the channel %s, with its gaps', async (channel) => {
    expect(await streamOf({ [channel]: [1, null, 2.5] })).toEqual({ [channel]: [1, null, 2.5] });
    expect(await streamOf({ [channel]: null })).toEqual({ [channel]: null });
    expect(await streamOf({ [channel]: 'invented' })).toEqual({});
  });

  // proves 215, 243, 326
  test('keeps every channel in step if a value is not a number, and keeps unknown channels', async () => {
    const sent = { time: [1, 2, 3], heartrate: [60, '61', {}], breath: ['in'], sport: { slug: 'invented' } };
    expect(await streamOf(sent)).toEqual({ ...sent, heartrate: [60, null, null] });
  });

  // proves 215
  test('that does not exist is not found', async () => {
    const { timeseries } = await serviceWith({ status: 404, body: { detail: 'Not found' } });
    expect(await rejection(timeseries.workoutStream('workout-1'))).toBeInstanceOf(NotFound);
  });
});
