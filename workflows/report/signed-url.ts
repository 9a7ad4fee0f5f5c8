/** Names of query parameters that are credentials, in lower case. */
const CREDENTIALS = [
  'sig',
  'sas',
  'auth',
  'authorization',
  'jwt',
  'hmac',
  'apikey',
  'api_key',
  'api-key',
  'key-pair-id',
  'policy',
  'pwd',
];
/** Every cloud has its own prefixes: `X-Amz-Signature`, `X-Goog-Credential`, `x-oss-security-token`, `access_token`. */
const CREDENTIAL_WORDS = /(?:signature|credentials?|token|secret|password|passwd)$/;

/**
 * Whether a URL is a credential by itself: whoever has it gets the file. It recognises the signed URLs of the usual
 * stores, tokens and keys by the names of their parameters, and a user name or password before the host; rather one
 * URL too many than a secret in a history. Text that is no URL is judged alike.
 */
export function isSignedUrl(url: string): boolean {
  // No URL class: workflow code runs where there is none. A browser takes a backslash for a slash.
  const [beforeQuery = ''] = url.split(/[?#]/, 1);
  const [, authority = ''] = /^[^:/\\]*:[/\\]*([^/\\]*)/.exec(beforeQuery.trim()) ?? [];
  if (authority.includes('@')) return true;
  return url
    .slice(beforeQuery.length)
    .split(/[?&;#]/)
    .some((parameter) => isCredential(decoded(parameter.split('=', 1)[0] ?? '')));
}

function isCredential(name: string): boolean {
  const plain = name.trim().toLowerCase();
  return CREDENTIALS.includes(plain) || CREDENTIAL_WORDS.test(plain);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    // A stray percent sign: the name then is what stands there.
    return text;
  }
}
