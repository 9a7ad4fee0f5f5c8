import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type { Moment } from '../alarm.js';
import { refusalOf } from '../command-queue.js';
import { callingAboutUser } from '../proxies.js';
import { graceEndOf, isGraceOver, note, reminderDueAt, stateOf, type Deletion } from './case.js';
import { end, endUndone } from './ending.js';
import { insist, standingNow, userNow } from './insisting.js';
import type { deleteUser } from './delete-user.js';
import { deleteUserName, type DeletionState } from './messages.js';
import { userDeleted } from './refusals.js';
import type { Carried, Run } from './run.js';
import { show, tell } from './telling.js';
import { undo } from './undoing.js';

/**
 * Waits until the grace is over, or the deletion is undone. An undo that was accepted before the end is carried out, and
 * the end waits for it; which of the two it is, is decided here alone, so that both sides hear the same.
 */
export async function holdGrace(run: Run): Promise<void> {
  const { kase, commands, alarm } = run;
  for (;;) {
    remindIfDue(run);
    while (!commands.isEmpty) await commands.carryOutNext((command) => (command === 'undo' ? undo(run) : look(run)));
    if (kase.outcome !== undefined || isGraceOver(kase, Date.now())) break;
    if (workflowInfo().continueAsNewSuggested) await continueAnew(run);
    if (!commands.isEmpty) continue;
    alarm.set(nextMoment(kase));
    await settleDoubt(run);
    await condition(() => kase.outcome !== undefined || alarm.rang || !commands.isEmpty);
  }
  alarm.disarm();
}

/**
 * Starts over with an empty history, because it was requested again very often: the server takes so many updates per run
 * and no more, and an undo needs one. Whoever asks is answered first.
 */
async function continueAnew(run: Run): Promise<void> {
  const { commands } = run;
  await condition(() => allHandlersFinished() || !commands.isEmpty);
  if (!commands.isEmpty) return;
  // Whoever was answered only now may have left a wish.
  const { kase, answered, again, doubt, post } = run;
  const { outbox, notifies } = post;
  const carried: Carried = {
    ...{ kase, answered, post: { outbox, ...(notifies !== undefined && { notifies }) } },
    ...(again && { again }),
    ...(doubt && { doubt }),
  };
  const { userId } = kase;
  await makeContinueAsNewFunc<typeof deleteUser>({ workflowType: deleteUserName })({ userId, carried });
}

/**
 * Makes sure at the end of the grace that nobody has restored the user elsewhere: the product erases its own data when
 * it is told that the user is deleted.
 */
export async function confirm(run: Run): Promise<void> {
  const { kase } = run;
  kase.phase = 'confirming';
  show(run);
  const { standing, keepsHealthData } = await userNow(run, 'confirmation_delayed');
  if (standing === 'present') return endRestored(run);
  if (keepsHealthData === true && (await eraseHealthData(run)) === 'present') return endRestored(run);
  end(run, 'deleted', userDeleted());
}

/** Before the product is told: what it hears of a final deletion holds for the health data as well. */
async function eraseHealthData(run: Run): Promise<'erased' | 'present'> {
  const { userId, clientUserId } = run.kase;
  const deleted = { userId, ...(clientUserId !== undefined && { clientUserId }) };
  const erased = await insist(run, 'erasure_delayed', 'answer', (calling) =>
    calling.eraseHealthData.executeWithOptions({ summary: 'erase the health data' }, [deleted]),
  );
  if (erased === 'erased') note(run.kase, 'the health data were erased', Date.now());
  return erased;
}

/** The user is there again: by an undo that got no answer, or by somebody else. */
function endRestored(run: Run): void {
  endUndone(run, run.doubt === 'undo' ? 'command' : 'elsewhere');
}

/** A deletion that is requested again is a new one where somebody has restored the user meanwhile. */
async function look(run: Run): Promise<DeletionState> {
  const { kase } = run;
  if (kase.outcome !== undefined) return stateOf(kase);
  const { readUser } = callingAboutUser('30 seconds');
  try {
    const { standing } = await readUser.executeWithOptions({ summary: 'the user at a new request' }, [kase.userId]);
    if (standing === 'present') endRestored(run);
  } catch (error) {
    refusalOf(error);
    run.doubt ??= 'request';
  }
  return stateOf(kase);
}

/** Reads the user until it is clear whether they are back. Whatever else there is to do interrupts it. */
async function settleDoubt(run: Run): Promise<void> {
  if (run.doubt === undefined) return;
  const { alarm, commands } = run;
  const reading = new CancellationScope();
  const settled = reading.run(async () => {
    const standing = await standingNow(run, 'undo_doubtful');
    if (standing === 'present') return endRestored(run);
    delete run.doubt;
    delete run.again;
  });
  const settling = settled.catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  await Promise.race([settling, condition(() => alarm.rang || !commands.isEmpty)]);
  reading.cancel();
  await settling;
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
  const { graceUntil = '', scheduledBefore } = stateOf(kase);
  tell(run, { type: 'deletion_reminder', data: { graceUntil, scheduledBefore } });
  show(run);
}
