/**
 * Eight hexadecimal digits that stand for a text (FNV-1a over UTF-16 units), for ids that are logged: two texts differ in them, and a
 * reader of logs does not see the words. It keeps nothing secret from somebody who tries every word. Workflows have no `node:crypto`.
 */
export function shortDigest(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
