import { randomUUID, createHash } from 'node:crypto';
import { z } from 'zod';
import type { FastifyInstance } from 'fastify';
import type { Lab } from './lab.js';
import type { Json } from './order-body.js';
import { sourceOf } from './connections.js';
import type { User } from './state.js';
import { calendarDate, timestamp } from './clock.js';
import { pathUuid, refusal } from './validation.js';

/*
 * Health data that nobody has: every value is invented here. A summary is `data` itself, a batch has its samples in
 * `data.data`, a workout stream and fetched historical data are only announced (specification, "Events").
 */

export type HealthDataEventType = `daily.data.${string}` | `historical.data.${string}`;

const provider = z.string().min(1).default('invented_watch');
const resource = (known: string) => z.string().min(1).default(known);

/** The ways in which real payloads are untidy. */
export const untidyKinds = [
  'intervals',
  'some_without_time',
  'without_provider',
  'without_id',
  'without_user',
] as const;

export const healthDataSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('summary'),
    resource: resource('activity'),
    provider,
    /** A new one when left out; the same one again sends a later version. */
    id: z.string().optional(),
    /** YYYY-MM-DD; the stand-in's today when left out. */
    calendar_date: z.iso.date().optional(),
    /** Instead of, or beside, the invented fields. */
    fields: z.record(z.string(), z.unknown()).default({}),
    event: z.enum(['created', 'updated']).default('created'),
  }),
  z.strictObject({
    kind: z.literal('samples'),
    resource: resource('glucose'),
    provider,
    /** 5,000 make a webhook of about 0.6 MB. */
    count: z.int().min(0).max(20_000).default(12),
    /** Of the first sample; the last one is now when left out. */
    from: z.iso.datetime({ offset: true }).optional(),
    everySeconds: z.number().positive().default(300),
    event: z.enum(['created', 'updated']).default('created'),
  }),
  z.strictObject({ kind: z.literal('workout_stream'), provider, workout_id: z.string().optional() }),
  z.strictObject({ kind: z.literal('history'), resource: resource('activity'), provider }),
  z.strictObject({ kind: z.literal('untidy'), variant: z.enum(untidyKinds) }),
]);

type HealthDataRequest = z.output<typeof healthDataSchema>;

/** The message that was sent, without its envelope's ids. */
interface SentHealthData {
  readonly event_type: HealthDataEventType;
  readonly data: Json;
}

/** Makes health data up and sends the webhook that brings it. Nothing is kept. */
export function sendHealthData(lab: Lab, user: User, request: HealthDataRequest): SentHealthData {
  const sent = made(request, lab.clock.now());
  const isAnonymous = request.kind === 'untidy' && request.variant === 'without_user';
  const data = isAnonymous ? sent.data : { user_id: user.id, ...sent.data };
  lab.webhooks.announceAbout(user, sent.event_type, data, { anonymous: isAnonymous });
  return { ...sent, data };
}

function made(request: HealthDataRequest, now: number): SentHealthData {
  switch (request.kind) {
    case 'summary': {
      const { resource: name, id = randomUUID(), calendar_date: day = calendarDate(now), event } = request;
      const source = sourceOf(request.provider);
      const data = { id, source, calendar_date: day, date: `${day}T00:00:00+00:00`, ...invented, ...request.fields };
      return { event_type: `daily.data.${name}.${event}`, data };
    }
    case 'samples': {
      const { resource: name, count, everySeconds, event } = request;
      const span = (count - 1) * everySeconds * 1_000;
      const first = request.from === undefined ? now - span : Date.parse(request.from);
      const samples = Array.from({ length: count }, (_, n) => sample(timestamp(first + n * everySeconds * 1_000), n));
      const data = { source: sourceOf(request.provider), source_id: 7, data: samples };
      return { event_type: `daily.data.${name}.${event}`, data };
    }
    case 'workout_stream': {
      const { workout_id = randomUUID() } = request;
      const message = `The stream of workout ${workout_id} can be read.`;
      const sport = { id: 1, name: 'Invented Run', slug: 'invented_run' };
      const data = { workout_id, message, provider_id: 'invented-17', sport, source: sourceOf(request.provider) };
      return { event_type: 'daily.data.workout_stream.created', data };
    }
    case 'history': {
      const data = {
        source: sourceOf(request.provider),
        start_date: timestamp(now - 90 * 86_400_000),
        end_date: timestamp(now),
      };
      return { event_type: `historical.data.${request.resource}.created`, data };
    }
    case 'untidy':
      return untidy(request.variant, now);
  }
}

/** An activity of a person who is not there. */
const invented: Json = {
  calories_active: 321.5,
  calories_total: 2100,
  daily_movement: 4200,
  distance: 4321,
  floors_climbed: 3,
  steps: 5678,
  high: 12,
  low: 90,
  medium: null,
  timezone_offset: 0,
};

function sample(time: string, n: number): Json {
  return { timestamp: time, timezone_offset: 0, type: 'automatic', unit: 'mmol/L', value: 5 + (n % 20) / 10 };
}

/** Seen in real payloads, or likely enough. */
function untidy(variant: (typeof untidyKinds)[number], now: number): SentHealthData {
  const source = sourceOf('invented_watch');
  const at = (minutes: number): string => timestamp(now + minutes * 60_000);
  const batch = (name: string, data: readonly unknown[], other: Json = {}): SentHealthData => ({
    event_type: `daily.data.${name}.created`,
    data: { source, source_id: 7, ...other, data },
  });
  switch (variant) {
    case 'intervals':
      return batch('calories_active', [{ start: at(-5), end: at(0), timezone_offset: null, unit: 'kcal', value: 7 }]);
    case 'some_without_time':
      return batch('glucose', [sample(at(0), 0), { unit: 'mmol/L', value: 6 }, null]);
    case 'without_provider':
      return batch('glucose', [sample(at(0), 0)], { source: null });
    case 'without_id':
      return { event_type: 'daily.data.activity.created', data: { source, ...invented } };
    case 'without_user':
      return batch('glucose', [sample(at(0), 0)]);
  }
}

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
