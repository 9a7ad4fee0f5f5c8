import { SecretFileInvalid } from '../files.js';
import { within } from '../call-options.js';
import { type KeyRing, KeyRingInvalid } from './key-ring.js';

/** So a change is known everywhere within a minute. */
const readAgainMs = 30_000;

/** Keys that nobody has make a process ask the source no more often than this, and no call waits longer for the answer. */
const patienceMs = 5_000;

/**
 * A key that was not there before decrypts at once and encrypts later, once every other process has it: each reads twice a minute, and a
 * changed secret takes Kubernetes some two minutes to spread.
 */
const spreadingMs = 5 * 60_000;

/** Encryption keys that can change while a process runs. */
export interface LiveKeys {
  /** The last ring that could be read; at most a minute old unless the source fails. */
  readonly ring: KeyRing;
  /** Reads the source again, because a key is missing; not more than once in five seconds. Never rejects. */
  again(): Promise<void>;
  /** Stops reading. */
  stop(): void;
}

/** Reports changes of the keys and faults of their source, for a log. */
export interface KeyObserver {
  /** Another ring is used from now on. */
  replaced?(ring: KeyRing): void;
  /**
   * The source failed: the last ring is used. `fault` follows a subject such as the setting's name, and shows no part of a key.
   * Default: a warning of the process.
   */
  failed?(fault: string): void;
}

/** Keys that stay as they are. */
export function fixedKeys(ring: KeyRing): LiveKeys {
  return { ring, again: () => Promise.resolve(), stop: () => undefined };
}

/**
 * Reads keys now and every half minute: `labDataConverter(await followKeys(async () => parseKeyRing(await readSecret())))`. It does not keep
 * the process alive.
 *
 * @param read the key ring: from a file, a vault, a key management service
 * @throws what `read` throws the first time
 */
export async function followKeys(
  read: () => KeyRing | Promise<KeyRing>,
  observer: KeyObserver = {},
): Promise<LiveKeys> {
  let ring = await read();
  let readAt = performance.now();
  const newSince = new Map(ring.map(({ id }) => [id, Number.NEGATIVE_INFINITY]));
  let reading: Promise<void> | undefined;
  let fault: string | undefined;
  const report = (found: string): void => (observer.failed ? observer.failed(found) : warn(found));
  const look = async (): Promise<void> => {
    readAt = performance.now();
    try {
      const now = spreading(await within(patienceMs, Promise.resolve(read())), newSince);
      fault = undefined;
      if (isSame(ring, now)) return;
      ring = now;
      observer.replaced?.(ring);
    } catch (error) {
      const found = faultOf(error);
      // Reported once, not every half minute.
      if (found !== fault) report(found);
      fault = found;
    }
  };
  const lookOnce = (): Promise<void> => (reading ??= look().finally(() => (reading = undefined)));
  const timer = setInterval(() => void lookOnce(), readAgainMs).unref();
  return {
    get ring() {
      return ring;
    },
    again: async () => {
      if (reading !== undefined || performance.now() - readAt >= patienceMs) await lookOnce();
    },
    stop: () => clearInterval(timer),
  };
}

/** The ring with the first key in front that has been there for long enough; if none has, as it is. */
function spreading(ring: KeyRing, newSince: Map<string, number>): KeyRing {
  const now = performance.now();
  for (const { id } of ring) if (!newSince.has(id)) newSince.set(id, now);
  const first = ring.find(({ id }) => now - (newSince.get(id) ?? now) >= spreadingMs) ?? ring[0];
  return [first, ...ring.filter((key) => key !== first)];
}

/** Also in its order: the first key encrypts. */
function isSame(ring: KeyRing, other: KeyRing): boolean {
  if (ring.length !== other.length) return false;
  return ring.every(({ id, key }, index) => id === other[index]?.id && key.equals(other[index].key));
}

/** Anything may be in the message of an error that is not ours, such as the answer of a vault. */
function faultOf(error: unknown): string {
  if (error instanceof KeyRingInvalid) return error.faults.join('; ');
  if (error instanceof SecretFileInvalid) return error.message;
  return `cannot be read (${error instanceof Error ? error.name : 'not an error'})`;
}

function warn(fault: string): void {
  process.emitWarning(`The source of the encryption keys ${fault}: the last keys are used`);
}
