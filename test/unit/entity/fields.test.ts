import { afterEach, expect, test, vi } from 'vitest';
import { isObject } from '../../../service/json-object.js';
import { readDate, readTime, textsOf, timesOf } from '../../../workflows/entity/fields.js';
import { doubled, noteAbsence, spread } from '../../../workflows/entity/spans.js';

afterEach(() => vi.unstubAllEnvs());

test.each<[unknown, string | undefined]>([
  ['2024-03-01T10:00:00.000Z', '2024-03-01T10:00:00.000Z'],
  ['2024-03-01T10:00:00', '2024-03-01T10:00:00.000Z'],
  ['2024-03-01T10:00', '2024-03-01T10:00:00.000Z'],
  ['2024-03-01T10:00:00.123456+02:00', '2024-03-01T08:00:00.123Z'],
  ['2024-03-01T10:00-01:30', '2024-03-01T11:30:00.000Z'],
  ['1 March 2024', undefined],
  ['10000-01-01T00:00Z', undefined],
  ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
  ['0000-01-01T00:00:00+01:00', undefined],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31T23:59:59-01:00', undefined],
  ['2024-13-01T10:00:00Z', undefined],
  ['2024-03-01', undefined],
  ['2024-03-01 10:00:00', undefined],
  ['on 2024-03-01T10:00:00Z', undefined],
  ['2024-03-01T10:00:00Z or so', undefined],
  ['2024-03-01T10:00:00.Z', undefined],
  ['12024-03-01T10:00:00Z', undefined],
  [1_709_287_200_000, undefined],
  [['2024-03-01T10:00:00Z'], undefined],
  [null, undefined],
])('the time %j is read as %j, whatever the zone of the machine', (value, expected) => {
  for (const zone of ['America/New_York', 'Asia/Tokyo', 'UTC']) {
    vi.stubEnv('TZ', zone);
    expect(readTime(value), zone).toBe(expected);
  }
});

test.each<[unknown, boolean]>([
  ['2024-02-29', true],
  ['2023-02-29', false],
  ['2024-13-01', false],
  ['02/29/2024', false],
  ['2024-02-29T00:00:00Z', false],
  ['on 2024-02-29', false],
  ['12024-02-29', false],
  ['2024-2-29', false],
  [20_240_229, false],
  [['2024-02-29'], false],
  [undefined, false],
])('%j is a date: %s', (value, isOne) => {
  expect(readDate(value)).toBe(isOne ? value : undefined);
});

test('of an object the fields of the right type are read, and nothing else', () => {
  const value = { a: 'text', b: 1, c: '2024-03-01T10:00Z', d: 'soon' };
  expect(textsOf(value, ['a', 'b', 'e'])).toStrictEqual({ a: 'text' });
  expect(timesOf(value, ['b', 'c', 'd', 'e'])).toStrictEqual({ c: '2024-03-01T10:00:00.000Z' });
  expect([value, {}].every(isObject)).toBe(true);
  expect([null, [], 'text', 1, undefined].some(isObject)).toBe(false);
});

test('a pause doubles up to the longest, however often', () => {
  expect([0, 1, 2, 3, 4, 2000].map((times) => doubled(10, times, 100))).toEqual([10, 20, 40, 80, 100, 100]);
  expect(doubled(1, 40, Infinity)).toBe(2 ** 30);
});

test('a span is shortened by up to a tenth, by the same part for the same key, in every release', () => {
  const spans = ['', 'order-1', 'order-2', 'an order'].map((key) => spread(100_000, key));
  expect(spans).toEqual([100_000, 92_060, 92_050, 91_410]);
});

test('an order that is not known is believed to be gone once that has been said for ten minutes', () => {
  const absent = {};
  expect([0, 599_999, 600_000].map((now) => noteAbsence(absent, now))).toEqual([false, false, true]);
  expect(absent).toEqual({ absentSince: 0 });
});
