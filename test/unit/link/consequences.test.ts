import { describe, expect, test } from 'vitest';
import type { Consequence } from '../../../protocol/link/messages.js';
import { linkErrorTypes, type KnownLinkErrorType } from '../../../service/link.js';
import { consequenceOf, isAboutToken, mayBeConnected } from '../../../workflows/link/consequences.js';
import { receiveResult, takeConnection } from '../../../workflows/link/link.js';
import { stateOf } from '../../../workflows/link/view.js';
import { asked, minute, start } from './links.js';

/** The user's situation after one error while a code was awaited. */
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
  test('no error type of the specification is missing', () => {
    expect(Object.keys(table)).toEqual([...linkErrorTypes]);
  });

  test.each(linkErrorTypes)('%s', (errorType) => {
    const { hasToken, failedLogins = 0, wrongCodes = 0, ...shown } = table[errorType];
    const link = asked();
    receiveResult(link, { state: 'error', errorType }, start + 2 * minute);
    // The service is read first, and shows nothing.
    if (mayBeConnected(errorType)) takeConnection(link, { found: 'none' }, link.claim, start + 2 * minute);
    expect(consequenceOf(errorType)).toBe(shown.consequence);
    expect(stateOf(link)).toMatchObject({ ...shown, errorType });
    expect(link).toMatchObject({ failedLogins, wrongCodes });
    expect(link.token !== undefined).toBe(hasToken);
  });
});

test.each(['error_of_next_year', undefined, '', 'constructor', 'toString', '__proto__', 'INVALID_TOKEN'])(
  'an unknown type is treated as the safest, and ends nothing: %s',
  (errorType) => {
    expect(consequenceOf(errorType)).toBe('start_over');
  },
);

test.each(linkErrorTypes)('%s is about the token, may hide a connection, or neither', (errorType) => {
  expect(isAboutToken(errorType)).toBe(errorType.includes('token'));
  expect(mayBeConnected(errorType)).toBe(['token_consumed', 'duplicate_connection'].includes(errorType));
});
