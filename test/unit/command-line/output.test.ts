import { describe, expect, test } from 'vitest';
import { facts, moment, sections, table, waiting } from '../../../client/command-line/output.js';

describe('a table', () => {
  test('has columns as wide as their widest cell, and no spaces at the end of a line', () => {
    const [first, second] = [['order-1', 'mine', true] as const, ['order-22', undefined, false] as const];
    expect(table(['Order', 'Reference', 'Ended'], [first, second])).toBe(
      ['Order     Reference  Ended', 'order-1   mine       yes', 'order-22             no'].join('\n'),
    );
  });

  test('that is wider than the terminal becomes a list of facts for each row', () => {
    const rows = ['o-1 mine', 'o-2 yours'].map((row) => row.split(' '));
    const shown = (width: number) => table(['Order', 'Reference'], rows, width);
    expect(shown(16)).toBe('Order  Reference\no-1    mine\no-2    yours');
    expect(shown(15)).toBe('Order      o-1\nReference  mine\n\nOrder      o-2\nReference  yours');
  });

  test('shows no character that controls a terminal', () => {
    expect(table(['Status'], [['lost\u001B[2J\nall\r\u009B']])).toBe('Status\nlost·[2J·all··');
  });
});

test('facts leave out unknown values, and keep zero and no', () => {
  const given = Object.entries({ Order: 'order-1', Sample: undefined, Outcome: '', Listed: 0, Registered: false });
  expect(facts(given)).toBe(['Order       order-1', 'Listed      0', 'Registered  no'].join('\n'));
  expect(facts([])).toBe('');
});

test('sections are separated by one empty line, without empty ones', () => {
  expect(sections('one', undefined, '', 'two')).toBe('one\n\ntwo');
});

test('times are in UTC, to the second; one without a zone is not touched', () => {
  expect(moment('2026-11-02T10:00:00.123+01:00')).toBe('2026-11-02T09:00:00Z');
  expect(moment(new Date('2026-11-02T09:00:00.123Z'))).toBe('2026-11-02T09:00:00Z');
  expect(moment('2026-11-02T09:00:00')).toBe('2026-11-02T09:00:00');
  expect(moment(undefined)).toBeUndefined();
  expect(waiting({ for: 'the results', until: '2026-11-02T09:00:00Z' })).toBe('the results until 2026-11-02T09:00:00Z');
  expect(waiting({ for: 'nothing' })).toBe('nothing');
});
