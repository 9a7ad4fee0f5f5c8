import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readEvent } from '../../../service/events.js';
import { readHealthData } from '../../../service/health-data.js';
import { sourceOf } from '../../../service/source.js';
import { exactUtcInstant } from '../../../service/timestamps.js';

/** What the body of a webhook brings. */
function read(body: object) {
  const event = readEvent(body);
  if (event.kind !== 'health_data' && event.kind !== 'connection') throw new Error(event.kind);
  return readHealthData(event);
}

const of = (resource: string, data: unknown) => ({ event_type: `daily.data.${resource}.created`, user_id: 'u', data });

const SOURCE = { name: 'Invented', slug: 'invented', logo: null };

/** Everything that the specification names in an activity, a sample and a stream notice, by its number. */
describe('is kept as it was sent:', () => {
  test.each([
    { item: 272, field: 'id', value: 'one' },
    { item: 273, field: 'calendar_date', value: '2026-01-05' },
    { item: 274, field: 'date', value: '2026-01-05T00:00:00+00:00' },
    { item: 275, field: 'calories_active', value: 500 },
    { item: 276, field: 'calories_total', value: 2_100 },
    { item: 277, field: 'daily_movement', value: 4_200 },
    { item: 278, field: 'distance', value: 5_100.5 },
    { item: 279, field: 'floors_climbed', value: 3 },
    { item: 280, field: 'steps', value: 7_000 },
    { item: 281, field: 'high', value: 12 },
    { item: 281, field: 'high', value: null },
    { item: 282, field: 'low', value: 90 },
    { item: 282, field: 'low', value: null },
    { item: 283, field: 'medium', value: 40 },
    { item: 283, field: 'medium', value: null },
    { item: 284, field: 'timezone_offset', value: -25_200 },
    { item: 150, field: 'source', value: SOURCE },
    { item: 149, field: 'user_id', value: 'user-of-data' },
  ])("an activity's $field [$item, 261, 270]", ({ field, value }) => {
    const data = { id: 'one', [field]: value };
    expect(read(of('activity', data))).toMatchObject({ kind: 'summary', id: 'one', data });
  });

  test.each([
    { item: 286, field: 'timestamp', value: '2026-01-05T10:00:00Z' },
    { item: 287, field: 'start', value: '2026-01-05T10:00:00Z' },
    { item: 288, field: 'end', value: '2026-01-05T10:05:00Z' },
    { item: 289, field: 'timezone_offset', value: -25_200 },
    { item: 290, field: 'type', value: 'automatic' },
    { item: 290, field: 'type', value: null },
    { item: 291, field: 'unit', value: 'mmol/L' },
    { item: 292, field: 'value', value: 5.4 },
  ])("a sample's $field [$item, 285]", ({ field, value }) => {
    const sent = { source_id: 7, source: SOURCE, data: [{ [field]: value }] };
    expect(read(of('glucose', sent))).toMatchObject({ kind: 'samples', samples: [{ data: { [field]: value } }] });
  });

  test("a batch's source_id [293]", () => {
    const data = { source_id: 7, source: SOURCE, data: [] };
    expect(read(of('glucose', data))).toMatchObject({ source: { provider: 'invented' }, data });
  });

  test.each([
    { item: 296, field: 'message', value: 'The stream of workout other can be read.' },
    { item: 297, field: 'provider_id', value: 'invented-17' },
    { item: 298, field: 'sport', value: { id: 1 } },
    { item: 299, field: 'sport', value: { name: 'Run' } },
    { item: 300, field: 'sport', value: { slug: 'run' } },
    { item: 301, field: 'workout_id', value: 'w' },
    { item: 302, field: 'source', value: SOURCE },
    { item: 302, field: 'user_id', value: 'user-of-data' },
  ])("a stream notice's $field [$item, 264]", ({ field, value }) => {
    const data = { workout_id: 'w', [field]: value };
    expect(read(of('workout_stream', data))).toMatchObject({ kind: 'stream_notice', workoutId: 'w', data });
  });
});

test.each([
  ['timestamp', { timestamp: '2026-01-05T10:00:00Z', start: '2026-01-05T09:00:00Z' }],
  ['start, where there is no timestamp', { start: '2026-01-05T10:00:00Z', end: '2026-01-05T10:05:00Z' }],
])('a sample is of the instant of its %s [286, 287, 294]', (_field, sample) => {
  const event = read(of('steps', { data: [sample, { [`other_${_field}`]: '2026-01-05T10:00:00Z' }] }));
  expect(event).toMatchObject({ samples: [{ at: '2026-01-05T10:00:00.000000Z' }, {}] });
  expect(event.kind === 'samples' && event.samples[1]).not.toHaveProperty('at');
});

