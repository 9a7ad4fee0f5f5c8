import { jsonIn } from '../service/json-object.js';
import { fileURLToPath } from 'node:url';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import type { InjectedSinks } from '@temporalio/worker';
import type { Logger } from 'pino';
import {
  EncryptionKeyUnknown,
  isEncrypted,
  labDataConverter,
  PayloadMisplaced,
} from '../client/encryption/payload-codec.js';
import { type Encryption, keyRingIn } from '../client/config.js';
import type { KeyRing } from '../client/encryption/key-ring.js';
import { fixedKeys, followKeys, type LiveKeys } from '../client/encryption/live-keys.js';
import { markKey, requiredMetadata, type Mark } from '../protocol/unencrypted.js';
import type { KeySinks } from '../workflows/input-refusal.js';
import { isBuilt, requireBuilt } from './process.js';

/** The failure converter of a worker with keys; the workflow bundle that it runs has to be built with the same. */
export const encodingFailureConverterPath = fileURLToPath(
  new URL(`../client/encryption/failure-converter.${isBuilt ? 'js' : 'ts'}`, import.meta.url),
);

/** The metadata by which a program recognises that the codec server could not decrypt a payload. */
export const undecryptedName = 'labops-undecrypted';

/** The keys of a process, until `stop`. Those of a file are read again. */
export async function liveKeys(
  { keyRing, keyRingFile: file }: { keyRing?: KeyRing | undefined; keyRingFile?: string | undefined },
  log: Logger,
): Promise<LiveKeys | undefined> {
  if (!keyRing || file === undefined) return keyRing && fixedKeys(keyRing);
  return followKeys(() => keyRingIn(file), {
    replaced: (ring) => log.info({ keys: ring.map(({ id }) => id) }, 'the encryption keys have changed'),
    failed: (fault) => log.error(`LABOPS_ENCRYPTION_KEYS_FILE ${fault}: the last keys are used until it can be read`),
  });
}

/** How a process with or without keys converts data. Warns if it has none. */
export function dataConverterOf(keys: KeyRing | LiveKeys | undefined, log: Logger): { dataConverter?: DataConverter } {
  if (keys) {
    const converter = labDataConverter(keys, { onUnencrypted: unencryptedWarning(log) });
    return { dataConverter: { ...converter, failureConverterPath: requireBuilt(encodingFailureConverterPath) } };
  }
  log.warn(
    'Payloads are NOT encrypted: LABOPS_ENCRYPTION_KEYS is not set, so anyone who can read the namespace can read the names and addresses in its histories.',
  );
  return {};
}

/**
 * The same for a worker with keys: what came unencrypted, or cannot be decrypted, is marked, and its receiver refuses it
 * (protocol/unencrypted.ts). The worker's clients can still read payloads from before there were keys, and fail if a key is missing.
 */
export function markingUnencrypted(
  { dataConverter }: { dataConverter?: DataConverter },
  encryption: Encryption,
  log: Logger,
): { dataConverter?: DataConverter; sinks: InjectedSinks<KeySinks> } {
  const missing: InjectedSinks<KeySinks>['keys']['missing'] = {
    fn: ({ workflowId, runId }, message) => log.error({ workflowId, runId }, message),
    callDuringReplay: true,
  };
  const sinks = { keys: { missing } };
  if (!dataConverter) return { sinks };
  const { payloadCodecs = [] } = dataConverter;
  const isRequired = encryption === 'required';
  return {
    dataConverter: { ...dataConverter, payloadCodecs: payloadCodecs.map((codec) => marking(codec, isRequired)) },
    sinks,
  };
}

function marking(codec: PayloadCodec, isRequired: boolean): PayloadCodec {
  return {
    encode: (payloads, context) => codec.encode(payloads, context),
    decode: (payloads, context) =>
      Promise.all(
        payloads.map(async (payload) => {
          const decoded = await decodedOrMarked(codec, payload, isRequired, context);
          if (!isRequired) return decoded;
          return { ...decoded, metadata: { ...decoded.metadata, [requiredMetadata]: new Uint8Array() } };
        }),
      ),
  };
}

/** One by one: a payload that cannot be decrypted must not hide the others. */
async function decodedOrMarked(
  codec: PayloadCodec,
  payload: Payload,
  refused: boolean,
  context: Parameters<PayloadCodec['decode']>[1],
): Promise<Payload> {
  try {
    const [decoded = payload] = await codec.decode([payload], context);
    if (isEncrypted(payload)) return decoded;
    const text = Buffer.from(payload.data ?? []).toString('utf8');
    // No workflow takes anything but JSON: anything else counts as null, and no data as undefined.
    return marked(
      { fault: 'unencrypted', refused },
      text === '' ? '' : `,"value":${jsonIn(text) !== undefined ? text : 'null'}`,
    );
  } catch (error) {
    const missing = error instanceof EncryptionKeyUnknown && { keyId: error.keyId };
    const misplaced = error instanceof PayloadMisplaced && { misplaced: true };
    return marked({ fault: 'unreadable', refused: true, ...missing, ...misplaced });
  }
}

/** JSON around JSON. */
function marked(mark: Mark, value = ''): Payload {
  const json = `{${JSON.stringify(markKey)}:${JSON.stringify(mark).slice(0, -1)}${value}}}`;
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(json) };
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
