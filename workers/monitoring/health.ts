import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionLike, isGrpcServiceError } from '@temporalio/client';
import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import { StoreFailed } from '../../store/database.js';
import type { StoreAccess } from '../../store/store-access.js';
import { remembered } from './readings.js';

/** Probes of container platforms usually wait for 1 to 5 seconds. */
export const readyTimeoutMs = 2_000;

/** The part that both kinds of connection have: the worker's native one and the client's. */
type Asked = Pick<ConnectionLike, 'workflowService' | 'withDeadline'>;

interface TemporalHealthOptions {
  /** For the log: `ingress`, `worker`. */
  process: string;
  address: string | undefined;
  namespace: string;
  log: Pick<Logger, 'warn'>;
}

/**
 * Creates the check that Temporal and the namespace can be used; callers within a few seconds share one answer. The reason is only logged:
 * it names internal addresses, and anybody may ask if a process is ready.
 */
export function temporalHealth(connection: Asked, options: TemporalHealthOptions): () => Promise<boolean> {
  const { process, address, namespace, log } = options;
  return remembered(async () => {
    const abort = AbortSignal.timeout(readyTimeoutMs);
    const tooLong = once(abort, 'abort').then(() => `no answer within ${readyTimeoutMs / 1000} seconds`);
    const reason = await Promise.race([ask(connection, namespace), tooLong]);
    if (reason !== undefined) {
      const remedy = 'start it, or correct TEMPORAL_ADDRESS or TEMPORAL_NAMESPACE';
      log.warn({ reason, address, namespace }, `the ${process} is not ready: Temporal cannot be used: ${remedy}`);
    }
    return reason === undefined;
  });
}

/** @returns why it cannot be used; nothing if it can */
async function ask(connection: Asked, namespace: string): Promise<string | undefined> {
  try {
    // A deadline, because it also ends the attempts that follow a pause, which a signal does not.
    await connection.withDeadline(Date.now() + readyTimeoutMs, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return undefined;
  } catch (error) {
    // Any other error may quote what was to be sent, even an API key, and the caller of the probe would see it.
    return isGrpcServiceError(error) ? error.details || error.message : `failed with ${nameOf(error)}`;
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** A probe's result for the store. */
export type StoreHealth =
  | {
      /** How many rejected events wait for a person. */
      rejectedEvents: number;
      /** How many waited for too long, and were erased. */
      expiredRejectedEvents: number;
    }
  | {
      /** The reason is only in the log: it may name addresses, and anybody can call the probe. */
      healthData: 'unavailable';
    };

export interface StoreHealthOptions {
  /** A slower answer counts as unavailable. */
  answerWithinMs: number;
  log: Pick<Logger, 'warn'>;
  /** Milliseconds by a clock that never goes back. By default the process's own. */
  now?: () => number;
}

/** The store's health. One query serves all callers within a few seconds, because counting takes longer the more events there are. */
export function storeHealth(store: StoreAccess, options: StoreHealthOptions): () => Promise<StoreHealth> {
  const { answerWithinMs, log, now } = options;
  const ask = remembered(async (): Promise<StoreHealth> => {
    try {
      return await (await store.get()).standing();
    } catch (error) {
      if (!(error instanceof StoreFailed)) throw error;
      log.warn({ reason: error.message }, 'the database for health data is not available');
      return { healthData: 'unavailable' };
    }
  }, now);
  return async () => {
    const tooLong = sleep(answerWithinMs, { healthData: 'unavailable' } as const, { ref: false });
    return Promise.race([ask(), tooLong]);
  };
}

/** Rejected events in the database, of all processes that share it. @returns refreshes them; never rejects */
export function watchRejectedEvents(registry: Registry, health: () => Promise<StoreHealth>): () => Promise<void> {
  const rejected = new Gauge({
    name: 'labops_rejected_events',
    help: 'Rejected events in the database: `waiting` for a person, `expired` and erased. All ingresses show the same number.',
    labelNames: ['state'],
    registers: [registry],
  });
  const available = new Gauge({
    name: 'labops_database_up',
    help: '1 if the database answers, else 0. Without DATABASE_URL this metric and labops_rejected_events are missing.',
    registers: [registry],
  });
  return async () => {
    const found = await health();
    rejected.reset();
    available.set('rejectedEvents' in found ? 1 : 0);
    if (!('rejectedEvents' in found)) return;
    rejected.set({ state: 'waiting' }, found.rejectedEvents);
    rejected.set({ state: 'expired' }, found.expiredRejectedEvents);
  };
}
