import type { Client } from '@temporalio/client';
import { ofTaskQueue } from '../protocol/task-queues.js';

/** A run of a workflow. */
export interface Run {
  workflowId: string;
  runId: string;
}

/** The largest page that a server gives by default. */
const pageSize = 1_000;

/**
 * Samples open workflows of each type, spread evenly from the newest to the oldest: the oldest have the longest histories, which begin
 * with events of earlier releases. Types share the count equally, and one with fewer open workflows leaves the rest of its share to the others.
 */
export async function sampleOpen(
  client: Client,
  taskQueue: string,
  workflowTypes: readonly string[],
  count: number,
): Promise<Map<string, Run[]>> {
  const queryOf = (type: string) =>
    `${ofTaskQueue(taskQueue)} AND WorkflowType = '${type}' AND ExecutionStatus = 'Running'`;
  const open = new Map<string, number>();
  for (const type of workflowTypes) open.set(type, (await client.workflow.count(queryOf(type))).count);
  const sampled = new Map<string, Run[]>();
  for (const [type, share] of sharesOf(open, count)) {
    sampled.set(type, await pick(client, queryOf(type), placesOf(open.get(type) ?? 0, share)));
  }
  return sampled;
}

function sharesOf(open: ReadonlyMap<string, number>, count: number): Map<string, number> {
  const shares = new Map<string, number>();
  let left = count;
  // Those with the fewest first, so each knows what they leave.
  for (const [type, total] of [...open].toSorted(([, a], [, b]) => a - b)) {
    const share = Math.min(total, Math.ceil(left / (open.size - shares.size)));
    shares.set(type, share);
    left -= share;
  }
  return shares;
}

/** The places of the sample in a list that begins with the newest; a sample of one is the oldest. */
function placesOf(total: number, share: number): Set<number> {
  return new Set(
    Array.from({ length: share }, (_, index) =>
      share === 1 ? total - 1 : Math.round((index * (total - 1)) / (share - 1)),
    ),
  );
}

/** Reads the list up to the last of these places: a server in front of a database cannot sort by another order than its own. */
async function pick(client: Client, query: string, places: ReadonlySet<number>): Promise<Run[]> {
  const picked: Run[] = [];
  const last = Math.max(-1, ...places);
  let nextPageToken: Uint8Array | undefined;
  for (let place = 0; place <= last;) {
    // The client's own list decodes memos, and one that this machine has no key for would end it.
    const page = await client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      query,
      pageSize,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const { execution } of page.executions) {
      if (places.has(place)) picked.push({ workflowId: execution?.workflowId ?? '', runId: execution?.runId ?? '' });
      place += 1;
    }
    if (page.nextPageToken.length === 0) break;
    nextPageToken = page.nextPageToken;
  }
  return picked;
}
