import { consequenceOf, isAboutToken } from './consequences.js';
import type {
  Consequence,
  LinkAttention,
  LinkEntry,
  LinkOptions,
  LinkOutcome,
  LinkPhase,
  LinkProviderInput,
  LinkReport,
  LinkState,
  ProviderMfa,
} from './messages.js';
import type { LinkNotification } from './notifications.js';
import { resolveLinkPolicy, type ResolvedLinkPolicy } from './policy.js';
import { sourceSlugOf } from './provider-source.js';

/**
 * Everything a link knows, and how each thing that happens changes it. Plain JSON without a clock: it goes through
 * continue-as-new as it is. Times are milliseconds since the epoch.
 */
export interface LinkCase {
  userId: string;
  provider: string;
  redirectUrl?: string;
  policy: ResolvedLinkPolicy;
  startedAt: number;
  phase: LinkPhase;
  /** When the present phase began to wait for the user: it counts anew when they are given something new. */
  since: number;
  token?: LinkTokenHeld;
  mfa?: ProviderMfa;
  wrongCodes: number;
  failedLogins: number;
  errorType?: string;
  consequence?: Consequence;
  /** A connection may have been made that nobody told us of for certain. */
  claim?: Claim;
  /** A wait is over, and the link ends with it unless the service, which has to say so, shows a connection. */
  ending?: { waitedFor: NonNullable<LinkState['waitedFor']>; since: number };
  reminded: boolean;
  attention: LinkAttention[];
  /** Whether the worker has a target for notifications. Known with the first token. */
  notifies?: boolean;
  outbox: LinkNotification[];
  journal: LinkEntry[];
  outcome?: LinkOutcome;
  waitedFor?: LinkState['waitedFor'];
  connectedAt?: string;
}

export interface LinkTokenHeld {
  token: string;
  url: string;
  expiresAt: number;
}

/** A connection that is to be found at the service. */
export interface Claim {
  /** `success`: the service said so; `doubt`: an answer was lost; `webhook`: it may be an older connection's. */
  by: 'success' | 'doubt' | 'webhook';
  at: number;
  /** How often it was looked for. */
  reads: number;
  /** The service did not answer the last time. */
  unanswered?: true;
}

const journalLength = 100;

export function openLink(input: LinkProviderInput, now: number): LinkCase {
  const { userId, provider, carried } = input;
  if (carried != null) return carried as LinkCase;
  return { userId, provider, ...begun(input, now) };
}

/** The link is wanted again though the one before has only just ended: what it still has to tell goes along. */
export function beginAgain(kase: LinkCase, options: LinkOptions, now: number): void {
  const { userId, provider, outbox, notifies } = kase;
  const again: LinkCase = { userId, provider, ...begun(options, now), outbox };
  for (const key of Object.keys(kase)) Reflect.deleteProperty(kase, key);
  Object.assign(kase, again, notifies !== undefined && { notifies });
}

function begun({ redirectUrl, policy }: LinkOptions, now: number): Omit<LinkCase, 'userId' | 'provider'> {
  return {
    ...(redirectUrl != null && { redirectUrl }),
    policy: resolveLinkPolicy(policy),
    startedAt: now,
    phase: 'awaiting_password',
    since: now,
    wrongCodes: 0,
    failedLogins: 0,
    reminded: false,
    attention: [],
    outbox: [],
    journal: [],
  };
}

export function sourceSlug({ provider }: LinkCase): string {
  return sourceSlugOf(provider);
}

/** A connection that is older than this cannot be the link's own. */
export function newestOlder({ startedAt, policy }: LinkCase): number {
  return policy.confirmedBy === 'any' ? 0 : startedAt - policy.clockTolerance;
}

export function hasUsableToken({ token }: LinkCase, now: number): boolean {
  return token !== undefined && now < token.expiresAt;
}

export function note(kase: LinkCase, what: string, now: number): void {
  kase.journal = [...kase.journal, { at: new Date(now).toISOString(), what }].slice(-journalLength);
}

/** A new token means a new login: what was asked of the user before no longer counts. */
export function giveToken(kase: LinkCase, held: LinkTokenHeld, now: number): void {
  const isFirst = kase.token === undefined;
  kase.token = held;
  delete kase.consequence;
  if (!isPrompt(kase, now)) awaitPassword(kase, now);
  note(kase, isFirst ? 'link made' : 'new link made', now);
}

/** The first link is asked for at once, and the timer of the start then serves it too: that spares one for each link. */
function isPrompt({ phase, since, startedAt }: LinkCase, now: number): boolean {
  return phase === 'awaiting_password' && since === startedAt && now < startedAt + 60_000;
}

function awaitPassword(kase: LinkCase, now: number): void {
  kase.phase = 'awaiting_password';
  kase.since = now;
  delete kase.mfa;
}

/** What the service answered to the password or the code. What it means for the connection is found out next. */
export function hearResult(kase: LinkCase, { state, errorType, providerMfa }: LinkReport, now: number): void {
  delete kase.errorType;
  delete kase.consequence;
  if (state === 'success') return claimSuccess(kase, now);
  if (state === 'pending_provider_mfa') return askForCode(kase, providerMfa ?? {}, now);
  if (state === 'error') return hearError(kase, errorType, now);
  kase.errorType = state;
  note(kase, `unknown state ${state}`, now);
  doubt(kase, now);
}

