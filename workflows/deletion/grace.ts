import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import type { DeletionState } from '../../protocol/deletion/messages.js';
import { deletionSettlingMs, usualSettling } from '../../protocol/settling.js';
import { activities, round } from '../activities.js';
import type { Moment } from '../entity/alarm.js';
import { refusalOf } from '../entity/commands.js';
import { note } from '../entity/journal.js';
import {
  end,
  endUndone,
  userDeleted,
  show,
  announce,
  graceEnded,
  graceNotBegun,
  nothingToUndo,
} from './announcements.js';
import { graceEndOf, isGraceOver, reminderDueAt, stateOf, type Deletion } from './deletion.js';
import { retry, standingNow, userNow } from './retrying.js';
import type { DeletionRun } from './run.js';

/**
 * One turn of the grace period. An undo that was accepted before the end is carried out first, and the end waits for it. Only
 * this function decides which of the two happens, so the caller and the product get the same answer.
 * @returns true if the grace period is over and nothing has undone the deletion
 */
export async function actInGracePeriod(run: DeletionRun): Promise<boolean> {
  const { deletion, commands, alarm } = run;
  remindIfDue(run);
  while (!commands.isEmpty) await commands.carryOutNext((command) => (command === 'undo' ? undo(run) : recheck(run)));
  const isOver = isGraceOver(deletion, Date.now());
  if (deletion.outcome !== undefined || isOver) alarm.disarm();
  return isOver && deletion.outcome === undefined;
}

/**
 * Makes sure at the end of the grace that nobody has restored the user elsewhere: the product erases its own data when
 * it is notified that the user is deleted.
 */
export async function confirm(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  deletion.phase = 'confirming';
  show(deletion);
  await untilUndoHasSettled(run);
  const { standing, keepsNoHealthData } = await userNow(run, 'confirmation_delayed');
  if (standing === 'present') return endRestored(run);
  if (keepsNoHealthData !== true && (await eraseHealthData(run)) === 'present') return endRestored(run);
  end(run, 'deleted', userDeleted());
}

/** Before the product is notified: the notification of a final deletion covers the health data as well. */
async function eraseHealthData(run: DeletionRun): Promise<'erased' | 'present'> {
  const { userId, clientUserId } = run.deletion;
  const deleted = { userId, ...(clientUserId !== undefined && { clientUserId }) };
  const erased = await retry(run, 'erasure_delayed', 'answer', (options) =>
    activities.eraseHealthData.executeWithOptions({ ...options, summary: 'erase the health data' }, [deleted]),
  );
  if (erased === 'erased') note(run.deletion, 'the health data were erased', Date.now());
  return erased;
}

/** The user is there again: by an undo that got no answer, or by somebody else. */
function endRestored(run: DeletionRun): void {
  endUndone(run, run.doubt === 'undo' ? 'command' : 'elsewhere');
}

/** A repeated request starts a new deletion if somebody has restored the user meanwhile. Right after the first one a read may be older than it. */
async function recheck(run: DeletionRun): Promise<DeletionState> {
  const { deletion } = run;
  const isFresh = deletion.scheduledAt !== undefined && Date.now() < deletion.scheduledAt + usualSettling;
  if (deletion.outcome !== undefined || isFresh) return stateOf(deletion);
  const options = { ...round('30 seconds'), summary: 'the user at a new request' };
  try {
    const { standing } = await activities.readUser.executeWithOptions(options, [deletion.userId]);
    if (standing === 'present') endRestored(run);
  } catch (error) {
    refusalOf(error);
    run.doubt ??= 'request';
  }
  return stateOf(deletion);
}

/** Reads the user until it is clear whether they are back. Whatever else there is to do interrupts it. */
export async function settleDoubt(run: DeletionRun): Promise<void> {
  if (run.doubt === undefined) return;
  const { alarm, commands } = run;
  const reading = new CancellationScope();
  const settled = reading.run(async () => {
    await untilUndoHasSettled(run);
    const standing = await standingNow(run, 'undo_doubtful');
    run.hasNews = true;
    if (standing === 'present') return endRestored(run);
    delete run.doubt;
    delete run.undoSentUntil;
    delete run.nextIfRestored;
  });
  const settling = settled.catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  await Promise.race([settling, condition(() => alarm.rang || !commands.isEmpty)]);
  reading.cancel();
  await settling;
}

