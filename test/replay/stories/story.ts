import { setTimeout as sleep } from 'node:timers/promises';
import { isIdle } from '../../rig/idle.js';
import type { Stage } from '../stage.js';

/** A workflow, for its last run, or one of its runs. */
type Recorded = string | { workflowId: string; runId: string };

/** Plays one story to its end, and returns the workflows to record, by the names of their files. */
export type Story = (stage: Stage) => Promise<Record<string, Recorded>>;

/** Waits until a workflow waits for nothing but time or messages. */
export async function untilIdle({ temporal }: Stage, workflowId: string): Promise<void> {
  while (!(await isIdle(temporal, workflowId))) await sleep(50);
}

export async function untilListed({ temporal }: Stage, query: string): Promise<void> {
  while ((await temporal.workflow.count(query)).count === 0) await sleep(50);
}
