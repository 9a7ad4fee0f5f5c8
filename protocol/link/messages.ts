import { defineQuery, defineSignal, defineUpdate } from '../definitions.js';
import type { Attention, HistoryEntry } from '../attention.js';
import type { LinkPolicy, ResolvedLinkPolicy } from './policy.js';
import { linkProviderId, type OfActor } from '../ids.js';
import { isText, omitNullish } from '../../service/json-object.js';
import type { RefusedField } from '../../service/lab-operations-error.js';
import { canonicalId } from '../../service/canonical-id.js';
import type { Notification } from '../notifications/delivery.js';
import { type LinkReport, type ProviderMfa, wordOf } from './link-report.js';
import { sourceSlugOf } from './provider-source.js';

/**
 * Who the link workflow is: its name, input, result, signal, query and updates. The wire name of a message is its
 * export's name less its suffix. docs/messages.md shows the same as JSON for backends in other languages.
 */

export const linkProviderName = 'linkProvider';

/** Options of the service's page on which the user connects, passed on unchanged. They do not affect the API's calls. */
export interface LinkPage {
  /** The page that the user is sent to at the end. */
  redirectUrl?: string;
  /** The only providers that the page offers. */
  filterOnProviders?: string[];
  /** `redirect`: a password or an e-mail address that fails sends the user to `redirectUrl`, too; else the page shows the error. */
  onError?: 'redirect';
  /** `redirect`: a user who closes the page is sent to `redirectUrl`, with the error `user_cancelled`. */
  onClose?: 'redirect';
}

/** An absolute URL of any scheme, for apps too. */
const urlPattern = /^[a-z][a-z0-9+.-]*:\S+$/i;

/** Everything that is wrong with these options. No compiler checks the input of plain JavaScript, or of another language. */
export function linkPageFaults(page: Readonly<Partial<Record<keyof LinkPage, unknown>>>): RefusedField[] {
  const { redirectUrl, filterOnProviders, onError, onClose } = page;
  const rules = [
    ['redirectUrl', redirectUrl, (url: unknown) => isText(url) && urlPattern.test(url), 'an absolute URL'],
    ['filterOnProviders', filterOnProviders, areProviders, 'a list of at least one provider'],
    ['onError', onError, (way: unknown) => way === 'redirect', "'redirect'"],
    ['onClose', onClose, (way: unknown) => way === 'redirect', "'redirect'"],
  ] as const;
  return rules
    .filter(([, value, holds]) => value != null && !holds(value))
    .map(([field, , , rule]) => ({ field, message: `must be ${rule}` }));
}

function areProviders(slugs: unknown): boolean {
  return Array.isArray(slugs) && slugs.length > 0 && slugs.every((slug) => typeof slug === 'string');
}

