import type { Attention } from '../attention.js';
import type { DeletionAttentionReason, FoundWork, UndoReport } from './messages.js';

/**
 * Notifications about a user's deletion, CloudEvents of type `labops.user.<type>`. An id is `<user id>/<when the
 * deletion was requested>/<what>`, never derived from a run, so a receiver can drop repeats.
 */
export type DeletionNotification = NotificationHead &
  (
    | { type: 'deletion_scheduled'; data: { graceUntil: string; scheduledBefore: boolean; work: FoundWork[] } }
    | { type: 'deletion_reminder'; data: { graceUntil: string; scheduledBefore: boolean } }
    | { type: 'deletion_undone'; data: Omit<UndoReport, 'at'> }
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
