/**
 * Terms that make a parameter a credential anywhere in its name: every store and gateway has its own spelling
 * (`X-Amz-Signature`, `auth_key`, `__token__`, `hdnts`, `subscription-key`, `ticket`). One term too many costs a
 * parameter that has to be renamed; one too few, a secret in a history.
 */
const credentialParameters =
  /key|token|ticket|session|pass|pwd|auth|bearer|jwt|hdn|sig|hmac|hash|digest|verif|code|cred|secret|sas|otp|pin|nonce|policy/;

/**
 * True if a URL is a credential by itself: anyone who has it gets the file. It recognises the signed URLs of the usual
 * stores, tokens and keys by the names of their parameters, and a user name or password before the host. A token in the
 * path looks like any other name and is not recognised (docs/operations.md). Text that is not a URL is judged in the
 * same way.
 */
export function isSignedUrl(url: string): boolean {
  // Not the URL class, which workflow code does not have. A browser treats a backslash as a slash.
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
    // A stray percent sign: use the name unchanged.
    return text;
  }
}