describe('what an event brings is told by its shape', () => {
  test('the past of workout streams is announced like any other, and a workout that it names is a notice', () => {
    const past = { event_type: 'historical.data.workout_stream.created', user_id: 'u' };
    expect(read(past)).toMatchObject({ kind: 'history_notice', resource: 'workout_stream' });
    expect(read({ ...past, data: { start_date: '2026-01-05' } })).toMatchObject({ kind: 'history_notice' });
    expect(read({ ...past, data: { workout_id: 'w' } })).toMatchObject({ kind: 'stream_notice', workoutId: 'w' });
  });

  test.each([
    { item: 260, resource: 'glucose' },
    { item: 262, resource: 'steps' },
    { item: 263, resource: 'calories_active' },
    { item: 268, resource: 'invented_next_year' },
  ])('data with a list of samples is a batch, as of $resource [$item, 258, 285]', ({ resource }) => {
    expect(read(of(resource, { data: [{ timestamp: '2026-01-05T10:00:00Z' }], id: 7 }))).toMatchObject({
      kind: 'samples',
      resource,
      samples: [{ at: '2026-01-05T10:00:00.000000Z' }],
    });
  });

  test('other data is a summary, whatever its resource [258, 270, 271]', () => {
    const data = { id: 'one', calendar_date: '2026-01-05', updated_at: '2026-01-05T10:00:00', data: null };
    expect(read(of('steps', data))).toEqual({
      kind: 'summary',
      eventType: 'daily.data.steps.created',
      resource: 'steps',
      userId: 'u',
      source: {},
      id: 'one',
      day: '2026-01-05',
      updatedAt: '2026-01-05T10:00:00.000000Z',
      data,
    });
  });

  test('a daily workout stream is a notice even where it names no workout [264]', () => {
    const notice = read(of('workout_stream', { message: 'x' }));
    expect(notice).toMatchObject({ kind: 'stream_notice' });
    expect(notice).not.toHaveProperty('workoutId');
  });

  test('a workout stream is a notice [264, 301]', () => {
    expect(read(of('workout_stream', { workout_id: 'w', message: 'x' }))).toMatchObject({
      kind: 'stream_notice',
      workoutId: 'w',
    });
  });

  test.each(['created', 'updated'])('what was %s is read alike [258, 259, 269]', (action) => {
    const event = { event_type: `daily.data.activity.${action}`, user_id: 'u', data: { id: 'one' } };
    expect(read(event)).toMatchObject({ kind: 'summary', resource: 'activity', id: 'one' });
  });

  test.each([
    ['id', 'id', 'one'],
    ['calendar_date', 'day', '2026-01-05'],
    ['date', 'day', '2026-01-05'],
    ['updated_at', 'updatedAt', '2026-01-05T10:00:00Z'],
  ])('a %s of the wrong type counts as absent [142, 271]', (field, name, good) => {
    expect(read(of('activity', { [field]: good }))).toHaveProperty(name);
    expect(read(of('activity', { [field]: { odd: good } }))).not.toHaveProperty(name);
  });

  test.each([undefined, null, {}, { start_date: '2026-01-05' }, 'text'])('the past, with %j, is a notice', (data) => {
    const event = { event_type: 'historical.data.sleep.created', data };
    expect(read(event)).toMatchObject({ kind: 'history_notice', resource: 'sleep' });
  });

  test('the past with data all the same is data', () => {
    const event_type = 'historical.data.sleep.created';
    expect(read({ event_type, data: { id: 1 } })).toMatchObject({ kind: 'summary', id: '1' });
    expect(read({ event_type, data: { data: [] } })).toMatchObject({ kind: 'samples', samples: [] });
  });

  test.each(['daily.data.steps.deleted', 'daily.data.steps', 'daily.data..created', 'daily.data.a.b.created'])(
    '%s is not known',
    (event_type) => {
      expect(read({ event_type, data: { id: 1 } })).toMatchObject({ kind: 'unknown' });
    },
  );

  test.each([null, 5, 'Testperson', ['Testperson']])('a summary that is %j is not known, and not quoted', (data) => {
    const { data: kept, ...rest } = read(of('steps', data));
    expect(rest).toMatchObject({ kind: 'unknown' });
    expect(kept).toEqual(data);
    expect(JSON.stringify(rest)).not.toContain('Testperson');
  });
});

test.each([
  [{ source: { slug: 'a', name: 'A' } }, { provider: 'a' }],
  [{ source: { provider: 'a', type: 'watch' } }, { provider: 'a', type: 'watch' }],
  [{ source: { provider: 'a', type: '' } }, { provider: 'a' }],
  [
    { source: { name: 'A' }, provider: { slug: 'b', type: 'app' } },
    { provider: 'b', type: 'app' },
  ],
  [{ source: 5, provider: 'b' }, { provider: 'b' }],
  [{}, {}],
  [null, {}],
])('the source of %j is %j [150, 294]', (data, source) => {
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
  const events = fc.constantFrom(
    'daily.data.a.created',
    'daily.data.workout_stream.updated',
    'historical.data.b.created',
  );
  fc.assert(
    fc.property(events, fc.oneof(fc.anything(), samples), (event_type, data) => {
      expect(read({ event_type, data }).eventType).toBe(event_type);
    }),
  );
});
