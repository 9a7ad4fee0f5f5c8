/** An event in the JSON of Temporal's own tools; the attributes of a workflow task refer to its other events. */
interface RecordedEvent {
  eventId: string;
  eventType: string;
  workflowTaskStartedEventAttributes?: object;
  workflowTaskCompletedEventAttributes?: object;
}

const [scheduled, started, completed] = ['SCHEDULED', 'STARTED', 'COMPLETED'].map(
  (state) => `EVENT_TYPE_WORKFLOW_TASK_${state}`,
);

/** The types of events that come in while a workflow waits. */
const incoming =
  /^EVENT_TYPE_(WORKFLOW_EXECUTION_(SIGNALED|CANCEL_REQUESTED)|TIMER_FIRED|ACTIVITY_TASK_(STARTED|COMPLETED|FAILED|TIMED_OUT))$/;

/**
 * The history as it would be if before every workflow task there had been another one that changed nothing, and the task had been
 * scheduled before its events came in: both happen when a worker is slow and commands are refused, or on a server that writes a task for
 * each query. The SDK (1.24) replays tasks that schedule nothing together with the next one, in one step, in which signals come before
 * results.
 *
 * @param history as it is kept, with readable payloads
 */
export function withEmptyTasks(history: object): object {
  const { events } = history as { events: RecordedEvent[] };
  const [taskStart, taskEnd] = [started, completed].map((type) => events.find(({ eventType }) => eventType === type));
  /** New ids are negative until all references to old ones are replaced. */
  const ids = new Map<string, string>();
  const renewed: RecordedEvent[] = [];
  const add = (event: RecordedEvent): string => {
    const eventId = String(-1 - renewed.length);
    renewed.push({ ...event, eventId });
    return eventId;
  };
  const keep = (event: RecordedEvent): void => void ids.set(event.eventId, add(event));
  let group: RecordedEvent[] = [];
  for (const event of events) {
    if (incoming.test(event.eventType)) {
      group.push(event);
      continue;
    }
    const isLaterTask = event.eventType === scheduled && renewed.some(({ eventType }) => eventType === completed);
    if (isLaterTask && taskStart && taskEnd) {
      const scheduledEventId = add(event);
      const start = { ...taskStart.workflowTaskStartedEventAttributes, scheduledEventId };
      const startedEventId = add({ ...taskStart, workflowTaskStartedEventAttributes: start });
      const end = { ...taskEnd.workflowTaskCompletedEventAttributes, scheduledEventId, startedEventId };
      add({ ...taskEnd, workflowTaskCompletedEventAttributes: end });
      keep(event);
    }
    for (const each of group) keep(each);
    group = [];
    if (!isLaterTask) keep(event);
  }
  for (const each of group) keep(each);
  return withNewIds(renewed, ids);
}

function withNewIds(events: readonly RecordedEvent[], ids: ReadonlyMap<string, string>): object {
  const renewed = (id: string): string => (ids.get(id) ?? id).replace('-', '');
  const renewedId = (key: string, value: unknown): unknown => {
    if (typeof value !== 'string') return value;
    // The marker of a refused signal names its event.
    if (key === 'id') return value.replace(/(?<=^\w+-signal-)\d+$/, renewed);
    return /eventId$/i.test(key) ? renewed(value) : value;
  };
  return JSON.parse(JSON.stringify({ events }, renewedId)) as object;
}
