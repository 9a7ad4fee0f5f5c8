import { describe, expect, test } from 'vitest';
import { samplePdf, sampleReport } from '../../../sandbox/sample-report.js';

describe('a sample PDF', () => {
  test('says where each of its objects begins, and how long its text is', () => {
    const text = samplePdf(['Invented', 'second (line) \\ ä']).toString('latin1');
    const [, table = ''] = text.split('xref\n', 2);
    const offsets = [...table.matchAll(/^(\d{10}) 00000 n $/gm)].map(([, offset]) => Number(offset));
    expect(offsets).toHaveLength(5);
    offsets.forEach((offset, index) => expect(text.slice(offset).startsWith(`${index + 1} 0 obj\n`)).toBe(true));
    const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
    expect(text.slice(start).startsWith('xref\n')).toBe(true);
    const [, length, content] = /\/Length (\d+) >>\nstream\n([^]*)\nendstream/.exec(text) ?? [];
    expect(content).toHaveLength(Number(length));
    expect(content).toContain('(second \\(line\\) \\\\ \xe4) Tj');
  });

  test('has question marks for what its font lacks', () => {
    expect(samplePdf(['µ→\n']).toString('latin1')).toContain('(\xb5??) Tj');
  });
});

test.each(['pdf', 'png', 'jpg'] as const)('a sample %s has the size and the outcome it was asked for', (kind) => {
  const bytes = sampleReport(kind, { size: 5_000, outcome: 'failed:low_quality' });
  expect(bytes).toHaveLength(5_000);
  expect(bytes.toString('latin1')).toContain('labops-sandbox: failed:low_quality');
  expect(() => sampleReport(kind, { size: 10 })).toThrow(RangeError);
});