export function nextMoment(deletion: Deletion): Moment | undefined {
  const reminder = reminderDueAt(deletion);
  if (reminder !== undefined) return { at: reminder, name: 'reminder' };
  const over = graceEndOf(deletion);
  return over === undefined ? undefined : { at: over, name: 'end of the grace' };
}

/** A reminder that fell due while no worker ran is dropped if the grace period has ended meanwhile. */
function remindIfDue(run: DeletionRun): void {
  const { deletion } = run;
  const now = Date.now();
  const due = reminderDueAt(deletion);
  if (due === undefined || now < due) return;
  deletion.reminded = true;
  if (isGraceOver(deletion, now)) return;
  note(deletion, 'reminded the product', now);
  const { graceUntil = '', scheduledBefore } = stateOf(deletion);
  announce(deletion, { type: 'deletion_reminder', data: { graceUntil, scheduledBefore } });
  show(deletion);
}

/** The conditions for accepting an undo at all; a refusal here leaves no trace in the history. */
export function validateUndo({ deletion, answered, undoing, isRequestedAgain, next }: DeletionRun): void {
  const { outcome, phase } = deletion;
  // It is for the deletion that was requested since, of which nothing is known yet.
  if (isRequestedAgain || next) throw graceNotBegun();
  // Sent again, an undo that was accepted in time has the answer of the first, also if that comes after the grace.
  if (outcome === 'undone' || (outcome === undefined && undoing !== undefined)) return;
  if (outcome === 'deleted') throw graceEnded();
  if (outcome !== undefined) throw nothingToUndo();
  if (phase === 'requested' && !answered) throw graceNotBegun();
  if (phase === 'confirming' || (phase === 'grace' && isGraceOver(deletion, Date.now()))) throw graceEnded();
}

export async function undo(run: DeletionRun): Promise<DeletionState> {
  const { deletion } = run;
  // Several may have asked at once: the first has done it.
  if (deletion.outcome === 'undone') return stateOf(deletion);
  if (deletion.outcome !== undefined) throw nothingToUndo();
  if (deletion.scheduledAt !== undefined) {
    await untilRequestsHaveSettled(run);
    await undoAtService(run);
  }
  delete run.nextIfRestored;
  endUndone(run, 'command');
  return stateOf(deletion);
}

/**
 * Until the service has answered a request, one may still be on its way: the user would be read as present, nothing would be undone,
 * and the deletion would happen after all.
 */
async function untilRequestsHaveSettled({ deletion, sentUntil }: DeletionRun): Promise<void> {
  if (deletion.phase !== 'requested' || sentUntil === undefined) return;
  const left = sentUntil + deletionSettlingMs - Date.now();
  if (left <= 0) return;
  note(deletion, 'an undo waits until no request of the deletion can arrive any more', Date.now());
  show(deletion);
  await sleep(left, { summary: 'a request of the deletion may still arrive' });
}

/** A read that comes before the service has carried the undo out proves nothing. */
async function untilUndoHasSettled({ undoSentUntil }: DeletionRun): Promise<void> {
  const left = (undoSentUntil ?? 0) + usualSettling - Date.now();
  if (left > 0) await sleep(left, { summary: 'an undo without an answer may still be carried out' });
}

async function undoAtService(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  const { userId, clientUserId } = deletion;
  const deleted = { userId, ...(clientUserId !== undefined && { clientUserId }) };
  try {
    await activities.undoDeletion.executeWithOptions({ summary: 'undo the deletion' }, [deleted]);
  } catch (error) {
    // Whatever is not the service's own refusal of this undo may hide one that was carried out.
    const { type } = refusalOf(error);
    if (type !== 'UndoRefused' && type !== 'UndoImpossible') {
      run.doubt = 'undo';
      run.undoSentUntil = Date.now();
    }
    note(deletion, 'an undo was not carried out', Date.now());
    show(deletion);
    throw error;
  }
}
