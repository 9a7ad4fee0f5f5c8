import type { DataConverter } from '@temporalio/common';
import type { KeyRing } from './key-ring.js';
import { createPayloadCodec, type PayloadCodecOptions } from './payload-codec.js';

/**
 * The data converter for a Temporal client if the worker has encryption keys: `new Client({ connection, dataConverter
 * })`, with the same keys. A client without it writes readable payloads, and cannot read encrypted ones.
 *
 * It also reads encrypted failures. It has no failure converter, because the only client that would write failures is
 * one that completes activities instead of the worker; and a failure converter is loaded from a path, which bundled
 * backends do not have.
 */
export function labDataConverter(ring: KeyRing, options: PayloadCodecOptions = {}): DataConverter {
  return { payloadCodecs: [createPayloadCodec(ring, options)] };
}
