import { linkErrorTypes } from '../../service/link.js';

/**
 * What the invented providers do with a user name and with a code: the whole of it is here and in docs/sandbox.md,
 * "Playing links". Upper and lower case make no difference, and what follows an `@` is not looked at, so
 * that an e-mail address is a user name too.
 *
 * | User name | What happens |
 * |---|---|
 * | `ok…` | connects at once |
 * | `mfa-sms…`, `mfa-email…` | a code is asked for, sent by that method |
 * | `mfa-again…` | a code is asked for by SMS, and after the right one a second by e-mail |
 * | `error-<type>` | that error type, also one that nobody knows |
 * | `state-<word>` | that state |
 * | `detail…` | 422 `{detail}` |
 * | any other | `provider_credential_error` |
 *
 * | Code | What happens |
 * |---|---|
 * | `123456` | the right one; after a second request `654321` is, since a code works once |
 * | `900001` to `900012` | the error types of the specification, in its order (`invalid_token` … `user_cancelled`) |
 * | `900098`, `900099` | a state, an error type that nobody knows |
 * | `900100` | a code is asked for once more, by e-mail |
 * | `900422` | 422 `{detail}` that quotes the code |
 * | `900500` | 500 in plain text |
 * | any other | `incorrect_mfa_code`; another try is possible |
 *
 * An error changes nothing: token and request for a code stay as they were.
 */
export type ProviderOutcome =
  | { readonly kind: 'connected' }
  | { readonly kind: 'asks_for_code'; readonly method: 'sms' | 'email'; readonly codes: readonly string[] }
  | { readonly kind: 'error'; readonly errorType: string }
  | { readonly kind: 'state'; readonly state: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'broken' };

const FIRST_CODE = '123456';
const SECOND_CODE = '654321';

/** @param name the user name, or the e-mail address where a provider asks for it alone */
export function outcomeOfCredentials(name: string): ProviderOutcome {
  const word = name.trim().toLowerCase().split('@', 1)[0] ?? '';
  if (word.startsWith('ok')) return { kind: 'connected' };
  if (word.startsWith('mfa-sms')) return { kind: 'asks_for_code', method: 'sms', codes: [FIRST_CODE] };
  if (word.startsWith('mfa-email')) return { kind: 'asks_for_code', method: 'email', codes: [FIRST_CODE] };
  if (word.startsWith('mfa-again')) return { kind: 'asks_for_code', method: 'sms', codes: [FIRST_CODE, SECOND_CODE] };
  if (word.startsWith('error-')) return { kind: 'error', errorType: word.slice('error-'.length) };
  if (word.startsWith('state-')) return { kind: 'state', state: word.slice('state-'.length) };
  if (word.startsWith('detail')) return { kind: 'refused' };
  return { kind: 'error', errorType: 'provider_credential_error' };
}

/** @param codes those that the provider still wants, in their order */
export function outcomeOfCode(code: string, codes: readonly string[]): ProviderOutcome {
  const [right, ...further] = codes;
  if (code === right) {
    return further.length === 0 ? { kind: 'connected' } : { kind: 'asks_for_code', method: 'email', codes: further };
  }
  const [, number] = /^900(\d{3})$/.exec(code) ?? [];
  const errorType = linkErrorTypes[Number(number) - 1];
  if (errorType !== undefined) return { kind: 'error', errorType };
  switch (number) {
    case '098':
      return { kind: 'state', state: 'state_of_next_year' };
    case '099':
      return { kind: 'error', errorType: 'error_of_next_year' };
    case '100':
      return { kind: 'asks_for_code', method: 'email', codes: [SECOND_CODE] };
    case '422':
      return { kind: 'refused' };
    case '500':
      return { kind: 'broken' };
    default:
      return { kind: 'error', errorType: 'incorrect_mfa_code' };
  }
}
