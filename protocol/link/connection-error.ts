import { linkProviderId } from '../ids.js';
import { canonicalId } from '../../service/canonical-id.js';
import type { Notification } from '../notifications/notifications.js';
import { wordOf } from './link-report.js';
import type { LinkNotification } from './notifications.js';
import { sourceSlugOf } from './provider-source.js';

/** A webhook's news that a connection broke. */
interface ConnectionError {
  userId: string;
  /** As the service names it: the product passes the name on in the user's next link. */
  provider: string;
  /** The service's error type, as it was sent; older bodies have none. */
  errorType: unknown;
  /** The same for every delivery of one webhook. */
  messageId: string;
  /** When the connection broke, if the webhook says so, else when it was received; ISO 8601 in UTC. */
  at: string;
}

/**
 * The notification about a connection that broke, normally long after its link has ended. It leaves out the webhook's texts,
 * which may quote a person; `lab.links.connections` has them.
 */
export function connectionErrorNotification({ errorType, messageId, at, ...of }: ConnectionError): Notification {
  const [userId, provider] = [canonicalId(of.userId), of.provider];
  const known = wordOf(errorType);
  const { id, type, data } = {
    id: `${userId}/${sourceSlugOf(provider)}/${messageId}/connection_error`,
    at,
    type: 'connection_error',
    data: { ...(known !== undefined && { errorType: known }) },
  } satisfies LinkNotification;
  const source = linkProviderId(userId, provider);
  return {
    id,
    at,
    source,
    type: `link.${type}`,
    subject: userId,
    data: { userId, provider, ...data },
    dropIfOff: true,
  };
}
