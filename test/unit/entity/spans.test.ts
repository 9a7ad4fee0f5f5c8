import { expect, test } from 'vitest';
import { doubled, noteAbsence, spread } from '../../../workflows/entity/spans.js';

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
