import { activityInfo, ApplicationFailure, log } from '@temporalio/activity';
import { LRUCache } from 'lru-cache';
import { NotFound, RequestInvalid, ServiceError, ServiceRefused, TooManyRequests } from '../../service/errors.js';
import type { Users } from '../../service/users.js';

/** The product's own reference for a user, which the service keeps as `client_user_id`. Undefined if it cannot be read. */
export type ClientUserIdOf = (userId: string) => Promise<string | undefined>;

/** A burst of notifications about a user costs one read. A changed `client_user_id` can be out of date for this long. */
const rememberedMs = 10 * 60_000;

/** An entry takes some 300 bytes, so all of them stay below 5 MB. */
const mostRemembered = 10_000;

/** The read is short: it delays a delivery. */
const readTimeoutMs = 5_000;

/** From this attempt of a delivery on, an outage of the service does not delay it any more. */
const attemptsForRead = 3;

interface Remembered {
  /** Absent if the service has none for this user. */
  clientUserId?: string;
}

/**
 * Reads `client_user_id`s for notifications and remembers them in memory. They are never stored: they may be personal.
 *
 * @param now milliseconds of a clock that never goes back
 */
export function createClientUserIds(
  users: Pick<Users, 'get'>,
  now: () => number = () => performance.now(),
): ClientUserIdOf {
  const remembered = new LRUCache<string, Remembered>({
    max: mostRemembered,
    ttl: rememberedMs,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: async (userId) => {
      const { client_user_id: clientUserId } = await users.get(userId, { timeoutMs: readTimeoutMs });
      return clientUserId == null ? {} : { clientUserId };
    },
  });
  return async (userId) => {
    try {
      return (await remembered.fetch(userId))?.clientUserId;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return withoutIt(error);
    }
  };
}

/**
 * A refusal is final, and an outage delays a notification for seconds only.
 *
 * @throws ApplicationFailure as long as the next attempt of the delivery may read it. It names no time for that attempt: a
 * service that asks for a long pause must not delay the delivery.
 */
function withoutIt(error: ServiceError): undefined {
  // A user who was deleted, or is about to be.
  if (error instanceof NotFound) return undefined;
  const { name, message } = error;
  const isRefused = error instanceof ServiceRefused && !(error instanceof TooManyRequests);
  const isFinal = isRefused || error instanceof RequestInvalid;
  if (!isFinal && activityInfo().attempt < attemptsForRead) {
    throw ApplicationFailure.create({ message, type: name, nonRetryable: false, cause: error });
  }
  log.warn('the client_user_id could not be read: the notification is sent without it', { name, message });
  return undefined;
}
