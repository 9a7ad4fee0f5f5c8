import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvent, sourceOf } from '../../../../service/webhooks/events.js';
import { readHealthData } from '../../../../service/webhooks/health-data.js';
import { exactUtcInstant } from '../../../../service/timestamps.js';

/** What the body of a webhook brings. */
function read(body: object) {
  const event = readEvent(body);
  if (event.kind !== 'health_data' && event.kind !== 'connection') throw new Error(event.kind);
  return readHealthData(event);
}

const of = (resource: string, data: unknown) => ({ event_type: `daily.data.${resource}.created`, user_id: 'u', data });

const source = { name: 'Invented', slug: 'invented', logo: null };

/** Nothing reads these fields: they are passed on with everything else, and one test for each would say no more. */
describe('an event is kept as it was sent, with unknown fields:', () => {
  const unknown = { field_of_next_year: { deep: [1, null] } };

  // proves 149, 150, 261, 270, 272-284
  test.each([{}, { high: null, low: null, medium: null }])('an activity (%j)', (nulls) => {
    const data = {
      id: 'one',
      ...{ user_id: 'user-of-data', source, timezone_offset: -25_200 },
      ...{ calendar_date: '2026-01-05', date: '2026-01-05T00:00:00+00:00' },
      ...{ calories_active: 500, calories_total: 2_100, daily_movement: 4_200, distance: 5_100.5, floors_climbed: 3 },
      ...{ steps: 7_000, high: 12, low: 90, medium: 40, ...nulls },
      ...unknown,
    };
    expect(read(of('activity', data))).toMatchObject({ kind: 'summary', id: 'one', data });
  });

  // proves 285-293
  test('a batch, and each of its samples', () => {
    const times = { timestamp: '2026-01-05T10:00:00Z', start: '2026-01-05T10:00:00Z', end: '2026-01-05T10:05:00Z' };
    const sample = { ...times, timezone_offset: -25_200, type: 'automatic', unit: 'mmol/L', value: 5.4, ...unknown };
    const data = { source_id: 7, source, data: [sample, { ...sample, type: null }], ...unknown };
    const samples = data.data.map((each) => ({ data: each }));
    const batch = read(of('glucose', data));
    expect(batch).toMatchObject({ kind: 'samples', source: { provider: 'invented' }, data, samples });
  });

  // proves 264, 296-302
  test('a stream notice', () => {
    const data = {
      ...{ message: 'The stream of workout other can be read.', provider_id: 'invented-17', user_id: 'user-of-data' },
      ...{ sport: { id: 1, name: 'Run', slug: 'run' }, workout_id: 'w', source },
      ...unknown,
    };
    expect(read(of('workout_stream', data))).toMatchObject({ kind: 'stream_notice', workoutId: 'w', data });
  });
});

// proves 286, 287, 294
test.each([
  ['timestamp', { timestamp: '2026-01-05T10:00:00Z', start: '2026-01-05T09:00:00Z' }],
  ['start, without a timestamp', { start: '2026-01-05T10:00:00Z', end: '2026-01-05T10:05:00Z' }],
])('a sample’s instant is its %s', (_field, sample) => {
  const event = read(of('steps', { data: [sample, { [`other_${_field}`]: '2026-01-05T10:00:00Z' }] }));
  expect(event).toMatchObject({ samples: [{ at: '2026-01-05T10:00:00.000000Z' }, {}] });
  expect(event.kind === 'samples' && event.samples[1]).not.toHaveProperty('at');
});

