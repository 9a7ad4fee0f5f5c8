import { ApplicationFailure } from '@temporalio/workflow';
import type { RaisedAttention } from '../../protocol/attention.js';
import type {
  DeletionAttentionReason,
  DeletionOutcome,
  FoundWork,
  UndoReport,
  DeletionNotification,
} from '../../protocol/deletion/messages.js';
import type { FailureDetails } from '../../protocol/failure-details.js';
import { deleteUserId, type OfActor } from '../../protocol/ids.js';
import { attentionVerbsFor } from '../entity/attention.js';
import { note } from '../entity/journal.js';
import { words } from '../entity/operators.js';
import { enqueue } from '../entity/outbox.js';
import { graceEndOf, type DeletionRun, type Deletion } from './deletion.js';
import { show } from './view.js';
import { refuse } from '../entity/commands.js';
import { iso } from '../entity/spans.js';

/** The announcements of a deletion to the product and to operators. */

/** A notification less what every one has. */
type News = DeletionNotification extends infer Each
  ? Each extends DeletionNotification
    ? Pick<Each, 'type' | 'data'>
    : never
  : never;

/** @param name of what happened, once per deletion; the type if it happens once anyway */
export function announce(deletion: Deletion, news: News, name: string = news.type): void {
  const { userId, requestedAt } = deletion;
  enqueue(deletion, {
    id: `${userId}/${requestedAt}/${name}`,
    at: iso(Date.now()),
    source: deleteUserId(userId),
    type: `user.${news.type}`,
    subject: userId,
    data: { userId, ...news.data },
  });
}

export function announceScheduled(deletion: Deletion): void {
  const graceUntil = iso(graceEndOf(deletion) ?? Date.now());
  const { scheduledBefore, work = [] } = deletion;
  announce(deletion, { type: 'deletion_scheduled', data: { graceUntil, scheduledBefore, work } });
}

export const { raise, clear } = attentionVerbsFor<RaisedAttention<DeletionAttentionReason>, Deletion>({
  notify(deletion, { reason, since }, { id, type }) {
    announce(deletion, { type, data: { reason, since } }, `${id}/${type}`);
    // The operator may have to do something long before the deletion goes on.
    show(deletion);
  },
});

/** @param refusal what requests are answered with from here on; a deletion that was undone can be requested again */
export function end(run: DeletionRun, outcome: DeletionOutcome, refusal?: ApplicationFailure, actor?: OfActor): void {
  const { deletion, answered } = run;
  deletion.outcome = outcome;
  deletion.endedAt = iso(Date.now());
  note(deletion, words(outcome), Date.now(), undefined, actor);
  delete run.isDenied;
  clear(deletion, ['undo_doubtful', 'deletion_delayed'], Date.now());
  if (refusal) run.refusal = refusal;
  run.answered = true;
  // A caller that still waits for the answer to the request learns it from that.
  if (answered && (outcome === 'unknown_user' || outcome === 'running_work')) {
    announce(deletion, { type: 'deletion_failed', data: { reason: outcome, ...workOf(deletion) } });
  }
  if (answered && outcome === 'deleted') announce(deletion, { type: 'deleted', data: {} });
  show(deletion);
}

/** @param undone `present`: the service had nothing to take back, unless an earlier attempt was carried out */
export function endUndone(run: DeletionRun, by: UndoReport['by'], undone: 'undone' | 'present'): void {
  const { deletion } = run;
  const { connections, before, scheduledAt, undoActor = {} } = deletion;
  const actor = by === 'command' ? undoActor : {};
  const isDeleted = undone !== 'present' || scheduledAt !== undefined || before === 'scheduled';
  const report: Omit<UndoReport, 'at' | 'undoneBy'> = {
    by,
    restored: isDeleted ? ['user', 'data'] : [],
    notRestored: isDeleted ? ['connections'] : [],
    ...(isDeleted && connections && { lostConnections: connections }),
  };
  deletion.undo = { at: iso(Date.now()), ...report, ...(actor.by !== undefined && { undoneBy: actor.by }) };
  announce(deletion, { type: 'deletion_undone', data: report });
  end(run, 'undone', undefined, actor);
  delete run.doubt;
  if (!run.nextIfRestored) return;
  requestNext(run, run.nextIfRestored);
  delete run.nextIfRestored;
}

/** The user is there again: by an undo that got no answer, or by somebody else. */
export function endRestored(run: DeletionRun): void {
  endUndone(run, run.doubt === 'undo' ? 'command' : 'elsewhere', 'undone');
}

/** A deletion that was announced as final stays final, even if the service would still undo it. */
export function endAsBefore(run: DeletionRun): void {
  note(run.deletion, 'an earlier deletion has ended for good', Date.now());
  end(run, 'deleted', userDeleted());
}

/** A request after an end that leaves the user there is a new deletion. */
export function requestNext(run: DeletionRun, next: Deletion): void {
  run.next ??= next;
  run.hasNews = true;
}

/** The deletion was refused. What was cancelled before is in the failure as well. */
export function endFailed(run: DeletionRun, { message, type, details }: ApplicationFailure): void {
  const { deletion, answered } = run;
  const reason = type ?? 'unknown';
  const work = workOf(deletion);
  const known = (details?.[0] ?? { fields: [] }) as Partial<FailureDetails>;
  deletion.failure = reason;
  if (answered) announce(deletion, { type: 'deletion_failed', data: { reason, ...work } });
  end(run, 'failed', ApplicationFailure.nonRetryable(message, reason, { ...known, ...work }));
}

function workOf({ work = [] }: Deletion): { work?: FoundWork[] } {
  return work.length > 0 ? { work } : {};
}

/** The refusals of requests and undos, in one place. */

export function graceNotBegun(): ApplicationFailure {
  return refuse('GraceNotBegun', 'The lab service has not accepted the deletion yet: there is nothing to undo');
}

export function graceEnded(): ApplicationFailure {
  return refuse('GraceEnded', 'The deletion cannot be undone any more');
}

export function nothingToUndo(): ApplicationFailure {
  return refuse('NothingToUndo', 'There is nothing to undo: the deletion did not happen');
}

export function userUnknown(): ApplicationFailure {
  return refuse('UserUnknown', 'The lab service does not know this user (any more)', { status: 404 });
}

export function userDeleted(): ApplicationFailure {
  return refuse('UserUnknown', 'The user has been deleted permanently');
}
