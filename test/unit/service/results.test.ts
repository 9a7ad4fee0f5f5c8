import { expect, test } from 'vitest';
import { resultsSchema } from '../../../service/results.js';

/* Lab values in the forms that a deployment may send. */

test.each([
  [
    { result: 5.4, value: 5.4, type: 'numeric' },
    { result: '5.4', value: 5.4 },
  ],
  [
    { min_range_value: '3.5', max_range_value: ' 7 ', value: '5.4' },
    { min_range_value: 3.5, max_range_value: 7, value: 5.4 },
  ],
  [
    { result: '-1', value: -1, type: 'numeric' },
    { result: '-1', value: -1 },
  ],
])('a number is read whether it is sent as one or as a text: %j', (sent, expected) => {
  expect(resultsSchema.parse({ results: [sent] }).results).toMatchObject([expected]);
});

test('a result that is not a number has no number: -1 stands for that', () => {
  const { results } = resultsSchema.parse({ results: [{ result: 'see note', value: -1, type: 'comment' }] });
  expect(results).toEqual([{ result: 'see note', type: 'comment' }]);
});
