const REDACTED = '***';

/**
 * The text without the secrets, in whatever case it writes them. The service's sentences may quote what they refuse,
 * and sentences reach logs and a workflow's history. Even a secret of one letter goes, whatever that makes of the text.
 */
export function redacted(text: string, secrets: readonly string[]): string {
  // The longest first: where one secret is part of another, the rest of the longer one must not stay behind.
  const patterns = secrets
    .filter((secret) => secret !== '')
    // A sentence may also quote the body that was sent, in which JSON escapes quotes and the like.
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .toSorted((one, other) => other.length - one.length)
    .map((secret) => secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return patterns.length === 0 ? text : text.replace(new RegExp(patterns.join('|'), 'gi'), REDACTED);
}
