import { WorkflowNotFoundError } from '@temporalio/common';
import { isObject } from '../service/json-object.js';
import { defineSignal } from './definitions.js';
import { placingStopId, actorRule, isActor, type OfActor } from './ids.js';
import { withoutMemos } from './search-attributes.js';

/**
 * The stop of placing: while its workflow runs, no worker of the task queue creates an order, a replacement or an appointment. Its
 * name, input, result and signal. docs/messages.md shows the same as JSON. The files of this name in `client/operators/` (the switch),
 * `workflows/` (while it is on) and `activities/` (what must not be sent) have the rest.
 */

export const stopPlacingName = 'stopPlacing';

export interface StopPlacingInput extends OfActor {
  /** For everybody who asks why nothing is ordered, at most 500 characters; nothing personal. The start's memo has it, too: workers read it there. */
  reason: string;
  /** State carried over by continue-as-new; never given by a caller. */
  carried?: unknown;
}

/** Ends the stop. */
export const resumeSignal = defineSignal<[OfActor]>('resume');

export interface PlacingStop {
  /** ISO 8601 in UTC. */
  since: string;
  reason: string;
  /** The actor of the stop. */
  by?: string;
}

export interface StopPlacingResult extends PlacingStop {
  /** ISO 8601 in UTC. */
  until: string;
}

/** Everything that is wrong with an input, by field. */
export function placingStopFaults(input: unknown): { field: string; message: string }[] {
  const { reason, by, ...unknown } = isObject(input) ? input : {};
  const isReason = typeof reason === 'string' && reason.trim() !== '' && reason.length <= 500;
  return [
    ...Object.keys(unknown).map((field) => ({ field, message: 'is not known here' })),
    ...(isReason
      ? []
      : [{ field: 'reason', message: 'must be a string that is not blank, of at most 500 characters' }]),
    ...(by == null || isActor(by) ? [] : [{ field: 'by', message: actorRule }]),
  ];
}

/** As much of Temporal's workflow client as it takes to read the stop. */
interface Workflows {
  getHandle(workflowId: string): {
    describe(): Promise<{ status: { name: string }; startTime: Date; memo?: Record<string, unknown> | undefined }>;
  };
}

/**
 * The stop, if there is one: no worker needs to answer. A reason that cannot be read, because the stop was started without a memo or
 * with keys that are not here, changes nothing of it.
 */
export async function readPlacingStop(workflows: Workflows, taskQueue: string): Promise<PlacingStop | undefined> {
  const workflowId = placingStopId(taskQueue);
  try {
    const { status, startTime } = await withoutMemos(workflows).getHandle(workflowId).describe();
    if (status.name !== 'RUNNING') return undefined;
    const read = await workflows
      .getHandle(workflowId)
      .describe()
      .catch(() => undefined);
    const { reason, by, since } = read?.memo ?? {};
    return {
      // A stop that goes on in a new run says since when it is.
      since: typeof since === 'string' ? since : startTime.toISOString(),
      reason: typeof reason === 'string' ? reason : 'its reason cannot be read',
      ...(isActor(by) && { by }),
    };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}
