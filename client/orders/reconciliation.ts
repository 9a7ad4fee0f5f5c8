import type { WorkflowHandle } from '@temporalio/client';
import {
  reconcileOrdersId,
  reconcileOrdersName,
  reconcileProgressQuery,
  type ReconcileProgress,
  type ReconcileResult,
} from '../../protocol/reconcile.js';
import { watchState } from '../watching.js';
import { goesOn, type OneCall, type TemporalCalls } from '../workflow-calls.js';

/** Starts a run for a range, or joins the one that is under way, and waits for its end. */
export async function reconcileRange(
  { client, taskQueue }: TemporalCalls,
  call: OneCall,
  range: { from: string; to: string },
  onProgress?: (progress: ReconcileProgress) => void,
): Promise<ReconcileResult> {
  const handle = await client.workflow.start(reconcileOrdersName, {
    workflowId: reconcileOrdersId(taskQueue, range),
    taskQueue,
    args: [range],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: `Reconcile orders from ${range.from} to ${range.to}`,
  });
  const ended = new AbortController();
  if (onProgress) void report(handle, onProgress, AbortSignal.any([ended.signal, call.signal]));
  try {
    return await call.result<ReconcileResult>(handle, goesOn('Reconciling'));
  } finally {
    ended.abort();
  }
}

/** A page takes ten seconds: to ask more often shows nothing new. */
const interval = { minInterval: '2s', maxInterval: '10s' } as const;

async function report(
  handle: WorkflowHandle,
  onProgress: (progress: ReconcileProgress) => void,
  signal: AbortSignal,
): Promise<void> {
  const ask = (): Promise<ReconcileProgress & { outcome?: undefined }> => handle.query(reconcileProgressQuery);
  try {
    for await (const progress of watchState(ask, { ...interval, signal })) {
      if (signal.aborted) return;
      onProgress(progress);
    }
  } catch {
    // A failed progress query ends the reports, not the run: the result has the error.
  }
}
