import { Readable } from 'node:stream';
import type { WebhookHeaders } from '../../service/webhooks/signature.js';
import { within } from '../within.js';

/** The bytes as they came, whole or in pieces. Text that was decoded already cannot be verified. */
export type WebhookBody = Uint8Array | AsyncIterable<Uint8Array>;

type BodyRead = { bytes: Uint8Array } | { refusal: BodyRefusal; error?: unknown };

/**
 * The largest webhook that is accepted by default: five times the largest one seen (docs/internals/lab-service.md), and as much as
 * Temporal takes of an order by default.
 */
export const usualWebhookBytes = 2 * 1024 * 1024;

type BodyRefusal = 'body_already_read' | 'body_too_large' | 'too_many_bodies' | 'body_broke_off';

/** How long a body may take by default, in milliseconds: the senders give up after 15 s, and the answer takes some of that. */
export const usualBodyDeadlineMs = 10_000;

/** The share of one request's body in the memory that all requests share. */
export interface BodyLease {
  /** Takes so many bytes more; false when all requests together would hold too many. */
  take(bytes: number): boolean;
  /** Gives everything back. Call it when nothing holds the body any more. */
  release(): void;
}

/** Nearly all events are smaller, and a process has room for one on each of its connections. */
const smallBytes = 16 * 1024;

/**
 * The bytes of bodies that are held at once, by all requests together. Anybody can send well-formed headers, and without
 * a bound each connection would make the process hold a body of the largest size. A quarter is for small bodies alone:
 * otherwise those who send some large ones, and never finish, would keep all events out.
 */
export class BodyMemory {
  readonly #most: number;
  readonly #mostWithLarge: number;
  #held = 0;

  /** @param maxBytes the largest body, which always fits if it is alone */
  constructor(most: number, maxBytes: number) {
    this.#most = most;
    this.#mostWithLarge = Math.min(most, Math.max(maxBytes, most * (3 / 4)));
  }

  lease(): BodyLease {
    let taken = 0;
    let isReleased = false;
    return {
      take: (bytes) => {
        // A body that was given up may still deliver a piece.
        const most = taken + bytes > smallBytes ? this.#mostWithLarge : this.#most;
        if (isReleased || this.#held + bytes > most) return false;
        this.#held += bytes;
        taken += bytes;
        return true;
      },
      release: () => {
        this.#held -= taken;
        taken = 0;
        isReleased = true;
      },
    };
  }
}

/**
 * Reads the body, and never more of it than the limit and the piece that goes beyond it. Nobody has checked the signature yet, and not
 * every server ends slow requests, so a body that stalls is given up by a deadline: it would hold its share of the memory.
 */
export async function readBody(
  headers: WebhookHeaders,
  body: WebhookBody,
  { maxBytes, bodyDeadlineMs, lease }: { maxBytes: number; bodyDeadlineMs: number; lease: BodyLease },
): Promise<BodyRead> {
  if (declaredLength(headers) > maxBytes) return { refusal: 'body_too_large' };
  if (body instanceof Uint8Array) {
    if (body.byteLength > maxBytes) return { refusal: 'body_too_large' };
    return lease.take(body.byteLength) ? { bytes: body } : { refusal: 'too_many_bodies' };
  }
  // A loop that is left early destroys its stream, which may take the connection along, and the answer with it.
  const pieces = body instanceof Readable ? body.iterator({ destroyOnReturn: false }) : body;
  try {
    return await within(bodyDeadlineMs, gather(pieces, maxBytes, lease));
  } catch (error) {
    return { refusal: 'body_broke_off', error };
  }
}

async function gather(pieces: AsyncIterable<unknown>, maxBytes: number, lease: BodyLease): Promise<BodyRead> {
  const gathered: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    if (!(piece instanceof Uint8Array)) return { refusal: 'body_already_read' };
    size += piece.byteLength;
    if (size > maxBytes) return { refusal: 'body_too_large' };
    if (!lease.take(piece.byteLength)) return { refusal: 'too_many_bodies' };
    gathered.push(piece);
  }
  return { bytes: Buffer.concat(gathered, size) };
}

/** A length that is missing or not a number is ignored: the received bytes are measured anyway. */
function declaredLength(headers: WebhookHeaders): number {
  const declared = Number(headers['content-length'] ?? 0);
  return Number.isNaN(declared) ? 0 : declared;
}

/**
 * A signed body as a JSON object, with its text; or the reason why it is not one, with the readable part of its text.
 */
export function parseObject(
  bytes: Uint8Array,
): { value: object; body: string } | { reason: 'not_json' | 'not_an_object'; body: string } {
  let value: unknown;
  let body: string;
  try {
    body = utf8.decode(bytes);
    value = JSON.parse(body);
  } catch {
    return { reason: 'not_json', body: readableUtf8.decode(bytes) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { reason: 'not_an_object', body };
  return { value, body };
}

/** Strict: a decoder that repairs broken text would let two different bodies mean the same. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** For people only: bytes that are not UTF-8 become U+FFFD. */
const readableUtf8 = new TextDecoder('utf-8');
