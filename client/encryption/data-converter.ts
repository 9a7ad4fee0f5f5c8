import type { DataConverter } from '@temporalio/common';
import type { KeyRing } from './key-ring.js';
import { createPayloadCodec, type PayloadCodecOptions } from './payload-codec.js';

/**
 * What a Temporal client needs where the worker has encryption keys: `new Client({ connection, dataConverter })`, with
 * the same keys. A client without it writes readable payloads, and cannot read encrypted ones.
 *
 * It reads encrypted failures too. It has no failure converter, because of all clients only one that completes activities
 * in the worker's place would write failures; and that is loaded by a path, which backends that are bundled do not have.
 */
export function labDataConverter(ring: KeyRing, options: PayloadCodecOptions = {}): DataConverter {
  return { payloadCodecs: [createPayloadCodec(ring, options)] };
}
