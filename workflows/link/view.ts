import type { LinkCase } from './case.js';
import { waitingUntil } from './deadlines.js';
import type { CodeAnswer, LinkResult, LinkState } from './messages.js';

/** What `state` and most updates answer with. The token, its URL and codes are not in it. */
export function stateOf(kase: LinkCase): LinkState {
  const { userId, provider, phase, policy, mfa, errorType, consequence, outcome, waitedFor } = kase;
  const until = waitingUntil(kase);
  return {
    userId,
    provider,
    phase,
    startedAt: new Date(kase.startedAt).toISOString(),
    ...(until !== undefined && { until: new Date(until).toISOString() }),
    ...(mfa && { mfa }),
    codeAttemptsLeft: policy.maxCodeAttempts - kase.wrongCodes,
    passwordAttemptsLeft: policy.maxPasswordAttempts - kase.failedLogins,
    ...(errorType !== undefined && { errorType }),
    ...(consequence !== undefined && { consequence }),
    attention: kase.attention,
    timeline: kase.journal,
    ...(outcome !== undefined && { outcome }),
    ...(waitedFor !== undefined && { waitedFor }),
  };
}

/** What became of a code that the service has answered to. */
export function codeAnswerOf(kase: LinkCase): CodeAnswer {
  const state = stateOf(kase);
  return {
    outcome: codeOutcomeOf(kase),
    attemptsLeft: state.codeAttemptsLeft,
    ...(kase.errorType !== undefined && { errorType: kase.errorType }),
    state,
  };
}

function codeOutcomeOf({ phase, errorType, consequence, token, claim }: LinkCase): CodeAnswer['outcome'] {
  if (phase === 'connected') return phase;
  // Also where something else was heard since: no code is sent while a success may still show.
  if (claim?.by === 'success') return 'confirming';
  if (consequence === 'ask_code_again') return 'wrong_code';
  if (consequence === 'ask_credentials_again') return 'ask_credentials_again';
  if (consequence === 'start_over' || token === undefined) return 'start_over';
  // A question of the provider leaves no error behind; an unknown state and a lost answer do.
  return phase === 'awaiting_code' && errorType === undefined ? 'asked_again' : 'unknown';
}

export function resultOf(kase: LinkCase): LinkResult {
  const { userId, provider, outcome = 'failed', connectedAt, errorType, waitedFor } = kase;
  return {
    outcome,
    userId,
    provider,
    startedAt: new Date(kase.startedAt).toISOString(),
    ...(connectedAt !== undefined && { connectedAt }),
    ...(errorType !== undefined && { errorType }),
    ...(waitedFor !== undefined && { waitedFor }),
    timeline: kase.journal,
  };
}
