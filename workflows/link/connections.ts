import { awaitPassword, note, raise, type Claim, type LinkCase } from './case.js';
import { carryOutEnding, end } from './ending.js';

export type Found = 'new' | 'older' | 'none';

/**
 * What the service shows of the user's connections.
 * @param asked the claim that was looked into: one that came in meanwhile is looked into next
 */
export function hearConnection(
  kase: LinkCase,
  { found, createdAt }: { found: Found; createdAt?: string },
  asked: Claim | undefined,
  now: number,
): void {
  if (found === 'new') {
    if (createdAt !== undefined) kase.connectedAt = createdAt;
    return end(kase, 'connected', now);
  }
  if (!asked || kase.claim !== asked) return;
  const isOver = asked.by === 'doubt' || now >= asked.at + kase.policy.confirmationWait;
  // The service may take its time to show what it has reported.
  if (isOver) drop(kase, asked, now);
  else kase.claim = readAgain(asked);
}

function readAgain({ by, at, reads }: Claim): Claim {
  return { by, at, reads: reads + 1 };
}

/** Longer than the service's usual outages; then a link ends by what is known of it here. */
const longestOutage = 24 * 60 * 60_000;

/** The service could not be asked: that is no evidence either way, so the claim stands, and is read again later. */
export function hearNoAnswer(kase: LinkCase, asked: Claim | undefined, now: number): void {
  if (kase.ending && now >= kase.ending.since + longestOutage) return carryOutEnding(kase, now);
  if (asked && kase.claim === asked) kase.claim = { ...readAgain(asked), at: now, unanswered: true };
}

function drop(kase: LinkCase, { by }: Claim, now: number): void {
  delete kase.claim;
  if (kase.ending) return carryOutEnding(kase, now);
  if (by !== 'success') return note(kase, 'no new connection at the service', now);
  note(kase, 'the service does not show the connection that it reported', now);
  raise(kase, 'connection_unconfirmed');
  // The user may have begun another login meanwhile, which goes on.
  if (kase.phase !== 'confirming') return;
  delete kase.token;
  awaitPassword(kase, now);
}
