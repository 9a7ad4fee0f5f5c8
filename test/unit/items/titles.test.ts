import { describe, expect, test } from 'vitest';
import { numberedTestsOf } from '../../items/titles.js';

describe('the numbers in titles', () => {
  test('are read at the end, with the groups around the test', () => {
    const text = `describe('a user', () => { describe('found', () => { test('has an id [16, 171, I3]', () => {}); }); });`;
    expect(numberedTestsOf(text)).toEqual([{ title: 'a user › found › has an id', items: ['16', '171', 'I3'] }]);
  });

  test('are nowhere else: lists of other things, and titles without them', () => {
    const text = "test('reads [1, 2] as a list', () => {}); test('the rest [of it]', () => {}); it('[5]', () => {});";
    expect(numberedTestsOf(text)).toEqual([]);
  });

  test('of tests that are skipped or yet to be written prove nothing', () => {
    // A source that is read here: nothing of this suite is skipped.
    const text = "test.skip('has an id [16]', () => {}); test.todo('has a name [17]'); test.only('is [18]', () => {});";
    expect(numberedTestsOf(text)).toEqual([{ title: 'is', items: ['18'] }]);
  });

  test('come from the rows of each, by their place', () => {
    const text = "test.each([['red', 7], ['green', 8]] as const)('is %s [%i, 325]', async () => {});";
    expect(numberedTestsOf(text)).toEqual([
      { title: 'is red', items: ['7', '325'] },
      { title: 'is green', items: ['8', '325'] },
    ]);
  });

  test('come from the rows of each, by their name', () => {
    const text = "test.each([{ item: 7, word: 'red' }, { item: 'I2', word: x }])('is $word [$item]', () => {});";
    expect(numberedTestsOf(text)).toEqual([
      { title: 'is red', items: ['7'] },
      { title: 'is $word', items: ['I2'] },
    ]);
  });

  test('come from the nearest constant above, also where tuples are named', () => {
    const text = `
      const rows: Row[] = [[1, 'one']];
      describe('others', () => {
        const rows: Row[] = [[2, 'two'], [3, 'three']];
        test.each(rows.map(([item, name]) => ({ item, name })))('is $name [$item]', () => {});
      });
      const later = [[4, 'four']];`;
    expect(numberedTestsOf(text)).toEqual([
      { title: 'others › is two', items: ['2'] },
      { title: 'others › is three', items: ['3'] },
    ]);
  });

  test.each([
    "test.each(made())('is %s [%i]', () => {});",
    "test.each([...others])('is %i [%i]', () => {});",
    "test.each([[1, count]])('is %i [%i]', () => {});",
    'test(`is [5, ${item}]`, () => {});',
  ])('cannot be guessed: %s', (text) => {
    expect(() => numberedTestsOf(text)).toThrow(/do not show their numbers|numbers are read from plain texts/);
  });
});
