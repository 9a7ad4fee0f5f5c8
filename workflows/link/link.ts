import type { KnownConnection } from '../../activities/link/connections.js';
import { atOnce } from '../entity/loop-timer.js';
import { attentionVerbsFor, type Attentive, nothingYet } from '../entity/attention.js';
import { note } from '../entity/journal.js';
import type { Cancellable, EntityRun } from '../entity/loop.js';
import { beginNext as beginNextWithOutbox, enqueue, type Outbox } from '../entity/outbox.js';
import { openPolicy, type Governed } from '../entity/policy.js';
import { iso, doubled, longestOutage, longestPause, minute, second } from '../entity/spans.js';
import type { RaisedAttention } from '../../protocol/attention.js';
import { canonicalId, linkProviderId, type OfActor } from '../../protocol/ids.js';
import type * as messages from '../../protocol/link/messages.js';
import type { ProviderMfa, LinkReport } from '../../protocol/link/link-report.js';
import type { ResolvedLinkPolicy } from '../../protocol/link/policy.js';
import { anyProvider, sourceSlugOf } from '../../protocol/link/provider-source.js';
import { carriedOn, firstVersion } from '../entity/versions.js';
import { omitNullish } from '../../protocol/json.js';

/**
 * Everything a link knows, and how each thing that happens changes it. Plain JSON without a clock: it goes through
 * continue-as-new as it is. Times are milliseconds since the epoch.
 */
export interface Link
  extends
    messages.LinkPage,
    Outbox,
    Attentive<RaisedAttention<messages.LinkAttentionReason>>,
    Governed<ResolvedLinkPolicy> {
  version: number;
  userId: string;
  provider: string;
  policy: ResolvedLinkPolicy;
  startedAt: number;
  phase: messages.LinkPhase;
  /** When the present phase began to wait for the user: it starts again when they are given something new. */
  since: number;
  token?: LinkTokenHeld;
  /** How many tokens were made. */
  tokens: number;
  mfa?: ProviderMfa;
  wrongCodes: number;
  /** The number of code requests that an answer has settled. Absent means 0. */
  questionsDone?: number;
  failedLogins: number;
  errorType?: string;
  consequence?: messages.Consequence;
  /** The user's connections from before the first token. */
  connectionsBefore?: KnownConnection[];
  /** A connection may have been made that nobody reported for certain. */
  claim?: Claim;
  /** How the link ends, unless the service shows a connection: it is asked first. */
  ending?: Ending;
  reminded: boolean;
  outcome?: messages.LinkOutcome;
  waitedFor?: messages.LinkState['waitedFor'];
  connectedAt?: string;
  chosenProvider?: string;
}

/** One run of `linkProvider`. */
export interface LinkRun extends EntityRun, Cancellable {
  link: Link;
  /** Codes on their way, so one that is sent twice at once goes to the service once. */
  submitting: { code: string; answer: Promise<messages.CodeAnswer> }[];
}

interface Ending {
  outcome: Exclude<messages.LinkOutcome, 'connected'>;
  waitedFor?: messages.LinkState['waitedFor'];
  since: number;
}

interface LinkTokenHeld {
  token: string;
  url: string;
  expiresAt: number;
}

/** A connection to look for at the service. */
interface Claim {
  /** `success`: the service said so; `doubt`: an answer was lost; `webhook`: it may be an older connection's. */
  by: 'success' | 'doubt' | 'webhook';
  at: number;
  /** How often it was looked for. */
  reads: number;
  /** The service did not answer the last time. */
  unanswered?: true;
}

export function openLink(input: messages.LinkProviderInput, now: number): Link {
  const { userId, provider = anyProvider, carried } = input;
  if (carried != null) return carriedOn<Link>('state of the link', carried);
  return { userId: canonicalId(userId), provider, ...begun(input, now) };
}

/** Another link was requested before the notifications of this one were delivered: they stay in the outbox. */
export function beginNext(link: Link, options: messages.LinkOptions, now: number): void {
  const { userId, provider } = link;
  beginNextWithOutbox(link, { userId, provider, ...begun(options, now) });
}

