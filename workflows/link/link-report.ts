import type { LinkReport, ProviderMfa } from './messages.js';

/** States and error types are words; what is longer is none, and none of ours is. */
const longestWord = 64;
/** A hint is a few characters of an address or a number. */
const longestHint = 200;

/**
 * Reads a report in our words or in the service's own (`error_type`, `provider_mfa` or the specification's
 * `provider_mfa_request`). Only what is needed is kept; `undefined` where there is not even a state.
 */
export function linkResultOf(report: unknown): LinkReport | undefined {
  const { state, errorType, error_type, providerMfa, provider_mfa, provider_mfa_request } = fieldsOf(report);
  const known = text(state, longestWord);
  if (known === undefined) return undefined;
  const type = text(errorType, longestWord) ?? text(error_type, longestWord);
  const mfa = mfaOf(providerMfa) ?? mfaOf(provider_mfa) ?? mfaOf(provider_mfa_request);
  return { state: known, ...(type !== undefined && { errorType: type }), ...(mfa && { providerMfa: mfa }) };
}

function mfaOf(value: unknown): ProviderMfa | undefined {
  const fields = fieldsOf(value);
  const method = text(fields['method'], longestWord);
  const hint = text(fields['hint'], longestHint);
  if (method === undefined && hint === undefined) return undefined;
  return { ...(method !== undefined && { method }), ...(hint !== undefined && { hint }) };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function text(value: unknown, longest: number): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= longest ? value : undefined;
}
