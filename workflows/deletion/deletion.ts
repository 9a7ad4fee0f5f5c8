import type { UserStanding } from '../../activities/users.js';
import type {
  DeleteUserInput,
  DeletionAttentionReason,
  DeletionOutcome,
  DeletionPhase,
  DeletionState,
  FoundWork,
  UndoReport,
} from '../../protocol/deletion/messages.js';
import type { RaisedAttention } from '../../protocol/attention.js';
import type { ResolvedDeletionPolicy } from '../../protocol/deletion/policy.js';
import { shownAttention, type Attentive } from '../entity/attention.js';
import type { Outbox } from '../entity/outbox.js';
import { openPolicy, type Governed } from '../entity/policy.js';
import { deletionPolicyVersions, deletionVersion } from './versions.js';

/** Everything that is known of one deletion; plain JSON, no clock. */
export interface Deletion
  extends Outbox, Attentive<RaisedAttention<DeletionAttentionReason>>, Governed<ResolvedDeletionPolicy> {
  version: number;
  userId: string;
  /** Only for `undoDeletion`; never shown. */
  clientUserId?: string;
  policy: ResolvedDeletionPolicy;
  requestedAt: string;
  phase: Exclude<DeletionPhase, DeletionOutcome>;
  /** Absent until it was looked for. */
  work?: FoundWork[];
  /** Everything that could be cancelled was, if the policy says so. */
  workMet: boolean;
  /** How the user stood before anything was sent; absent until that was read. */
  before?: UserStanding['standing'];
  /** Slugs; absent if the user could not be read before. */
  connections?: string[];
  /** Milliseconds since the epoch, taken just before the first attempt was scheduled. */
  scheduledAt?: number;
  scheduledBefore: boolean;
  reminded: boolean;
  undo?: UndoReport;
  outcome?: DeletionOutcome;
  /** With `failed`: the failure's type. */
  failure?: string;
  endedAt?: string;
}

export function openDeletion(input: DeleteUserInput, now: number): Deletion {
  const { userId, clientUserId, policy } = input;
  return {
    version: deletionVersion,
    userId,
    ...(clientUserId != null && { clientUserId }),
    ...openPolicy(deletionPolicyVersions, policy),
    requestedAt: new Date(now).toISOString(),
    phase: 'requested',
    workMet: false,
    scheduledBefore: false,
    reminded: false,
    attention: [],
    raised: {},
    outbox: [],
    journal: [{ at: new Date(now).toISOString(), what: 'deletion requested' }],
  };
}

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

export function stateOf(deletion: Deletion): DeletionState {
  const { userId, phase, requestedAt, scheduledAt, scheduledBefore, work = [], connections, attention } = deletion;
  const { undo, outcome, failure, endedAt } = deletion;
  const end = graceEndOf(deletion);
  return {
    userId,
    phase: outcome ?? phase,
    requestedAt,
    ...(scheduledAt !== undefined && { scheduledAt: new Date(scheduledAt).toISOString() }),
    ...(end !== undefined && { graceUntil: new Date(end).toISOString() }),
    scheduledBefore,
    work,
    ...(connections && { connections }),
    attention: shownAttention(attention),
    ...(undo && { undo }),
    ...(outcome !== undefined && { outcome }),
    ...(failure !== undefined && { failure }),
    ...(endedAt !== undefined && { endedAt }),
  };
}