function begun(options: messages.LinkOptions, now: number): Omit<Link, 'userId' | 'provider'> {
  return {
    version: firstVersion,
    ...pageOf(options),
    ...openPolicy('link', options.policy),
    startedAt: now,
    phase: 'awaiting_password',
    since: now,
    tokens: 0,
    wrongCodes: 0,
    failedLogins: 0,
    reminded: false,
    ...nothingYet(),
  };
}

/** The options of the service's page, and nothing else. */
export function pageOf({ redirectUrl, filterOnProviders, onError, onClose }: messages.LinkPage): messages.LinkPage {
  return omitNullish({ redirectUrl, filterOnProviders, onError, onClose });
}

/** The source that the connection must be of; undefined if the user chooses the provider. */
export function sourceSlug({ provider }: Pick<Link, 'provider'>): string | undefined {
  const slug = sourceSlugOf(provider);
  return slug === anyProvider ? undefined : slug;
}

/** A user who is sent off with a token needs a moment to use it. */
const shortestUse = minute;

/** True if the token can be handed out, or its login be finished. */
export function hasUsableToken({ token, phase, policy }: Link, now: number): boolean {
  if (!token) return false;
  const needed = phase === 'awaiting_password' ? Math.min(shortestUse, policy.tokenLife / 10) : 0;
  return now + needed < token.expiresAt;
}

/** The number of the current code request. A wrong code keeps it; any other answer settles it. */
export function codeRequestOf({ questionsDone = 0 }: Link): number {
  return questionsDone;
}

/** A link's attention sends no notification: the user is there, and the product sees it in the state. */
export const { raise, clear } = attentionVerbsFor<RaisedAttention<messages.LinkAttentionReason>, Link>({});

/** A new token means a new login: what was asked of the user before no longer counts. */
export function giveToken(link: Link, held: LinkTokenHeld, now: number): void {
  link.token = held;
  link.tokens += 1;
  delete link.consequence;
  // The first token is usually requested at once: the timer that the start has set then serves it, too, which saves one for each link.
  const { phase, since, startedAt } = link;
  const isPrompt = phase === 'awaiting_password' && since === startedAt && now < startedAt + minute;
  if (!isPrompt) awaitPassword(link, now);
  note(link, link.tokens === 1 ? 'link made' : 'new link made', now);
}

function awaitPassword(link: Link, now: number): void {
  link.phase = 'awaiting_password';
  link.since = now;
  delete link.mfa;
}

/** Takes the service's answer to the password or the code. If it leaves room for a connection, the user is read next. */
export function receiveResult(link: Link, { state, errorType, providerMfa }: LinkReport, now: number): void {
  delete link.errorType;
  delete link.consequence;
  if (state === 'success') return claimSuccess(link, now);
  if (state === 'pending_provider_mfa') return askForCode(link, providerMfa ?? {}, now);
  if (state === 'error') return receiveError(link, errorType ?? 'unrecognised', now);
  // An unknown state may mean success.
  doubt(link, now);
  if (!state.startsWith('pending')) return receiveError(link, state, now);
  // The login goes on without the user.
  link.errorType = state;
  note(link, `state ${state}`, now);
}

function askForCode(link: Link, mfa: ProviderMfa, now: number): void {
  note(link, `code asked${mfa.method === undefined ? '' : ` by ${mfa.method}`}`, now);
  // A report from before the success came late, or twice.
  if (link.claim?.by === 'success') return;
  // The service's page asks for it.
  if (sourceSlug(link) === undefined) return;
  link.phase = 'awaiting_code';
  link.since = now;
  link.mfa = mfa;
}

function receiveError(link: Link, errorType: string, now: number): void {
  const consequence = consequenceOf(errorType);
  link.errorType = errorType;
  link.consequence = consequence;
  note(link, `error ${errorType}`, now);
  if (mayBeConnected(errorType)) doubt(link, now);
  if (consequence === 'ask_code_again') return receiveWrongCode(link, now);
  if (consequence === 'cancel') return endUnlessConnected(link, { outcome: 'cancelled' }, now);
  if (consequence === 'give_up') return endUnlessConnected(link, { outcome: 'failed' }, now);
  // A token that has ended is not the user's failure.
  if (!isAboutToken(errorType)) link.failedLogins += 1;
  if (link.failedLogins >= link.policy.maxPasswordAttempts) return endUnlessConnected(link, { outcome: 'failed' }, now);
  // A token that may be unusable is not handed out again.
  if (consequence === 'start_over') delete link.token;
  awaitPassword(link, now);
}

