import { expect, test } from 'vitest';
import { readCode } from '../../../protocol/link/link-report.js';

test.each(['123456', '123 456', '123-456', '0', '12345!', '１２３４５６', 'códe1', 'correct horse'])(
  '%j is sent as it was typed',
  (given) => {
    expect(readCode(given, 'as_typed')).toBe(given);
  },
);

test('blanks around a code, which pasting adds, are not sent', () => {
  expect(readCode(' 123-456\n', 'as_typed')).toBe('123-456');
});

test.each([
  ['123456', '123456'],
  ['123 456', '123456'],
  [' 123-456\n', '123456'],
  ['0000', '0000'],
  ['G-123456', 'G123456'],
  ['aB3dE6gH9jK2', 'aB3dE6gH9jK2'],
  ['1 2 3 4 5 6 7 8', '12345678'],
])('%j that is tidied is sent as %s', (given, code) => {
  expect(readCode(given, 'tidied')).toBe(code);
});

const neither = [
  ...['', '   ', '\n', '1'.repeat(100_000)],
  ...[123456, null, undefined, true, {}, ['123456'], { toString: () => '123456' }],
];

test.each(neither)('%j is not a code', (given) => {
  expect(readCode(given, 'as_typed')).toBeUndefined();
  expect(readCode(given, 'tidied')).toBeUndefined();
});

test.each(['123', '1234567890123', '12345!', '123456;', '１２３４５６', 'códe1', '12\u00006', '12.34'])(
  '%j is not a code that can be tidied',
  (given) => {
    expect(readCode(given, 'tidied')).toBeUndefined();
  },
);
