import { usualSettling } from '../settling.js';

/** Milliseconds after which a request to delete a user is given up. The service may go on with it. */
export const deletionRequestMs = 60_000;

/**
 * Milliseconds from the moment at which nothing more is sent until a request whose answer was lost can no longer take effect: its own
 * time, and as long as the service usually needs to finish what it has begun.
 */
export const deletionSettlingMs = deletionRequestMs + usualSettling;
