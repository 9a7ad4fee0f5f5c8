import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

type Decode = (body: Buffer, options: { maxOutputLength: number }) => Buffer;

const decoders: Readonly<Record<string, Decode>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflate,
  br: brotliDecompressSync,
  identity: (body) => body,
};

/**
 * The body of an answer without its content codings. None was asked for, but a proxy may add one nevertheless. What the
 * header does not describe, or what is longer than allowed, stays as it came: then no reader takes it for an answer.
 */
export function decoded(body: Buffer, coding: string | string[] | undefined, maxBytes: number): Buffer {
  const names = String(coding ?? 'identity')
    .split(',')
    .map((name) => name.trim().toLowerCase());
  try {
    return names.reduceRight((encoded, name) => {
      const decode = decoders[name];
      if (!decode) throw new TypeError('an unknown coding');
      return decode(encoded, { maxOutputLength: maxBytes });
    }, body);
  } catch {
    return body;
  }
}

/** Some senders leave out the wrapping that RFC 9110 demands. */
function inflate(...of: Parameters<Decode>): Buffer {
  try {
    return inflateSync(...of);
  } catch {
    return inflateRawSync(...of);
  }
}
