import { expect, test } from 'vitest';
import { readCode } from '../../../protocol/link/link-report.js';

test.each(['123456', '123 456', '123-456', '0', '12345!', '１２３４５６', 'códe1', 'correct horse'])(
  '%j is sent as it was typed',
  (given) => {
    expect(readCode(given)).toBe(given);
  },
);

test('blanks around a code, which pasting adds, are not sent', () => {
  expect(readCode(' 123-456\n')).toBe('123-456');
});

const neither = [
  ...['', '   ', '\n', '1'.repeat(100_000)],
  ...[123456, null, undefined, true, {}, ['123456'], { toString: () => '123456' }],
];

test.each(neither)('%j is not a code', (given) => {
  expect(readCode(given)).toBeUndefined();
});
