/**
 * Words that make a parameter a credential wherever they stand in its name: every store and gateway has its own spelling
 * (`X-Amz-Signature`, `auth_key`, `__token__`, `hdnts`, `subscription-key`, `ticket`). A word too many costs a parameter that
 * has to be renamed; one too few, a secret in a history.
 */
const credentialParameters =
  /key|token|ticket|session|pass|pwd|auth|bearer|jwt|hdn|sig|hmac|hash|digest|verif|code|cred|secret|sas|otp|pin|nonce|policy/;

/**
 * Whether a URL is a credential by itself: whoever has it gets the file. It recognises the signed URLs of the usual
 * stores, tokens and keys by the names of their parameters, and a user name or password before the host. A token in the
 * path looks like any other name and is not seen (docs/operations.md). Text that is no URL is judged alike.
 */
export function isSignedUrl(url: string): boolean {
  // No URL class: workflow code runs where there is none. A browser takes a backslash for a slash.
  const [beforeQuery = ''] = url.split(/[?#]/, 1);
  const [, authority = ''] = /^[^:/\\]*:[/\\]*([^/\\]*)/.exec(beforeQuery.trim()) ?? [];
  if (authority.includes('@')) return true;
  return url
    .slice(beforeQuery.length)
    .split(/[?&;#]/)
    .some((parameter) => credentialParameters.test(decoded(parameter.split('=', 1)[0] ?? '').toLowerCase()));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    // A stray percent sign: the name then is what stands there.
    return text;
  }
}
