import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
  inflateRaw,
} from 'node:zlib';

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

interface Coding {
  decode: Decode;
  /** The same piece by piece. */
  decoder(): Transform;
}

const gzip: Coding = { decode: promisify(gunzip), decoder: () => createGunzip() };

const known: Readonly<Record<string, Coding>> = {
  gzip,
  'x-gzip': gzip,
  deflate: { decode: inflated, decoder: () => createInflate() },
  br: { decode: promisify(brotliDecompress), decoder: () => createBrotliDecompress() },
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

/**
 * The body of an answer without its content codings. None was asked for, but a proxy may add one nevertheless. What the
 * header does not describe, or what is longer than allowed, stays as it came: then no reader takes it for an answer.
 */
export async function decoded(
  body: Buffer,
  header: string | string[] | undefined,
  maxOutputLength: number,
): Promise<Buffer> {
  try {
    let plain = body;
    for (const { decode } of codingsOf(header) ?? []) plain = await decode(plain, { maxOutputLength });
    return plain;
  } catch {
    return body;
  }
}

/** Some senders leave out the wrapping that RFC 9110 demands. */
async function inflated(...of: Parameters<Decode>): Promise<Buffer> {
  return promisify(inflate)(...of).catch(() => promisify(inflateRaw)(...of));
}
