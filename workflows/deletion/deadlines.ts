import type { Moment } from '../entity/loop-timer.js';
import { defaultSettling } from '../../protocol/settling.js';
import type { DeletionRun, Deletion } from './deletion.js';

/** The moments of the grace period, worked out from the request and the policy (`protocol/deletion/policy.ts`), without a clock. What ends the wait: `grace.ts`. */

/** From when an undo is not accepted any more; milliseconds since the epoch. */
export function graceEndOf({ scheduledAt, policy }: Deletion): number | undefined {
  return scheduledAt === undefined ? undefined : scheduledAt + policy.grace;
}

export function isGraceOver(deletion: Deletion, now: number): boolean {
  const end = graceEndOf(deletion);
  return end !== undefined && now >= end;
}

/** When the product must be reminded; nothing if that was done or the grace period is too short for it. */
export function reminderDueAt(deletion: Deletion): number | undefined {
  const end = graceEndOf(deletion);
  const { grace, reminderBefore } = deletion.policy;
  return end === undefined || deletion.reminded || reminderBefore >= grace ? undefined : end - reminderBefore;
}

export function nextMoment(deletion: Deletion): Moment | undefined {
  const reminder = reminderDueAt(deletion);
  if (reminder !== undefined) return { at: reminder, name: 'reminder' };
  const over = graceEndOf(deletion);
  return over === undefined ? undefined : { at: over, name: 'end of the grace' };
}

/** From when on a read shows what came of an undo that got no answer; milliseconds since the epoch. */
export function undoReadableAt({ undoSentUntil = 0 }: DeletionRun): number {
  return undoSentUntil + defaultSettling;
}

/** The same for everything that was sent, requests included. */
export function readableAt(run: DeletionRun): number {
  return Math.max((run.sentUntil ?? 0) + defaultSettling, undoReadableAt(run));
}
