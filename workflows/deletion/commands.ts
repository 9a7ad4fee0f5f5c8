import { sleep } from '@temporalio/workflow';
import type { OfActor } from '../../protocol/ids.js';
import type { DeletionState } from '../../protocol/deletion/messages.js';
import { deletionSettlingMs } from '../../protocol/settling.js';
import { activities, whileSomebodyWaits } from '../activity-options.js';
import { actorOf, refusalOf } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import { endAsBefore, endRestored, endUndone, graceEnded, graceNotBegun, nothingToUndo } from './announcements.js';
import { isGraceOver, readableAt, type DeletionRun } from './deletion.js';
import { findEarlierEnd } from './running-work.js';
import { show, stateOf } from './view.js';
import { omitNullish } from '../../protocol/json.js';

/** The conditions for accepting an undo at all; a refusal here leaves no trace in the history. */
export function validateUndo(run: DeletionRun, given: OfActor | undefined): void {
  actorOf(given);
  const { deletion, answered, undoing, isRequestedAgain, next } = run;
  const { outcome, phase } = deletion;
  // It is for the deletion that was requested since, of which nothing is known yet.
  if (isRequestedAgain || next) throw graceNotBegun();
  // Sent again, an undo that was accepted in time has the answer of the first, also if that comes after the grace.
  if (outcome === 'undone' || (outcome === undefined && undoing !== undefined)) return;
  if (outcome === 'deleted') throw graceEnded();
  if (outcome !== undefined) throw nothingToUndo();
  if (!answered) throw graceNotBegun();
  if (phase !== 'requested' && isGraceOver(deletion, Date.now())) throw graceEnded();
}

/**
 * A repeated request starts a new deletion if somebody has restored the user meanwhile. Right after the request before it a read
 * may be older than that: what it would show is found out a little later.
 */
export async function recheck(run: DeletionRun): Promise<DeletionState> {
  const { deletion } = run;
  if (deletion.outcome !== undefined) return stateOf(deletion);
  if (Date.now() < readableAt(run)) {
    run.doubt ??= 'request';
    return stateOf(deletion);
  }
  const options = { ...whileSomebodyWaits, summary: 'the user at a new request' };
  try {
    const { standing } = await activities.readUser.executeWithOptions(options, [deletion.userId]);
    if (standing === 'present') endRestored(run);
  } catch (error) {
    refusalOf(error);
    run.doubt ??= 'request';
  }
  return stateOf(deletion);
}

export async function undo(run: DeletionRun, actor: OfActor): Promise<DeletionState> {
  const { deletion } = run;
  // Several may have asked at once: the first has done it.
  if (deletion.outcome === 'undone') return stateOf(deletion);
  if (deletion.outcome !== undefined) throw nothingToUndo();
  deletion.undoActor = actor;
  // The service has nothing to take back. A user who was not read may have been scheduled by somebody else.
  const isThere = deletion.scheduledAt === undefined && deletion.before === 'present';
  const undone = isThere ? 'present' : await undoAtService(run);
  delete run.nextIfRestored;
  endUndone(run, 'command', undone);
  return stateOf(deletion);
}

/**
 * A request that got no answer may still be on its way, also when a later one was answered: the user would be restored, and the deletion
 * would happen after all.
 */
async function untilRequestsHaveSettled({ deletion, unansweredAt = 0 }: DeletionRun): Promise<void> {
  const left = unansweredAt + deletionSettlingMs - Date.now();
  if (left <= 0) return;
  note(deletion, 'an undo waits until no request of the deletion can arrive any more', Date.now());
  show(deletion);
  await sleep(left, { summary: 'a request of the deletion may still arrive' });
}

/** @returns `present` if the user was not deleted */
async function undoAtService(run: DeletionRun): Promise<'undone' | 'present'> {
  await untilRequestsHaveSettled(run);
  const { deletion } = run;
  const { userId, clientUserId, before, scheduledAt } = deletion;
  // Unless the user was read, nobody has looked for it yet.
  if (before === undefined && (await findEarlierEnd(run, whileSomebodyWaits)) === 'deleted') {
    endAsBefore(run);
    throw graceEnded();
  }
  const deleted = omitNullish({ userId, clientUserId, readableAt: scheduledAt && readableAt(run) });
  try {
    return await activities.undoDeletion.executeWithOptions({ summary: 'undo the deletion' }, [deleted]);
  } catch (error) {
    // Whatever is not the service's own refusal of this undo may hide one that was carried out.
    const { type } = refusalOf(error);
    if (type !== 'UndoRefused') {
      run.doubt = 'undo';
      run.undoSentUntil = Date.now();
    }
    note(deletion, 'an undo was not carried out', Date.now());
    show(deletion);
    throw error;
  }
}
