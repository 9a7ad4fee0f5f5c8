import { omitNullish } from '../../service/json-object.js';
/** The question to the user after the password. */
export interface ProviderMfa {
  /** `sms`, `email`, or one that is not known yet. */
  method?: string;
  /** The shortened destination of the code, from the provider, to be shown to the user. */
  hint?: string;
}

/**
 * The answer of the password step to the user's browser: the service's answer unchanged (docs/messages.md), or this. No
 * other field is kept. The password itself never arrives here.
 */
export interface LinkReport {
  /** `success`, `pending_provider_mfa`, `error`, or one that is not known yet. */
  state: string;
  /** With `error`: one of the specification's, or one that is not known yet. */
  errorType?: string;
  providerMfa?: ProviderMfa;
}

/** States, error types and methods are words. Anything else could be personal and is not stored. */
const wordPattern = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
const noWord = 'unrecognised';
/** A hint is a few characters of an address or a number. */
const longestHint = 200;

/**
 * Reads a report in our names or in the service's own (`error_type`, `provider_mfa`). Only the needed fields are kept; `undefined`
 * if there is not even a state.
 */
export function linkResultOf(report: unknown): LinkReport | undefined {
  const { state, errorType, error_type, providerMfa, provider_mfa } = fieldsOf(report);
  if (typeof state !== 'string' || state === '') return undefined;
  const type = wordOf(errorType) ?? wordOf(error_type);
  const mfa = mfaOf(providerMfa) ?? mfaOf(provider_mfa);
  return omitNullish({ state: wordOf(state) ?? noWord, errorType: type, providerMfa: mfa });
}

function mfaOf(value: unknown): ProviderMfa | undefined {
  const fields = fieldsOf(value);
  const method = wordOf(fields['method']);
  const hint = hintOf(fields['hint']);
  return method === undefined && hint === undefined ? undefined : omitNullish({ method, hint });
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** In lower case, as the contract writes them. A text that is not a word still counts as present. */
export function wordOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return wordPattern.test(value) ? value.toLowerCase() : noWord;
}

function hintOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= longestHint ? value : undefined;
}

/** Longer than any code, with room for a sentence that was pasted with it. */
const longestText = 200;

/** The code as it is sent; undefined if it cannot be one. Only the provider knows the form of its codes, so only blanks around it go. */
export function readCode(text: unknown): string | undefined {
  return typeof text === 'string' && text.length <= longestText && text.trim() !== '' ? text.trim() : undefined;
}

/** The rule that such a text breaks. */
export const codeRule = `must be a string that is not blank, of at most ${longestText} characters`;
