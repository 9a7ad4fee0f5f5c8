import { ApplicationFailure, activityInfo, log } from '@temporalio/activity';
import { LRUCache } from 'lru-cache';
import { ServiceError, ServiceRefused, TooManyRequests, NotFound, RequestInvalid } from '../../service/errors.js';
import type { LabService } from '../../service/lab-service.js';
import type { CloudEvent, PortalLinkData } from '../../protocol/notifications/events.js';
import type { Notification } from '../../protocol/notifications/delivery.js';
import { callMs } from './sender.js';
import type { Users } from '../../service/users.js';

/** From this attempt on a reminder is sent without its link: a link that cannot be made must not delay results. */
const attemptsForLink = 5;

/** A receiver that is down costs one link in this time instead of one for each attempt. Links live for weeks. */
const linkMs = 6 * 60 * 60_000;

/** An entry takes less than a kilobyte, so all of them stay below 1 MB. */
const mostLinks = 1_000;

/** The sources of what is not in the workflow's notification: it is looked up when the notification is sent, and not stored. */
export interface EventSources {
  service: LabService;
  /** Links of notifications that have not arrived yet, by their ids: in memory only. */
  links: LRUCache<string, MadeLink>;
  /** Absent if notifications carry no `client_user_id`. */
  clientUserIdOf?: ClientUserIdOf;
}

export function eventSources(service: LabService, namesClientUser: boolean): EventSources {
  return {
    service,
    links: new LRUCache({ max: mostLinks, ttl: linkMs }),
    ...(namesClientUser && { clientUserIdOf: createClientUserIds(service.users) }),
  };
}

/** The event of a notification, with what is not in the workflow: the user's own reference and the portal link. */
export async function eventOf(sources: EventSources, notification: Notification): Promise<CloudEvent> {
  const { clientUserIdOf } = sources;
  const { id, at, source, type, subject, data, portalLink } = notification;
  return {
    specversion: '1.0',
    id,
    source,
    type: `labops.${type}`,
    subject,
    time: at,
    datacontenttype: 'application/json',
    data: {
      ...snakeCased(data),
      ...(clientUserIdOf && (await clientUserOf(clientUserIdOf, data['userId']))),
      ...(portalLink && (await linkTo(sources, id, portalLink))),
    },
  };
}

async function clientUserOf(clientUserIdOf: ClientUserIdOf, userId: unknown): Promise<{ client_user_id?: string }> {
  const clientUserId = typeof userId === 'string' ? await clientUserIdOf(userId) : undefined;
  return clientUserId === undefined ? {} : { client_user_id: clientUserId };
}

interface MadeLink {
  url: string;
  /** Milliseconds since the epoch. */
  endsAt: number;
}

/**
 * A link is a credential: it is made when it is sent and never stored, only remembered for the next attempts. For a user without demographics, or a team
 * without the portal, the reminder has no link but states the reason.
 */
async function linkTo(
  { service, links }: EventSources,
  id: string,
  { userId, orderId }: { userId: string; orderId: string },
): Promise<PortalLinkData> {
  const made = links.get(id);
  if (made) return sentLink(made);
  try {
    const request = { context: 'communications', orderId };
    const { url, expires_in: life } = await service.portal.createUrl(userId, request, { timeoutMs: callMs });
    const link = { url, endsAt: Date.now() + life * 1000 };
    // Nobody could use a link at the end of its life.
    links.set(id, link, { ttl: Math.min(linkMs, Math.max(1, life * 500)) });
    return sentLink(link);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { name, message } = error;
    const isFinal = error instanceof ServiceRefused && !(error instanceof TooManyRequests);
    // A pause that the service asks for must not delay what waits behind the reminder.
    if (!isFinal && activityInfo().attempt < attemptsForLink) throw ApplicationFailure.retryable(message, name);
    return { portal_url: null, portal_url_refused: name };
  }
}

function sentLink({ url, endsAt }: MadeLink): PortalLinkData {
  return { portal_url: url, portal_url_expires_in: Math.round((endsAt - Date.now()) / 1000) };
}

/** Converts the names as the types of protocol/notifications/events.ts do. */
function snakeCased(data: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
      value,
    ]),
  );
}

/** The product's own reference for a user, which the service keeps as `client_user_id`. Undefined if it cannot be read. */
type ClientUserIdOf = (userId: string) => Promise<string | undefined>;

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
