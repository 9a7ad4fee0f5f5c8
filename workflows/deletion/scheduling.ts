import {
  CancellationScope,
  CancelledFailure,
  isCancellation,
  sleep,
  type ApplicationFailure,
} from '@temporalio/workflow';
import { activities } from '../activity-options.js';
import { refusalOf } from '../entity/commands.js';
import { clear, end, endAsBefore, userUnknown, raise, announceScheduled } from './announcements.js';
import { show } from './view.js';
import { note } from '../entity/journal.js';
import { retry, isAboutTheTeam, standingNow, userNow } from './retrying.js';
import { findEarlierEnd, findLateWork, findWork, applyRunningWorkPolicy } from './running-work.js';
import type { DeletionRun } from './deletion.js';

/**
 * Everything that precedes the grace, until the service has taken the deletion or there will be none. An undo that comes
 * meanwhile stops it; if the undo fails, it goes on from where it was.
 */
export async function begin(run: DeletionRun): Promise<void> {
  const { deletion, commands } = run;
  while (deletion.outcome === undefined && deletion.phase === 'requested') {
    const beginning = new CancellationScope();
    run.beginning = beginning;
    try {
      await beginning.run(() => prepareAndSchedule(run));
    } catch (error) {
      if (!isCancellation(error) || commands.isEmpty) throw error;
      // All of them: an undo that came later has not stopped the attempt that would begin next.
      while (!commands.isEmpty) await commands.carryOutNext();
    }
  }
}

async function prepareAndSchedule(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  await findWork(run);
  if (deletion.outcome === undefined) await readBefore(run);
  if (deletion.outcome === undefined) await applyRunningWorkPolicy(run);
  if (deletion.outcome === undefined) await findLateWork(run);
  if (deletion.outcome === undefined) await schedule(run);
}

/**
 * The user is read first: that shows the connections that will be lost, whether the deletion can happen at all, and
 * whether the user was there before anything was sent, without which "scheduled already" could not be read.
 */
async function readBefore(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  if (deletion.before !== undefined) return;
  const read = await retry(run, 'deletion_delayed', 'refusal', (options) =>
    activities.readUser.executeWithOptions({ ...options, summary: 'the user before the deletion' }, [deletion.userId]),
  );
  const { standing, connections } = read.unsure === true ? await userNow(run, 'deletion_delayed') : read;
  if (standing === 'unknown') return end(run, 'unknown_user', userUnknown());
  if (standing === 'scheduled' && (await findEarlierEnd(run)) === 'deleted') return endAsBefore(run);
  deletion.before = standing;
  if (connections) deletion.connections = connections;
}

/** Has the service schedule the deletion. */
async function schedule(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  // The step before may have run to its end although an undo came: the undo takes effect here, before anything is sent.
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('The deletion is being undone');
  // The service counts from the attempt that reaches it, which is this moment at the earliest: our grace ends no later.
  deletion.scheduledAt ??= Date.now();
  if (!(await isScheduled(run))) return end(run, 'unknown_user', userUnknown());
  delete run.doubt;
  deletion.phase = 'grace';
  run.answered = true;
  note(
    deletion,
    deletion.scheduledBefore ? 'the deletion had already been scheduled' : 'the service accepted the deletion',
    Date.now(),
  );
  announceScheduled(deletion);
  show(deletion);
}

/**
 * Asks until it is clear. "Scheduled already" about a user who was present before is taken for the effect of our own
 * attempt: somebody else's could not be distinguished from it. So is anything else that the service says about a user
 * who is no longer there: an attempt whose answer was lost has done it, whatever the later ones are answered.
 *
 * @throws the refusal of a user who is still there
 */
async function isScheduled(run: DeletionRun): Promise<boolean> {
  try {
    return await becomesScheduled(run);
  } finally {
    // An undo that cuts it short may fail: then the deletion is delayed as before.
    if (!CancellationScope.current().consideredCancelled) {
      delete run.isDenied;
      clear(run.deletion, ['deletion_delayed'], Date.now());
    }
  }
}

async function becomesScheduled(run: DeletionRun): Promise<boolean> {
  const { deletion } = run;
  for (;;) {
    const answer = await ask(run);
    deletion.scheduledBefore = answer !== 'accepted' && deletion.before !== 'present';
    if (answer === 'accepted' || answer === 'scheduled') return true;
    const standing = await standingNow(run, 'deletion_delayed');
    if (standing === 'scheduled') return true;
    if (standing === 'unknown') return deletion.before === 'present';
    const mayPass = answer === 'unknown' || (run.answered && isAboutTheTeam(answer));
    if (!mayPass) throw answer;
    run.answered = true;
    run.isDenied = true;
    raise(deletion, 'deletion_delayed', Date.now());
    await sleep(untilRepaired, { summary: 'before the next attempts' });
  }
}

/** If the service denies a user whom it shows, something in front of it is probably being repaired. */
const untilRepaired = '10 minutes';

async function ask(run: DeletionRun): Promise<'accepted' | 'scheduled' | 'unknown' | ApplicationFailure> {
  const { userId } = run.deletion;
  try {
    return await retry(run, 'deletion_delayed', 'refusal', async (options) => {
      let isAnswered = false;
      try {
        const summary = 'schedule the deletion';
        const answer = await activities.scheduleDeletion.executeWithOptions({ ...options, summary }, [userId]);
        if (typeof answer !== 'string') return answer.atLast;
        isAnswered = true;
        return answer;
      } finally {
        run.sentUntil = Date.now();
        if (!isAnswered) run.unansweredAt = run.sentUntil;
      }
    });
  } catch (error) {
    return refusalOf(error);
  }
}
