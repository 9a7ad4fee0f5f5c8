import type { Consequence } from '../../protocol/link/messages.js';

/**
 * The consequence of each error type of the specification. Only the names are specified; the reasons are ours
 * (docs/internals/lab-service.md, "Links"). A type that is not here is treated as the safest: nothing is known of the token, so
 * the user starts over with a new one, and nothing is given up.
 */
const consequences: Readonly<Record<string, Consequence>> = {
  // The token is not valid, has expired or was used up: the login is lost with it.
  invalid_token: 'start_over',
  token_expired: 'start_over',
  token_not_validated: 'start_over',
  token_consumed: 'start_over',
  // The login did not work: the same token may be used for another.
  provider_credential_error: 'ask_credentials_again',
  provider_password_expired: 'ask_credentials_again',
  provider_api_error: 'ask_credentials_again',
  required_scopes_not_granted: 'ask_credentials_again',
  incorrect_mfa_code: 'ask_code_again',
  // Neither the user nor we can change it.
  unsupported_region: 'give_up',
  duplicate_connection: 'give_up',
  user_cancelled: 'cancel',
};

const safest: Consequence = 'start_over';

export function consequenceOf(errorType: string | undefined): Consequence {
  return (Object.hasOwn(consequences, errorType ?? '') ? consequences[errorType ?? ''] : undefined) ?? safest;
}

export function isAboutToken(errorType: string): boolean {
  return errorType === 'invalid_token' || errorType.startsWith('token_');
}

/** After these the service may have made the connection all the same: it is read before anything else is done. */
export function mayBeConnected(errorType: string): boolean {
  return errorType === 'token_consumed' || errorType === 'duplicate_connection';
}
