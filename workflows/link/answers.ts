import { awaitPassword, note, type LinkCase } from './case.js';
import { claimSuccess, doubt } from './claims.js';
import { consequenceOf, isAboutToken, mayBeConnected } from './consequences.js';
import { endUnlessConnected } from './ending.js';
import type { LinkReport, ProviderMfa } from './messages.js';

/** What the service answered to the password or the code. What it means for the connection is read next. */
export function hearResult(kase: LinkCase, { state, errorType, providerMfa }: LinkReport, now: number): void {
  delete kase.errorType;
  delete kase.consequence;
  if (state === 'success') return claimSuccess(kase, now);
  if (state === 'pending_provider_mfa') return askForCode(kase, providerMfa ?? {}, now);
  if (state === 'error') return hearError(kase, errorType ?? 'unrecognised', now);
  // Of a state that is not known yet it is not known either whether it is a success.
  doubt(kase, now);
  hearError(kase, state, now);
}

function askForCode(kase: LinkCase, mfa: ProviderMfa, now: number): void {
  note(kase, `code asked${mfa.method === undefined ? '' : ` by ${mfa.method}`}`, now);
  // A report of before the success comes late, or comes twice.
  if (kase.claim?.by === 'success') return;
  kase.phase = 'awaiting_code';
  kase.since = now;
  kase.mfa = mfa;
}

function hearError(kase: LinkCase, errorType: string, now: number): void {
  const consequence = consequenceOf(errorType);
  kase.errorType = errorType;
  kase.consequence = consequence;
  note(kase, `error ${errorType}`, now);
  if (mayBeConnected(errorType)) doubt(kase, now);
  if (consequence === 'ask_code_again') return hearWrongCode(kase, now);
  if (consequence === 'cancel') return endUnlessConnected(kase, { outcome: 'cancelled' }, now);
  if (consequence === 'give_up') return endUnlessConnected(kase, { outcome: 'failed' }, now);
  if (errorType === 'token_expired' && kase.policy.onTokenExpiry === 'end') {
    return endUnlessConnected(kase, { outcome: 'expired', waitedFor: 'token' }, now);
  }
  // That a token has ended is no failure of the user's.
  if (!isAboutToken(errorType)) kase.failedLogins += 1;
  if (kase.failedLogins >= kase.policy.maxPasswordAttempts) return endUnlessConnected(kase, { outcome: 'failed' }, now);
  // A token of which nothing good is known is not handed out again.
  if (consequence === 'start_over') delete kase.token;
  awaitPassword(kase, now);
}

function hearWrongCode(kase: LinkCase, now: number): void {
  kase.wrongCodes += 1;
  if (kase.wrongCodes >= kase.policy.maxCodeAttempts) return endUnlessConnected(kase, { outcome: 'failed' }, now);
  kase.phase = 'awaiting_code';
  kase.since = now;
  kase.mfa ??= {};
}

/** A code came, but the login that it belongs to is lost with its token. */
export function loseToken(kase: LinkCase): void {
  kase.errorType = 'token_missing';
  kase.consequence = 'start_over';
}
