import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

const decoders = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
} as const;

/**
 * The body of an answer without its content coding. None was asked for, but a proxy may add one nevertheless. What the
 * header does not describe, or what is longer than allowed, stays as it came: then no reader takes it for an answer.
 */
export function decoded(body: Buffer, coding: string | string[] | undefined, maxBytes: number): Buffer {
  const name = String(coding ?? '')
    .trim()
    .toLowerCase();
  if (!isKnown(name)) return body;
  try {
    return decoders[name](body, { maxOutputLength: maxBytes });
  } catch {
    return body;
  }
}

function isKnown(name: string): name is keyof typeof decoders {
  return Object.hasOwn(decoders, name);
}
