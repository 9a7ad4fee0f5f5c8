import type { ConnectionQuery } from '../../activities/link/connections.js';
import { activities } from '../activity-options.js';
import { timeOf } from '../entity/loop-timer.js';
import { refusalOf } from '../entity/commands.js';
import { type Link, sourceSlug, recordConnection, recordNoAnswer } from './link.js';
import { omitNullish } from '../../protocol/json-object.js';

/** The facts that distinguish the link's own connection from an older one. */
export function connectionQueryOf(link: Link): ConnectionQuery {
  const { userId, filterOnProviders, connectionsBefore } = link;
  const slug = sourceSlug(link);
  const oneOf = slug === undefined ? filterOnProviders : undefined;
  return omitNullish({ userId, sourceSlug: slug, oneOf, before: connectionsBefore });
}

/** Reads the user at the service: only what it shows there makes a link connected. */
export async function readConnection(link: Link): Promise<void> {
  const { claim, provider } = link;
  const sought = connectionQueryOf(link);
  try {
    const summary = `look for the connection with ${provider}`;
    const { notifies, ...connection } = await activities.findConnection.executeWithOptions({ summary }, [sought]);
    link.notifies ??= notifies;
    recordConnection(link, connection, claim, timeOf(link));
  } catch (error) {
    refusalOf(error);
    recordNoAnswer(link, claim, timeOf(link));
  }
}
