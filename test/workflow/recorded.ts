import type { Stage } from './story.js';

/** The history of a workflow, ended or not. */
export async function eventsOf({ temporal }: Stage, workflowId: string) {
  return (await temporal.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
}

/** The names of the activities of a workflow's latest run, in their order. */
export async function activitiesOf(stage: Stage, workflowId: string): Promise<string[]> {
  const events = await eventsOf(stage, workflowId);
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? []);
}

/** The text of events, or of any part of them, payloads included. */
export function textOf(part: unknown): string {
  return JSON.stringify(part, (key, value: unknown) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
  );
}
