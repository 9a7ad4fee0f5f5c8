import { ApplicationFailure, condition } from '@temporalio/workflow';
import type { Moment } from '../alarm.js';
import { commanding } from '../proxies.js';
import { graceEndOf, isGraceOver, note, reminderDueAt, stateOf, type Deletion } from './case.js';
import { end, endUndone } from './ending.js';
import { insist } from './insisting.js';
import type { DeletionState } from './messages.js';
import type { Run } from './run.js';
import { show, tell } from './telling.js';

/**
 * Waits until the grace is over, or the deletion is undone. An undo that was accepted before the end is carried out, and
 * the end waits for it; which of the two it is, is decided here alone, so that both sides hear the same.
 */
export async function holdGrace(run: Run): Promise<void> {
  const { kase, commands, alarm } = run;
  for (;;) {
    remindIfDue(run);
    while (!commands.isEmpty) await commands.carryOutNext(() => undo(run));
    if (kase.outcome !== undefined || isGraceOver(kase, Date.now())) break;
    alarm.set(nextMoment(kase));
    await condition(() => alarm.rang || !commands.isEmpty);
  }
  alarm.disarm();
}

/**
 * Makes sure at the end of the grace that nobody has restored the user elsewhere: the product erases its own data when
 * it is told that the user is deleted.
 */
export async function confirm(run: Run): Promise<void> {
  const { kase } = run;
  kase.phase = 'confirming';
  show(run);
  const { standing } = await insist(run, 'confirmation_delayed', ({ readUser }) =>
    readUser.executeWithOptions({ summary: 'the user after the grace' }, [kase.userId]),
  );
  if (standing === 'present') return endUndone(run, 'elsewhere');
  tell(run, { type: 'deleted', data: {} });
  end(run, 'deleted', ApplicationFailure.nonRetryable('The user was deleted', 'UserUnknown', { fields: [] }));
}

async function undo(run: Run): Promise<DeletionState> {
  const { kase } = run;
  // Several may have asked at once: the first has done it.
  if (kase.outcome === undefined) {
    const { userId, clientUserId } = kase;
    const deleted = { userId, ...(clientUserId !== undefined && { clientUserId }) };
    try {
      await commanding.undoDeletion.executeWithOptions({ summary: 'undo the deletion' }, [deleted]);
    } catch (error) {
      note(kase, 'an undo was not carried out', Date.now());
      show(run);
      throw error;
    }
    endUndone(run, 'command');
  }
  return stateOf(kase);
}

function nextMoment(kase: Deletion): Moment | undefined {
  const reminder = reminderDueAt(kase);
  if (reminder !== undefined) return { at: reminder, name: 'reminder' };
  const over = graceEndOf(kase);
  return over === undefined ? undefined : { at: over, name: 'end of the grace' };
}

/** A reminder that is noticed only after the end, because no worker ran, is none any more. */
function remindIfDue(run: Run): void {
  const { kase } = run;
  const now = Date.now();
  const due = reminderDueAt(kase);
  if (due === undefined || now < due) return;
  kase.reminded = true;
  if (isGraceOver(kase, now)) return;
  note(kase, 'reminded the product', now);
  tell(run, { type: 'deletion_reminder', data: { graceUntil: stateOf(kase).graceUntil ?? '' } });
  show(run);
}

/** What an undo must meet to be accepted at all; a refusal here leaves no trace in the history. */
export function validateUndo({ kase }: Run): void {
  if (kase.outcome === 'undone') return;
  if (kase.outcome === undefined && kase.phase === 'requested') {
    throw refuse('GraceNotBegun', 'The lab service has not taken the deletion yet: there is nothing to undo');
  }
  if (kase.outcome !== undefined || kase.phase !== 'grace' || isGraceOver(kase, Date.now())) {
    throw refuse('GraceEnded', 'The deletion cannot be undone any more');
  }
}

function refuse(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, type, { fields: [] });
}
