import type { CodeAnswer, LinkState } from '../../client/index.js';
import type { LinkNotification } from './notification-receiver.js';

/** A link's states and answers as one would say them. */

/** The page is a credential: where it is is shown, and not what opens it. */
export function shortened(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search === '' ? '' : '?…'} (the rest is a credential)`;
}

export function askedWords({ phase, mfa, errorType = phase }: LinkState): string {
  if (phase !== 'awaiting_code') return `the lab service answers: ${spaced(errorType)}`;
  const to = mfa?.hint === undefined ? '' : ` to ${mfa.hint}`;
  return `the provider wants a code, and has sent one by ${mfa?.method ?? 'a way of its own'}${to}`;
}

export function linkWaits({ phase, until, codeAttemptsLeft }: LinkState): string {
  const end = until === undefined ? '' : `, until ${until.slice(0, 16).replace('T', ' ')} UTC at the latest`;
  if (phase === 'awaiting_password') return `the user to log in${end}`;
  if (phase === 'awaiting_code') return `the code${end}; ${attempts(codeAttemptsLeft)}`;
  return `${spaced(phase)}${end}`;
}

export function answerWords({ outcome, attemptsLeft, errorType, state }: CodeAnswer): string {
  const error = spaced(errorType ?? 'no reason given');
  switch (outcome) {
    case 'connected':
      return 'the code is right, and the lab service shows the new connection: connected';
    case 'confirming':
      return 'the code is right, but the lab service does not show the connection yet';
    case 'wrong_code':
      return `a wrong code: ${attempts(attemptsLeft)}`;
    case 'asked_again':
      return askedWords(state);
    case 'unknown':
      return `nobody knows what became of the code (${error}); there is no connection, so it is asked for again`;
    case 'ask_credentials_again':
      return `the login has to be repeated (${error})`;
    case 'start_over':
      return `the login is lost with its token (${error}): a new one is needed`;
    default:
      return outcome satisfies never;
  }
}

export function linkTold({ outcome }: LinkNotification['data']): string {
  return `the link has ended: ${outcome ?? 'without an outcome'}`;
}

function attempts(left: number): string {
  return left === 1 ? '1 attempt left' : `${left} attempts left`;
}

function spaced(name: string): string {
  return name.replaceAll('_', ' ');
}
