import { createHmac, timingSafeEqual } from 'node:crypto';
import { invalid } from '../lab-operations-error.js';

/**
 * Standard Webhooks: signs our notifications to the product and verifies the service's webhooks (docs/internals/lab-service.md,
 * "Webhooks"). The signed content is `<id>.<timestamp>.<body>`, over the bytes of the body as sent: text that was
 * decoded and encoded again may differ from them.
 */

/** How far a timestamp may be from our clock, both ways. Standard Webhooks' usual tolerance. */
export const toleranceSeconds = 5 * 60;

/** How long a captured message can be sent again: its timestamp may be as far ahead of our clock as it may lie behind. */
export const replayableSeconds = 2 * toleranceSeconds;

/** Headers as Node has them. Names in any case; a header that came several times may be an array. */
export type WebhookHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type SignatureRefusal =
  /** One of the three headers (id, timestamp, signature) is not there. */
  | 'headers_missing'
  /** The timestamp is not a whole number of seconds. */
  | 'timestamp_unreadable'
  /** The timestamp is outside the tolerance: a replay, a long delayed delivery, or a wrong clock. */
  | 'timestamp_stale'
  /** No signature matches any secret: another secret, or the bytes were changed on the way. */
  | 'signature_mismatch';

interface SignableMessage {
  /** The same for every attempt of one message: a receiver drops repeats by it. */
  id: string;
  /** Seconds since 1970, of this attempt. */
  timestampSeconds: number;
  body: string | Uint8Array;
  /** `whsec_` and the key in base64. */
  secret: string;
}

/** A webhook secret cannot be a key. The message never shows it. */
export class WebhookSecretInvalid extends invalid(
  'WebhookSecretInvalid',
  "Copy the endpoint's secret (`whsec_…`) from the lab service's dashboard; for notifications, use the worker's NOTIFY_SECRET. One of fewer than 16 bytes is refused: `labops webhooks rotate` sets another.",
) {
  /** The fault, as a text that follows its name: a setting, for instance. */
  readonly problem: string;

  constructor(problem: string) {
    super(
      `A webhook secret ${problem}: copy the endpoint's secret from the service's dashboard, or the worker's NOTIFY_SECRET`,
    );
    this.problem = problem;
  }
}

/** A shorter key can be found by trying: any word of letters and digits is base64 of something. */
const leastSecretBytes = 16;

/**
 * The key that a secret encodes. The prefix `whsec_` may be missing: some dashboards show the secret without it.
 *
 * @param secret undefined if an environment variable is not set, whatever the caller's types say
 * @throws WebhookSecretInvalid if it is missing, or what follows the prefix is empty, not base64 or short enough to guess
 */
export function parseSecret(secret: unknown): Buffer {
  if (typeof secret !== 'string') throw new WebhookSecretInvalid('is missing');
  const given = secret.trim();
  // A signature is `v1,<base64>`, and a secret is often pasted in the same form.
  if (/^v1([,=\s]|$)/.test(given)) {
    throw new WebhookSecretInvalid('begins with v1, which is the version of a signature and not part of a secret');
  }
  const encoded = given.replace(/^whsec_/, '');
  if (encoded === '') throw new WebhookSecretInvalid('is empty after whsec_');
  // Buffer.from skips characters that are not base64 instead of refusing them, and a key changed like this would never
  // match anything.
  const wellFormed = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.replace(/=+$/, '').length % 4 !== 1;
  if (!wellFormed) throw new WebhookSecretInvalid('is not whsec_ followed by base64');
  const key = Buffer.from(encoded, 'base64');
  if (key.length < leastSecretBytes) {
    throw new WebhookSecretInvalid(`has ${key.length} bytes instead of at least ${leastSecretBytes}`);
  }
  return key;
}

/** One signature, `v1,<base64>`: the value of the signature header, or one of several in it, separated by spaces. */
export function sign({ id, timestampSeconds, body, secret }: SignableMessage): string {
  return `v1,${digest(parseSecret(secret), id, String(timestampSeconds), body).toString('base64')}`;
}

/** The three headers of a message whose timestamp is within the tolerance. Its signature is still to be compared. */
interface SignatureHeaders {
  id: string;
  timestamp: string;
  signatures: string;
}

type HeadersRead = { ok: true; signed: SignatureHeaders } | { ok: false; reason: SignatureRefusal };

/**
 * Checks everything that can be checked without the body, so a receiver can refuse a message before it reads any of it.
 *
 * @param now milliseconds since 1970
 */
export function readSignatureHeaders(headers: WebhookHeaders, now: number): HeadersRead {
  const signed = threeHeaders(headers, 'svix') ?? threeHeaders(headers, 'webhook');
  if (!signed) return { ok: false, reason: 'headers_missing' };
  if (!/^\d{1,12}$/.test(signed.timestamp)) return { ok: false, reason: 'timestamp_unreadable' };
  const age = now / 1000 - Number(signed.timestamp);
  if (Math.abs(age) > toleranceSeconds) return { ok: false, reason: 'timestamp_stale' };
  return { ok: true, signed };
}

/**
 * True if the bytes were signed with one of the secrets. Several secrets and several signatures are normal while a secret
 * is rotated: one match is enough.
 *
 * @throws WebhookSecretInvalid, so check the secrets with `parseSecret` at start
 */
export function isSigned(signed: SignatureHeaders, rawBody: Uint8Array, secrets: readonly string[]): boolean {
  const candidates = readSignatures(signed.signatures);
  return secrets.some((secret) => {
    const expected = digest(parseSecret(secret), signed.id, signed.timestamp, rawBody);
    return candidates.some((candidate) => timingSafeEqual(candidate, expected));
  });
}

function digest(key: Buffer, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}

/** The three headers of one spelling, or nothing: half of one spelling is never completed with half of the other. */
function threeHeaders(headers: WebhookHeaders, prefix: 'svix' | 'webhook'): SignatureHeaders | undefined {
  const id = header(headers, `${prefix}-id`);
  const timestamp = header(headers, `${prefix}-timestamp`);
  const signatures = header(headers, `${prefix}-signature`);
  return id && timestamp && signatures ? { id, timestamp, signatures } : undefined;
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  const value = headers[name] ?? Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof value === 'string' || value === undefined ? value : value.join(' ');
}

/** Signatures of other versions (`v1a,…` is asymmetric) are passed over, as the standard asks. */
function readSignatures(header: string): Buffer[] {
  return header
    .split(/\s+/)
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => signature.slice('v1,'.length).replace(/,$/, '')) // Node joins a header that came twice by ', '
    .map((signature) => Buffer.from(signature, 'base64'))
    .filter((signature) => signature.length === sha256Bytes);
}

const sha256Bytes = 32;
