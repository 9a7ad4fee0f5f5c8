import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { canonicalId } from '../../service/canonical-id.js';
import { NotFound } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import { isScheduledForDeletion, isStatedUnknown } from '../../service/users.js';
import type { ActivityDependencies } from '../dependencies.js';
import { heartbeating } from '../attempt.js';
import { asFailures } from '../failures.js';
import { withStore } from '../worker-store.js';
import { isThere, type DeletedUser } from './users.js';
import { workIdsOf } from './work-ids.js';

/**
 * True if the product has given the reference to another user since: what names only the reference may be about that user. The first
 * 404 that is not the service's own answer proves nothing.
 */
async function isAnothers(service: LabService, userId: string, clientUserId: string): Promise<boolean> {
  try {
    return canonicalId((await service.users.resolve(clientUserId)).user_id) !== canonicalId(userId);
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    if (!isStatedUnknown(error) && !isScheduledForDeletion(error) && activityInfo().attempt === 1) throw askedAgain();
    return false;
  }
}

function askedAgain(): ApplicationFailure {
  return ApplicationFailure.create({
    message: 'A 404 to the read by client_user_id may not be the lab service’s own answer',
    type: 'AnswerUnreadable',
    nonRetryable: false,
    nextRetryDelay: '10 minutes',
  });
}

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
        const ids =
          clientUserId === undefined || (await isAnothers(service, userId, clientUserId)) ? {} : { clientUserId };
        await withStore(workerStore, async (store) => {
          await store.deleteUserData(userId, { ...ids, workIds: await workIdsOf(temporal, userId) });
        });
        return 'erased';
      };
      return asFailures('DeletionRefused', () => heartbeating(erase));
    },
  };
}
