import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';

/**
 * Anybody can ask a probe, and platforms ask every process every few seconds, so an answer is as old as this at most.
 */
const usuallyRememberedMs = 5_000;

/**
 * Shares one answer among all callers while it is being fetched and for `rememberedMs` after that, even if it is an error.
 * @param now milliseconds by a clock that never goes back
 * @param rememberedMs how old an answer may be
 */
export function remembered<T>(
  ask: () => Promise<T>,
  now = () => performance.now(),
  rememberedMs = usuallyRememberedMs,
): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let goodUntil = Infinity;
  return () => {
    if (latest && now() <= goodUntil) return latest;
    goodUntil = Infinity; // for as long as the asking takes
    latest = ask().finally(() => {
      goodUntil = now() + rememberedMs;
    });
    return latest;
  };
}

/** The workflows that gauges are read from. */
export interface Watched {
  client: Client;
  taskQueue: string;
  log: Pick<Logger, 'warn'>;
}

/** Below the 10 s that Prometheus waits by default. */
const answerWithinMs = 4_000;

/** Waits for a reading as long as a scrape may take. What comes later is in the next scrape. */
export async function withinScrape(reading: Promise<void>): Promise<void> {
  await Promise.race([reading, sleep(answerWithinMs, undefined, { ref: false })]);
}
