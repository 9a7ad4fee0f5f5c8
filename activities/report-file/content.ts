import { pipeline, Readable, type Transform } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { hasPdfHeader } from '../../service/http/answers.js';
import { ReportFileRefused, ReportFileUnavailable } from './errors.js';

/** An open source of bytes whose type is not known yet. */
export interface ByteSource {
  /** Total number of bytes, if known; with a coding, of the encoded ones. */
  size?: number;
  /** The content coding in which its bytes come, as an HTTP header names it. */
  coding?: string | string[];
  bytes: AsyncIterable<Uint8Array>;
  /** Releases its resources; may be called at any time and more than once. */
  close(): Promise<void>;
}

/** A report's file, inspected and ready to be uploaded. */
export interface OpenReportFile extends ByteSource {
  contentType: ReportType;
}

const reportTypes = ['application/pdf', 'image/jpeg', 'image/png'] as const;
type ReportType = (typeof reportTypes)[number];

/** The number of bytes that file-type needs for every format; the formats here show within the first bytes. */
const headBytes = 4_100;

/**
 * Inspects the first bytes of a source and returns the whole source. The type is judged by content, never by name; the
 * size is checked before the first byte if it is known, and again while reading. Throws ReportFileRefused or
 * ReportFileUnavailable, now or from the bytes; closes the source when it throws.
 */
export async function inspected(source: ByteSource, maxBytes: number): Promise<OpenReportFile> {
  try {
    if (source.size === 0) throw emptyFile();
    if (source.size !== undefined && source.size > maxBytes) throw tooLarge(maxBytes);
    const measured = source.coding === undefined ? measure(source, maxBytes) : decodedWithin(source, maxBytes);
    const head = await firstChunks(measured);
    const contentType = await typeOf(Buffer.concat(head));
    const size = source.coding === undefined ? source.size : undefined;
    const close = (): Promise<void> => source.close();
    const bytes = lookedThrough(resumed(head, measured, close), contentType);
    return { contentType, bytes, close, ...(size === undefined ? {} : { size }) };
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function* measure(
  { bytes, size }: Pick<ByteSource, 'bytes' | 'size'>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let seen = 0;
  for await (const chunk of bytes) {
    seen += chunk.length;
    if (seen > maxBytes) throw tooLarge(maxBytes);
    if (size !== undefined && seen > size) throw new ReportFileUnavailable('changed', 'it grew while it was read');
    yield chunk;
  }
  if (size !== undefined && seen < size) {
    throw new ReportFileUnavailable('broken_off', `only ${seen} of ${size} bytes arrived`);
  }
}

/**
 * Undoes the coding in which a store keeps a file, as some do whatever is asked for. Both sides of it are measured: a few
 * bytes may become very many, and endlessly many may become none.
 */
function decodedWithin(source: ByteSource, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  const codings = codingsOf(source.coding);
  if (codings === undefined) {
    throw new ReportFileRefused('unexpected_answer', 'its host names an unknown content coding, or too many of them');
  }
  return measure({ bytes: decodedBytes(measure(source, maxBytes), codings) }, maxBytes);
}

async function* decodedBytes(
  encoded: AsyncIterable<Uint8Array>,
  codings: NonNullable<ReturnType<typeof codingsOf>>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let troubleOfSource: { error: unknown } | undefined;
  async function* noticed() {
    try {
      yield* encoded;
    } catch (error) {
      troubleOfSource = { error };
      throw error;
    }
  }
  try {
    let bytes: Readable = Readable.from(noticed());
    for (const coding of codings) bytes = pipeline(bytes, coding.decoder(), () => undefined);
    yield* bytes as AsyncIterable<Uint8Array>;
  } catch {
    if (troubleOfSource !== undefined) throw troubleOfSource.error;
    throw new ReportFileRefused('unexpected_answer', 'its bytes are not in the coding that its host names');
  }
}

async function firstChunks(bytes: AsyncGenerator<Uint8Array, void, undefined>): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = [];
  for (let length = 0; length < headBytes;) {
    const next = await bytes.next();
    if (next.done === true) break;
    chunks.push(next.value);
    length += next.value.length;
  }
  if (chunks.every((chunk) => chunk.length === 0)) throw emptyFile();
  return chunks;
}

async function typeOf(head: Buffer): Promise<ReportType> {
  // If a parser fails on its own format, the file is not a report.
  const found = await fileTypeFromBuffer(head.subarray(0, headBytes)).catch(() => undefined);
  const type = found?.mime ?? 'application/pdf';
  if (isReportType(type) && (type !== 'application/pdf' || hasPdfHeader(head))) return type;
  throw wrongType(found?.mime ?? 'none of them');
}

function isReportType(mime: string): mime is ReportType {
  return reportTypes.some((type) => type === mime);
}

/** A file without this begins as its type does, but has no content. */
const contentOf: Record<ReportType, RegExp> = {
  'application/pdf': /\d\s+\d+\s+obj/, // its objects
  'image/png': /IDAT/, // its image data
  'image/jpeg': /\u00ff\u00da/, // the start of its scan
};

/** The entry of a PDF's trailer, which is never compressed. */
const pdfEncryption = /\/Encrypt\s*(?:\d+\s+\d+\s+R|<<)/;

/** Longer than what these expressions match, unless somebody pads it. */
const overlap = 100;

/** Checks a file while it is sent. The service ignores a form without its end, so the last byte is early enough for a refusal. */
async function* lookedThrough(
  bytes: AsyncIterable<Uint8Array>,
  type: ReportType,
): AsyncGenerator<Uint8Array, void, undefined> {
  let last = '';
  let hasContent = false;
  for await (const chunk of bytes) {
    const text = last + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    if (type === 'application/pdf' && pdfEncryption.test(text)) {
      throw new ReportFileRefused('encrypted', 'it is an encrypted PDF: save it without a password');
    }
    hasContent ||= contentOf[type].test(text);
    last = text.slice(-overlap);
    yield chunk;
  }
  if (!hasContent) throw wrongType(`only the beginning of ${type}`);
}

async function* resumed(
  head: Uint8Array[],
  rest: AsyncGenerator<Uint8Array, void, undefined>,
  close: () => Promise<void>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    // Removed as they are sent, so they are not held for as long as the rest takes.
    for (let chunk = head.shift(); chunk !== undefined; chunk = head.shift()) yield chunk;
    yield* rest;
  } finally {
    await close();
  }
}

function wrongType(is: string): ReportFileRefused {
  return new ReportFileRefused('wrong_type', `it must be a PDF, JPEG or PNG, but is ${is}`);
}

function emptyFile(): ReportFileRefused {
  return new ReportFileRefused('empty', 'it is empty');
}

function tooLarge(maxBytes: number): ReportFileRefused {
  return new ReportFileRefused('too_large', `it has more than ${maxBytes} bytes`);
}

/** Undoes a content coding piece by piece. */
interface Coding {
  decoder(): Transform;
}

const gzip: Coding = { decoder: () => createGunzip() };

const known: Readonly<Record<string, Coding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: { decoder: () => createInflate() },
  br: { decoder: () => createBrotliDecompress() },
};

/** One of the stored file, and one that a proxy adds. Each may multiply the work by a thousand. */
const mostCodings = 2;

/** The content codings that a header names, in the order in which they are undone; undefined if they are not known, or too many. */
export function codingsOf(header: string | string[] | undefined): readonly Coding[] | undefined {
  const names = String(header ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > mostCodings) return undefined;
  const codings = names.flatMap((name) => known[name] ?? []);
  return codings.length === names.length ? codings.toReversed() : undefined;
}
