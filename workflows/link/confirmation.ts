import { refusalOf } from '../command-queue.js';
import { reading } from '../proxies.js';
import { hearConnection, hearNoAnswer, newestOlder, sourceSlug, type LinkCase } from './case.js';

/** What is needed to tell the link's own connection from an older one. */
export function soughtBy(kase: LinkCase): { userId: string; sourceSlug: string; since: number } {
  return { userId: kase.userId, sourceSlug: sourceSlug(kase), since: newestOlder(kase) };
}

/** Reads the user at the service: only what it shows there makes a link connected. */
export async function readConnection(kase: LinkCase): Promise<void> {
  try {
    const summary = `look for the connection with ${kase.provider}`;
    const { found, createdAt } = await reading.findConnection.executeWithOptions({ summary }, [soughtBy(kase)]);
    hearConnection(kase, found, createdAt, Date.now());
  } catch (error) {
    // A user that the service does not show has no connection; anything else is an outage, and no answer.
    if (refusalOf(error).type === 'LinkRefused') hearConnection(kase, 'none', undefined, Date.now());
    else hearNoAnswer(kase, Date.now());
  }
}
