import type { Stage } from './story.js';

/** The history of a workflow, ended or not. */
export async function eventsOf({ temporal }: Stage, workflowId: string) {
  return (await temporal.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
}

/** The text of events, or of any part of them, payloads included. */
export function textOf(part: unknown): string {
  return JSON.stringify(part, (key, value: unknown) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
  );
}
