import { ApplicationFailure, CancellationScope, condition } from '@temporalio/workflow';
import { refusalOf } from '../command-queue.js';
import { cancellingWork, searching } from '../proxies.js';
import { note } from './case.js';
import { end } from './ending.js';
import type { DeletionOutcome, FoundWork, RunningWork, WorkFate } from './messages.js';
import type { Run } from './run.js';
import { show } from './telling.js';

/** Looks for running kit orders, links, reports and appointments of the user. They may be the end of it. */
export async function findWork(run: Run): Promise<void> {
  const { kase, post } = run;
  if (kase.work !== undefined) return;
  const { work, notifies } = await search(run, ({ findRunningWork }) =>
    findRunningWork.executeWithOptions({ summary: 'running work of the user' }, [kase.userId]),
  );
  post.notifies = notifies;
  // Nobody would hear the reminder, so that no timer is needed for it.
  kase.reminded = !notifies;
  kase.work = work.map((each) => ({ ...each, fate: 'left' }));
  if (work.length === 0) return;
  note(kase, `found ${work.length} running, policy ${kase.policy.onRunningWork}`, Date.now());
  if (kase.policy.onRunningWork === 'refuse') end(run, 'running_work', hasRunningWork(kase.work));
}

/** Cancels it where the policy says so. An undo waits until that is done, so that it can be said what became of it. */
export async function meetWork(run: Run): Promise<void> {
  const { kase } = run;
  if (kase.workMet) return;
  if (kase.policy.onRunningWork === 'cancel') await CancellationScope.nonCancellable(() => cancelAll(run));
  kase.workMet = true;
}

/** How the user's last deletion that was not refused has ended, as far as Temporal retains it. */
export async function findEarlierEnd(run: Run): Promise<DeletionOutcome | undefined> {
  const { outcome } = await search(run, ({ findEarlierDeletion }) =>
    findEarlierDeletion.executeWithOptions({ summary: 'an earlier deletion of the user' }, [run.kase.userId]),
  );
  return outcome;
}

type Searching = ReturnType<typeof searching>;

/** Whoever requested the deletion does not wait for a list that Temporal cannot give at present. */
async function search<T>(run: Run, ask: (temporal: Searching) => Promise<T>): Promise<T> {
  if (!run.answered) {
    try {
      return await ask(searching(true));
    } catch (error) {
      refusalOf(error);
      answerLater(run, 'Temporal’s list cannot be read; it is tried again');
    }
  }
  return ask(searching(false));
}

/** How long somebody waits for it. */
const cancelling = '30 seconds';

async function cancelAll(run: Run): Promise<void> {
  const { kase } = run;
  const { work = [] } = kase;
  if (work.length === 0) return;
  let isDone = false;
  const all = Promise.all(work.map(cancel)).then((met) => {
    kase.work = met;
    isDone = true;
  });
  const isInTime = run.answered || (await condition(() => isDone, cancelling, { summary: 'to cancel running work' }));
  if (!isInTime) answerLater(run, 'cancelling running work takes long');
  await all;
}

function answerLater(run: Run, why: string): void {
  run.answered = true;
  note(run.kase, why, Date.now());
  show(run);
}

/** What cannot be cancelled is said, and does not hold up the deletion. */
async function cancel({ workflowId, name }: RunningWork): Promise<FoundWork> {
  const work = { workflowId, name };
  const fate = await cancellingWork.cancelWork
    .executeWithOptions({ summary: `cancel ${name}` }, [work])
    .catch((error: unknown): WorkFate => ({ fate: 'not_cancelled', reason: refusalOf(error).type ?? 'CommandFailed' }));
  return { ...work, ...fate };
}

function hasRunningWork(work: readonly FoundWork[]): ApplicationFailure {
  const workflows = work.map(({ workflowId, name }) => ({ workflowId, name }));
  const ids = workflows.map(({ workflowId }) => workflowId).join(', ');
  return ApplicationFailure.nonRetryable(
    `Nothing was deleted, because the user has running work: ${ids}`,
    'UserHasRunningWork',
    { fields: [], workflows },
  );
}
