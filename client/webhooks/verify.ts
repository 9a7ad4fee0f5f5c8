import { Readable } from 'node:stream';
import {
  isSigned,
  parseSecret,
  readSignatureHeaders,
  type SignatureRefusal,
  type WebhookHeaders,
} from '../../service/webhooks/signature.js';
import { within } from '../call-options.js';

/*
 * The first two steps of a signed request, a webhook of the lab service or a notification of the worker: verify its bytes, then parse
 * them.
 */

export interface WebhookRequest {
  /** Anything but POST is refused; left out, it is taken for POST. */
  method?: string;
  headers: WebhookHeaders;
  body: WebhookBody;
}

/** The bytes as they came, whole or in pieces. Text that was decoded already cannot be verified. */
export type WebhookBody = Uint8Array | AsyncIterable<Uint8Array>;

/** The refusals of a request before its content is read. */
export type Refusal = 'method_not_allowed' | BodyRefusal | SignatureRefusal;

type BodyRefusal = 'body_already_read' | 'body_too_large' | 'too_many_bodies' | 'body_broke_off';

interface Refused<Name extends string> {
  name: Name | Refusal;
  error?: unknown;
}

/**
 * The largest webhook that is accepted by default: five times the largest one seen (docs/internals/lab-service.md), and as much as
 * Temporal takes of an order by default.
 */
export const defaultWebhookBytes = 2 * 1024 * 1024;

/** By default, the bodies of all requests together take 64 MiB, or as much as one of the largest size needs. */
const defaultBytesAtOnce = 64 * 1024 * 1024;

/** How long a body may take by default, in milliseconds: the senders give up after 15 s, and the answer takes some of that. */
const defaultBodyDeadlineMs = 10_000;

interface GivenBounds {
  secrets: readonly string[];
  maxBytes: number;
  maxBytesAtOnce?: number | undefined;
  bodyDeadlineMs?: number | undefined;
  /** The clock that signatures are checked by. */
  now?: (() => number) | undefined;
}

/** The bounds within which signed requests are read, and their secrets. */
export interface Bounds {
  secrets: readonly string[];
  maxBytes: number;
  bodyDeadlineMs: number;
  now: () => number;
  memory: BodyMemory;
}

/**
 * The bounds with their defaults.
 * @param creator the function whose options they are
 * @param setting the setting that usually holds the secrets
 * @throws TypeError, WebhookSecretInvalid
 */
export function checkedBounds(creator: string, setting: string, given: GivenBounds): Bounds {
  const { secrets, maxBytes, bodyDeadlineMs = defaultBodyDeadlineMs, now = Date.now } = given;
  const { maxBytesAtOnce = Math.max(defaultBytesAtOnce, Math.ceil(maxBytes * (4 / 3))) } = given;
  if (!Array.isArray(secrets) || secrets.length === 0)
    throw new TypeError(`${creator} needs at least one secret (${setting})`);
  for (const secret of secrets) parseSecret(secret);
  requireAboveZero(creator, { maxBytes, maxBytesAtOnce, bodyDeadlineMs });
  return { secrets, maxBytes, bodyDeadlineMs, now, memory: new BodyMemory(maxBytesAtOnce, maxBytes) };
}

/** @throws TypeError */
export function requireAboveZero(creator: string, limits: Record<string, number>): void {
  for (const [name, value] of Object.entries(limits)) {
    if (!(value > 0)) throw new TypeError(`${creator}: ${name} must be a number above zero`);
  }
}

/** A request whose signature fits. */
interface SignedBytes {
  id: string;
  bytes: Uint8Array;
}

/** A verified message. */
export interface Message {
  id: string;
  /** As it was sent. */
  body: string;
  /** The same, parsed. */
  value: object;
}

/** A signed body that contains no readable event: Python, for instance, writes NaN, which is not JSON. */
export interface UnparsedMessage {
  id: string;
  reason: 'not_json' | 'not_an_object';
  /** Bytes that are not UTF-8 are U+FFFD. */
  body: string;
}

/**
 * Reads a request and checks it in a fixed order: method, headers, size, signature. The headers come before the body,
 * so the process buffers nothing for a request without a recent timestamp.
 *
 * @param refuseId refuses an id before the body is read
 */
