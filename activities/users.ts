import { ApplicationFailure } from '@temporalio/activity';
import { NotFound, RequestInvalid, ServiceRefused } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import { isScheduledForDeletion, type User } from '../service/users.js';
import type { ActivityDependencies } from './activities.js';
import { asFailures, failureOf } from './failures.js';

/** How a user stands at the service, without anything that says who it is. */
export interface UserStanding {
  standing: 'present' | 'scheduled' | 'unknown';
  /** Slugs of the connected sources, of a user that is present. */
  connections?: string[];
}

export interface UndoDeletion {
  userId: string;
  /** Where it is known: a new user who has taken it makes the undo impossible. */
  clientUserId?: string;
}

/** A user and its deletion. */
export function userActivities({ service }: Pick<ActivityDependencies, 'service'>) {
  return {
    async readUser(userId: string): Promise<UserStanding> {
      return asFailures('DeletionRefused', async () => {
        try {
          return { standing: 'present', connections: slugsOf(await service.users.get(userId)) };
        } catch (error) {
          if (error instanceof NotFound) return { standing: isScheduledForDeletion(error) ? 'scheduled' : 'unknown' };
          throw error;
        }
      });
    },

    /** An attempt whose answer was lost is answered "scheduled" the next time: what that means the workflow knows. */
    async scheduleDeletion(userId: string): Promise<'accepted' | 'scheduled' | 'unknown'> {
      return asFailures('DeletionRefused', async () => {
        try {
          await service.users.delete(userId);
          return 'accepted';
        } catch (error) {
          if (error instanceof NotFound) return isScheduledForDeletion(error) ? 'scheduled' : 'unknown';
          throw error;
        }
      });
    },

    /** The user is read first: an earlier attempt whose answer was lost has restored it already when it is there. */
    async undoDeletion(deleted: UndoDeletion): Promise<void> {
      await asFailures('UndoRefused', async () => {
        if (await isThere(service, deleted.userId)) return;
        if (await isTaken(service, deleted)) throw undoImpossible();
        try {
          await service.users.undoDelete({ userId: deleted.userId });
        } catch (error) {
          if (!(error instanceof ServiceRefused)) throw error;
          throw saysTaken(error) ? undoImpossible() : failureOf(error, 'UndoRefused');
        }
      });
    },
  };
}

function slugsOf({ connected_sources: connected }: User): string[] {
  const slugs = (connected ?? []).map(({ source }) => source?.slug ?? source?.provider);
  return [...new Set(slugs.filter((slug) => slug != null && slug !== ''))] as string[];
}

async function isThere(service: LabService, userId: string): Promise<boolean> {
  try {
    await service.users.get(userId);
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

/** Whether the customer's own reference leads to another user by now. */
async function isTaken(service: LabService, { userId, clientUserId }: UndoDeletion): Promise<boolean> {
  if (clientUserId === undefined) return false;
  try {
    return (await service.users.resolve(clientUserId)).user_id !== userId;
  } catch (error) {
    // A reference that cannot be looked up (`..` is one) is left to the service.
    if (error instanceof NotFound || error instanceof RequestInvalid) return false;
    throw error;
  }
}

/** What the service answers to an undo whose client_user_id is taken is not documented; a PATCH to a taken one gets 409. */
function saysTaken({ status, reason }: ServiceRefused): boolean {
  return status === 409 || /client.?user.?id/i.test(reason ?? '');
}

function undoImpossible(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    'The deletion cannot be undone: a new user has taken the same client_user_id',
    'UndoImpossible',
    { fields: [] },
  );
}
