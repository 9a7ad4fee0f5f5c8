import { setTimeout as sleep } from 'node:timers/promises';
import { StoreFailed } from '../store/database.js';
import type { StoreAccess } from '../store/store-access.js';

/** What a probe tells of the store. */
export type StoreHealth =
  | {
      /** How many rejected events wait for a person. */
      rejectedEvents: number;
    }
  | { healthData: 'unavailable'; reason: string };

/**
 * The number is as old as this at most. It is counted, which takes longer the more there are, and platforms probe every
 * process every few seconds.
 */
const rememberedMs = 5_000;

/**
 * How the store is, asked of the database once for all who ask meanwhile. An outage is not remembered.
 * @param answerWithinMs what takes longer is told as unavailable
 */
export function storeHealth(store: StoreAccess, answerWithinMs: number): () => Promise<StoreHealth> {
  let latest: Promise<StoreHealth> | undefined;
  let goodUntil = Infinity;
  const ask = async (): Promise<StoreHealth> => {
    try {
      const rejectedEvents = await (await store.get()).rejected.count();
      goodUntil = performance.now() + rememberedMs;
      return { rejectedEvents };
    } catch (error) {
      latest = undefined;
      if (!(error instanceof StoreFailed)) throw error;
      return { healthData: 'unavailable', reason: error.message };
    }
  };
  return async () => {
    if (performance.now() > goodUntil) latest = undefined;
    if (!latest) goodUntil = Infinity; // as long as it is asked
    latest ??= ask();
    const reason = `The database did not answer within ${answerWithinMs / 1000} seconds`;
    const tooLong = sleep(answerWithinMs, { healthData: 'unavailable', reason } as const, { ref: false });
    return Promise.race([latest, tooLong]);
  };
}
