/**
 * How long a creation whose answer was lost is left alone before the search for what it made, in milliseconds: one and a
 * half times its timeout, because the service may still be working.
 */
export function settlingAfter(creationTimeout: number): number {
  return creationTimeout * 1.5;
}