function receiveWrongCode(link: Link, now: number): void {
  link.wrongCodes += 1;
  if (link.wrongCodes >= link.policy.maxCodeAttempts) return endUnlessConnected(link, { outcome: 'failed' }, now);
  if (sourceSlug(link) === undefined) return;
  link.phase = 'awaiting_code';
  link.since = now;
  link.mfa ??= {};
}

/** A code came, but the login that it belongs to is lost with its token. */
export function loseToken(link: Link): void {
  link.errorType = 'token_missing';
  link.consequence = 'start_over';
}

/* A claim says that a connection may have been made: only what the service shows of the user settles it. */

function claimSuccess(link: Link, now: number): void {
  link.phase = 'confirming';
  link.since = now;
  delete link.mfa;
  link.claim = { by: 'success', at: now, reads: 0 };
  note(link, 'success reported', now);
}

/**
 * It is not known what the service did, so the user is read before anything is asked of them again. A success or a
 * webhook that is already being looked into outweighs this doubt: its connection gets the time to show.
 */
export function doubt(link: Link, now: number): void {
  link.claim ??= { by: 'doubt', at: now, reads: 0 };
}

/** A webhook reports a connection, perhaps an older one; with a success it is evidence again. */
export function receiveWebhook(link: Link, now: number): void {
  note(link, 'connection reported by webhook', now);
  link.claim = { by: link.claim?.by === 'success' ? 'success' : 'webhook', at: now, reads: 0 };
}

/** When the service is asked (again) whether it has the connection: at once, then at widening distance. */
export function confirmAt({ claim, policy }: Link): number | undefined {
  if (!claim) return undefined;
  if (claim.reads === 0) return atOnce;
  const longest = claim.unanswered ? longestPause : policy.confirmationWait;
  return claim.at + doubled(2 * second, claim.reads - 1, longest);
}

type Found = 'new' | 'older' | 'none';

/**
 * Takes what the service shows of the user's connections.
 * @param asked the claim that was looked into: one that came in meanwhile is looked into next
 */
export function recordConnection(
  link: Link,
  { found, createdAt, slug }: { found: Found; createdAt?: string; slug?: string },
  asked: Claim | undefined,
  now: number,
): void {
  if (found === 'new') {
    if (createdAt !== undefined) link.connectedAt = createdAt;
    if (slug !== undefined && sourceSlug(link) === undefined) link.chosenProvider = slug;
    return end(link, 'connected', now);
  }
  if (!asked || link.claim !== asked) return;
  const isOver = asked.by === 'doubt' || now >= asked.at + link.policy.confirmationWait;
  // The service may take its time to show what it has reported.
  if (!isOver) link.claim = readAgain(asked);
  // A connection that was renewed may keep its date; the user may have begun another login meanwhile.
  else if (found === 'older' && sourceSlug(link) !== undefined && link.phase === 'confirming')
    end(link, 'connected', now);
  else drop(link, asked, now);
}

function readAgain({ by, at, reads }: Claim): Claim {
  return { by, at, reads: reads + 1 };
}

/** The service could not be asked: that is no evidence either way, so the claim stands, and is read again later. */
export function recordNoAnswer(link: Link, asked: Claim | undefined, now: number): void {
  // After so long, a link ends by what is known here.
  if (link.ending && now >= link.ending.since + longestOutage) return carryOutEnding(link, link.ending, now);
  if (asked && link.claim === asked) link.claim = { ...readAgain(asked), at: now, unanswered: true };
}

function drop(link: Link, { by }: Claim, now: number): void {
  delete link.claim;
  if (link.ending) return carryOutEnding(link, link.ending, now);
  if (by !== 'success') return note(link, 'no new connection at the service', now);
  note(link, 'the service does not show the connection that it reported', now);
  raise(link, 'connection_unconfirmed', now);
  // The user may have begun another login meanwhile, which goes on.
  if (link.phase !== 'confirming') return;
  delete link.token;
  awaitPassword(link, now);
}