export async function verify<Name extends string = never>(
  { method = 'POST', headers, body }: WebhookRequest,
  bounds: Bounds,
  hold: Hold,
  refuseId?: (id: string) => Name | undefined,
): Promise<SignedBytes | Refused<Name>> {
  if (method.toUpperCase() !== 'POST') return { name: 'method_not_allowed' };
  const read = readSignatureHeaders(headers, bounds.now());
  if (!read.ok) return { name: read.reason };
  const { id } = read.signed;
  const refused = refuseId?.(id);
  if (refused !== undefined) return { name: refused };
  const given = await readBody(headers, body, bounds, hold);
  if (!('bytes' in given)) return given;
  return isSigned(read.signed, given.bytes, bounds.secrets) ? { id, ...given } : { name: 'signature_mismatch' };
}

/** Takes so many bytes more; false when all requests together would hold too many. */
type Hold = (bytes: number) => boolean;

/** Nearly all events are smaller, and a process has room for one on each of its connections. */
const smallBytes = 16 * 1024;

/**
 * The bytes of bodies that are held at once, by all requests together. Anybody can send well-formed headers, and without
 * a bound each connection would make the process hold a body of the largest size. A quarter is for small bodies alone:
 * otherwise those who send some large ones, and never finish, would keep all events out.
 */
class BodyMemory {
  readonly #most: number;
  readonly #mostWithLarge: number;
  #held = 0;

  /** @param maxBytes the largest body, which always fits if it is alone */
  constructor(most: number, maxBytes: number) {
    this.#most = most;
    this.#mostWithLarge = Math.min(most, Math.max(maxBytes, most * (3 / 4)));
  }

  /** Lets one request hold bytes until its work has settled. */
  async lend<T>(work: (hold: Hold) => Promise<T>): Promise<T> {
    let taken = 0;
    let isOver = false;
    const hold: Hold = (bytes) => {
      const most = taken + bytes > smallBytes ? this.#mostWithLarge : this.#most;
      // A body that was given up may still deliver a piece.
      if (isOver || this.#held + bytes > most) return false;
      this.#held += bytes;
      taken += bytes;
      return true;
    };
    try {
      return await work(hold);
    } finally {
      isOver = true;
      this.#held -= taken;
    }
  }
}

/**
 * Reads the body, and never more of it than the limit and the piece that goes beyond it. Nobody has checked the signature yet, and not
 * every server ends slow requests, so a body that stalls is given up by a deadline: it would hold its share of the memory.
 */
async function readBody(
  headers: WebhookHeaders,
  body: WebhookBody,
  { maxBytes, bodyDeadlineMs }: Bounds,
  hold: Hold,
): Promise<{ bytes: Uint8Array } | Refused<never>> {
  if (declaredLength(headers) > maxBytes) return { name: 'body_too_large' };
  if (body instanceof Uint8Array) {
    if (body.byteLength > maxBytes) return { name: 'body_too_large' };
    return hold(body.byteLength) ? { bytes: body } : { name: 'too_many_bodies' };
  }
  // A loop that is left early destroys its stream, which may take the connection along, and the answer with it.
  const pieces = body instanceof Readable ? body.iterator({ destroyOnReturn: false }) : body;
  try {
    return await within(bodyDeadlineMs, gather(pieces, maxBytes, hold));
  } catch (error) {
    return { name: 'body_broke_off', error };
  }
}

async function gather(
  pieces: AsyncIterable<unknown>,
  maxBytes: number,
  hold: Hold,
): Promise<{ bytes: Uint8Array } | Refused<never>> {
  const gathered: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    if (!(piece instanceof Uint8Array)) return { name: 'body_already_read' };
    size += piece.byteLength;
    if (size > maxBytes) return { name: 'body_too_large' };
    if (!hold(piece.byteLength)) return { name: 'too_many_bodies' };
    gathered.push(piece);
  }
  return { bytes: Buffer.concat(gathered, size) };
}

/** A length that is missing or not a number is ignored: the received bytes are measured anyway. */
function declaredLength(headers: WebhookHeaders): number {
  const declared = Number(headers['content-length'] ?? 0);
  return Number.isNaN(declared) ? 0 : declared;
}

/** The body as a JSON object, with its text; or the reason why it is not one. */
export function parse({ id, bytes }: SignedBytes): Message | UnparsedMessage {
  let value: unknown;
  let body: string;
  try {
    body = utf8.decode(bytes);
    value = JSON.parse(body);
  } catch {
    return { id, reason: 'not_json', body: readableUtf8.decode(bytes) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { id, reason: 'not_an_object', body };
  return { id, value, body };
}

/** Strict: a decoder that repairs broken text would let two different bodies mean the same. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** For people only: bytes that are not UTF-8 become U+FFFD. */
const readableUtf8 = new TextDecoder('utf-8');
