/**
 * A status, type, slug or reason of the service, if it is a word such as `low_quality`, without blanks around it; else `other`. A
 * sentence in its place may quote a person or a report, and these enter a history.
 */
export function wordOf(text: string): string {
  const word = text.trim();
  return /^\w[\w.-]{0,127}$/.test(word) ? word : 'other';
}

/** A status or a method, in lower case as the contract writes all of them: a deployment may write it otherwise. */
export function lowerWordOf(text: string): string {
  return wordOf(text.toLowerCase());
}

const redactedWord = '***';
const sentenceCharacters = 300;

/**
 * The service's sentence, truncated, without secrets, e-mail addresses and number groups (telephone numbers, dates): it
 * may quote the request, and it reaches logs and a workflow's history.
 *
 * @param secrets values of the call that must not be repeated
 */
export function plainSentence(text: string, secrets: readonly string[]): string {
  // Before anything is cut: a piece of a secret would not be found any more.
  const plain = redacted(text, secrets)
    .slice(0, 4 * sentenceCharacters)
    .replace(/[^\s@"'<>,;]+(?:@|%40)[^\s@"'<>,;]+/gi, '<e-mail>')
    .replace(/(?<![\w-])\+?\(?\d[\d\s()./:T-]{5,}\dZ?(?![\w-])/g, '<number>');
  return [...plain].slice(0, sentenceCharacters).join('');
}

/** In whatever case they are written. Even a secret of one letter goes, whatever that makes of the text. */
function redacted(text: string, secrets: readonly string[]): string {
  // The longest first: if one secret is part of another, the rest of the longer one must not remain.
  const patterns = secrets
    .filter((secret) => secret !== '')
    // A sentence may also quote the body that was sent, in which JSON escapes quotes and the like.
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .toSorted((one, other) => other.length - one.length)
    .map((secret) => secret.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return patterns.length === 0 ? text : text.replace(new RegExp(patterns.join('|'), 'gi'), redactedWord);
}

/** An event type that is safe to show and count: the sender's text, but only if it looks like a type. */
export function isShowableType(eventType: string): boolean {
  return /^[A-Za-z0-9._-]{1,80}$/.test(eventType);
}
