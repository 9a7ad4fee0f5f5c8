import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { askAgain } from '../protocol/failure-details.js';

type Activate = NonNullable<WorkflowInternalsInterceptor['activate']>;
type Activation = Parameters<Activate>[0]['activation'];

/**
 * Works around a fault in the core of Temporal's SDK (1.24; sdk-go #755 is the same one). A query for a workflow that is not in
 * memory makes the worker read the whole history. If a signal, a timer or an activity's result has just been recorded, that
 * history ends with events whose workflow task has not started, and the core plays them all the same. What the workflow decides
 * on them stays in memory and is never sent; the next workflow task builds on it, and from then on no replay matches the
 * history: the workflow is stuck.
 *
 * Such events are refused here: the worker then forgets the workflow, and the query must be sent again. To leave them out and
 * answer would not do: the core would complete their workflow task without asking the workflow.
 */
export class UnstartedEventsRefusal implements WorkflowInternalsInterceptor {
  private last: Progress = { length: 0, size: 0, time: '' };

  activate: Activate = (input, next) => {
    const { activation, batchIndex } = input;
    if (batchIndex === 0) {
      const before = this.last;
      this.last = progressOf(activation);
      const { length, size, time } = this.last;
      // There are more events, and none of them started a workflow task. Servers before 1.20 do not report the size.
      const isUnstarted = size > 0 && length > before.length && size === before.size && time === before.time;
      if (activation.isReplaying !== true && isUnstarted) throw new Error(askAgain);
    }
    next(input);
  };
}

/** The events that were played, and what the last one that started a workflow task says: the history's size, and its time. */
interface Progress {
  length: number;
  size: number;
  time: string;
}

function progressOf({ historyLength, historySizeBytes, timestamp }: Activation): Progress {
  return {
    length: historyLength ?? 0,
    size: Number(historySizeBytes ?? 0),
    time: `${String(timestamp?.seconds)}.${String(timestamp?.nanos)}`,
  };
}
