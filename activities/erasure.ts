import type { ActivityDependencies } from './dependencies.js';
import { heartbeating } from './attempt.js';
import { asFailures } from './failures.js';
import { withStore } from './worker-store.js';
import { isThere, type DeletedUser } from './users.js';
import { workIdsOf } from './work-ids.js';

/** The end of a final deletion. */
export function erasureActivities({
  service,
  temporal,
  workerStore,
}: Pick<ActivityDependencies, 'service' | 'temporal' | 'workerStore'>) {
  return {
    /**
     * Erases a user's data from the store, which then refuses later data of this user. The database may have been down
     * for days, so the user is read again first: if the user exists, nothing is erased.
     */
    async eraseHealthData({ userId, clientUserId }: DeletedUser): Promise<'erased' | 'present'> {
      const erase = async (): Promise<'erased' | 'present'> => {
        if (await isThere(service, userId)) return 'present';
        const ids = clientUserId === undefined ? {} : { clientUserId };
        await withStore(workerStore, async (store) => {
          await store.deleteUserData(userId, { ...ids, workIds: await workIdsOf(temporal, userId) });
        });
        return 'erased';
      };
      return asFailures('DeletionRefused', () => heartbeating(erase));
    },
  };
}
