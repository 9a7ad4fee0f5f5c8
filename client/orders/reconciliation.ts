import type { Client, WorkflowHandle } from '@temporalio/client';
import {
  reconcileOrdersId,
  reconcileOrdersName,
  reconcileProgressQuery,
  type ReconcileProgress,
  type ReconcileResult,
} from '../../workflows/reconcile/messages.js';
import { rangeFaults } from '../../workflows/reconcile/range.js';
import { watchState } from '../watching.js';
import { inOneLine } from '../input-faults.js';
import { inWords } from '../workflow-calls.js';
import { OrderInvalid, orderWords } from './errors.js';

/** Starts a run for a range, or joins the one that is under way, and waits for its end. */
export async function reconcileRange(
  temporal: Client,
  taskQueue: string,
  range: { from: string; to: string },
  onProgress?: (progress: ReconcileProgress) => void,
): Promise<ReconcileResult> {
  const faults = rangeFaults(range);
  if (faults.length > 0) throw new OrderInvalid(`The range is not valid: ${inOneLine(faults)}`, { fields: faults });
  return inWords(orderWords, async () => {
    const handle = await temporal.workflow.start(reconcileOrdersName, {
      workflowId: reconcileOrdersId(range),
      taskQueue,
      args: [range],
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `Reconcile orders from ${range.from} to ${range.to}`,
    });
    const ended = new AbortController();
    if (onProgress) void report(handle, onProgress, ended.signal);
    try {
      return (await handle.result()) as ReconcileResult;
    } finally {
      ended.abort();
    }
  });
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
    // A question that cannot be answered ends the telling, not the run: what is wrong, its result says.
  }
}
