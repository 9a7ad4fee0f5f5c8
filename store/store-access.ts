import type { HealthDataStore } from './health-data-store.js';

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
      // The waiting caller gets the failure; the next caller tries again.
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

/** A store that the caller has opened, and closes. */
export function openedStore(opened: HealthDataStore): StoreAccess {
  return { get: () => Promise.resolve(opened), close: () => Promise.resolve() };
}
