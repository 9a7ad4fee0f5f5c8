import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { askAgain } from '../protocol/ask-again.js';

type Activate = NonNullable<WorkflowInternalsInterceptor['activate']>;
type Activation = Parameters<Activate>[0]['activation'];

/**
 * Works around a fault in the core of Temporal's SDK (1.24; sdk-go #755 is the same one). A query for a workflow that is not in
 * memory makes the worker read the whole history. If a signal, a timer or an activity's result has just been recorded, that
 * history ends with events whose workflow task has not started, and the core plays them all the same. What the workflow decides
 * on them stays in memory and is never sent; the next workflow task builds on it, and from then on no replay matches the
 * history: the workflow is stuck.
 *
 * The event that starts a workflow task carries the size of the history. Events that come while that size stays the same have
 * no such start. They are refused here: the worker then forgets the workflow, and the query is to be asked again.
 */
export class UnstartedEventsRefusal implements WorkflowInternalsInterceptor {
  private historySize = 0;

  activate: Activate = (input, next) => {
    const { activation, batchIndex } = input;
    const size = Number(activation.historySizeBytes ?? 0);
    const isStarted = size !== this.historySize || size === 0 || batchIndex > 0;
    this.historySize = size;
    if (!isStarted && activation.isReplaying !== true && bringsEvents(activation)) throw new Error(askAgain);
    next(input);
  };
}

/** Not what a workflow task may bring beside events: updates, queries, and the cancellation of its own activities. */
function bringsEvents({ jobs }: Activation): boolean {
  return (jobs ?? []).some(
    ({ signalWorkflow, fireTimer, cancelWorkflow, resolveActivity }) =>
      signalWorkflow != null ||
      fireTimer != null ||
      cancelWorkflow != null ||
      (resolveActivity != null && resolveActivity.result?.cancelled == null),
  );
}
