import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';

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
