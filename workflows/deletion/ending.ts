import type { ApplicationFailure } from '@temporalio/workflow';
import { note } from './case.js';
import type { DeletionOutcome, UndoReport } from './messages.js';
import type { Run } from './run.js';
import { show, tell } from './telling.js';

/** @param refusal what requests are answered with from here on; a deletion that was undone can be requested again */
export function end(run: Run, outcome: DeletionOutcome, refusal?: ApplicationFailure): void {
  const { kase, answered } = run;
  kase.outcome = outcome;
  kase.endedAt = new Date(Date.now()).toISOString();
  note(kase, outcome.replaceAll('_', ' '), Date.now());
  if (refusal) run.refusal = refusal;
  run.answered = true;
  // Whoever still waits for the answer to the request is told by it.
  if (answered && outcome === 'unknown_user') tell(run, { type: 'deletion_failed', data: { reason: outcome } });
  show(run);
}

export function endUndone(run: Run, by: UndoReport['by']): void {
  const { kase } = run;
  const { connections } = kase;
  const report = {
    by,
    restored: ['user' as const, 'data' as const],
    notRestored: ['connections' as const],
    ...(connections && { lostConnections: connections }),
  };
  kase.undo = { at: new Date(Date.now()).toISOString(), ...report };
  tell(run, { type: 'deletion_undone', data: report });
  end(run, 'undone');
}
