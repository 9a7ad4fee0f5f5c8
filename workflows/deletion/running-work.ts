import { type ApplicationFailure, CancellationScope, condition, type ActivityOptions } from '@temporalio/workflow';
import type { DeletionOutcome, FoundWork, RunningWork, WorkFate } from '../../protocol/deletion/messages.js';
import { activities, whileSomebodyWaits } from '../activity-options.js';
import { refusalOf, refuse } from '../entity/commands.js';
import { end } from './announcements.js';
import { show } from './view.js';
import { note } from '../entity/journal.js';
import { setNotifies } from '../entity/outbox.js';
import type { DeletionRun } from './deletion.js';

/**
 * Looks for running kit orders, links, reports and appointments of the user. If there are any, the policy may end the
 * deletion.
 */
export async function findWork(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  if (deletion.work !== undefined) return;
  const { work, notifies } = await search(run, (options) =>
    activities.findRunningWork.executeWithOptions({ ...options, summary: 'running work of the user' }, [
      deletion.userId,
    ]),
  );
  setNotifies(deletion, notifies);
  // Nobody would receive the reminder, so no timer is needed for it.
  deletion.reminded = deletion.notifies === false;
  deletion.work = work.map((each) => ({ ...each, fate: 'left' }));
  if (work.length === 0) return;
  note(deletion, `running workflows found: ${work.length}; policy: ${deletion.policy.onRunningWork}`, Date.now());
  if (deletion.policy.onRunningWork === 'refuse') end(run, 'running_work', hasRunningWork(deletion.work));
}

/** Cancels it if the policy says so. An undo waits until that is done, so it can be said what became of it. */
export async function applyRunningWorkPolicy(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  if (deletion.workMet) return;
  const { work = [] } = deletion;
  if (deletion.policy.onRunningWork === 'cancel') await CancellationScope.nonCancellable(() => cancelAll(run, work));
  deletion.workMet = true;
}

/**
 * Looks once more just before anything is sent: reading the user and cancelling may have taken hours, and Temporal's
 * list lags behind a start. Work that was found before stays as it was handled then.
 */
export async function findLateWork(run: DeletionRun): Promise<void> {
  const { deletion } = run;
  if (deletion.scheduledAt !== undefined) return;
  const found = await search(run, (options) =>
    activities.findRunningWork.executeWithOptions({ ...options, summary: 'running work that began meanwhile' }, [
      deletion.userId,
    ]),
  );
  const known = new Set((deletion.work ?? []).map(({ workflowId }) => workflowId));
  const late = found.work.filter(({ workflowId }) => !known.has(workflowId));
  if (late.length === 0) return;
  note(deletion, `more running workflows found: ${late.length}; policy: ${deletion.policy.onRunningWork}`, Date.now());
  deletion.work = [...(deletion.work ?? []), ...late.map((each) => ({ ...each, fate: 'left' as const }))];
  if (deletion.policy.onRunningWork === 'refuse') return end(run, 'running_work', hasRunningWork(deletion.work));
  if (deletion.policy.onRunningWork !== 'cancel') return;
  await CancellationScope.nonCancellable(() => cancelAll(run, late));
  // Work that ended together with the work cancelled before stays on the list for a moment, although it no longer ran.
  deletion.work = deletion.work.filter(({ workflowId, fate }) => fate !== 'ended' || known.has(workflowId));
}

/**
 * The end of the user's last deletion that was not refused, as far as Temporal retains it.
 * @param limits for a caller who waits: the search fails without an answer within them
 */
export async function findEarlierEnd(run: DeletionRun, limits?: ActivityOptions): Promise<DeletionOutcome | undefined> {
  const ask = (options: ActivityOptions) =>
    activities.findEarlierDeletion.executeWithOptions({ ...options, summary: 'an earlier deletion of the user' }, [
      run.deletion.userId,
    ]);
  const { outcome } = await (limits ? ask(limits) : search(run, ask));
  return outcome;
}

/** The caller that requested the deletion does not wait for a list that Temporal cannot give at present. */
async function search<T>(run: DeletionRun, ask: (options: ActivityOptions) => Promise<T>): Promise<T> {
  if (!run.answered) {
    try {
      return await ask(whileSomebodyWaits);
    } catch (error) {
      refusalOf(error);
      answerLater(run, 'Temporal’s list cannot be read; it is tried again');
    }
  }
  return ask({});
}

/** How long somebody waits for it. */
const cancelling = '30 seconds';

async function cancelAll(run: DeletionRun, work: readonly RunningWork[]): Promise<void> {
  const { deletion } = run;
  if (work.length === 0) return;
  let isDone = false;
  const all = Promise.all(work.map((each) => cancel(each, deletion.requestedBy))).then((met) => {
    const fates = new Map(met.map((each) => [each.workflowId, each]));
    deletion.work = (deletion.work ?? []).map((each) => fates.get(each.workflowId) ?? each);
    isDone = true;
  });
  const isInTime = run.answered || (await condition(() => isDone, cancelling, { summary: 'to cancel running work' }));
  if (!isInTime) answerLater(run, 'cancelling running work takes long');
  await all;
}

function answerLater(run: DeletionRun, why: string): void {
  run.answered = true;
  note(run.deletion, why, Date.now());
  show(run.deletion);
}

/** Work that cannot be cancelled is reported, and does not hold up the deletion. */
async function cancel({ workflowId, name }: RunningWork, by?: string): Promise<FoundWork> {
  const work = { workflowId, name };
  const fate = await activities.cancelWork
    .executeWithOptions({ summary: `cancel ${name}` }, [{ ...work, ...(by !== undefined && { by }) }])
    .catch((error: unknown): WorkFate => ({ fate: 'not_cancelled', reason: refusalOf(error).type ?? 'CommandFailed' }));
  return { ...work, ...fate };
}

function hasRunningWork(work: readonly FoundWork[]): ApplicationFailure {
  const workflows = work.map(({ workflowId, name }) => ({ workflowId, name }));
  const ids = workflows.map(({ workflowId }) => workflowId).join(', ');
  return refuse('UserHasRunningWork', `Nothing was deleted, because the user has running work: ${ids}`, { workflows });
}
