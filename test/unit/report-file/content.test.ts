import { describe, expect, test } from 'vitest';
import { inspected, type ByteSource } from '../../../activities/report-file/content.js';
import { samplePdf, sampleReport } from '../../../sandbox/sample-report.js';
import { outcomeOf, read } from './reading.js';

const limit = 10_485_760;

/** A source in memory that gives its bytes in pieces of one length, and counts what was taken and closed. */
function source(bytes: Buffer, { piece = 65_536, size }: { piece?: number; size?: number } = {}) {
  const counts = { taken: 0, closed: 0 };
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let start = 0; start < bytes.length; start += piece) {
      counts.taken += 1;
      yield await Promise.resolve(bytes.subarray(start, start + piece));
    }
  }
  const opened: ByteSource = {
    bytes: pieces(),
    close: () => {
      counts.closed += 1;
      return Promise.resolve();
    },
    ...(size === undefined ? {} : { size }),
  };
  return { opened, counts };
}

/** What comes of these bytes. */
const judged = (bytes: Buffer, from?: Parameters<typeof source>[1]) =>
  outcomeOf(inspected(source(bytes, from).opened, limit));

describe('the type is judged by content', () => {
  const before = (bytes: number) => Buffer.concat([Buffer.alloc(bytes, '\r\n'), samplePdf(['a'])]);

  // proves 230
  test.each<[string, Buffer, contentType: string, piece?: number]>([
    ['a PDF', sampleReport('pdf'), 'application/pdf'],
    ['a PNG', sampleReport('png'), 'image/png'],
    ['a JPEG', sampleReport('jpg'), 'image/jpeg'],
    ['a PNG whose bytes come one by one', sampleReport('png', { size: 6_000 }), 'image/png', 1],
    ...[1, 3, 1_019].map((n): [string, Buffer, string] => [`${n} bytes and a PDF`, before(n), 'application/pdf']),
  ])('the type of %s is judged by its content', async (_what, bytes, contentType, piece = 65_536) => {
    const file = await inspected(source(bytes, { piece }).opened, limit);
    expect(file).toMatchObject({ contentType });
    expect((await read(file)).equals(bytes)).toBe(true);
  });

  test.each([
    ['text', Buffer.from('only text, whatever its name says')],
    ['a PDF with too much before it', Buffer.concat([Buffer.alloc(1_020, 'x'), samplePdf(['a'])])],
    ['a GIF with a PDF in it', Buffer.concat([Buffer.from('GIF89a-and-more'), samplePdf(['a'])])],
    ['the first bytes of a PDF', Buffer.from('%P')],
    ['a ZIP', Buffer.from('504b0304140000000800', 'hex')],
    ['an executable', Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(100)])],
    ['zeros', Buffer.alloc(10_000)],
  ])('%s is refused', async (_what, bytes) => {
    const { opened, counts } = source(bytes);
    expect(await outcomeOf(inspected(opened, limit))).toBe('refused: wrong_type');
    expect(counts.closed).toBe(1);
  });

  test.each([
    ['a page that mentions a header', '<!doctype html><p>A PDF starts with %PDF-1.7</p>'],
    ['a page with a header at the start of a line', '\n<pre>\n%PDF-1.4\n1 0 obj\n</pre>'],
    ['a text that mentions a header', 'Not found: a file that starts with %PDF-1.4 1 0 obj'],
    ['JSON with a header', '{\n"error": "no\n%PDF-1.4 1 0 obj"}'],
    ['a list in XML', '\ufeff<?xml version="1.0"?>\r\n%PDF-1.5 1 0 obj'],
  ])('%s is not a PDF', async (_what, text) => {
    expect(await judged(Buffer.from(text))).toBe('refused: wrong_type');
  });

  test.each([
    ['pdf', 12],
    ['pdf', 40],
    ['png', 9],
    ['png', 33],
    ['jpg', 4],
    ['jpg', 60],
  ] as const)('the beginning of a %s is refused: its first %i bytes', async (extension, bytes) => {
    const beginning = extension === 'pdf' ? Buffer.from('%PDF-1.6\n%\n'.padEnd(bytes, '%')) : sampleReport(extension);
    expect(await judged(beginning.subarray(0, bytes))).toBe('refused: wrong_type');
  });

  test.each([
    ['/Encrypt 12 0 R', 200],
    ['/Encrypt\n7\n0\nR', 300_000],
    ['/Encrypt<</Filter/Standard/V 5>>', 5_000_000],
  ])('an encrypted PDF is refused as that, wherever it says so: %s', async (entry, before) => {
    const text = samplePdf(['a']).toString('latin1');
    const padded = text.replace('trailer\n<<', `${'%'.repeat(before)}\ntrailer\n<< ${entry}`);
    for (const piece of [65_536, 7_919]) {
      expect(await judged(Buffer.from(padded, 'latin1'), { piece })).toBe('refused: encrypted');
    }
    expect(await judged(samplePdf(['/Encryption of reports']))).toBeGreaterThan(500);
  });

  test('the type is judged by the first bytes only: the rest is not taken before it is read', async () => {
    const { opened, counts } = source(sampleReport('pdf', { size: 5_000_000 }));
    await inspected(opened, limit);
    expect(counts.taken).toBe(1);
  });
});

describe('the size', () => {
  // proves 313
  test.each([undefined, limit])('may be the limit exactly (known before: %s)', async (size) => {
    const bytes = sampleReport('pdf', { size: limit });
    expect(await judged(bytes, size === undefined ? {} : { size })).toBe(limit);
  });

  // proves 313
  test('a file of one byte more than the limit is refused before anything is read if its size is known', async () => {
    const { opened, counts } = source(sampleReport('pdf', { size: limit + 1 }), { size: limit + 1 });
    expect(await outcomeOf(inspected(opened, limit))).toBe('refused: too_large');
    expect(counts).toEqual({ taken: 0, closed: 1 });
  });

  // proves 313
  test('a file of one byte more than the limit is refused during the reading if its size is not known', async () => {
    const { opened, counts } = source(sampleReport('pdf', { size: limit + 1 }));
    const file = await inspected(opened, limit);
    await expect(read(file)).rejects.toMatchObject({ reason: 'too_large' });
    expect(counts.closed).toBe(1);
  });

  test.each([undefined, 0])('an empty file is refused (known before: %s)', async (size) => {
    expect(await judged(Buffer.alloc(0), size === undefined ? {} : { size })).toBe('refused: empty');
  });

  test('a file of fewer bytes than announced is a broken transfer', async () => {
    const bytes = sampleReport('pdf', { size: 200_000 });
    expect(await judged(bytes, { size: 200_001 })).toBe('unavailable: broken_off');
  });
});
