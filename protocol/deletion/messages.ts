import { defineQuery, defineUpdate } from '../definitions.js';
import type { OfActor } from '../ids.js';
import type { Attention } from '../attention.js';
import type { DeletionPolicy, ResolvedDeletionPolicy } from './policy.js';

/**
 * Who the deletion of a user is: its name, input, result, updates and query. docs/messages.md shows the same as JSON for
 * backends in other languages. Nothing here names the person but `clientUserId`, which is input and nothing else.
 */

export const deleteUserName = 'deleteUser';

export interface DeleteUserInput extends OfActor {
  /** The service's user id. */
  userId: string;
  /**
   * The product's own reference for the user, which may identify the person. Only an undo reads it, to see if a new
   * user has taken it. It appears in no ID, search attribute, result or case file.
   */
  clientUserId?: string;
  /** A part of the settings, or a resolved policy, which the client sends. */
  policy?: DeletionPolicy | ResolvedDeletionPolicy;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/**
 * Sent together with the start (update-with-start), and to a deletion that is under way. Answers with the state once the
 * service has taken the deletion, or at once when the service does not answer: then it goes on by itself. Rejects when
 * there will be no deletion: `UserHasRunningWork`, `UserUnknown`, `DeletionRefused` and others.
 */
export const requestUpdate = defineUpdate<DeletionState, [DeleteUserInput]>('request');

/**
 * Accepted during the grace period, and before it once a request was answered although the service had not taken the
 * deletion: then the deletion is withdrawn, by asking the service unless the user was read as present and nothing was sent since. Answers
 * with the state, whose `undo` says what was restored and what was not.
 */
export const undoUpdate = defineUpdate<DeletionState, [OfActor]>('undo');

export const stateQuery = defineQuery<DeletionState>('state');

/** How far a deletion is. LabPhase carries it. */
export type DeletionPhase =
  /** The service has not taken it yet. */
  | 'requested'
  /** It can be undone. */
  | 'grace'
  /** The grace period is over; a last read makes sure that nobody has restored the user elsewhere. */
  | 'confirming'
  | DeletionOutcome;

export type DeletionOutcome =
  /** Irrevocable: the service erases the user's data, or has done so. */
  | 'deleted'
  | 'undone'
  /** The service does not know the user, or no longer. */
  | 'unknown_user'
  /** The user has running work and the policy is `refuse`: nothing was deleted. */
  | 'running_work'
  /** The deletion was refused: nothing was deleted. `failure` has the reason. */
  | 'failed';

/** A running workflow of the user whose deletion is requested. */
export interface RunningWork {
  workflowId: string;
  /**
   * The workflow's name: `kitOrder`, `placeKitOrder`, `linkProvider`, `submitReport`, `parsingJob`, `bookAppointment`.
   */
  name: string;
}

export interface WorkFate {
  fate:
    /** The policy is `leave` or `refuse`. */
    | 'left'
    /**
     * With the reason `NoLongerFollowed`: the service cannot cancel it, so a later webhook makes the worker follow it
     * again. With `CriticalResultOpen`: the order still has a critical result to be acknowledged.
     */
    | 'cancelled'
    /** It ended by itself before it was cancelled. */
    | 'ended'
    /**
     * It could not be cancelled: `reason` is the failure's type, `OrderGoesOn` for an order whose current kit was cancelled, while an
     * earlier one moves again, or `CriticalResultOpen` for one that has ended, but has a critical result to be acknowledged.
     */
    | 'not_cancelled';
  reason?: string;
}

export type FoundWork = RunningWork & WorkFate;

/** The histories of the user's other workflows in Temporal, at the end of a final deletion. */
export interface ErasedHistories {
  /** The workflows of which every run that Temporal listed was deleted. `completedAt` if the last one had ended by itself. */
  erased: { workflowId: string; completedAt?: string }[];
  /** The workflows whose runs were not deleted. */
  left: HistoryLeft[];
}

export interface HistoryLeft {
  workflowId: string;
  /** The workflow's name: `kitOrder`, `deliverNotifications` and so on. */
  name: string;
  /** `open`: it still runs. `another_user`: it is about another user as well, to whom a registration moved the order. */
  because: 'open' | 'another_user';
}

export interface UndoReport {
  at: string;
  /** `command`: through `undo`. `elsewhere`: the user was restored without an `undo` here. */
  by: 'command' | 'elsewhere';
  /** The actor of that `undo`. */
  undoneBy?: string;
  /** Empty, as is `notRestored`, if the user had not been deleted. */
  restored: ('user' | 'data')[];
  notRestored: 'connections'[];
  /**
   * Slugs of the sources that the user was connected to and has to link again. Absent if the user was not read before.
   */
  lostConnections?: string[];
}

/** The reason why a person should look: docs/attention.md. */
export type DeletionAttentionReason =
  | 'deletion_delayed'
  | 'confirmation_delayed'
  | 'erasure_delayed'
  | 'undo_doubtful'
  | 'notifications_undelivered'
  | 'unreadable_signal';

/** The answer of every update and the query. Nothing personal. */
export interface DeletionState {
  userId: string;
  phase: DeletionPhase;
  requestedAt: string;
  /** The actor of the request. */
  requestedBy?: string;
  /** When the first attempt to delete was scheduled: the grace counts from here. */
  scheduledAt?: string;
  /** Until when `undo` is accepted. The service's own grace ends no earlier. */
  graceUntil?: string;
  /** The user was scheduled for deletion before, so the service's grace period may end earlier than `graceUntil`. */
  scheduledBefore: boolean;
  /** Running work that was found, with its fate. */
  work: FoundWork[];
  /** Slugs of the sources whose connections the deletion ends. Absent if the user was not read before. */
  connections?: string[];
  attention: Attention<DeletionAttentionReason>[];
  undo?: UndoReport;
  /** Absent before they were erased. `kept`: the deployment keeps them (ERASE_HISTORIES=false). */
  histories?: ErasedHistories | 'kept';
  /** Of a final deletion: a compact JWS (`DeletionReceipt`), if the worker has a RECEIPT_KEY. */
  receipt?: string;
  outcome?: DeletionOutcome;
  /** With the outcome `failed`: the failure's type. */
  failure?: string;
  endedAt?: string;
}

/** A deletion that was refused has no result: the workflow fails with the refusal. */
export type DeleteUserResult = DeletionState & {
  /** The version of this result's format; a later deletion of the user reads it. */
  version: number;
  outcome: Exclude<DeletionOutcome, 'failed'>;
  endedAt: string;
};

export const deletionResultVersion = 1;

/**
 * Notifications about a user's deletion, CloudEvents of type `labops.user.<type>`. An id is `<user id>/<when the
 * deletion was requested>/<what>`, never derived from a run, so a receiver can drop repeats.
 */
export type DeletionNotification = NotificationHead &
  (
    | { type: 'deletion_scheduled'; data: { graceUntil: string; scheduledBefore: boolean; work: FoundWork[] } }
    | { type: 'deletion_reminder'; data: { graceUntil: string; scheduledBefore: boolean } }
    | { type: 'deletion_undone'; data: Omit<UndoReport, 'at' | 'undoneBy'> }
    | { type: 'deleted'; data: object }
    /** Nothing is deleted after all, though the request had been answered. */
    | { type: 'deletion_failed'; data: { reason: string; work?: FoundWork[] } }
    | { type: 'attention_raised'; data: Attention<DeletionAttentionReason> }
    | { type: 'attention_cleared'; data: Attention<DeletionAttentionReason> }
  );

interface NotificationHead {
  id: string;
  /** When it happened, ISO 8601 in UTC. */
  at: string;
  userId: string;
}

/**
 * The receipt of a deletion that is final: the payload of a compact JWS (RFC 7515, EdDSA), so any JOSE library verifies it. Nothing of
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
  /** The remains that were found after the erasure. */
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
