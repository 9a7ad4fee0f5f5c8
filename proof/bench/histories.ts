import proto from '@temporalio/proto';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Life } from './lives.js';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
type HistoryEvent = NonNullable<History['events']>[number];

/** The size of the histories of one life: deterministic, except for the lengths of ids and numbers. */
export interface Cost {
  events: number;
  /** What Temporal Cloud bills: one each for a start, signal, update, activity, timer and write of search attributes. */
  actions: number;
  /** Of the events as Temporal sends them. */
  bytes: number;
}

export type DetailedCost = Cost & { types: Record<string, { count: number; bytes: number }> };

/** The kinds of events that are billed. */
const billed = [
  'workflowExecutionStarted',
  'workflowExecutionSignaled',
  'workflowExecutionUpdateAccepted',
  'activityTaskScheduled',
  'timerStarted',
  'upsertWorkflowSearchAttributes',
];

/** The cost of the life's workflows together. */
export async function costOf(client: Client, life: Life): Promise<DetailedCost> {
  const cost: DetailedCost = { events: 0, actions: 0, bytes: 0, types: {} };
  for (const workflowId of Object.values(life)) {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    for (const event of withoutRepeats(events ?? [])) add(cost, event);
  }
  return cost;
}

/** A workflow task that timed out is done again: how often depends on the machine. */
function withoutRepeats(events: readonly HistoryEvent[]): HistoryEvent[] {
  const repeated = events.flatMap(({ eventId, workflowTaskTimedOutEventAttributes: timedOut }) =>
    timedOut ? [eventId, timedOut.scheduledEventId, timedOut.startedEventId].map(String) : [],
  );
  return events.filter(({ eventId }) => !repeated.includes(String(eventId)));
}

function add(cost: DetailedCost, event: HistoryEvent): void {
  const bytes = proto.temporal.api.history.v1.HistoryEvent.encode(event).finish().length;
  const key = Object.keys(event).find((name) => name.endsWith('EventAttributes')) ?? 'unknown';
  const type = key.replace('EventAttributes', '');
  cost.events += 1;
  cost.bytes += bytes;
  if (billed.includes(type)) cost.actions += 1;
  const before = cost.types[type] ?? { count: 0, bytes: 0 };
  cost.types[type] = { count: before.count + 1, bytes: before.bytes + bytes };
}
