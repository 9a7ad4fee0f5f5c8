import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { scheduleOfRun } from '../../protocol/reconcile.js';
import { misconfigured } from '../../service/lab-operations-error.js';
import type { EncryptionKey, KeyRing } from './key-ring.js';
import { fixedKeys, type LiveKeys } from './live-keys.js';

/** A payload was encrypted with a key that is not in the key ring. */
export class EncryptionKeyUnknown extends misconfigured(
  'EncryptionKeyUnknown',
  "Add the key to LABOPS_ENCRYPTION_KEYS: the worker's keys, including earlier ones (docs/operations.md).",
) {
  readonly keyId: string;

  constructor(keyId: string) {
    super(`A payload was encrypted with key "${keyId}", which is not among the encryption keys`);
    this.keyId = keyId;
  }
}

/**
 * An encrypted payload cannot be decrypted: it was changed or truncated, its key id now belongs to another key, or the place that it
 * names is not the one that it was encrypted for.
 */
export class PayloadNotAuthentic extends misconfigured(
  'PayloadNotAuthentic',
  "Set LABOPS_ENCRYPTION_KEYS to the worker's keys (docs/operations.md).",
) {
  readonly keyId: string;

  constructor(keyId: string) {
    super(`A payload that names key "${keyId}" does not decrypt: it was changed, or the key has other bytes now`);
    this.keyId = keyId;
  }
}

/** A payload was encrypted for another workflow or another namespace: somebody who can write to Temporal has moved it. */
export class PayloadMisplaced extends misconfigured(
  'PayloadMisplaced',
  "Set TEMPORAL_NAMESPACE to the worker's. If it is the same, find out who else writes to the namespace (docs/operations.md).",
) {}

export interface PayloadCodecOptions {
  /** Receives the number of payloads of a message that were not encrypted and were accepted as they are. */
  onUnencrypted?: (count: number) => void;
}

/** The encoding that marks our payloads; Temporal's own samples use the same name. */
export const encryptedEncoding = 'binary/encrypted';
const keyIdName = 'encryption-key-id';
const namespaceName = 'namespace';
const workflowIdName = 'workflow-id';

/** The place that a payload is bound to. Without a workflow it belongs to every workflow of the namespace. */
interface Place {
  readonly namespace?: string;
  readonly workflowId?: string;
}

const cipherName = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/**
 * Encrypts whole payloads, their metadata included, with AES-256-GCM; data is nonce (12 bytes), ciphertext, tag (16). The key's id,
 * the namespace and the workflow's id stand beside it in clear, and are authenticated.
 *
 * The SDK says which workflow a payload belongs to. If it says so when it decodes, a payload of another one is refused; the codec
 * server and other languages decrypt by what the payload says.
 *
 * Nonces are random, so one key may encrypt 2^32 payloads (NIST SP 800-38D, 8.3): some forty million orders. Change keys
 * long before, every 90 days. A key derived for each payload would lift that bound, but backends in other languages write
 * to the same workflows, and plain AES-GCM is what each of them has at hand.
 *
 * A payload that is not encrypted is decoded to itself: histories from before there were keys stay readable. So encryption hides
 * what is in Temporal; it does not prove who wrote it.
 */
export function createPayloadCodec(given: KeyRing | LiveKeys, options: PayloadCodecOptions = {}): PayloadCodec {
  const keys = 'ring' in given ? given : fixedKeys(given);
  return {
    encode: (payloads, context) => Promise.resolve(payloads.map((payload) => encrypt(payload, keys.ring[0], context))),
    decode: async (payloads, context) => {
      const unencrypted = payloads.filter((payload) => !isEncrypted(payload) && !isServersOwn(payload)).length;
      if (unencrypted > 0) options.onUnencrypted?.(unencrypted);
      // Another process may have the new key first.
      if (payloads.some((payload) => isEncrypted(payload) && !keyOf(payload, keys.ring))) await keys.again();
      return payloads.map((payload) => (isEncrypted(payload) ? decrypt(payload, keys.ring, context) : payload));
    },
  };
}

/** The id of the key that an encrypted payload names: any text. */
export function keyIdOf({ metadata }: Payload): string {
  return textOf(metadata?.[keyIdName]);
}

