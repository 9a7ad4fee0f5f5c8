import { ApplicationFailure } from '@temporalio/activity';
import { StoreFailed } from '../store/database.js';
import type { HealthDataStore } from '../store/health-data-store.js';
import type { ReplayedMessage } from '../store/rejected-events.js';
import type { StoreAccess } from '../store/store-access.js';

/** The store of a worker: its health data and rejected events, and the route that events take. */
export interface WorkerStore {
  store: StoreAccess;
  /** Routes a rejected event again, as the ingress would. Never rejects. */
  route: (message: ReplayedMessage) => Promise<RouteOutcome>;
}

interface RouteOutcome {
  /** The webhook handler's answer: `delivered`, `not_handled` and so on. */
  answer: string;
  /** True if the event was accepted. */
  isTaken: boolean;
}

/**
 * Runs work on the store. A database that is away is `StoreUnavailable`; a worker without one is `StoreNotConfigured`. Both
 * may be tried again: another worker may have one, and this one may get one.
 */
export async function withStore<T>(
  workerStore: WorkerStore | 'off' | undefined,
  work: (store: HealthDataStore, workerStore: WorkerStore) => Promise<T>,
): Promise<T> {
  if (workerStore === undefined || workerStore === 'off') {
    throw ApplicationFailure.retryable(
      workerStore === 'off'
        ? 'HEALTH_DATA is off: this worker keeps neither health data nor rejected events'
        : 'This worker has no store for health data and rejected events: DATABASE_URL is not set',
      'StoreNotConfigured',
      { fields: [] },
    );
  }
  try {
    return await work(await workerStore.store.get(), workerStore);
  } catch (error) {
    if (!(error instanceof StoreFailed)) throw error;
    throw ApplicationFailure.retryable(error.message, 'StoreUnavailable', { fields: [] });
  }
}
