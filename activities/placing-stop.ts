import { ApplicationFailure } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import type { FailureDetails } from '../protocol/failure-details.js';
import { readPlacingStop, type PlacingStop } from '../protocol/placing-stop.js';

/** The details of a `PlacingStopped`. */
export interface StoppedDetails extends FailureDetails {
  /** The reason that the operator gave. */
  stopReason: string;
  /** Neither this attempt nor one before it has sent anything. */
  nothingSent?: true;
}

/**
 * Passes unless an operator has stopped placing (protocol/placing-stop.ts). Called right before anything is created at the service.
 *
 * @throws ApplicationFailure `PlacingStopped`; an error of Temporal's if that does not answer: then the attempt is repeated, with nothing sent
 */
export type RequireNotStopped = (attempt?: Pick<StoppedDetails, 'nothingSent'>) => Promise<void>;

/** A stop must hold within a minute: after this, a creation that was sent before it has half a minute to be answered. */
const rememberedMs = 15_000;

/** The creation that waits for the answer must not become outdated meanwhile. */
const answerWithinMs = 5_000;

/** Creates the check. It asks Temporal at most once within `rememberedMs` for all creations of this process; an error is not remembered. */
export function createPlacingCheck(temporal: Client, taskQueue: string): RequireNotStopped {
  let last: { at: number; stop: Promise<PlacingStop | undefined> } | undefined;
  const current = (): Promise<PlacingStop | undefined> => {
    // A clock that was set back makes no answer last longer.
    if (last && Math.abs(Date.now() - last.at) < rememberedMs) return last.stop;
    const asked = {
      at: Date.now(),
      stop: temporal.withDeadline(Date.now() + answerWithinMs, () => readPlacingStop(temporal.workflow, taskQueue)),
    };
    last = asked;
    asked.stop.catch(() => {
      if (last === asked) last = undefined;
    });
    return asked.stop;
  };
  return async (attempt = {}) => {
    const stop = await current();
    if (!stop) return;
    const { reason: stopReason } = stop;
    const details: StoppedDetails = { fields: [], stopReason, ...attempt };
    throw ApplicationFailure.nonRetryable(`Placing is stopped: ${stopReason}`, 'PlacingStopped', details);
  };
}
