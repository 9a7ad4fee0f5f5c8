import type { ActivityDependencies } from './activities.js';
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
     * Erases what the store has of a user, and has it refuse what comes later. The database may have been away for days:
     * the user is read once more, and one who is there again loses nothing.
     */
    async eraseHealthData({ userId, clientUserId }: DeletedUser): Promise<'erased' | 'present'> {
      return asFailures('DeletionRefused', async () => {
        if (await isThere(service, userId)) return 'present';
        const ids = clientUserId === undefined ? {} : { clientUserId };
        await withStore(workerStore, async (store) => {
          await store.deleteUserData(userId, { ...ids, workIds: await workIdsOf(temporal, userId) });
        });
        return 'erased';
      });
    },
  };
}