export interface LinkProviderInput extends LinkPage, OfActor {
  /** The service's id of the user. */
  userId: string;
  /** The service's slug of a provider. Without one the user chooses it on the service's page, and the link is that of `any`. */
  provider?: string;
  /** A part of the settings, or a resolved policy, which the client sends. */
  policy?: LinkPolicy | ResolvedLinkPolicy;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

export interface LinkRequest {
  /**
   * Sent by a caller that has just started the link: if the last link has ended, and only its last notification is
   * being delivered, this starts a new link in the run. Without it such a link refuses.
   */
  newLink?: LinkOptions;
}

export type LinkOptions = LinkPage & Pick<LinkProviderInput, 'policy'>;

/** For the user's browser. Both are credentials: anyone who has them can connect a provider to this user. */
export interface LinkUrl {
  linkToken: string;
  linkWebUrl: string;
  /** When the token ends by our reckoning, ISO 8601 in UTC; the service has the last word. */
  expiresAt: string;
}

export interface MfaCode {
  /** As the person typed it; blanks around it are removed. */
  code: string;
}

export const requestLinkUpdate = defineUpdate<LinkUrl, [LinkRequest]>('requestLink');
export const reportLinkResultUpdate = defineUpdate<LinkState, [LinkReport]>('reportLinkResult');
export const submitMfaCodeUpdate = defineUpdate<CodeAnswer, [MfaCode]>('submitMfaCode');
export const cancelUpdate = defineUpdate<LinkState, [OfActor]>('cancel');
export const stateQuery = defineQuery<LinkState>('state');

/** A webhook reported a connection of this user and provider; a read shows if it is the expected one. */
export const connectionReportedSignal = defineSignal('connectionReported');

/** The progress of a link, also in LabPhase. */
export type LinkPhase =
  /** The user has the link, or will get it, and logs in at the provider. */
  | 'awaiting_password'
  /** The provider has sent the user a code. */
  | 'awaiting_code'
  /** A success was reported that the service does not show yet. */
  | 'confirming'
  | LinkOutcome;

export type LinkOutcome =
  | 'connected'
  /** An error that cannot be resolved here, or too many attempts: see `errorType`. */
  | 'failed'
  /** The user did not come back in time: see `waitedFor`. */
  | 'expired'
  | 'cancelled';

/** The reason why a person should look: docs/attention.md. None is notified: they stand in the state, and in LabAttention. */
export type LinkAttentionReason = 'connection_unconfirmed' | 'notifications_undelivered' | 'unreadable_signal';

/** The answer of `state` and most updates. It contains neither token nor URL nor code. */
export interface LinkState {
  userId: string;
  /** `any` if the user chooses it on the service's page. */
  provider: string;
  /** The provider that the user chose, once the service shows the connection. */
  chosenProvider?: string;
  phase: LinkPhase;
  /** When this link was started, ISO 8601 in UTC. */
  startedAt: string;
  /** Until when the present wait lasts; missing once it has ended. */
  until?: string;
  /** While a code is waited for. */
  mfa?: ProviderMfa;
  /** How many wrong codes are still allowed. */
  codeAttemptsLeft: number;
  /** How many failed logins are still allowed. */
  passwordAttemptsLeft: number;
  /** The last error: the service's error type, its state if that is unknown, or ours (docs/messages.md). */
  errorType?: string;
  /** The consequence of the error. */
  consequence?: Consequence;
  attention: Attention<LinkAttentionReason>[];
  timeline: HistoryEntry[];
  /** Set once the link has ended. */
  outcome?: LinkOutcome;
  /** With `expired`: the step that the user did not take in time. */
  waitedFor?: 'password' | 'code' | 'link';
}

/** The consequence of an error of the service: `workflows/link/link.ts` has the table. */
export type Consequence =
  /** The same token and login: another code. */
  | 'ask_code_again'
  /** The same token: log in again. */
  | 'ask_credentials_again'
  /** A new token, and log in again: request the link again. */
  | 'start_over'
  | 'give_up'
  | 'cancel';

/** The result of a code. */
export interface CodeAnswer {
  outcome:
    | 'connected'
    /** A success was reported, for this code or before it, that the service does not show yet: `result` waits for it. */
    | 'confirming'
    | 'wrong_code'
    /** The provider asks for another code: `state.mfa` says which. */
    | 'asked_again'
    /** It is not known if the code was used; there is no connection. Ask the user for a new one. */
    | 'unknown'
    /** The user has to log in again, with the link they have. */
    | 'ask_credentials_again'
    /** The user has to log in again, with a new link: `url`. */
    | 'start_over';
  attemptsLeft: number;
  /** The service's error type, if there is one, or one of ours (docs/messages.md). */
  errorType?: string;
  state: LinkState;
}

/** The last state. */
export interface LinkResult extends LinkState {
  outcome: LinkOutcome;
  /** When the connection was made, as the service shows it. */
  connectedAt?: string;
}

/**
 * Notifications about a link, CloudEvents of type `labops.link.<type>`. An id is `<user id>/<provider>/<start of the
 * link>/<type>`, so a receiver can drop repeats; that of a broken connection has the id of its webhook instead of the start.
 */
export type LinkNotification = { id: string; at: string } & (
  | { type: 'code_reminder'; data: { until: string } }
  /** The connection broke: nothing is fetched until the user links the provider again. */
  | { type: 'connection_error'; data: { errorType?: string } }
  | { type: 'ended'; data: { outcome: LinkOutcome; chosenProvider?: string; errorType?: string; waitedFor?: string } }
);

/** A webhook's news that a connection broke. */
interface ConnectionError {
  userId: string;
  /** As the service names it: the product passes the name on in the user's next link. */
  provider: string;
  /** The service's error type, as it was sent; older bodies have none. */
  errorType: unknown;
  /** The same for every delivery of one webhook. */
  messageId: string;
  /** When the connection broke, if the webhook says so, else when it was received; ISO 8601 in UTC. */
  at: string;
}

/**
 * The notification about a connection that broke, normally long after its link has ended. It leaves out the webhook's texts,
 * which may quote a person; `lab.links.connections` has them.
 */
export function connectionErrorNotification({ errorType, messageId, at, ...of }: ConnectionError): Notification {
  const [userId, provider] = [canonicalId(of.userId), of.provider];
  const { id, type, data } = {
    id: `${userId}/${sourceSlugOf(provider)}/${messageId}/connection_error`,
    at,
    type: 'connection_error',
    data: omitNullish({ errorType: wordOf(errorType) }),
  } satisfies LinkNotification;
  const source = linkProviderId(userId, provider);
  return {
    id,
    at,
    source,
    type: `link.${type}`,
    subject: userId,
    data: { userId, provider, ...data },
    dropIfOff: true,
  };
}
