import { expect, test } from 'vitest';
import { readCode } from '../../../protocol/link/mfa-code.js';

test.each([
  ['123456', '123456'],
  ['123 456', '123456'],
  [' 123-456\n', '123456'],
  ['0000', '0000'],
  ['G-123456', 'G123456'],
  ['aB3dE6gH9jK2', 'aB3dE6gH9jK2'],
  ['1 2 3 4 5 6 7 8', '12345678'],
])('%j is sent as %s', (given, code) => {
  expect(readCode(given)).toBe(code);
});

test.each([
  ...['', '   ', '123', '1234567890123', '12345!', '123456;', '１２３４５６', 'códe1', '12\u00006', '12.34'],
  ...[`1234${' '.repeat(40)}`, '1'.repeat(100_000)],
  ...[123456, null, undefined, true, {}, ['123456'], { toString: () => '123456' }],
])('%j is not a code', (given) => {
  expect(readCode(given)).toBeUndefined();
});
