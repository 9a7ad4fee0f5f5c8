import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Json } from './order-body.js';
import { pathUuid } from './validation.js';
import { refusal } from './problems.js';

/** A workout under this id does not exist. */
const unknownWorkoutId = '00000000-0000-0000-0000-000000000000';
const samplesPerStream = 60;

/**
 * The streams of workouts. Which workouts there are is not kept: every id has a stream, invented from the id so
 * reading twice gives the same, except for the one that is all zeros (404; not documented, assumed).
 */
export function timeseriesRoutes(app: FastifyInstance): void {
  app.get('/v2/timeseries/workouts/:workout_id/stream', (request) => {
    const id = pathUuid(request, 'workout_id');
    if (id === unknownWorkoutId) throw refusal(404, 'Not found');
    return stream(id);
  });
}

/** A minute in seconds, with a gap where the strap slipped and without a power meter. */
function stream(workoutId: string): Json {
  const begin = createHash('sha256').update(workoutId).digest().readUInt32BE(0);
  const each = (value: (n: number) => number | null): (number | null)[] =>
    Array.from({ length: samplesPerStream }, (_, n) => value(n));
  return {
    time: each((n) => begin + n),
    heartrate: each((n) => (n === 30 ? null : 110 + (n % 20))),
    cadence: each((n) => 80 + (n % 5)),
    altitude: each((n) => 12 + n / 10),
    velocity_smooth: each(() => 2.8),
    lat: each((n) => 33.4 + n / 100_000),
    lng: each((n) => -112.1 + n / 100_000),
    distance: each((n) => n * 2.8),
    power: null,
    resistance: [],
    temperature: each(() => 21),
  };
}
