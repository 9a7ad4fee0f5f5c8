import { ApplicationFailure } from '@temporalio/workflow';
import { cancellingWork, searching } from '../proxies.js';
import { note } from './case.js';
import { end } from './ending.js';
import type { FoundWork, RunningWork, WorkFate } from './messages.js';
import { refusalOf } from '../command-queue.js';
import type { Run } from './run.js';

/** Looks for running kit orders, links and reports of the user, and does with them what the policy says. */
export async function meetRunningWork(run: Run): Promise<void> {
  const { kase, post } = run;
  const { work, notifies } = await searching.findRunningWork.executeWithOptions(
    { summary: 'running work of the user' },
    [kase.userId],
  );
  post.notifies = notifies;
  // Nobody would hear the reminder, so that no timer is needed for it.
  kase.reminded = !notifies;
  kase.work = kase.policy.onRunningWork === 'cancel' ? await Promise.all(work.map(cancel)) : work.map(left);
  if (work.length === 0) return;
  note(kase, `found ${work.length} running, policy ${kase.policy.onRunningWork}`, Date.now());
  if (kase.policy.onRunningWork === 'refuse') end(run, 'running_work', hasRunningWork(kase.work));
}

function left(work: RunningWork): FoundWork {
  return { ...work, fate: 'left' };
}

/** What cannot be cancelled is said, and does not hold up the deletion. */
async function cancel(work: RunningWork): Promise<FoundWork> {
  const fate = await cancellingWork.cancelWork
    .executeWithOptions({ summary: `cancel ${work.name}` }, [work])
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
