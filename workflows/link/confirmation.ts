import { refusalOf } from '../command-queue.js';
import { looking } from '../proxies.js';
import { sourceSlug, type LinkCase } from './case.js';
import { oldestOwn } from './claims.js';
import { hearConnection, hearNoAnswer } from './connections.js';

/** What is needed to tell the link's own connection from an older one. */
export function soughtBy(kase: LinkCase, afterSuccess: boolean): { userId: string; sourceSlug: string; since: number } {
  return { userId: kase.userId, sourceSlug: sourceSlug(kase), since: oldestOwn(kase, afterSuccess) };
}

/** Reads the user at the service: only what it shows there makes a link connected. */
export async function readConnection(kase: LinkCase): Promise<void> {
  const { claim, provider } = kase;
  const sought = soughtBy(kase, claim?.by === 'success');
  try {
    const summary = `look for the connection with ${provider}`;
    const { notifies, ...connection } = await looking.findConnection.executeWithOptions({ summary }, [sought]);
    kase.notifies = notifies;
    hearConnection(kase, connection, claim, Date.now());
  } catch (error) {
    refusalOf(error);
    hearNoAnswer(kase, claim, Date.now());
  }
}
