import { CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import { activities } from '../activity-options.js';
import type { ErasedHistories } from '../../protocol/deletion/messages.js';
import { iso } from '../entity/spans.js';
import { note } from '../entity/journal.js';
import { announce, end, endRestored, userDeleted } from './announcements.js';
import { isGraceOver, readableAt, reminderDueAt, undoReadableAt, type DeletionRun } from './deletion.js';
import { retry, standingNow, userNow } from './retrying.js';
import { show, stateOf } from './view.js';
import { omitNullish } from '../../protocol/json.js';

/**
 * One turn of the grace period. An undo that was accepted before the end is carried out first, and the end waits for it. Only
 * this function decides which of the two happens, so the caller and the product get the same answer.
 * @returns true if the grace period is over and nothing has undone the deletion
 */
export async function actInGracePeriod(run: DeletionRun): Promise<boolean> {
  const { deletion, commands, timer } = run;
  remindIfDue(run);
  while (!commands.isEmpty) await commands.carryOutNext();
  const isOver = isGraceOver(deletion, Date.now());
  if (deletion.outcome !== undefined || isOver) timer.disarm();
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
  await untilReadable(undoReadableAt(run));
  for (;;) {
    const askedAt = Date.now();
    if (!(await isRestored(run))) {
      end(run, 'deleted', userDeleted());
      return eraseHistories(run);
    }
    // A user who is shown right after the last request may be scheduled all the same: a read may be as old as its call.
    if (askedAt >= readableAt(run)) return endRestored(run);
    await untilReadable(readableAt(run));
  }
}

/** Erases the health data of a user who is not. */
async function isRestored(run: DeletionRun): Promise<boolean> {
  const { standing, keepsNoHealthData } = await userNow(run, 'confirmation_delayed');
  if (standing === 'present') return true;
  return keepsNoHealthData !== true && (await eraseHealthData(run)) === 'present';
}

/** Before the product is notified: the notification of a final deletion covers the health data as well. */
async function eraseHealthData(run: DeletionRun): Promise<'erased' | 'present'> {
  const { userId, clientUserId } = run.deletion;
  const deleted = omitNullish({ userId, clientUserId });
  const erased = await retry(run, 'erasure_delayed', 'answer', (options) =>
    activities.eraseHealthData.executeWithOptions({ ...options, summary: 'erase the health data' }, [deleted]),
  );
  if (erased === 'erased') note(run.deletion, 'the health data were erased', Date.now());
  return erased;
}

/**
 * After the product is notified, which does not wait for a Temporal that refuses. What is found is recorded before anything of it is gone,
 * so the result names all of it.
 */
async function eraseHistories(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  const found = await retry(run, 'erasure_delayed', 'answer', (options) =>
    activities.findHistories.executeWithOptions({ ...options, summary: 'histories of the user' }, [deletion.userId]),
  );
  if (found !== 'kept' && found.runs.length > 0) {
    const summary = `erase ${found.runs.length} runs`;
    await retry(run, 'erasure_delayed', 'answer', (options) =>
      activities.eraseHistories.executeWithOptions({ ...options, summary }, [found.runs]),
    );
  }
  deletion.histories = found === 'kept' ? found : { erased: found.workflows, left: found.left };
  await writeReceipt(run, deletion.histories);
  show(deletion);
}

async function writeReceipt(run: DeletionRun, histories: ErasedHistories | 'kept'): Promise<void> {
  const { deletion } = run;
  const { userId, requestedAt, scheduledAt = 0, endedAt: deletedAt = '' } = deletion;
  const final = { userId, requestedAt, sentUntil: iso(run.sentUntil ?? scheduledAt), deletedAt, histories };
  const { receipt } = await retry(run, 'erasure_delayed', 'answer', (options) =>
    activities.writeReceipt.executeWithOptions({ ...options, summary: 'receipt' }, [final]),
  );
  if (receipt !== undefined) deletion.receipt = receipt;
}

/** Reads the user until it is clear whether they are back. Whatever else there is to do interrupts it. */
export async function settleDoubt(run: DeletionRun): Promise<void> {
  if (run.doubt === undefined) return;
  const { timer, commands } = run;
  const reading = new CancellationScope();
  const settled = reading.run(async () => {
    await untilReadable(readableAt(run));
    const standing = await standingNow(run, 'undo_doubtful');
    run.hasNews = true;
    if (standing === 'present') return endRestored(run);
    delete run.doubt;
    delete run.nextIfRestored;
  });
  const settling = settled.catch((error: unknown) => {
    if (!isCancellation(error)) throw error;
  });
  await Promise.race([settling, condition(() => timer.hasFired || !commands.isEmpty)]);
  reading.cancel();
  await settling;
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

/** A read that comes before the service has carried out what was sent proves nothing. */
async function untilReadable(at: number): Promise<void> {
  const left = at - Date.now();
  if (left > 0) await sleep(left, { summary: 'what was sent may still be carried out' });
}
