import { code, moment, plain, sentence, words } from '../case-file-words.js';
import type { LinkState } from './messages.js';

/** The case file that the Web UI shows, in Markdown: where the link is, what it waits for, and what happened. */
export function caseFileOf(state: LinkState): string {
  const { userId, provider, phase, attention, timeline } = state;
  return [
    `### ${sentence(phase)}`,
    `Provider ${code(provider)}, user ${code(userId)}`,
    state.outcome === undefined ? waitingLine(state) : outcomeLine(state),
    ...attention.map((reason) => `**Attention** ${words(reason)}`),
    [
      '| When (UTC) | What happened |',
      '| --- | --- |',
      ...timeline.map(({ at, what }) => `| ${moment(at)} | ${plain(sentence(what))} |`),
    ].join('\n'),
  ].join('\n\n');
}

function waitingLine({ phase, until, mfa, codeAttemptsLeft }: LinkState): string {
  const end = until === undefined ? '' : ` until ${moment(until)}`;
  if (phase === 'confirming') return '**Waits for** the service to show the connection';
  if (phase !== 'awaiting_code') return `**Waits for** the user to log in at the provider${end}`;
  const by = mfa?.method === undefined ? '' : ` sent by ${plain(mfa.method)}`;
  return `**Waits for** the code${by}${end}, ${codeAttemptsLeft} attempts left`;
}

const undone: Readonly<Record<NonNullable<LinkState['waitedFor']>, string>> = {
  password: 'the user did not log in',
  code: 'the user did not give the code',
  token: 'the link token ended while the user was away',
  link: 'it took too long',
};

function outcomeLine({ outcome, errorType, waitedFor }: LinkState): string {
  const why = waitedFor === undefined ? errorType && code(errorType) : undone[waitedFor];
  return `**Outcome** ${words(outcome ?? '')}${why === undefined ? '' : `: ${why}`}`;
}
