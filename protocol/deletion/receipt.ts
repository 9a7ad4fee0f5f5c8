/**
 * What a deletion that is final says of itself: the payload of a compact JWS (RFC 7515, EdDSA), so any JOSE library verifies it. Nothing of
 * the person but the user id.
 */
export interface DeletionReceipt {
  version: 1;
  /** The installation that wrote it. */
  iss: string;
  /** The service's user id. */
  sub: string;
  /** When it was written, in seconds since the epoch. */
  iat: number;
  requestedAt: string;
  deletedAt: string;
  /** How many workflows' histories were deleted from Temporal. */
  erasedHistories: number | 'kept';
  /** What was found after the erasure. */
  found: {
    /** How the lab service answers a read of the user: `scheduled` until its own grace period is over. */
    labService: Reading<{ user: 'present' | 'scheduled' | 'unknown' }>;
    /** Rows with the user's id in the database for health data, tombstone excepted. */
    database: Reading<{ rows: number }> | 'not_kept';
    /** Workflows with the user's LabUserId, deletions excepted. */
    temporal: Reading<{ ended: number; open: number }>;
  };
  remains: Remaining[];
}

/** `unread`: why nothing could be read; nothing is claimed then. */
export type Reading<Found> = (Found & { readAt: string }) | { unread: string };

export interface Remaining {
  where: string;
  /** ISO 8601, or a sentence if no time is known. */
  until: string;
  why: string;
}
