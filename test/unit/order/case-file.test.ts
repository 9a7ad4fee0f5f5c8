import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OrderSnapshot } from '../../../service/order-snapshot.js';
import { caseFileOf } from '../../../workflows/order/case-file.js';
import { caseOf, daysAfterStart, kitOf, pathTo } from './histories.js';

test('the case file says where the order is, what it waits for, what is wrong and what happened', () => {
  const orderId = '0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9';
  const kit = kitOf(orderId, [...pathTo('delivered_to_lab'), 'lab_processing_blocked']);
  kit.events = kit.events.map((event) =>
    event.id === 10 ? { ...event, detail: 'demographic_information_mismatch' } : event,
  );
  const attention = [{ key: 'k', reason: 'problem_persists' as const, orderId, since: daysAfterStart(16), time: 2 }];
  const lines = caseFileOf(caseOf([kit], { reference: 'ref-1', attention })).split('\n');
  expect(lines.slice(0, 12)).toEqual([
    '### At lab',
    '',
    `Order \`${orderId}\`, reference \`ref-1\`: \`sample_with_lab.testkit.lab_processing_blocked\``,
    '',
    '**Waits for** the results until 2024-03-17 10:00',
    '',
    '**Problem** `sample_with_lab.testkit.lab_processing_blocked` since 2024-03-10 10:00',
    '',
    '**Attention** problem persists since 2024-03-17 10:00',
    '',
    '| When (UTC) | Order | What happened |',
    '| --- | --- | --- |',
  ]);
  expect(lines).toHaveLength(12 + 10);
  expect(lines[12]).toBe('| 2024-03-01 10:00 | `0b1c2d3e` | `received.testkit.ordered` |');
  expect(lines.at(-1)).toContain('`sample_with_lab.testkit.lab_processing_blocked` (demographic information mismatch)');
});

describe('nothing that comes from outside breaks the case file', () => {
  const nasty = [
    '|',
    '`',
    '``',
    '\n',
    '\r\n',
    '\u2028',
    '\\|',
    '\\',
    '| a | b |',
    '\n\n# Heading',
    '<b>',
    '[a](b)',
    ' ',
    '',
  ];

  /** What GFM reads: cells end at pipes that no backslash escapes, and code spans do not reach beyond their cell. */
  const cellsOf = (line: string) => line.split(/(?<!\\)\|/).slice(1, -1);

  const withoutCode = (line: string) => line.replaceAll(/`[^`]+`/g, '');

  /** What is broken in a case file whose table has so many rows. */
  function faultsIn(file: string, rows: number): string[] {
    const lines = file.split(/\r\n|[\n\r\u2028\u2029]/);
    const table = lines.slice(lines.indexOf('| --- | --- | --- |') + 1);
    const beginning = (text: string) => lines.filter((line) => line.startsWith(text)).length;
    return [
      ...(table.length === rows ? [] : [`${table.length} rows`]),
      ...table.filter(
        (line) => cellsOf(line).length !== 3 || cellsOf(line).some((cell) => withoutCode(cell).includes('`')),
      ),
      ...lines.filter((line) => withoutCode(line).includes('`')),
      ...(beginning('#') === 1 && beginning('Order ') === 1 ? [] : ['another heading or order']),
    ];
  }

  const orderWith = (status: string, detail: string, orderId = 'order-1'): OrderSnapshot => ({
    orderId,
    events: [1, 2].map((id) => ({ id, at: daysAfterStart(id), status, detail })),
  });

  test.each(nasty)('a status, detail, order id or reference of %j', (text) => {
    expect(faultsIn(caseFileOf(caseOf([orderWith(text, 'detail')])), 2)).toEqual([]);
    expect(faultsIn(caseFileOf(caseOf([orderWith(`a${text}b`, 'detail')])), 2)).toEqual([]);
    expect(faultsIn(caseFileOf(caseOf([orderWith('received.testkit.ordered', text)])), 2)).toEqual([]);
    expect(faultsIn(caseFileOf(caseOf([orderWith(`${text}.lab_processing_blocked`, text)])), 2)).toEqual([]);
    expect(
      faultsIn(caseFileOf(caseOf([orderWith('received.testkit.ordered', 'detail', text)], { reference: text })), 2),
    ).toEqual([]);
  });

  test('any text at all', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...nasty, 'a', '_', '#')).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, text, text, text, (status, detail, orderId, reference) => {
        expect(faultsIn(caseFileOf(caseOf([orderWith(status, detail, orderId)], { reference })), 2)).toEqual([]);
      }),
    );
  });
});
