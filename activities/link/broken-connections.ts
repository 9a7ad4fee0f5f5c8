import { ServiceError } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import { utcInstant } from '../../service/timestamps.js';
import { isScheduledForDeletion } from '../../service/users.js';
import { isSameSource } from '../../protocol/link/provider-source.js';
import type { Notification } from '../../protocol/notifications/notifications.js';

/** The read is short: it delays a delivery. */
const readTimeoutMs = 10_000;

/**
 * True if the notification reports a broken connection that works again, because the user has linked the provider again in the
 * meantime, or one that the service ended because the user is deleted. If the service gives no clear answer, the notification is sent.
 */
export async function isOutdated(
  service: LabService,
  { type, at, data: { userId, provider } }: Notification,
): Promise<boolean> {
  if (type !== 'link.connection_error' || typeof userId !== 'string' || typeof provider !== 'string') return false;
  const connectedAt = await connectedSince(service.providers, userId, provider);
  // The date of the connection decides: a read may be older than the break.
  return connectedAt === 'deleted' || (connectedAt !== undefined && connectedAt > Date.parse(at));
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
