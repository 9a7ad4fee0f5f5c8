import type { Client } from '@temporalio/client';
import type { WorkerStore } from '../../activities/worker-store.js';
import { AbandonedCalls } from '../../client/abandoned-calls.js';
import { answers } from '../../client/webhooks/answers.js';
import { route } from '../../client/webhooks/route.js';
import type { ReplayedMessage } from '../../store/rejected-events.js';
import type { StoreAccess } from '../../store/store-access.js';
import type { WorkerConfig } from '../config.js';
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
    route: async (message) => {
      const value = parsed(message);
      if (value === undefined) return { answer: 'unreadable', isTaken: false };
      const { healthData } = healthDataSinks(store, message.receivedAt);
      const to = {
        temporal,
        taskQueue,
        installation,
        healthData,
        rejected: undefined,
        deadlineMs,
        abandoned: new AbandonedCalls(),
      };
      const { name } = await route({ ...message, value }, to);
      return { answer: name, isTaken: answers[name].status === 204 && !notTaken.includes(name) };
    },
  };
}

/** Undefined for a rejected body that is not a JSON object: it can only be discarded. */
function parsed({ body }: ReplayedMessage): object | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
