import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { misconfigured } from '../../service/lab-operations-error.js';
import type { EncryptionKey, KeyRing } from './key-ring.js';

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

/** An encrypted payload cannot be decrypted: it was changed or truncated, or its key id now belongs to another key. */
export class PayloadNotAuthentic extends misconfigured(
  'PayloadNotAuthentic',
  "Set LABOPS_ENCRYPTION_KEYS to the worker's keys (docs/operations.md).",
) {
  constructor(keyId: string) {
    super(`A payload that names key "${keyId}" does not decrypt: it was changed, or the key has other bytes now`);
  }
}

export interface PayloadCodecOptions {
  /** Receives the number of payloads of a message that were not encrypted and were accepted as they are. */
  onUnencrypted?: (count: number) => void;
}

/** The encoding that marks our payloads; Temporal's own samples use the same name. */
export const encryptedEncoding = 'binary/encrypted';
const keyIdName = 'encryption-key-id';

const cipherName = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

/**
 * Encrypts whole payloads, their metadata included, with AES-256-GCM; data is nonce (12 bytes), ciphertext, tag (16),
 * and the key's id is authenticated with it.
 *
 * Nonces are random, so one key may encrypt 2^32 payloads (NIST SP 800-38D, 8.3): some forty million orders. Change keys
 * long before, once a year. A key derived for each payload would lift that bound, but backends in other languages write
 * to the same workflows, and plain AES-GCM is what each of them has at hand.
 *
 * A payload that is not encrypted is decoded to itself: histories from before there were keys stay readable. So encryption hides
 * what is in Temporal; it does not prove who wrote it.
 */
export function createPayloadCodec(ring: KeyRing, options: PayloadCodecOptions = {}): PayloadCodec {
  const keys = new Map(ring.map(({ id, key }) => [id, key]));
  return {
    encode: (payloads) => Promise.resolve(payloads.map((payload) => encrypt(payload, ring[0]))),
    // Asynchronous, so unreadable payloads reject.
    decode: async (payloads) => {
      const unencrypted = payloads.filter((payload) => !isEncrypted(payload) && !isServersOwn(payload)).length;
      if (unencrypted > 0) options.onUnencrypted?.(unencrypted);
      return payloads.map((payload) => (isEncrypted(payload) ? decrypt(payload, keys) : payload));
    },
  };
}

function encrypt(payload: Payload, { id, key }: EncryptionKey): Payload {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(cipherName, key, nonce, { authTagLength: tagBytes }).setAAD(utf8(id));
  const text = cipher.update(PayloadMessage.encode(payload).finish());
  return {
    metadata: { encoding: utf8(encryptedEncoding), [keyIdName]: utf8(id) },
    data: Buffer.concat([nonce, text, cipher.final(), cipher.getAuthTag()]),
  };
}

function decrypt({ metadata, data }: Payload, keys: ReadonlyMap<string, KeyObject>): Payload {
  const id = textOf(metadata?.[keyIdName]);
  const key = keys.get(id);
  if (!key) throw new EncryptionKeyUnknown(shown(id));
  const bytes = data ?? new Uint8Array();
  if (bytes.length < nonceBytes + tagBytes) throw new PayloadNotAuthentic(id);
  const tagAt = bytes.length - tagBytes;
  const cipher = createDecipheriv(cipherName, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(utf8(id))
    .setAuthTag(bytes.subarray(tagAt));
  const text = cipher.update(bytes.subarray(nonceBytes, tagAt));
  try {
    cipher.final();
  } catch {
    throw new PayloadNotAuthentic(id);
  }
  return PayloadMessage.decode(text);
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
export function labDataConverter(ring: KeyRing, options: PayloadCodecOptions = {}): DataConverter {
  return { payloadCodecs: [createPayloadCodec(ring, options)] };
}