/** Nothing came in time. A lost webhook is only a slow one: the user may have connected without a report. */
export function endWait(link: Link, waitedFor: NonNullable<messages.LinkState['waitedFor']>, now: number): void {
  // It ends because time is up, not because of an earlier error.
  delete link.errorType;
  delete link.consequence;
  doubt(link, now);
  endUnlessConnected(link, { outcome: 'expired', waitedFor }, now);
}

/** A connection that may have been made all the same is looked for before the link is given up. */
export function endUnlessConnected(link: Link, ending: Omit<Ending, 'since'>, now: number): void {
  link.ending ??= { ...ending, since: now };
  if (!link.claim) carryOutEnding(link, link.ending, now);
}

/** The service shows no connection, or has not answered within the time that this link waits. */
function carryOutEnding(link: Link, { outcome, waitedFor }: Ending, now: number): void {
  if (waitedFor !== undefined) link.waitedFor = waitedFor;
  end(link, outcome, now);
}

/** From here on nothing is waited for but the delivery of notifications. Secrets are not kept longer than they are needed. */
export function end(link: Link, outcome: messages.LinkOutcome, now: number, actor?: OfActor): void {
  link.outcome = outcome;
  link.phase = outcome;
  delete link.token;
  delete link.mfa;
  delete link.claim;
  delete link.ending;
  clear(link, ['connection_unconfirmed'], now);
  if (outcome === 'connected') {
    delete link.errorType;
    delete link.consequence;
  }
  note(link, outcome, now, undefined, actor);
  const { chosenProvider, errorType, waitedFor } = link;
  announce(link, {
    ...head(link, 'ended', now),
    type: 'ended',
    data: omitNullish({ outcome, chosenProvider, errorType, waitedFor }),
  });
}

export function remind(link: Link, until: number, now: number): void {
  link.reminded = true;
  note(link, 'reminded of the code', now);
  const data = { until: iso(until) };
  announce(link, { ...head(link, 'code_reminder', now), type: 'code_reminder', data });
}

function announce(link: Link, { id, at, type, data }: messages.LinkNotification): void {
  const { userId, provider } = link;
  const source = linkProviderId(userId, provider);
  enqueue(link, { id, at, source, type: `link.${type}`, subject: userId, data: { userId, provider, ...data } });
}

function head({ userId, provider, startedAt }: Link, type: string, now: number): { id: string; at: string } {
  const started = iso(startedAt);
  return { id: `${userId}/${provider}/${started}/${type}`, at: iso(now) };
}

/**
 * The consequence of each error type of the specification. Only the names are specified; the reasons are ours
 * (docs/internals/lab-service.md, "Links"). A type that is not here is treated as the safest: nothing is known of the token, so
 * the user starts over with a new one, and nothing is given up.
 */
const consequences: Readonly<Record<string, messages.Consequence>> = {
  // The token is not valid, has expired or was used up: the login is lost with it.
  invalid_token: 'start_over',
  token_expired: 'start_over',
  token_not_validated: 'start_over',
  token_consumed: 'start_over',
  // The login did not work: the same token may be used for another.
  provider_credential_error: 'ask_credentials_again',
  provider_password_expired: 'ask_credentials_again',
  provider_api_error: 'ask_credentials_again',
  required_scopes_not_granted: 'ask_credentials_again',
  incorrect_mfa_code: 'ask_code_again',
  // Neither the user nor we can change it.
  unsupported_region: 'give_up',
  duplicate_connection: 'give_up',
  user_cancelled: 'cancel',
};

const safest: messages.Consequence = 'start_over';

export function consequenceOf(errorType: string | undefined): messages.Consequence {
  return (Object.hasOwn(consequences, errorType ?? '') ? consequences[errorType ?? ''] : undefined) ?? safest;
}

export function isAboutToken(errorType: string): boolean {
  return errorType === 'invalid_token' || errorType.startsWith('token_');
}

/** After these the service may have made the connection all the same: it is read before anything else is done. */
export function mayBeConnected(errorType: string): boolean {
  return errorType === 'token_consumed' || errorType === 'duplicate_connection';
}
