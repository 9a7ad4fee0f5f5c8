import { ApplicationFailure } from '@temporalio/activity';
import { NotFound, ServiceError, ServiceRefused, TooManyRequests } from '../../service/errors.js';
import type { CallOptions } from '../../service/http/calls.js';
import type { LabService } from '../../service/lab-service.js';
import { isScheduledForDeletion, isStatedUnknown, type User } from '../../service/users.js';
import { deletionRequestMs } from '../../protocol/settling.js';
import type { ActivityDependencies } from '../dependencies.js';
import { attemptDueAt, endingWithActivity, heartbeating, isFirstOfActivity } from '../attempt.js';
import { asFailures, failureOf } from '../failures.js';

/** A user's state at the service, without anything personal. */
export interface UserStanding {
  standing: 'present' | 'scheduled' | 'unknown';
  /** Slugs of the connected sources, of a user that is present. */
  connections?: string[];
  /** With `unknown`: the answer is not the service's own, so it may come from a proxy. */
  unsure?: true;
  /**
   * The deployment states that it stores no health data. Otherwise they must be erased when the user is gone for good.
   */
  keepsNoHealthData?: true;
}

export interface DeletedUser {
  userId: string;
  /**
   * If known. A new user who has taken it makes the undo impossible, and it finds rejected events that contain no other
   * id of the user.
   */
  clientUserId?: string;
}

export interface UndoDeletion extends DeletedUser {
  /** The time from which a read shows what was sent, in milliseconds since the epoch; absent if nothing was sent. */
  readableAt?: number;
}

/** A user and its deletion. */
export function userActivities({ service, workerStore }: Pick<ActivityDependencies, 'service' | 'workerStore'>) {
  const keeping = workerStore === 'off' ? { keepsNoHealthData: true as const } : {};
  return {
    async readUser(userId: string): Promise<UserStanding> {
      return { ...(await userStandingAt(service, userId)), ...keeping };
    },

    /**
     * After a lost answer, the next attempt is answered "scheduled": the workflow knows what that means.
     * @returns `atLast` if an attempt before the one that was answered may still take effect
     */
    async scheduleDeletion(userId: string): Promise<Scheduling | { atLast: Scheduling }> {
      return asFailures('DeletionRefused', async () => {
        const answer = await schedule(service, userId);
        return isFirstOfActivity() ? answer : { atLast: answer };
      });
    },

    /**
     * The service decides, whatever a read would show: right after a deletion it may still show the user. A refused undo is a
     * success if the user is there: an earlier attempt whose answer was lost, or somebody else, has restored the user, or the user was
     * never deleted.
     * @returns `present` if the user is there, and no attempt restored them
     */
    async undoDeletion(deleted: UndoDeletion): Promise<'undone' | 'present'> {
      return asFailures('UndoRefused', () => endingWithActivity((options) => undo(service, deleted, options)));
    },
  };
}

export async function userStandingAt(service: LabService, userId: string): Promise<UserStanding> {
  return asFailures('DeletionRefused', async () => {
    try {
      return { standing: 'present', connections: slugsOf(await service.users.get(userId)) };
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      if (isScheduledForDeletion(error)) return { standing: 'scheduled' };
      return { standing: 'unknown', ...(!isStatedUnknown(error) && { unsure: true }) };
    }
  });
}

/** The service's answer to the request of a deletion. */
type Scheduling = 'accepted' | 'scheduled' | 'unknown';

async function schedule(service: LabService, userId: string): Promise<Scheduling> {
  try {
    // Not ended with its activity: a withdrawal waits until the request can no longer arrive.
    await heartbeating(() => service.users.delete(userId, { timeoutMs: deletionRequestMs }));
    return 'accepted';
  } catch (error) {
    if (error instanceof NotFound) return isScheduledForDeletion(error) ? 'scheduled' : 'unknown';
    throw error;
  }
}

async function undo(service: LabService, deleted: UndoDeletion, options: CallOptions): Promise<'undone' | 'present'> {
  try {
    await service.users.undoDelete({ userId: deleted.userId }, options);
    return 'undone';
  } catch (error) {
    if (!(error instanceof ServiceRefused) || error instanceof TooManyRequests) throw error;
    if (await isThere(service, deleted.userId, options).catch(rethrowIfTransient)) {
      requireReadable(deleted);
      return isFirstOfActivity() ? 'present' : 'undone';
    }
    throw failureOf(error, 'UndoRefused');
  }
}

/** A read that may be older than the deletion shows nothing: the next attempt reads again. */
function requireReadable({ readableAt = 0 }: UndoDeletion): void {
  const left = readableAt - attemptDueAt();
  if (left <= 0) return;
  throw ApplicationFailure.create({
    message: 'The service refused the undo, and reads may not show the deletion yet',
    type: 'AnswerUnreadable',
    nonRetryable: false,
    nextRetryDelay: left,
  });
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

/** A refused undo is not final while an earlier attempt may have restored the user: it is retried. */
function rethrowIfTransient(error: unknown): undefined {
  if (!(error instanceof ServiceError)) throw error;
  if (!(error instanceof ServiceRefused) || error instanceof TooManyRequests) throw error;
}
