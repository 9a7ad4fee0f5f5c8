import { clear, note, type Ending, type LinkCase } from './case.js';
import { doubt } from './claims.js';
import type { LinkOutcome, LinkState } from './messages.js';
import type { LinkNotification } from './notifications.js';

/** Nothing came in time. A lost webhook is only a slow one: the user may have connected unheard. */
export function endWait(kase: LinkCase, waitedFor: NonNullable<LinkState['waitedFor']>, now: number): void {
  // What went wrong on the way is not why it ends.
  delete kase.errorType;
  delete kase.consequence;
  doubt(kase, now);
  endUnlessConnected(kase, { outcome: 'expired', waitedFor }, now);
}

/** A connection that may have been made all the same is looked for before the link is given up. */
export function endUnlessConnected(kase: LinkCase, ending: Omit<Ending, 'since'>, now: number): void {
  kase.ending ??= { ...ending, since: now };
  if (!kase.claim) carryOutEnding(kase, now);
}

/** The service shows no connection, or has not answered for as long as anybody waits. */
export function carryOutEnding(kase: LinkCase, now: number): void {
  if (!kase.ending) return;
  const { outcome, waitedFor } = kase.ending;
  if (waitedFor !== undefined) kase.waitedFor = waitedFor;
  end(kase, outcome, now);
}

/** From here on nothing is waited for but the product being told. Secrets are not kept longer than they are needed. */
export function end(kase: LinkCase, outcome: LinkOutcome, now: number): void {
  kase.outcome = outcome;
  kase.phase = outcome;
  delete kase.token;
  delete kase.mfa;
  delete kase.claim;
  delete kase.ending;
  clear(kase, 'connection_unconfirmed');
  if (outcome === 'connected') {
    delete kase.errorType;
    delete kase.consequence;
  }
  note(kase, outcome, now);
  const { errorType, waitedFor } = kase;
  tell(kase, {
    ...head(kase, 'ended', now),
    type: 'ended',
    data: { outcome, ...(errorType !== undefined && { errorType }), ...(waitedFor !== undefined && { waitedFor }) },
  });
}

export function remind(kase: LinkCase, until: number, now: number): void {
  kase.reminded = true;
  note(kase, 'reminded of the code', now);
  const data = { until: new Date(until).toISOString() };
  tell(kase, { ...head(kase, 'code_reminder', now), type: 'code_reminder', data });
}

function tell(kase: LinkCase, notification: LinkNotification): void {
  if (kase.notifies !== false) kase.outbox = [...kase.outbox, notification];
}

function head({ userId, provider, startedAt }: LinkCase, type: string, now: number): { id: string; at: string } {
  const started = new Date(startedAt).toISOString();
  return { id: `${userId}/${provider}/${started}/${type}`, at: new Date(now).toISOString() };
}
