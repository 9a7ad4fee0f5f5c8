import { z } from 'zod';
import type { Transport } from './http/http.js';
import type { CallOptions } from './http/calls.js';
import * as fields from './fields.js';

/** A value for each moment; a value that is not a number is null, so every channel stays in step with `time`. */
const channelSchema = fields.part(z.array(fields.number.transform((value) => value ?? null)));

/**
 * The samples of one workout, a list for each channel (docs/internals/lab-service.md; the specification does not show the shape).
 * Channels may be missing, null or empty, and contain gaps (null); a channel that is not a list counts as missing.
 * Unknown channels are kept as they were sent. Units, and the origin of `time`, are not documented.
 */
const workoutStreamSchema = z.looseObject({
  time: channelSchema,
  cadence: channelSchema,
  altitude: channelSchema,
  velocity_smooth: channelSchema,
  heartrate: channelSchema,
  lat: channelSchema,
  lng: channelSchema,
  distance: channelSchema,
  power: channelSchema,
  resistance: channelSchema,
  temperature: channelSchema,
});

export type WorkoutStream = z.output<typeof workoutStreamSchema>;

/** Health data that is too large for a webhook. Every call rejects with a `ServiceError`. */
export interface Timeseries {
  /**
   * The stream that an event `daily.data.workout_stream.*` announces, by the event's `workout_id` (the id inside its
   * `message` may be another one). The event's arrival means that the stream can be read.
   */
  workoutStream(workoutId: string, options?: CallOptions): Promise<WorkoutStream>;
}

export function createTimeseries(transport: Transport): Timeseries {
  return {
    workoutStream: (workoutId, options) =>
      transport.get(
        '/v2/timeseries/workouts/{workout_id}/stream',
        { workout_id: workoutId },
        workoutStreamSchema,
        options,
      ),
  };
}
