import type { WorkflowHandle } from '@temporalio/client';
import {
  reconcileOrdersId,
  reconcileOrdersName,
  progressQuery,
  type ReconcileProgress,
  type ReconcileResult,
} from '../../protocol/reconcile.js';
import type { CallOptions } from '../call-options.js';
import { toClientError } from '../errors.js';
import { reporting } from '../watching.js';
import type { OneCall } from '../one-call.js';
import { goesOn, type TemporalCalls } from '../workflow-calls.js';
import { describe } from '../workflow-runs.js';
import { orderErrorMap } from './errors.js';

export interface ReconcileOptions extends CallOptions {
  onProgress?: (progress: ReconcileProgress) => void;
  /** Gets the failure of the last run for the same range, if it failed; the new one is started nevertheless. */
  onEarlierFailure?: (failure: EarlierFailure) => void;
}

/** How the last run of a reconciliation failed. */
export interface EarlierFailure {
  at: Date | undefined;
  /** As `reconcile` rejected with it, if somebody waited. */
  error: unknown;
}

/** Starts a run for a range, or joins the one that is under way, and waits for its end. */
export async function reconcileRange(
  { client, taskQueue, actor }: TemporalCalls,
  call: OneCall,
  range: { from: string; to: string },
  { onProgress, onEarlierFailure }: Omit<ReconcileOptions, keyof CallOptions>,
): Promise<ReconcileResult> {
  if (onEarlierFailure) {
    const failure = await earlierFailure(client.workflow.getHandle(reconcileOrdersId(taskQueue, range)));
    if (failure) onEarlierFailure(failure);
  }
  const handle = await client.workflow.start(reconcileOrdersName, {
    workflowId: reconcileOrdersId(taskQueue, range),
    taskQueue,
    args: [{ ...actor, ...range }],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: `Reconcile orders from ${range.from} to ${range.to}`,
  });
  const result = call.result<ReconcileResult>(handle, goesOn('Reconciling'));
  if (!onProgress) return result;
  return reporting(result, () => call.query(handle, progressQuery), onProgress, call.signal);
}

/** Somebody who did not wait for the last run does not know that it failed, nor why. */
async function earlierFailure(last: WorkflowHandle): Promise<EarlierFailure | undefined> {
  const run = await describe(last);
  if (run?.status.name !== 'FAILED') return undefined;
  return last.result().then(
    () => undefined,
    (error: unknown) => ({ at: run.closeTime, error: toClientError(error, orderErrorMap) }),
  );
}
