import type { UserStanding } from '../../activities/deletion/users.js';
import type { OfActor } from '../../protocol/ids.js';
import type * as messages from '../../protocol/deletion/messages.js';
import type { RaisedAttention } from '../../protocol/attention.js';
import type { ResolvedDeletionPolicy } from '../../protocol/deletion/policy.js';
import { type Attentive, nothingYet } from '../entity/attention.js';
import type { Outbox } from '../entity/outbox.js';
import { openPolicy, type Governed } from '../entity/policy.js';
import { iso } from '../entity/spans.js';
import { firstVersion } from '../entity/versions.js';
import { omitNullish } from '../../protocol/json.js';
import type { ApplicationFailure, CancellationScope } from '@temporalio/workflow';
import type { EntityRun } from '../entity/loop.js';
import type { Moment } from '../entity/loop-timer.js';
import { defaultSettling } from '../../protocol/settling.js';

/** Everything that is known of one deletion; plain JSON, no clock. */
export interface Deletion
  extends Outbox, Attentive<RaisedAttention<messages.DeletionAttentionReason>>, Governed<ResolvedDeletionPolicy> {
  version: number;
  userId: string;
  /** Only for `undoDeletion`; never shown. */
  clientUserId?: string;
  policy: ResolvedDeletionPolicy;
  requestedAt: string;
  requestedBy?: string;
  phase: Exclude<messages.DeletionPhase, messages.DeletionOutcome>;
  /** Absent until it was looked for. */
  work?: messages.FoundWork[];
  /** Everything that could be cancelled was, if the policy says so. */
  workMet: boolean;
  /** How the user stood before anything was sent; absent until that was read. */
  before?: UserStanding['standing'];
  /** Slugs; absent if the user could not be read before. */
  connections?: string[];
  /** Milliseconds since the epoch, taken just before the first attempt was scheduled. */
  scheduledAt?: number;
  scheduledBefore: boolean;
  reminded?: boolean;
  /** Of the undo that was tried last. */
  undoActor?: OfActor;
  undo?: messages.UndoReport;
  /** Absent before they were erased. */
  histories?: messages.ErasedHistories | 'kept';
  receipt?: string;
  outcome?: messages.DeletionOutcome;
  /** With `failed`: the failure's type. */
  failure?: string;
  endedAt?: string;
}

export function openDeletion(input: messages.DeleteUserInput, now: number): Deletion {
  const { userId, clientUserId, policy, by } = input;
  return {
    version: firstVersion,
    userId,
    ...omitNullish({ clientUserId, requestedBy: by }),
    ...openPolicy('deletion', policy),
    requestedAt: iso(now),
    phase: 'requested',
    workMet: false,
    scheduledBefore: false,
    ...nothingYet(),
    journal: [{ at: iso(now), what: 'deletion requested', ...(by != null && { by }) }],
  };
}

/** One run of `deleteUser`: the deletion it works on, and who waits for it. */
export interface DeletionRun extends EntityRun {
  deletion: Deletion;
  /** The callers that requested the deletion know enough: it is under way, or will not be, or takes longer than they can wait. */
  answered: boolean;
  /** Why no deletion is under way; what requests are answered with. */
  refusal?: ApplicationFailure;
  /** A new deletion, requested after this one had ended and before the product could be notified. */
  next?: Deletion;
  /** Requested while this one runs: begins if it turns out that the user had been restored by then. */
  nextIfRestored?: Deletion;
  /** It is not clear whether the user is still scheduled, because an undo got no answer, or a recheck at a new request. */
  doubt?: 'undo' | 'request';
  /** When the attempts of an undo without an answer ended: the last one may still take effect. In milliseconds since the epoch. */
  undoSentUntil?: number;
  /** The undo that waits or is being carried out; another one is the same. */
  undoing?: Promise<messages.DeletionState>;
  /** A request waits for what comes of that undo. */
  isRequestedAgain?: true;
  /** Everything that precedes the grace; an undo stops it. */
  beginning?: CancellationScope;
  /** The service denies the user, whom it shows. */
  isDenied?: true;
  /** When the last round of requests to the service ended. */
  sentUntil?: number;
  /** When it is known that a request got no answer: it may still take effect after that, and after a later one was answered. */
  unansweredAt?: number;
}

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
