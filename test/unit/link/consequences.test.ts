import { describe, expect, test } from 'vitest';
import { linkErrorTypes, type KnownLinkErrorType } from '../../../service/link.js';
import { hearResult } from '../../../workflows/link/answers.js';
import { hearConnection } from '../../../workflows/link/connections.js';
import { consequenceOf, isAboutToken, mayBeConnected } from '../../../workflows/link/consequences.js';
import type { Consequence } from '../../../workflows/link/messages.js';
import { stateOf } from '../../../workflows/link/view.js';
import { asked, minute, start } from './cases.js';

/** What the user is left with after one error while a code was waited for. */
interface Left {
  consequence: Consequence;
  phase: string;
  hasToken: boolean;
  failedLogins?: number;
  wrongCodes?: number;
}

const ended = { hasToken: false };
const startsOver = { consequence: 'start_over', phase: 'awaiting_password', hasToken: false } as const;
const logsInAgain = { consequence: 'ask_credentials_again', phase: 'awaiting_password', hasToken: true } as const;

const table: Record<KnownLinkErrorType, Left> = {
  invalid_token: startsOver,
  token_expired: startsOver,
  token_not_validated: startsOver,
  token_consumed: startsOver,
  provider_credential_error: { ...logsInAgain, failedLogins: 1 },
  provider_password_expired: { ...logsInAgain, failedLogins: 1 },
  provider_api_error: { ...logsInAgain, failedLogins: 1 },
  unsupported_region: { consequence: 'give_up', phase: 'failed', ...ended },
  duplicate_connection: { consequence: 'give_up', phase: 'failed', ...ended },
  required_scopes_not_granted: { ...logsInAgain, failedLogins: 1 },
  incorrect_mfa_code: { consequence: 'ask_code_again', phase: 'awaiting_code', hasToken: true, wrongCodes: 1 },
  user_cancelled: { consequence: 'cancel', phase: 'cancelled', ...ended },
};

describe('each error type of the specification has its consequence', () => {
  test('and none is missing', () => {
    expect(Object.keys(table)).toEqual([...linkErrorTypes]);
  });

  test.each(linkErrorTypes)('%s', (errorType) => {
    const { hasToken, failedLogins = 0, wrongCodes = 0, ...shown } = table[errorType];
    const kase = asked();
    hearResult(kase, { state: 'error', errorType }, start + 2 * minute);
    // The service is read first, and shows nothing.
    if (mayBeConnected(errorType)) hearConnection(kase, { found: 'none' }, kase.claim, start + 2 * minute);
    expect(consequenceOf(errorType)).toBe(shown.consequence);
    expect(stateOf(kase)).toMatchObject({ ...shown, errorType });
    expect(kase).toMatchObject({ failedLogins, wrongCodes });
    expect(kase.token !== undefined).toBe(hasToken);
  });
});

test.each(['error_of_next_year', undefined, '', 'constructor', 'toString', '__proto__', 'INVALID_TOKEN'])(
  'a type that is not known is treated as the safest, and gives nothing up: %s',
  (errorType) => {
    expect(consequenceOf(errorType)).toBe('start_over');
  },
);

test.each(linkErrorTypes)('%s is about the token, may hide a connection, or neither', (errorType) => {
  expect(isAboutToken(errorType)).toBe(errorType.includes('token'));
  expect(mayBeConnected(errorType)).toBe(['token_consumed', 'duplicate_connection'].includes(errorType));
});
