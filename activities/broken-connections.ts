import { ApplicationFailure } from '@temporalio/activity';
import { ServiceError } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import { utcInstant } from '../service/timestamps.js';
import { isScheduledForDeletion } from '../service/users.js';
import { isSameSource } from '../protocol/link/provider-source.js';
import type { Notification } from '../protocol/notifications.js';

export const connectionUnsettledType = 'ConnectionUnsettled';

/** The read is short: it delays a delivery. */
const readTimeoutMs = 10_000;

/** Assumed: for this long after a break, the service may still show the connection as working. */
const settlingMs = 60_000;

/**
 * True if the notification reports a broken connection that works again, because the user has linked the provider again in the
 * meantime, or one that the service ended because the user is deleted. If the service gives no clear answer, the notification is sent.
 *
 * @throws ApplicationFailure if the service shows no error just after the break: it is read again a minute after the break
 */
export async function isOutdated(
  service: LabService,
  { type, at, data: { userId, provider } }: Notification,
): Promise<boolean> {
  if (type !== 'link.connection_error' || typeof userId !== 'string' || typeof provider !== 'string') return false;
  const connectedAt = await connectedSince(service.providers, userId, provider);
  if (connectedAt === undefined) return false;
  if (connectedAt === 'deleted') return true;
  const brokenAt = Date.parse(at);
  const untilSettled = brokenAt + settlingMs - Date.now();
  if (connectedAt > brokenAt || untilSettled <= 0) return true;
  throw ApplicationFailure.create({
    message:
      'The service does not show the error of a connection that has just broken. The connection is read again in a minute',
    type: connectionUnsettledType,
    nonRetryable: false,
    nextRetryDelay: untilSettled,
  });
}

/**
 * When the user's connection with the provider was made, in milliseconds since the epoch, or 0 if the service does not say.
 * Undefined if there is none, if one of them is broken, and without an answer; `deleted` if the user's deletion ended it.
 */
async function connectedSince(
  providers: LabService['providers'],
  userId: string,
  provider: string,
): Promise<number | 'deleted' | undefined> {
  try {
    const connections = await providers.connectionsOf(userId, { timeoutMs: readTimeoutMs });
    const same = connections.filter(({ slug }) => isSameSource(provider, slug));
    if (same.length === 0 || same.some(({ status }) => status !== 'connected')) return undefined;
    return Math.max(...same.map(({ created_on: createdOn }) => Date.parse(utcInstant(createdOn) ?? '') || 0));
  } catch (error) {
    if (isScheduledForDeletion(error)) return 'deleted';
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