describe('the kind of an event follows from its shape', () => {
  test('the past of workout streams is announced like any other, and a workout that it names is a notice', () => {
    const past = { event_type: 'historical.data.workout_stream.created', user_id: 'u' };
    expect(read(past)).toMatchObject({ kind: 'history_notice', resource: 'workout_stream' });
    expect(read({ ...past, data: { start_date: '2026-01-05' } })).toMatchObject({ kind: 'history_notice' });
    expect(read({ ...past, data: { workout_id: 'w' } })).toMatchObject({ kind: 'stream_notice', workoutId: 'w' });
  });

  // proves 258, 260, 262, 263, 268, 285
  test('data with samples is a batch, whatever its resource', () => {
    for (const resource of ['glucose', 'steps', 'calories_active', 'invented_next_year']) {
      const batch = read(of(resource, { data: [{ timestamp: '2026-01-05T10:00:00Z' }], id: 7 }));
      expect(batch).toMatchObject({ kind: 'samples', resource, samples: [{ at: '2026-01-05T10:00:00.000000Z' }] });
    }
  });

  // proves 258, 270, 271
  test('other data is a summary, whatever its resource', () => {
    const data = { id: 'one', calendar_date: '2026-01-05', updated_at: '2026-01-05T10:00:00', data: null };
    expect(read(of('steps', data))).toEqual({
      ...{ kind: 'summary', eventType: 'daily.data.steps.created', resource: 'steps', userId: 'u', source: {} },
      ...{ id: 'one', day: '2026-01-05', updatedAt: '2026-01-05T10:00:00.000000Z', data },
    });
  });

  // proves 264
  test('a daily workout stream is a notice even if it names no workout', () => {
    const notice = read(of('workout_stream', { message: 'x' }));
    expect(notice).toMatchObject({ kind: 'stream_notice' });
    expect(notice).not.toHaveProperty('workoutId');
  });

  test('the id of a workout is in lower case if it is a UUID', () => {
    const id = '6F0C0A49-2F0A-4B5E-8D6F-00000000000A';
    expect(read(of('workout_stream', { workout_id: id }))).toMatchObject({ workoutId: id.toLowerCase() });
    expect(read(of('workout_stream', { workout_id: 'W' }))).toMatchObject({ workoutId: 'W' });
  });

  // proves 258, 259, 269
  test.each(['created', 'updated'])('%s data is read alike', (action) => {
    const event = { event_type: `daily.data.activity.${action}`, user_id: 'u', data: { id: 'one' } };
    expect(read(event)).toMatchObject({ kind: 'summary', resource: 'activity', id: 'one' });
  });

  // proves 142, 271
  test.each([
    ['id', 'id', 'one'],
    ['calendar_date', 'day', '2026-01-05'],
    ['date', 'day', '2026-01-05'],
    ['updated_at', 'updatedAt', '2026-01-05T10:00:00Z'],
  ])('a %s of the wrong type counts as absent', (field, name, good) => {
    expect(read(of('activity', { [field]: good }))).toHaveProperty(name);
    expect(read(of('activity', { [field]: { odd: good } }))).not.toHaveProperty(name);
  });

  test.each([undefined, null, {}, { start_date: '2026-01-05' }, 'text'])('the past, with %j, is a notice', (data) => {
    const event = { event_type: 'historical.data.sleep.created', data };
    expect(read(event)).toMatchObject({ kind: 'history_notice', resource: 'sleep' });
  });

  test('the past with data is data all the same', () => {
    const event_type = 'historical.data.sleep.created';
    expect(read({ event_type, data: { id: 1 } })).toMatchObject({ kind: 'summary', id: '1' });
    expect(read({ event_type, data: { data: [] } })).toMatchObject({ kind: 'samples', samples: [] });
  });

  test('the type is read in any letter case, and keeps the resource as it was sent', () => {
    const event = { event_type: 'Daily.Data.bloodPressure.Created', user_id: 'u', data: { data: [] } };
    expect(read(event)).toMatchObject({ kind: 'samples', resource: 'bloodPressure' });
  });

  test.each(['steps.deleted', 'steps', '.created', 'a.b.created'])('daily.data.%s is unknown', (type) => {
    expect(read({ event_type: `daily.data.${type}`, data: { id: 1 } })).toMatchObject({ kind: 'unknown' });
  });

  test.each([null, 5, 'Testperson', ['Testperson']])('a summary that is %j is unknown, and not quoted', (data) => {
    const { data: kept, ...rest } = read(of('steps', data));
    expect(rest).toMatchObject({ kind: 'unknown' });
    expect(kept).toEqual(data);
    expect(JSON.stringify(rest)).not.toContain('Testperson');
  });
});

// proves 150, 294
test.each([
  [{ source: { slug: 'a', name: 'A' } }, { provider: 'a' }],
  [{ source: { provider: 'a', type: 'watch' } }, { provider: 'a', type: 'watch' }],
  [{ source: { provider: 'a', type: '' } }, { provider: 'a' }],
  [{ source: { name: 'A' }, provider: { slug: 'b' } }, { provider: 'b' }],
  [{ provider: { slug: 'b', type: 'app' } }, { provider: 'b', type: 'app' }],
  [{ source: 5, provider: 'b' }, { provider: 'b' }],
  [{ source: 'a', provider: 'b' }, { provider: 'a' }],
  [{ source: { name: 'A', slug: '' }, provider: 'b' }, { provider: 'b' }],
  [{ provider: { provider: 'b' } }, { provider: 'b' }],
  [{ source: null, provider: [] }, {}],
  [{ source: { slug: {} } }, {}],
  [{}, {}],
  [null, {}],
])('the source of %j is %j', (data, source) => {
  expect(sourceOf(data)).toEqual(source);
});

test.each([
  ['2026-01-05T10:00:00Z', '2026-01-05T10:00:00.000000Z'],
  ['2026-01-05 10:00:00.123456789', '2026-01-05T10:00:00.123456Z'],
  ['2026-01-05T10:00:00.5-03:30', '2026-01-05T13:30:00.500000Z'],
  ['2026-01-05T10:00+02', '2026-01-05T08:00:00.000000Z'],
  ['2026-01-05', '2026-01-05T00:00:00.000000Z'],
  ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
  ['2026-02-29T00:00:00Z', undefined],
  ['2026-01-05T24:00:00Z', undefined],
  ['2026-01-05T23:59:60Z', undefined],
  ['0000-01-01T00:00:00Z', undefined],
  ['9999-12-31T23:59:59-01:00', undefined],
  ['1767607200', undefined],
])('the exact instant of %s is %s', (text, instant) => {
  expect(exactUtcInstant(text)).toBe(instant);
});

test('nothing throws, whatever the data', () => {
  const samples = fc.record({ data: fc.array(fc.oneof(fc.anything(), fc.record({ timestamp: fc.anything() }))) });
  const resources = ['daily.data.a', 'daily.data.workout_stream', 'historical.data.b'];
  const events = fc.constantFrom(...resources.map((resource) => `${resource}.created`));
  fc.assert(
    fc.property(events, fc.oneof(fc.anything(), samples), (event_type, data) => {
      expect(read({ event_type, data }).eventType).toBe(event_type);
    }),
  );
});