/** The workflow that an encrypted payload is bound to; empty if it belongs to the namespace. Authentic once it was decrypted. */
export function workflowIdOf({ metadata }: Payload): string {
  return textOf(metadata?.[workflowIdName]);
}

function keyOf(payload: Payload, ring: KeyRing): EncryptionKey | undefined {
  const id = keyIdOf(payload);
  return ring.find((key) => key.id === id);
}

function encrypt(payload: Payload, { id, key }: EncryptionKey, { namespace, workflowId }: Place = {}): Payload {
  const metadata = {
    encoding: utf8(encryptedEncoding),
    [keyIdName]: utf8(id),
    ...(namespace !== undefined && { [namespaceName]: utf8(namespace) }),
    ...(workflowId !== undefined && { [workflowIdName]: utf8(workflowId) }),
  };
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(cipherName, key, nonce, { authTagLength: tagBytes }).setAAD(authenticated(metadata));
  const text = cipher.update(PayloadMessage.encode(payload).finish());
  return { metadata, data: Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]) };
}

function decrypt(payload: Payload, ring: KeyRing, here: Place | undefined): Payload {
  const { metadata, data } = payload;
  const found = keyOf(payload, ring);
  if (!found) throw new EncryptionKeyUnknown(shown(keyIdOf(payload)));
  const { id, key } = found;
  const bytes = data ?? new Uint8Array();
  if (bytes.length < nonceBytes + tagBytes) throw new PayloadNotAuthentic(id);
  const tagAt = bytes.length - tagBytes;
  const cipher = createDecipheriv(cipherName, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(authenticated(metadata))
    .setAuthTag(bytes.subarray(tagAt));
  const text = cipher.update(bytes.subarray(nonceBytes, tagAt));
  try {
    cipher.final();
  } catch {
    throw new PayloadNotAuthentic(id);
  }
  const bound = { namespace: textOf(metadata?.[namespaceName]), workflowId: textOf(metadata?.[workflowIdName]) };
  if (here && !isBoundTo(bound, here)) {
    throw new PayloadMisplaced(`A payload that was encrypted for ${placeName(bound)} came to ${placeName(here)}`);
  }
  return PayloadMessage.decode(text);
}

/** Each part with its length before it (4 bytes, big-endian), so different places never have the same bytes. What is absent is empty. */
function authenticated(metadata: Payload['metadata']): Uint8Array {
  const parts = [keyIdName, namespaceName, workflowIdName].map((name) => metadata?.[name] ?? new Uint8Array());
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );
}

/** The runs of a schedule are one place: each gets what belongs to the schedule, and the result of the run before it. */
function isBoundTo(bound: Required<Place>, here: Place): boolean {
  if (bound.namespace !== here.namespace) return false;
  return bound.workflowId === '' || scheduleOfRun(bound.workflowId) === scheduleOfRun(here.workflowId ?? '');
}

function placeName({ namespace = '', workflowId = '' }: Place): string {
  return `${workflowId === '' ? 'any workflow' : `the workflow ${workflowId}`} of the namespace "${namespace}"`;
}

/** True if a payload is one of ours, whichever key it names. */
export function isEncrypted({ metadata }: Payload): boolean {
  return textOf(metadata?.['encoding']) === encryptedEncoding;
}

/** Temporal's own answer if an activity is cancelled before a worker has taken it: no process of ours wrote it. */
function isServersOwn({ data }: Payload): boolean {
  return textOf(data) === '"ACTIVITY_ID_NOT_STARTED"';
}

function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

function textOf(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('utf8');
}

/** An unknown id is quoted only in part: it may be anything. */
function shown(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9._-]/g, '?').slice(0, 64);
}

/**
 * The data converter for a Temporal client if the worker has encryption keys: `new Client({ connection, dataConverter
 * })`, with the same keys. A client without it writes readable payloads, and cannot read encrypted ones.
 *
 * It also reads encrypted failures. It has no failure converter, because the only client that would write failures is
 * one that completes activities instead of the worker; and a failure converter is loaded from a path, which bundled
 * backends do not have.
 */
export function labDataConverter(keys: KeyRing | LiveKeys, options: PayloadCodecOptions = {}): DataConverter {
  return { payloadCodecs: [createPayloadCodec(keys, options)] };
}
