import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

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
