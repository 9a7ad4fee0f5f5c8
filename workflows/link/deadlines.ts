import { atOnce, isDue, timeOf, type Moment } from '../entity/loop-timer.js';
import { type Link, confirmAt, endWait, remind, sourceSlug, recordConnection, recordNoAnswer } from './link.js';
import type { ConnectionQuery } from '../../activities/link/connections.js';
import { activities } from '../activity-options.js';
import { refusalOf } from '../entity/commands.js';
import { omitNullish } from '../../protocol/json.js';

/** The times by which something should have been reported: `deadlinesOf` derives them from what happened and from the policy (`protocol/link/policy.ts`), without a clock. When a code, a password or the link itself is over: `endWait` in `link.ts`. */
type LinkDeadline = Moment & { name: 'confirmation' | 'code reminder' | 'password' | 'code' | 'link' };

/** The earliest first. */
export function deadlinesOf(link: Link): LinkDeadline[] {
  if (link.outcome !== undefined) return [];
  const confirming = confirmAt(link);
  // Only the service's answer is waited for any more.
  if (link.ending) return [{ name: 'confirmation', at: confirming ?? atOnce }];
  const { policy, phase, since, startedAt } = link;
  const found: LinkDeadline[] = [{ name: 'link', at: startedAt + policy.totalWait }];
  if (confirming !== undefined) found.push({ name: 'confirmation', at: confirming });
  if (phase === 'awaiting_password') found.push({ name: 'password', at: since + policy.passwordWait });
  if (phase === 'awaiting_code') {
    found.push({ name: 'code', at: since + policy.codeWait });
    const reminderAt = since + policy.codeReminder;
    if (!link.reminded && policy.codeReminder < policy.codeWait) found.push({ name: 'code reminder', at: reminderAt });
  }
  return found.toSorted((a, b) => a.at - b.at);
}

/** The time until which the user may act, in milliseconds since the epoch. */
export function waitingUntil(link: Link): number | undefined {
  return deadlinesOf(link).find(({ name }) => name !== 'code reminder' && name !== 'confirmation')?.at;
}

/** Acts on what is due. */
export async function handlePassedDeadlines(link: Link): Promise<void> {
  for (;;) {
    const due = deadlinesOf(link).find(({ at }) => isDue(link, at));
    if (!due) return;
    await handleDeadline(link, due);
  }
}

async function handleDeadline(link: Link, { name }: LinkDeadline): Promise<void> {
  switch (name) {
    case 'confirmation':
      return readConnection(link);
    case 'code reminder':
      return remind(link, waitingUntil(link) ?? timeOf(link), timeOf(link));
    case 'password':
    case 'code':
    case 'link':
      endWait(link, name, timeOf(link));
      return readConnection(link);
    default:
      return name satisfies never;
  }
}

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
