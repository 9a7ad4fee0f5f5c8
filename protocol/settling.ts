/** How long after a lost answer the service may still be at work on the request, in milliseconds: its usual time limit, and a margin. */
export const defaultSettling = 35_000;

/**
 * How long a creation whose answer was lost is left alone before the search for what it made, in milliseconds: one and a
 * half times its timeout, and no less than the service usually needs, which does not know the timeout. This is workflow code for reports
 * and appointments, so no release changes it: one that needs another makes it a setting, as `creationSettling` of an order is.
 */
export function settlingAfter(creationTimeout: number): number {
  return Math.max(creationTimeout * 1.5, defaultSettling);
}

/** Milliseconds after which a request to delete a user is given up. The service may go on with it. */
export const deletionRequestMs = 60_000;

/**
 * Milliseconds from the moment at which nothing more is sent until a request whose answer was lost can no longer take effect: its own
 * time, and as long as the service usually needs to finish what it has begun.
 */
export const deletionSettlingMs = deletionRequestMs + defaultSettling;
