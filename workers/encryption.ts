import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import type { Logger } from 'pino';
import { isEncrypted, labDataConverter } from '../client/encryption/payload-codec.js';
import type { Encryption } from '../client/config.js';
import type { KeyRing } from '../client/encryption/key-ring.js';
import { unencryptedKey } from '../protocol/unencrypted.js';

/** The failure converter of a worker with keys; the workflow bundle that it runs has to be built with the same. */
export const encodingFailureConverterPath = fileURLToPath(
  new URL(`../client/encryption/failure-converter${extname(import.meta.url)}`, import.meta.url),
);

/** How a process with or without keys converts data. Warns if it has none. */
export function dataConverterOf(keyRing: KeyRing | undefined, log: Logger): { dataConverter?: DataConverter } {
  if (keyRing) {
    const converter = labDataConverter(keyRing, { onUnencrypted: unencryptedWarning(log) });
    return { dataConverter: { ...converter, failureConverterPath: encodingFailureConverterPath } };
  }
  log.warn(
    'Payloads are NOT encrypted: LABOPS_ENCRYPTION_KEYS is not set, so anyone who can read the namespace can read the names and addresses in its histories.',
  );
  return {};
}

/**
 * The same for a worker with keys: unencrypted input is marked for the workflows' interceptors, which refuse it if
 * encryption is required. It is marked in either mode, because a replay must find the refusals of the other mode. The
 * worker's clients can still read payloads from before there were keys.
 */
export function markingUnencrypted(
  { dataConverter }: { dataConverter?: DataConverter },
  encryption: Encryption,
): { dataConverter?: DataConverter } {
  if (!dataConverter) return {};
  const { payloadCodecs = [] } = dataConverter;
  const refused = encryption === 'required';
  return { dataConverter: { ...dataConverter, payloadCodecs: payloadCodecs.map((codec) => marking(codec, refused)) } };
}

/**
 * Leaves activities' inputs and results alone: only workers write them, and some before there were keys. Which is which is
 * in the SDK's serialization context. That is experimental, so a test holds that inputs of workflows are marked.
 */
function marking(codec: PayloadCodec, refused: boolean): PayloadCodec {
  return {
    encode: (payloads, context) => codec.encode(payloads, context),
    decode: async (payloads, context) => {
      const decoded = await codec.decode(payloads, context);
      if (context?.type !== 'workflow') return decoded;
      return decoded.map((payload, index) =>
        isEncrypted(payloads[index] ?? payload) ? payload : marked(payload, refused),
      );
    },
  };
}

/** JSON around JSON. No workflow takes anything else: it counts as null, and no data as undefined. */
function marked({ data }: Payload, refused: boolean): Payload {
  const text = Buffer.from(data ?? []).toString('utf8');
  const value = text === '' ? '' : `,"value":${isJson(text) ? text : 'null'}`;
  const json = `{${JSON.stringify(unencryptedKey)}:{"refused":${refused}${value}}}`;
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(json) };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** After 1, 10, 100… of them, because histories from before there were keys may hold many. */
function unencryptedWarning(log: Logger): (count: number) => void {
  let payloads = 0;
  let next = 1;
  return (count) => {
    payloads += count;
    if (payloads < next) return;
    while (next <= payloads) next *= 10;
    log.warn(
      { payloads },
      'Unencrypted payloads arrived from Temporal: they are older than the keys, or a client, an ingress or another worker runs without LABOPS_ENCRYPTION_KEYS.',
    );
  };
}