function claimSuccess(kase: LinkCase, now: number): void {
  kase.phase = 'confirming';
  kase.since = now;
  delete kase.mfa;
  kase.claim = { by: 'success', at: now, reads: 0 };
  note(kase, 'success reported', now);
}

function askForCode(kase: LinkCase, mfa: ProviderMfa, now: number): void {
  note(kase, `code asked${mfa.method === undefined ? '' : ` by ${mfa.method}`}`, now);
  kase.phase = 'awaiting_code';
  kase.since = now;
  kase.mfa = mfa;
}

function hearError(kase: LinkCase, errorType: string | undefined, now: number): void {
  const consequence = consequenceOf(errorType);
  kase.errorType = errorType ?? 'unknown';
  kase.consequence = consequence;
  note(kase, `error ${kase.errorType}`, now);
  if (consequence === 'ask_code_again') return hearWrongCode(kase, now);
  if (consequence === 'cancel') return end(kase, 'cancelled', now);
  if (consequence === 'give_up') return end(kase, 'failed', now);
  if (errorType === 'token_expired' && kase.policy.onTokenExpiry === 'end') return expire(kase, 'token', now);
  // That a token has ended is no failure of the user's.
  if (!isAboutToken(errorType)) kase.failedLogins += 1;
  if (kase.failedLogins >= kase.policy.maxPasswordAttempts) return end(kase, 'failed', now);
  // A token of which nothing good is known is not handed out again.
  if (consequence === 'start_over') delete kase.token;
  awaitPassword(kase, now);
}

/** A code came, but the login that it belongs to is lost with its token. */
export function loseToken(kase: LinkCase): void {
  kase.errorType = 'token_expired';
  kase.consequence = 'start_over';
}

function hearWrongCode(kase: LinkCase, now: number): void {
  kase.wrongCodes += 1;
  if (kase.wrongCodes >= kase.policy.maxCodeAttempts) return end(kase, 'failed', now);
  kase.phase = 'awaiting_code';
  kase.since = now;
  kase.mfa ??= {};
}

/** It is not known what the service did: its truth is read before the user is asked again. */
export function doubt(kase: LinkCase, now: number): void {
  if (kase.claim?.by !== 'success') kase.claim = { by: 'doubt', at: now, reads: 0 };
}

/** A webhook tells of a connection, perhaps of an older one. What is known better is not forgotten for it. */
export function hearWebhook(kase: LinkCase, now: number): void {
  note(kase, 'connection reported by webhook', now);
  kase.claim = kase.claim?.by === 'success' ? { ...kase.claim, reads: 0 } : { by: 'webhook', at: now, reads: 0 };
}

export type Found = 'new' | 'older' | 'none';

/** What the service shows of the user's connections. */
export function hearConnection(kase: LinkCase, found: Found, createdAt: string | undefined, now: number): void {
  if (found === 'new') {
    if (createdAt !== undefined) kase.connectedAt = createdAt;
    return end(kase, 'connected', now);
  }
  const { claim } = kase;
  if (!claim) return;
  const isOver = now >= claim.at + kase.policy.confirmationWait;
  // An older connection explains a webhook, and after a doubt the user is simply asked again.
  if (claim.by === 'success' && !isOver) kase.claim = again(claim);
  else if (claim.by === 'webhook' && found === 'none' && !isOver) kase.claim = again(claim);
  else drop(kase, claim, now);
}

function again({ by, at, reads }: Claim): Claim {
  return { by, at, reads: reads + 1 };
}

/** Longer than the service's usual outages; then a link ends by what is known of it here. */
const longestOutage = 24 * 60 * 60_000;

/** The service could not be asked: that is no evidence either way, so the claim stands, and is read again later. */
export function hearNoAnswer(kase: LinkCase, now: number): void {
  const { claim, ending } = kase;
  if (ending && now >= ending.since + longestOutage) return expire(kase, ending.waitedFor, now);
  if (claim) kase.claim = { ...again(claim), at: now, unanswered: true };
}

/** Nothing came in time. A lost webhook is only a slow one: the user may have connected unheard. */
export function endWait(kase: LinkCase, waitedFor: NonNullable<LinkState['waitedFor']>, now: number): void {
  kase.ending ??= { waitedFor, since: now };
  doubt(kase, now);
}

function drop(kase: LinkCase, { by }: Claim, now: number): void {
  delete kase.claim;
  if (kase.ending) return expire(kase, kase.ending.waitedFor, now);
  if (by !== 'success') return note(kase, 'no new connection at the service', now);
  note(kase, 'the service does not show the connection that it reported', now);
  raise(kase, 'connection_unconfirmed');
  // The user may have begun another login meanwhile, which goes on.
  if (kase.phase !== 'confirming') return;
  delete kase.token;
  awaitPassword(kase, now);
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

export function raise(kase: LinkCase, attention: LinkAttention): void {
  if (!kase.attention.includes(attention)) kase.attention = [...kase.attention, attention];
}

export function clear(kase: LinkCase, attention: LinkAttention): void {
  kase.attention = kase.attention.filter((raised) => raised !== attention);
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

export function expire(kase: LinkCase, waitedFor: NonNullable<LinkState['waitedFor']>, now: number): void {
  kase.waitedFor = waitedFor;
  end(kase, 'expired', now);
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
