import { createHash } from 'node:crypto';
import { replayableSeconds } from '../../service/webhooks/signature.js';

const replayableMs = replayableSeconds * 1000;

/** In one generation. An id and a digest take some 250 bytes, so both generations stay below 25 MB. */
const mostPerGeneration = 50_000;

/**
 * The messages that were made durable a short time ago, by id and digest of the body. It is a hint of one process: a
 * forgotten message is handled again, which is harmless but costs a signal, or a run if the order has ended.
 *
 * Two generations of maps, because removing the oldest entry from one large map costs as much as checking a signature.
 */
export class RecentMessages {
  readonly #now: () => number;
  readonly #most: number;
  #current = new Map<string, string>();
  #previous = new Map<string, string>();
  #begunAt = -Infinity;

  constructor(now: () => number, most = mostPerGeneration) {
    this.#now = now;
    this.#most = most;
  }

  /** True for the same bytes under the same id. Other bytes under a known id are another message. */
  has(id: string, digest: string): boolean {
    this.#turn();
    return (this.#current.get(id) ?? this.#previous.get(id)) === digest;
  }

  add(id: string, digest: string): void {
    this.#turn();
    this.#current.set(id, digest);
  }

  #turn(): void {
    const age = this.#now() - this.#begunAt;
    if (age < replayableMs && this.#current.size < this.#most) return;
    this.#previous = age < 2 * replayableMs ? this.#current : new Map<string, string>();
    this.#current = new Map();
    this.#begunAt = this.#now();
  }
}

/** The digest of the bytes as they came: a repeated message has the same bytes, whatever its timestamp. */
export function bytesDigest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
