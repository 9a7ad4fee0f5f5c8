import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  ContinueAsNew,
} from '@temporalio/workflow';
import type { OfActor } from '../../protocol/ids.js';
import { actorOf, mostBeforeCancelling, requireRoom } from './commands.js';

/** A run that makes attempts until there is something to follow; a command may cancel it before. */
export interface Attempting<End extends object> {
  /** The attempts that a cancellation stops. Whatever an attempt has made by then is handed over all the same. */
  attempts: CancellationScope;
  /** A command cancelled it. */
  wasCancelled: boolean;
  /** How many cancellations wait for the answer. */
  waiting: number;
  /** The answer to a cancellation: known once nothing is under way any more. */
  end?: End | ApplicationFailure;
}

export function openAttempts<End extends object>(): Attempting<End> {
  return { attempts: new CancellationScope(), wasCancelled: false, waiting: 0 };
}

/** Called by the validator of the update that cancels. */
export function validateCancellation(run: Attempting<object>, given: OfActor): void {
  actorOf(given);
  requireRoom(run.waiting, mostBeforeCancelling);
}

/** Called by the update that cancels. @returns what the run came to */
export async function cancelAttempts<End extends object>(run: Attempting<End>): Promise<End> {
  run.wasCancelled = true;
  // All are answered at once, when the run ends.
  run.waiting += 1;
  run.attempts.cancel();
  await condition(() => run.end !== undefined);
  const { end } = run;
  if (end === undefined) throw new TypeError('A run that is cancelled comes to an end');
  if (end instanceof ApplicationFailure) throw end;
  return end;
}

/**
 * Works, and answers a cancellation that was accepted before the run ends.
 * @param endOf the answer if the work fails
 */
export async function answeringCancellation<End extends object, Result>(
  run: Attempting<End>,
  work: () => Promise<Result>,
  endOf: (failure: unknown) => End | ApplicationFailure,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ContinueAsNew)) run.end ??= endOf(error);
    throw error;
  } finally {
    if (run.end !== undefined) await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  }
}
