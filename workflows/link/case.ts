import type {
  Consequence,
  LinkAttention,
  LinkEntry,
  LinkOptions,
  LinkOutcome,
  LinkPhase,
  LinkProviderInput,
  LinkState,
  ProviderMfa,
} from './messages.js';
import type { LinkNotification } from './notifications.js';
import { resolveLinkPolicy, type ResolvedLinkPolicy } from './policy.js';
import { sourceSlugOf } from './provider-source.js';
import { canonicalUserId } from '../user-id.js';

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
  /** How many tokens were made. */
  tokens: number;
  mfa?: ProviderMfa;
  wrongCodes: number;
  /** How many questions for a code were done with by an answer to one; absent is none. */
  questionsDone?: number;
  failedLogins: number;
  errorType?: string;
  consequence?: Consequence;
  /** A connection may have been made that nobody told us of for certain. */
  claim?: Claim;
  /** The link ends so unless the service, which is asked first, shows a connection. */
  ending?: Ending;
  reminded: boolean;
  attention: LinkAttention[];
  /** Whether the worker has a target for notifications. Known with the first token. */
  notifies?: boolean;
  outbox: LinkNotification[];
  /** Only its notifications keep it from ending. */
  isClosing?: boolean;
  journal: LinkEntry[];
  outcome?: LinkOutcome;
  waitedFor?: LinkState['waitedFor'];
  connectedAt?: string;
}

export interface Ending {
  outcome: Exclude<LinkOutcome, 'connected'>;
  waitedFor?: LinkState['waitedFor'];
  since: number;
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
  return { userId: canonicalUserId(userId), provider, ...begun(input, now) };
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
    tokens: 0,
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

/** A user who is sent off with a token needs a moment to use it. */
const shortestUse = 60_000;

/** Whether the token can be handed out, or its login be finished. */
export function hasUsableToken({ token, phase, policy }: LinkCase, now: number): boolean {
  if (!token) return false;
  const needed = phase === 'awaiting_password' ? Math.min(shortestUse, policy.tokenLife / 10) : 0;
  return now + needed < token.expiresAt;
}

/** Which question for a code is open: a wrong code leaves it so, any other answer is the end of it. */
export function questionOf({ questionsDone = 0 }: LinkCase): number {
  return questionsDone;
}

export function note(kase: LinkCase, what: string, now: number): void {
  kase.journal = [...kase.journal, { at: new Date(now).toISOString(), what }].slice(-journalLength);
}

export function raise(kase: LinkCase, attention: LinkAttention): void {
  if (!kase.attention.includes(attention)) kase.attention = [...kase.attention, attention];
}

export function clear(kase: LinkCase, attention: LinkAttention): void {
  kase.attention = kase.attention.filter((raised) => raised !== attention);
}

/** A new token means a new login: what was asked of the user before no longer counts. */
export function giveToken(kase: LinkCase, held: LinkTokenHeld, now: number): void {
  kase.token = held;
  kase.tokens += 1;
  delete kase.consequence;
  if (!isPrompt(kase, now)) awaitPassword(kase, now);
  note(kase, kase.tokens === 1 ? 'link made' : 'new link made', now);
}

/** The first link is asked for at once, and the timer of the start then serves it too: that spares one for each link. */
function isPrompt({ phase, since, startedAt }: LinkCase, now: number): boolean {
  return phase === 'awaiting_password' && since === startedAt && now < startedAt + 60_000;
}

export function awaitPassword(kase: LinkCase, now: number): void {
  kase.phase = 'awaiting_password';
  kase.since = now;
  delete kase.mfa;
}
