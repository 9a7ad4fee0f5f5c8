import {
  CancellationScope,
  condition,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInternalsInterceptor,
} from '@temporalio/workflow';

/*
 * The order in which the parts of a run go on within one step (docs/internals/decisions/0021-what-goes-on-when-in-a-step.md): first what handles
 * messages and results, then the main loop, then the delivery of notifications. A replay may divide the same events into other steps, and
 * has to schedule everything in the same order.
 */

/** The main loop goes on when all messages of the step are handled, and the updates among them that wait for nothing are answered. */
export const afterMessages = (isDue: () => boolean) => inLaterRound(1, isDue);

/** A delivery goes on when the main loop, if it was woken, has scheduled what it has to. */
export const afterMainLoop = (isDue: () => boolean) => inLaterRound(2, isDue);

/**
 * Waits until it is due, and has stayed so for this many more rounds. A round is what runs until every promise has settled; then the SDK
 * looks at all conditions, and the next round begins if one of them holds.
 */
async function inLaterRound(rounds: number, isDue: () => boolean): Promise<void> {
  for (let held = 0; held < rounds; held = (await holdsInNextRound(isDue)) ? held + 1 : 0) {
    if (held === 0) await condition(isDue);
  }
}

/** The SDK looks at a condition at once, when it is made, and for the second time when the next round begins. */
async function holdsInNextRound(isDue: () => boolean): Promise<boolean> {
  let looks = 0;
  let holds = false;
  await condition(() => {
    looks += 1;
    if (looks > 1) holds = isDue();
    return looks > 1;
  });
  return holds;
}

/**
 * Knows whether the step is in the history. One that brings nothing but updates that are refused is not, unless the run schedules
 * something in it; a replay then has that without its cause.
 */
export class RecordedSteps implements WorkflowInternalsInterceptor, WorkflowInboundCallsInterceptor {
  activate: NonNullable<WorkflowInternalsInterceptor['activate']> = (input, next) => {
    const { activation, batchIndex } = input;
    const isCause = activation.jobs?.some(({ doUpdate, queryWorkflow }) => !doUpdate && !queryWorkflow) === true;
    recorded.set(wholeRun(), isCause || (batchIndex > 0 && isStepRecorded()));
    next(input);
  };

  /** The update has been accepted. */
  handleUpdate: NonNullable<WorkflowInboundCallsInterceptor['handleUpdate']> = (input, next) => {
    recorded.set(wholeRun(), true);
    return next(input);
  };
}

const recorded = new WeakMap<CancellationScope, boolean>();

function wholeRun(): CancellationScope {
  let scope = CancellationScope.current();
  while (scope.parent) scope = scope.parent;
  return scope;
}

/** Ask before something is decided by what the server says of the run, which comes with every step. */
export const isStepRecorded = (): boolean => recorded.get(wholeRun()) === true;
