import { refusalOf } from '../command-queue.js';
import { commanding } from '../proxies.js';
import { isGraceOver, note, stateOf } from './case.js';
import { endUndone } from './ending.js';
import type { DeletionState } from './messages.js';
import { graceEnded, graceNotBegun, nothingToUndo } from './refusals.js';
import type { Run } from './run.js';
import { show } from './telling.js';

/** What an undo must meet to be accepted at all; a refusal here leaves no trace in the history. */
export function validateUndo({ kase, answered }: Run): void {
  const { outcome, phase } = kase;
  if (outcome === 'undone') return;
  if (outcome === 'deleted') throw graceEnded();
  if (outcome !== undefined) throw nothingToUndo();
  if (phase === 'requested' && !answered) throw graceNotBegun();
  if (phase === 'confirming' || (phase === 'grace' && isGraceOver(kase, Date.now()))) throw graceEnded();
}

export async function undo(run: Run): Promise<DeletionState> {
  const { kase } = run;
  // Several may have asked at once: the first has done it.
  if (kase.outcome === 'undone') return stateOf(kase);
  if (kase.outcome !== undefined) throw nothingToUndo();
  if (kase.scheduledAt !== undefined) await haveItUndone(run);
  delete run.again;
  endUndone(run, 'command');
  return stateOf(kase);
}

async function haveItUndone(run: Run): Promise<void> {
  const { kase } = run;
  const { userId, clientUserId } = kase;
  const deleted = { userId, ...(clientUserId !== undefined && { clientUserId }) };
  try {
    await commanding.undoDeletion.executeWithOptions({ summary: 'undo the deletion' }, [deleted]);
  } catch (error) {
    // Whatever is not the service's own refusal of this undo may hide one that was carried out.
    const { type } = refusalOf(error);
    if (type !== 'UndoRefused' && type !== 'UndoImpossible') run.doubt = 'undo';
    note(kase, 'an undo was not carried out', Date.now());
    show(run);
    throw error;
  }
}
