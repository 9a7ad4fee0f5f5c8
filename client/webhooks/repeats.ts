import { createHash } from 'node:crypto';
import { replayableSeconds } from '../../service/webhooks/signature.js';
import { within } from '../within.js';
import type { AnswerName } from './answers.js';
import type { Destinations, Message, Routed } from './destinations.js';
import type { SignedMessage } from './verify.js';

/**
 * Takes a message unless this process has accepted it in the last minutes.
 * @param take gets the digest of the bytes as they came: a repeated message has the same bytes, whatever its timestamp
 */
export async function unlessRepeated(
  { id, bytes }: SignedMessage,
  recent: RecentMessages,
  take: (digest: string) => Promise<Routed>,
): Promise<Routed> {
  const digest = createHash('sha256').update(bytes).digest('base64url');
  if (recent.has(id, digest)) return { name: 'repeated' };
  const routed = await take(digest);
  // Only an event that was accepted may be answered as repeated. A connection that reached no link may still reach one.
  if (routed.also === undefined && durable.has(routed.name)) recent.add(id, digest);
  return routed;
}

const durable: ReadonlySet<AnswerName> = new Set([
  'delivered',
  'repeated', // by another process, which made it durable
  'body_set_aside',
  'event_set_aside',
  'health_data_accepted',
  'health_data_set_aside',
  'health_data_unwanted',
]);

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

/**
 * How long the database may take to recognise or remember a message. Orders do not depend on it, so after that the message is
 * delivered without it.
 */
const rememberWithinMs = 1_000;

/**
 * Delivers a message to Temporal unless a process has delivered it in the last minutes. Later repeats, which somebody
 * requested from the service, are delivered again.
 */
export async function unlessTaken(
  { id, digest }: Message,
  { taken, temporal, taskQueue }: Destinations,
  deliver: () => Promise<Routed>,
): Promise<Routed> {
  if (!taken || digest === undefined) return deliver();
  // Other bytes under a known id are another message.
  const key = `${temporal.options.namespace}/${taskQueue}/${id}/${digest}`;
  const isKnown = await within(rememberWithinMs, taken.has(key, replayableSeconds)).catch(() => false);
  if (isKnown) return { name: 'repeated' };
  const routed = await deliver();
  if (routed.name === 'delivered') await within(rememberWithinMs, taken.add(key)).catch(() => undefined);
  return routed;
}
