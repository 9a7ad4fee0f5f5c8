import { linkErrorTypes } from '../../service/link.js';

/**
 * What the invented providers do with a user name and with a code, as docs/sandbox.md lists it ("Links"). Case
 * makes no difference, and what follows an `@` is ignored, so an e-mail address is a user name too.
 *
 * An error changes nothing: the token and the request for a code stay as they were.
 */
export type ProviderOutcome =
  | { readonly kind: 'connected' }
  | { readonly kind: 'asks_for_code'; readonly method: 'sms' | 'email'; readonly codes: readonly string[] }
  | { readonly kind: 'error'; readonly errorType: string }
  | { readonly kind: 'state'; readonly state: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'broken' };

const firstCode = '123456';
const secondCode = '654321';

/** @param name the user name, or the e-mail address where a provider asks for it alone */
export function outcomeOfCredentials(name: string): ProviderOutcome {
  const word = name.trim().toLowerCase().split('@', 1)[0] ?? '';
  if (word.startsWith('ok')) return { kind: 'connected' };
  if (word.startsWith('mfa-sms')) return { kind: 'asks_for_code', method: 'sms', codes: [firstCode] };
  if (word.startsWith('mfa-email')) return { kind: 'asks_for_code', method: 'email', codes: [firstCode] };
  if (word.startsWith('mfa-again')) return { kind: 'asks_for_code', method: 'sms', codes: [firstCode, secondCode] };
  if (word.startsWith('error-')) return { kind: 'error', errorType: word.slice('error-'.length) };
  if (word.startsWith('state-')) return { kind: 'state', state: word.slice('state-'.length) };
  if (word.startsWith('detail')) return { kind: 'refused' };
  return { kind: 'error', errorType: 'provider_credential_error' };
}

/** @param codes the codes that the provider still asks for, in their order */
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
      return { kind: 'asks_for_code', method: 'email', codes: [secondCode] };
    case '422':
      return { kind: 'refused' };
    case '500':
      return { kind: 'broken' };
    default:
      return { kind: 'error', errorType: 'incorrect_mfa_code' };
  }
}
