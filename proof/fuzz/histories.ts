import type { Client } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tally } from './tally.js';

/** How long an open workflow may take to answer a query. */
const patienceMs = 20_000;

/** Finds workflow tasks that failed, and open workflows that do not answer. */
export async function checkHistories(client: Client, tally: Tally): Promise<void> {
  // Visibility shows a workflow about a second after its start.
  await sleep(2_000);
  for await (const { workflowId, runId, type, status } of client.workflow.list()) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { events } = await handle.fetchHistory();
    tally.count(`${type} is ${status.name.toLowerCase()}`);
    // An event that came while the workflow was about to end is not a fault: the task is repeated with it.
    const failed = events?.find(
      ({ workflowTaskFailedEventAttributes: failed }) =>
        failed != null && failed.failure?.message !== 'UnhandledCommand',
    );
    const failure = failed?.workflowTaskFailedEventAttributes?.failure;
    if (failed) tally.found(`a workflow task of ${type} failed: ${failure?.message}`, failure?.stackTrace ?? '');
    if (status.name !== 'RUNNING') continue;
    await client
      .withDeadline(Date.now() + patienceMs, () => handle.query('__temporal_workflow_metadata'))
      .catch((error: unknown) => tally.found(`${type} does not answer: ${String(error)}`, workflowId));
  }
}
