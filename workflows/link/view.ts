import type { CodeAnswer, LinkResult, LinkState } from '../../protocol/link/messages.js';
import { labPhaseKey, ofUser } from '../../protocol/search-attributes.js';
import { attentionAttributes, attentionLines, shownAttention } from '../entity/attention.js';
import { code, historyTable, plain, sentence, showToOperators, waitingLine, words } from '../entity/operators.js';
import { iso, isoOf } from '../entity/spans.js';
import { waitingUntil } from './deadlines.js';
import type { Link } from './link.js';
import { omitNullish } from '../../protocol/json.js';

/** The answer of `state` and most updates. The token, its URL and codes are not in it. */
export function stateOf(link: Link): LinkState {
  const { userId, provider, chosenProvider, phase, policy, mfa, errorType, consequence, outcome, waitedFor } = link;
  return {
    userId,
    provider,
    phase,
    startedAt: iso(link.startedAt),
    ...omitNullish({
      until: isoOf(waitingUntil(link)),
      chosenProvider,
      mfa,
      errorType,
      consequence,
      outcome,
      waitedFor,
    }),
    codeAttemptsLeft: policy.maxCodeAttempts - link.wrongCodes,
    passwordAttemptsLeft: policy.maxPasswordAttempts - link.failedLogins,
    attention: shownAttention(link.attention),
    timeline: link.journal,
  };
}

/** The outcome of a code that the service has answered to. */
export function codeAnswerOf(link: Link): CodeAnswer {
  const state = stateOf(link);
  return {
    outcome: codeOutcomeOf(link),
    attemptsLeft: state.codeAttemptsLeft,
    ...omitNullish({ errorType: link.errorType }),
    state,
  };
}

function codeOutcomeOf({ phase, errorType, consequence, token, claim }: Link): CodeAnswer['outcome'] {
  if (phase === 'connected') return phase;
  // Also if something else was received since: no code is sent while a success may still show.
  if (claim?.by === 'success') return 'confirming';
  if (consequence === 'ask_code_again') return 'wrong_code';
  if (consequence === 'ask_credentials_again') return 'ask_credentials_again';
  if (consequence === 'start_over' || token === undefined) return 'start_over';
  // A question of the provider leaves no error behind; an unknown state and a lost answer do.
  return phase === 'awaiting_code' && errorType === undefined ? 'asked_again' : 'unknown';
}

export function resultOf(link: Link): LinkResult {
  const { outcome = 'failed', connectedAt } = link;
  return { ...stateOf(link), ...omitNullish({ outcome, connectedAt }) };
}

/** The case file that the Web UI shows, in Markdown: where the link is, what it waits for, and what happened. */
export function caseFileOf(state: LinkState): string {
  const { userId, provider, chosenProvider, phase, attention, timeline } = state;
  return [
    `### ${sentence(phase)}`,
    `Provider ${code(chosenProvider ?? provider)}, user ${code(userId)}`,
    state.outcome === undefined ? userLine(state) : outcomeLine(state),
    ...attentionLines(attention),
    historyTable(timeline),
  ].join('\n\n');
}

function userLine({ phase, until, mfa, codeAttemptsLeft }: LinkState): string {
  if (phase === 'confirming') return waitingLine({ for: 'the service to show the connection' });
  if (phase !== 'awaiting_code') return waitingLine({ for: 'the user to log in at the provider', until });
  const by = mfa?.method === undefined ? '' : ` sent by ${plain(mfa.method)}`;
  return `${waitingLine({ for: `the code${by}`, until })}, attempts left: ${codeAttemptsLeft}`;
}

const undone: Readonly<Record<NonNullable<LinkState['waitedFor']>, string>> = {
  password: 'the user did not log in',
  code: 'the user did not enter the code',
  link: 'it took too long',
};

function outcomeLine({ outcome, errorType, waitedFor }: LinkState): string {
  const why = waitedFor === undefined ? errorType && code(errorType) : undone[waitedFor];
  return `**Outcome** ${words(outcome ?? '')}${why === undefined ? '' : `: ${why}`}`;
}

/** Shows the case file and the search attributes of the link as it is now. */
export function show(link: Link): void {
  const state = stateOf(link);
  showToOperators(
    () => caseFileOf(state),
    [
      { key: labPhaseKey, value: state.phase },
      ...attentionAttributes(state.attention),
      // Set at the start, but perhaps by a backend in another language.
      ...ofUser(state.userId),
    ],
  );
}
