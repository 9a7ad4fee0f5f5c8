import { expect, test } from 'vitest';
import { rangeOf } from '../../../protocol/reconcile.js';

const now = Date.parse('2026-03-10T12:00:00Z');

test.each([
  ['reads from an hour before the last complete one until ten minutes ago', '2026-03-10T10:50', '2026-03-10T09:50'],
  ['that is the first reads five days back', undefined, '2026-03-05T10:50'],
  ['after one whose clock ran ahead still reads the last hour', '2026-04-01T00:00', '2026-03-10T10:50'],
])('a pass of the schedule %s', (_what, last, from) => {
  const range = { from: `${from}:00.000Z`, to: '2026-03-10T11:50:00.000Z' };
  expect(rangeOf({}, last && `${last}:00.000Z`, now)).toEqual(range);
});

test('a range that a caller gives is used unchanged: dates are midnights in UTC', () => {
  expect(rangeOf({ from: '2026-01-01', to: '2026-01-02T12:00:00+02:00' }, '2026-03-10T10:50:00.000Z', now)).toEqual({
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-02T10:00:00.000Z',
  });
});

test('a range that a caller gives ends ten minutes ago at the latest, and must not begin later', () => {
  expect(rangeOf({ from: '2026-03-10', to: '2026-03-11' }, undefined, now)).toEqual({
    from: '2026-03-10T00:00:00.000Z',
    to: '2026-03-10T11:50:00.000Z',
  });
  const fresh = { from: '2026-03-10T11:55:00Z', to: '2026-03-10T12:00:00Z' };
  expect(() => rangeOf(fresh, undefined, now)).toThrow('from is less than ten minutes ago');
});

test.each([
  [{ from: '2026-01-02', to: '2026-01-01' }, 'from is later than to'],
  [{ from: 'yesterday', to: '2026-01-01' }, 'from must be a date'],
  [{ from: '2026-01-01T10:00:00', to: '2026-01-02' }, 'from must be a date that exists, or a time with its zone'],
  [{ from: '2026-01-01', to: '2026-13-01' }, 'to must be a date'],
  [{ from: '', to: '2026-01-01' }, 'from must be a date'],
  [{ from: '2026-01-01', to: '2026-01-01' }, 'to must be later than from'],
  [{ from: '2026-01-01', to: '2026-01-01T02:00:00+02:00' }, 'for one day, give the day after it'],
  [{ from: '2026-02-30', to: '2026-03-08' }, 'from must be a date that exists'],
  [{ from: '2025-02-29T10:00:00Z', to: '2026-03-08' }, 'from must be a date that exists'],
  [{ from: '2026-02-01', to: '2026-02-31T10:00:00+02:00' }, 'to must be a date that exists'],
])('the range %j is refused: %s', (input, message) => {
  expect(() => rangeOf(input, undefined, now)).toThrow(message);
});
