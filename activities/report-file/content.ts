import { fileTypeFromBuffer } from 'file-type';
import { ReportFileRefused, ReportFileUnavailable } from './errors.js';

/** An open source of bytes whose type is not known yet. */
export interface ByteSource {
  /** Total number of bytes, if known. */
  size?: number;
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

const pdfHeaderWithin = 1_024;

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
    const measured = measure(source, maxBytes);
    const head = await firstChunks(measured);
    const contentType = await typeOf(Buffer.concat(head));
    const { size } = source;
    const close = (): Promise<void> => source.close();
    const bytes = resumed(head, measured, close);
    return { contentType, bytes, close, ...(size === undefined ? {} : { size }) };
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function* measure({ bytes, size }: ByteSource, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
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
  if (found !== undefined && isReportType(found.mime)) return found.mime;
  // Scanners and mail gateways put bytes before a PDF's header; readers accept it within the first 1,024 bytes.
  if (found === undefined && head.subarray(0, pdfHeaderWithin).includes('%PDF-')) return 'application/pdf';
  throw new ReportFileRefused('wrong_type', `it must be a PDF, JPEG or PNG, but is ${found?.mime ?? 'none of them'}`);
}

function isReportType(mime: string): mime is ReportType {
  return reportTypes.some((type) => type === mime);
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

function emptyFile(): ReportFileRefused {
  return new ReportFileRefused('empty', 'it is empty');
}

function tooLarge(maxBytes: number): ReportFileRefused {
  return new ReportFileRefused('too_large', `it has more than ${maxBytes} bytes`);
}
