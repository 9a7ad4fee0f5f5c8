import { ApplicationFailure } from '@temporalio/activity';
import { AnswerUnreadable, NotFound, ServiceError, ServiceRefused, TooManyRequests } from '../service/errors.js';
import type { CallOptions } from '../service/http.js';
import type { LabService } from '../service/lab-service.js';
import { isScheduledForDeletion, isStatedUnknown, type User } from '../service/users.js';
import type { ActivityDependencies } from './activities.js';
import { endingWithActivity, heartbeating } from './attempt.js';
import { asFailures, failureOf } from './failures.js';

/** How a user stands at the service, without anything that says who it is. */
export interface UserStanding {
  standing: 'present' | 'scheduled' | 'unknown';
  /** Slugs of the connected sources, of a user that is present. */
  connections?: string[];
  /** With `unknown`: the service did not say so in its own words, so that the answer may be somebody else's. */
  unsure?: true;
  /** The deployment keeps no health data on purpose. Else they have to be erased when the user is gone for good. */
  keepsNoHealthData?: true;
}

export interface DeletedUser {
  userId: string;
  /**
   * Where it is known. A new user who has taken it makes the undo impossible; and rejected events that name nothing else
   * of the user are found by it.
   */
  clientUserId?: string;
}

/** A user and its deletion. */
export function userActivities({ service, workerStore }: Pick<ActivityDependencies, 'service' | 'workerStore'>) {
  const keeping = workerStore === 'off' ? { keepsNoHealthData: true as const } : {};
  return {
    async readUser(userId: string): Promise<UserStanding> {
      return asFailures('DeletionRefused', async () => {
        try {
          return { standing: 'present', connections: slugsOf(await service.users.get(userId)), ...keeping };
        } catch (error) {
          if (!(error instanceof NotFound)) throw error;
          if (isScheduledForDeletion(error)) return { standing: 'scheduled', ...keeping };
          return { standing: 'unknown', ...(!isStatedUnknown(error) && { unsure: true }), ...keeping };
        }
      });
    },

    /** An attempt whose answer was lost is answered "scheduled" the next time: what that means the workflow knows. */
    async scheduleDeletion(userId: string): Promise<'accepted' | 'scheduled' | 'unknown'> {
      return asFailures('DeletionRefused', async () => {
        try {
          // Not ended with its activity: a withdrawal waits until the request can no longer arrive.
          await heartbeating(() => service.users.delete(userId));
          return 'accepted';
        } catch (error) {
          if (error instanceof NotFound) return isScheduledForDeletion(error) ? 'scheduled' : 'unknown';
          throw error;
        }
      });
    },

    /**
     * The user is read first: an earlier attempt whose answer was lost has restored it already when it is there. That
     * alone spares the undo; whatever else the reads say or fail with, it is the service that decides. A refusal of one
     * that an earlier attempt has carried out is success too.
     */
    async undoDeletion(deleted: DeletedUser): Promise<void> {
      await asFailures('UndoRefused', () => endingWithActivity((options) => undo(service, deleted, options)));
    },
  };
}

async function undo(service: LabService, deleted: DeletedUser, options: CallOptions): Promise<void> {
  if (await isThere(service, deleted.userId, options).catch(unlessUnexpected)) return;
  try {
    await service.users.undoDelete({ userId: deleted.userId }, options);
  } catch (error) {
    if (!(error instanceof ServiceRefused) || error instanceof TooManyRequests) throw error;
    if (await isThere(service, deleted.userId, options).catch(unlessPassing)) return;
    const isTaken = isTakenReason(error) || (await isTakenByNow(service, deleted, options).catch(unlessUnexpected));
    throw isTaken === true ? undoImpossible() : failureOf(error, 'UndoRefused');
  }
}

function slugsOf({ connected_sources: connected }: User): string[] {
  const slugs = (connected ?? []).map(({ source }) => source?.slug ?? source?.provider);
  return [...new Set(slugs.filter((slug) => slug != null && slug !== ''))] as string[];
}

export async function isThere(service: LabService, userId: string, options?: CallOptions): Promise<boolean> {
  try {
    await service.users.get(userId, options);
    return true;
  } catch (error) {
    if (error instanceof NotFound) return false;
    throw error;
  }
}

/** Whether the customer's own reference leads to another user by now: a reason that the service need not give. */
async function isTakenByNow(
  service: LabService,
  { userId, clientUserId }: DeletedUser,
  options: CallOptions,
): Promise<boolean> {
  if (clientUserId === undefined) return false;
  return (await service.users.resolve(clientUserId, options)).user_id.toLowerCase() !== userId.toLowerCase();
}

/** A look that the service does not answer says nothing. */
function unlessUnexpected(error: unknown): undefined {
  if (!(error instanceof ServiceError)) throw error;
}

/** A refused undo is no refusal while it is open whether an earlier attempt has restored the user: it is tried again. */
function unlessPassing(error: unknown): undefined {
  if (!(error instanceof ServiceError)) throw error;
  const isPassing = !(error instanceof ServiceRefused) || error instanceof TooManyRequests;
  if (isPassing && !(error instanceof AnswerUnreadable)) throw error;
}

/** What the service answers to an undo whose client_user_id is taken is not documented; a PATCH to a taken one gets 409. */
function isTakenReason({ status, reason }: ServiceRefused): boolean {
  return status === 409 || /client.?user.?id/i.test(reason ?? '');
}

function undoImpossible(): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    'The deletion cannot be undone: a new user has taken the same client_user_id',
    'UndoImpossible',
    { fields: [] },
  );
}
