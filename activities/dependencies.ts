import type { KeyObject } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/activity';
import type { LabService } from '../service/lab-service.js';
import type { RequireNotStopped } from './placing-stop.js';
import type { NotificationTarget } from './notifications/sender.js';
import type { ReportFiles } from './report-file/report-files.js';
import type { PageCounts } from '../protocol/reconcile.js';
import { StoreFailed } from '../store/database.js';
import type { HealthDataStore } from '../store/health-data-store.js';
import type { ReplayedMessage } from '../store/rejected-events.js';
import type { StoreAccess } from '../store/store-access.js';

/** The dependencies of the activities. */
export interface ActivityDependencies {
  service: LabService;
  /** For signals to our own workflows. */
  temporal: Client;
  taskQueue: string;
  requireNotStopped: RequireNotStopped;
  /** True if the deployment returns `passthrough` on orders; otherwise orders are recognised by their content. */
  echoesPassthrough: boolean;
  /** False if the deployment keeps the histories of users whose deletion is final, until Temporal's retention is over. */
  erasesHistories: boolean;
  /** The Ed25519 key that receipts of final deletions are signed with. Without it there are none. */
  receiptKey?: KeyObject;
  /** The source of reports' files. */
  reportFiles: ReportFiles;
  /** True if payloads are encrypted before they reach Temporal. Otherwise no payload may contain a credential. */
  encrypts: boolean;
  /**
   * The product's endpoint for notifications. `off`: the deployment has none on purpose, and no notification is scheduled.
   * Absent: this worker does not know it, and every delivery fails until another worker takes it up.
   */
  target?: NotificationTarget | 'off';
  /**
   * The store for health data and rejected events. `off`: the deployment keeps none on purpose. Absent: this worker does
   * not know it, and whatever needs it fails until another worker takes it up.
   */
  workerStore?: WorkerStore | 'off';
  /** Is notified of what the activities did, for metrics. */
  observer?: ActivityObserver;
}

/** Is notified of what the activities did, for metrics. Its methods return at once and never throw. */
export interface ActivityObserver {
  /**
   * One attempt of one notification has ended. An activity may be repeated, and then counts again.
   *
   * @param sinceMilliseconds from what it is about to its delivery; only if it was delivered
   */
  notificationSent(outcome: NotificationAttempt, sinceMilliseconds?: number): void;
  /** The orders of one page, or the match reviews, were compared with their workflows. */
  reconciled(counts: Partial<PageCounts> & { matchReviews?: number }): void;
}

/** `refused`: for good. `failed`: it is tried again. */
type NotificationAttempt = 'delivered' | 'refused' | 'failed';

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
