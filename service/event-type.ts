/** An event type that is safe to show and count: the sender's text, but only if it looks like a type. */
export function isShowableType(eventType: string): boolean {
  return /^[A-Za-z0-9._-]{1,80}$/.test(eventType);
}
