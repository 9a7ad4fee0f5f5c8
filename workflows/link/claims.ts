import { note, type LinkCase } from './case.js';

/* A claim says that a connection may have been made: only what the service shows of the user settles it. */

export function claimSuccess(kase: LinkCase, now: number): void {
  kase.phase = 'confirming';
  kase.since = now;
  delete kase.mfa;
  kase.claim = { by: 'success', at: now, reads: 0 };
  note(kase, 'success reported', now);
}

/**
 * It is not known what the service did: its truth is read before the user is asked again. A success or a webhook that is
 * looked into already is stronger: it is given its time to show.
 */
export function doubt(kase: LinkCase, now: number): void {
  kase.claim ??= { by: 'doubt', at: now, reads: 0 };
}

/** A webhook tells of a connection, perhaps of an older one; with a success it is evidence anew. */
export function hearWebhook(kase: LinkCase, now: number): void {
  note(kase, 'connection reported by webhook', now);
  kase.claim = { by: kase.claim?.by === 'success' ? 'success' : 'webhook', at: now, reads: 0 };
}

/**
 * A connection that is older than this cannot be the link's own, in milliseconds since the epoch. 0 takes any: where the
 * policy lets a reported success be confirmed by it.
 */
export function oldestOwn({ startedAt, policy }: LinkCase, afterSuccess: boolean): number {
  return afterSuccess && policy.confirmedBy === 'any' ? 0 : startedAt - policy.clockTolerance;
}

/** In an outage every link that waits asks: rarely enough that the service can come back. */
const longestPause = 15 * 60_000;

/** When the service is asked (again) whether it has the connection: at once, then at widening distance. */
export function confirmAt({ claim, policy }: LinkCase): number | undefined {
  if (!claim) return undefined;
  if (claim.reads === 0) return claim.at;
  const longest = claim.unanswered ? longestPause : policy.confirmationWait;
  return claim.at + Math.min(2_000 * 2 ** (claim.reads - 1), longest);
}
