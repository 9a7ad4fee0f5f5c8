import { ApplicationFailure, condition, defineUpdate, setHandler } from '@temporalio/workflow';

/** Workflows of other areas as a deletion sees them: their names and their cancel commands. */

const cancelUpdate = defineUpdate<object, [object]>('cancel');

/** Takes the command and ends. */
export async function linkProvider(): Promise<void> {
  let cancelled = false;
  setHandler(cancelUpdate, () => {
    cancelled = true;
    return {};
  });
  await condition(() => cancelled);
}

/** Refuses the command and goes on. */
export async function parsingJob(): Promise<void> {
  setHandler(cancelUpdate, () => {
    throw ApplicationFailure.nonRetryable('It is under way', 'CancelRefused');
  });
  await condition(() => false);
}

/** Of a version that does not know the command. */
export async function submitReport(): Promise<void> {
  await condition(() => false);
}

/** Reads what was measured: no work that anybody waits for. */
export async function fetchWorkoutStream(): Promise<void> {
  await condition(() => false);
}
