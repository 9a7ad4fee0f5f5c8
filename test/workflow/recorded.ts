import type { Stage } from './story.js';

/** The history of a workflow that is or was. */
export async function eventsOf({ temporal }: Stage, workflowId: string) {
  return (await temporal.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
}

/** Everything that stands in events, or in any part of them, as text: payloads too. */
export function textOf(part: unknown): string {
  return JSON.stringify(part, (key, value: unknown) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
  );
}
