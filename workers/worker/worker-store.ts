import type { Client } from '@temporalio/client';
import type { WorkerStore } from '../../activities/dependencies.js';
import { answers } from '../../client/webhooks/answers.js';
import { route } from '../../client/webhooks/route.js';
import { parse } from '../../client/webhooks/verify.js';
import { AbandonedCalls } from '../../client/within.js';
import type { StoreAccess } from '../../store/store-access.js';
import type { WorkerConfig } from '../settings/config.js';
import { healthDataSinks } from '../health-data.js';

/** As long as the ingress waits for Temporal or the store. */
const deadlineMs = 10_000;

/** Answers after which the event is stored nowhere: it would only become the same rejected event again. */
const notTaken: readonly string[] = ['not_handled', 'unreadable', 'not_addressable', 'event_refused'];

/** The store of a worker's activities: rejected events take the route that webhooks take in the ingress. */
export function workerStore(
  store: StoreAccess,
  temporal: Client,
  { taskQueue, installation }: Pick<WorkerConfig, 'taskQueue' | 'installation'>,
): WorkerStore {
  return {
    store,
    route: async ({ id, body, receivedAt }) => {
      const parsed = parse(Buffer.from(body));
      // A body that is not a JSON object can only be discarded.
      if ('reason' in parsed) return { answer: 'unreadable', isTaken: false };
      const { healthData } = healthDataSinks(store, receivedAt);
      const to = { temporal, taskQueue, installation, healthData, deadlineMs, abandoned: new AbandonedCalls() };
      const { name } = await route({ id, ...parsed }, to);
      return { answer: name, isTaken: answers[name].status === 204 && !notTaken.includes(name) };
    },
  };
}
