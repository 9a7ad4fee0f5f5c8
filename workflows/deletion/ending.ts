import { ApplicationFailure } from '@temporalio/workflow';
import type { FailureDetails } from '../failure-details.js';
import { note } from './case.js';
import type { DeletionOutcome, FoundWork, UndoReport } from './messages.js';
import type { Run } from './run.js';
import { clear, show, tell } from './telling.js';

/** @param refusal what requests are answered with from here on; a deletion that was undone can be requested again */
export function end(run: Run, outcome: DeletionOutcome, refusal?: ApplicationFailure): void {
  const { kase, answered } = run;
  kase.outcome = outcome;
  kase.endedAt = new Date(Date.now()).toISOString();
  note(kase, outcome.replaceAll('_', ' '), Date.now());
  clear(run, 'undo_doubtful');
  if (refusal) run.refusal = refusal;
  run.answered = true;
  // Whoever still waits for the answer to the request is told by it.
  if (answered && (outcome === 'unknown_user' || outcome === 'running_work')) {
    tell(run, { type: 'deletion_failed', data: { reason: outcome, ...workOf(run) } });
  }
  if (answered && outcome === 'deleted') tell(run, { type: 'deleted', data: {} });
  show(run);
}

export function endUndone(run: Run, by: UndoReport['by']): void {
  const { kase } = run;
  const { connections } = kase;
  const isDeleted = kase.scheduledAt !== undefined;
  const report: Omit<UndoReport, 'at'> = {
    by,
    restored: isDeleted ? ['user', 'data'] : [],
    notRestored: isDeleted ? ['connections'] : [],
    ...(isDeleted && connections && { lostConnections: connections }),
  };
  kase.undo = { at: new Date(Date.now()).toISOString(), ...report };
  tell(run, { type: 'deletion_undone', data: report });
  end(run, 'undone');
  delete run.doubt;
  if (!run.again) return;
  run.next = run.again;
  delete run.again;
}

/** The deletion was refused. What was cancelled before is said to whoever learns of it. */
export function endFailed(run: Run, { message, type, details }: ApplicationFailure): void {
  const { kase, answered } = run;
  const reason = type ?? 'unknown';
  const work = workOf(run);
  const known = (details?.[0] ?? { fields: [] }) as Partial<FailureDetails>;
  kase.failure = reason;
  if (answered) tell(run, { type: 'deletion_failed', data: { reason, ...work } });
  end(run, 'failed', ApplicationFailure.nonRetryable(message, reason, { ...known, ...work }));
}

function workOf({ kase: { work = [] } }: Run): { work?: FoundWork[] } {
  return work.length > 0 ? { work } : {};
}
