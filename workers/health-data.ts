import type { HealthDataSink, RejectedEventSink } from '../client/webhooks/route.js';
import { readHealthData } from '../service/health-data.js';
import type { HealthDataStore } from '../store/health-data-store.js';

/** A store that is opened when it is first needed, and again when that failed: a process starts without its database. */
export interface StoreAccess {
  get(): Promise<HealthDataStore>;
  /** Closes it, if it was opened. */
  close(): Promise<void>;
}

export function storeOnDemand(open: () => Promise<HealthDataStore>): StoreAccess {
  let opening: Promise<HealthDataStore> | undefined;
  return {
    get: () => {
      if (opening) return opening;
      const attempt = open();
      opening = attempt;
      // Whoever waits for it learns of the failure; who comes next tries anew.
      attempt.catch(() => {
        if (opening === attempt) opening = undefined;
      });
      return attempt;
    },
    close: async () => {
      const opened = await opening?.catch(() => undefined);
      await opened?.close();
    },
  };
}

/** What the webhook handler gives to the store. */
export function healthDataSinks(store: StoreAccess): { healthData: HealthDataSink; rejected: RejectedEventSink } {
  return {
    healthData: async (event, id, body) => (await store.get()).accept(readHealthData(event), { id, body }),
    rejected: async ({ reason, problem, eventType, userId, body }, id) => {
      const why = problem === undefined ? reason : `${reason}: ${problem}`;
      return (await store.get()).setAside({ eventType, userId, reason: why }, { id, body });
    },
  };
}
