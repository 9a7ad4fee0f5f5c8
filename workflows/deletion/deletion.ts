import type { UserStanding } from '../../activities/deletion/users.js';
import type { OfActor } from '../../protocol/actor.js';
import type {
  DeleteUserInput,
  DeletionAttentionReason,
  DeletionOutcome,
  DeletionPhase,
  ErasedHistories,
  FoundWork,
  UndoReport,
} from '../../protocol/deletion/messages.js';
import type { RaisedAttention } from '../../protocol/attention.js';
import type { ResolvedDeletionPolicy } from '../../protocol/deletion/policy.js';
import { type Attentive, nothingYet } from '../entity/attention.js';
import type { Outbox } from '../entity/outbox.js';
import { openPolicy, type Governed } from '../entity/policy.js';
import { iso } from '../entity/spans.js';
import { firstVersion } from '../entity/versions.js';
import { present } from '../../protocol/canonical-json.js';

/** Everything that is known of one deletion; plain JSON, no clock. */
export interface Deletion
  extends Outbox, Attentive<RaisedAttention<DeletionAttentionReason>>, Governed<ResolvedDeletionPolicy> {
  version: number;
  userId: string;
  /** Only for `undoDeletion`; never shown. */
  clientUserId?: string;
  policy: ResolvedDeletionPolicy;
  requestedAt: string;
  requestedBy?: string;
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
  /** Of the undo that was tried last. */
  undoActor?: OfActor;
  undo?: UndoReport;
  /** Absent before they were erased. */
  histories?: ErasedHistories | 'kept';
  receipt?: string;
  outcome?: DeletionOutcome;
  /** With `failed`: the failure's type. */
  failure?: string;
  endedAt?: string;
}

export function openDeletion(input: DeleteUserInput, now: number): Deletion {
  const { userId, clientUserId, policy, by } = input;
  return {
    version: firstVersion,
    userId,
    ...present({ clientUserId, requestedBy: by }),
    ...openPolicy('deletion', policy),
    requestedAt: iso(now),
    phase: 'requested',
    workMet: false,
    scheduledBefore: false,
    reminded: false,
    ...nothingYet(),
    journal: [{ at: iso(now), what: 'deletion requested', ...(by != null && { by }) }],
  };
}
