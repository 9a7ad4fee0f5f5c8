import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';

type Activate = NonNullable<WorkflowInternalsInterceptor['activate']>;
type Activation = Parameters<Activate>[0]['activation'];

/**
 * Works around a fault in the core of Temporal's SDK (1.24; sdk-go #755 is the same one). A query for a workflow that is not in
 * memory makes the worker read the whole history. If a signal, a timer or an activity's result has just been recorded, that
 * history ends with events whose workflow task has not started, and the core plays them all the same. What the workflow decides
 * on them stays in memory and is never sent; the next workflow task builds on it, and from then on no replay matches the
 * history: the workflow is stuck.
 *
 * So these events are left out, and the query is answered as of the last workflow task. The next workflow task fails once,
 * because the core believes that the workflow knows them: the worker then forgets the workflow and replays all of it.
 */
export class UnstartedEvents implements WorkflowInternalsInterceptor {
  private last = { length: 0, size: 0, time: '' };
  private hasGap = false;

  activate: Activate = (input, next) => {
    const { activation, batchIndex } = input;
    if (isQuery(activation)) return next(input);
    if (this.hasGap) throw new Error('The worker read this workflow while something happened to it, and replays it');
    if (batchIndex === 0) {
      const before = this.last;
      this.last = progressOf(activation);
      this.hasGap = activation.isReplaying !== true && isUnstarted(before, this.last);
    }
    if (!this.hasGap) next(input);
  };
}

type Progress = ReturnType<typeof progressOf>;

/** The events that were played, and what the last one that started a workflow task says: the history's size, and its time. */
function progressOf({ historyLength, historySizeBytes, timestamp }: Activation) {
  return {
    length: historyLength ?? 0,
    size: Number(historySizeBytes ?? 0),
    time: `${String(timestamp?.seconds)}.${String(timestamp?.nanos)}`,
  };
}

/** There are more events, and none of them started a workflow task. Servers before 1.20 do not tell the size. */
function isUnstarted(before: Progress, { length, size, time }: Progress): boolean {
  return size > 0 && length > before.length && size === before.size && time === before.time;
}

function isQuery({ jobs }: Activation): boolean {
  return (jobs ?? []).every(({ queryWorkflow }) => queryWorkflow != null);
}
