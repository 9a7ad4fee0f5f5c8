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

describe('what an event brings is told by its shape', () => {
  test('the past of workout streams is announced like any other, and a workout that it names is a notice', () => {
    const past = { event_type: 'historical.data.workout_stream.created', user_id: 'u' };
    expect(read(past)).toMatchObject({ kind: 'history_notice', resource: 'workout_stream' });
    expect(read({ ...past, data: { start_date: '2026-01-05' } })).toMatchObject({ kind: 'history_notice' });
    expect(read({ ...past, data: { workout_id: 'w' } })).toMatchObject({ kind: 'stream_notice', workoutId: 'w' });
  });

  test('data with a list of samples is a batch, whatever its resource', () => {
    for (const resource of ['glucose', 'steps', 'calories_active', 'invented_next_year']) {
      expect(read(of(resource, { data: [{ timestamp: '2026-01-05T10:00:00Z' }], id: 7 }))).toMatchObject({
        kind: 'samples',
        resource,
        samples: [{ at: '2026-01-05T10:00:00.000000Z' }],
      });
    }
  });

  test('other data is a summary, whatever its resource', () => {
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

  test('a workout stream is a notice', () => {
    expect(read(of('workout_stream', { workout_id: 'w', message: 'x' }))).toMatchObject({
      kind: 'stream_notice',
      workoutId: 'w',
    });
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
