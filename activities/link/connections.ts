import type { LabService } from '../../service/lab-service.js';
import { utcInstant } from '../../service/timestamps.js';
import { isScheduledForDeletion, isStatedUnknown, type User } from '../../service/users.js';
import { lowerWordOf } from '../../service/word.js';
import { compareText } from '../../protocol/json.js';
import { omitNullish } from '../../service/json-object.js';
import { anyZone, isAhead } from '../../protocol/time.js';
import { attemptDueAt } from '../attempt.js';
import { isSameSource } from '../../protocol/link/provider-source.js';
import { ServiceError } from '../../service/errors.js';
import type { Notification } from '../../protocol/notifications/delivery.js';

/** A connection, as far as it can be recognised. */
export interface KnownConnection {
  slug?: string;
  /** As in `ConnectionFound`. */
  createdAt?: string;
}

/** A connection of a user with a source. */
export interface ConnectionQuery {
  userId: string;
  /** The source that the connection must be of. Absent: any. */
  sourceSlug?: string;
  /** The providers that the connection may be of. Absent: any. */
  oneOf?: readonly string[];
  /** The connections from before the link's first token. Absent: no token yet, so no connection is its own. */
  before?: readonly KnownConnection[];
}

export interface ConnectionFound {
  found: 'new' | 'older' | 'none';
  /** When it was made, as the service writes it. */
  createdAt?: string;
  /** Its source. */
  slug?: string;
}

/** Reads are short: one delays a delivery; the other is repeated by its caller, and must not discard a success. */
const readTimeoutMs = 10_000;

/**
 * Finds the latest of the user's connections that the query means, if possible a new one: with another slug or date than any before.
 * Only a different date counts, not a later one: it may be missing, local without its zone, or wrong.
 */
export async function findConnection(
  service: LabService,
  { userId, before, ...query }: ConnectionQuery,
): Promise<ConnectionFound> {
  const user = await readIfKnown(service, userId);
  const connections = user ? connectionsWith(user, query) : [];
  const isOld = ({ slug, createdAt }: KnownConnection) =>
    !before || before.some((known) => known.slug === slug && known.createdAt === createdAt);
  const fresh = connections.filter((connection) => !isOld(connection));
  const last = (fresh.length > 0 ? fresh : connections)
    .map(withoutFuture)
    .toSorted((one, other) => compareText(one.createdAt ?? '', other.createdAt ?? ''))
    .at(-1);
  return last ? { found: fresh.length > 0 ? 'new' : 'older', ...last } : { found: 'none' };
}

/** A time further ahead than any zone was written by a clock that is wrong, and dates nothing. */
function withoutFuture({ createdAt, ...connection }: KnownConnection): KnownConnection {
  return createdAt === undefined || isAhead(createdAt, attemptDueAt() + anyZone)
    ? connection
    : { createdAt, ...connection };
}

/** All of the user's connections as they are now. */
export async function connectionsOf(service: LabService, userId: string): Promise<KnownConnection[]> {
  const user = await readIfKnown(service, userId);
  return user ? connectionsWith(user, {}) : [];
}

async function readIfKnown(service: LabService, userId: string): Promise<User | undefined> {
  try {
    return await service.users.get(userId, { timeoutMs: readTimeoutMs });
  } catch (error) {
    // A 404 with another message is not the service's own, and says as little about the connection as an outage.
    if (isStatedUnknown(error) || isScheduledForDeletion(error)) return undefined;
    throw error;
  }
}

function connectionsWith(
  { connected_sources: connected }: User,
  { sourceSlug, oneOf }: Pick<ConnectionQuery, 'sourceSlug' | 'oneOf'>,
): KnownConnection[] {
  const sought = sourceSlug === undefined ? oneOf : [sourceSlug];
  return (connected ?? []).flatMap(({ source, created_on: createdOn }) => {
    const names = [source?.slug, source?.provider].filter((name) => name != null);
    if (sought && !sought.some((slug) => names.some((name) => isSameSource(slug, name)))) return [];
    return [omitNullish({ createdAt: utcInstant(createdOn), slug: names[0] })];
  });
}

/**
 * True if the notification reports a broken connection that works again, because the user has linked the provider again in the
 * meantime, or one of a user who is deleted or gone. If the service gives no clear answer, the notification is sent.
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
 * Undefined if there is none, if one of them is broken, and without an answer; `deleted` if the user is deleted, or not known any more.
 */
async function connectedSince(
  providers: LabService['providers'],
  userId: string,
  provider: string,
): Promise<number | 'deleted' | undefined> {
  try {
    const connections = await providers.connectionsOf(userId, { timeoutMs: readTimeoutMs });
    const same = connections.filter(({ slug }) => isSameSource(provider, slug));
    if (same.length === 0 || same.some(({ status }) => lowerWordOf(status ?? '') !== 'connected')) return undefined;
    return Math.max(...same.map(({ created_on: createdOn }) => Date.parse(utcInstant(createdOn) ?? '') || 0));
  } catch (error) {
    if (isScheduledForDeletion(error) || isStatedUnknown(error)) return 'deleted';
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
