/** An event type as it may be shown and counted: the sender's words, but only as long as they look like a type. */
export function isShowableType(eventType: string): boolean {
  return /^[A-Za-z0-9._-]{1,80}$/.test(eventType);
}
