import { TypedSearchAttributes } from '@temporalio/common';
import { defineSignal } from './definitions.js';
import { workoutStreamId } from './ids.js';
import { ofUser } from './search-attributes.js';
import type { WorkflowStart } from './signal-or-start.js';

/**
 * The fetching of a workout's stream: its name, input, result and signal. Only ids, outcomes and counts: the stream
 * itself goes from the service to the store in the worker. docs/messages.md shows the same as JSON.
 */

export const fetchWorkoutStreamName = 'fetchWorkoutStream';

export interface FetchWorkoutStreamInput {
  /** The service's user id. */
  userId: string;
  /** The notice's `workout_id`. */
  workoutId: string;
}

/** A notice came, whose stream the store does not have yet. */
interface StreamNotice {
  userId: string;
}

/** Sent together with the start (signal-with-start), so no notice is lost on a run that is about to end. */
export const streamNoticedSignal = defineSignal<[StreamNotice]>('streamNoticed');

export type WorkoutStreamOutcome =
  | 'stored'
  /** The store had it already: another notice announced the same. */
  | 'current'
  /** The user's data were deleted: the service was not called, or its answer was dropped. */
  | 'user_deleted'
  /** For a day the service had no such stream, although it had announced it. A later notice retries. */
  | 'not_found'
  /** The service refuses to give it, and would again. */
  | 'refused'
  /** The database cannot store the service's answer. */
  | 'unstorable';

export interface FetchWorkoutStreamResult {
  workoutId: string;
  outcome: WorkoutStreamOutcome;
  /** With `stored`: how many moments its longest channel has. */
  moments?: number;
}

export function workoutStreamStart({
  userId,
  workoutId,
}: FetchWorkoutStreamInput): WorkflowStart<FetchWorkoutStreamInput> {
  return {
    name: fetchWorkoutStreamName,
    workflowId: workoutStreamId(workoutId),
    args: [{ userId, workoutId }],
    typedSearchAttributes: new TypedSearchAttributes(ofUser(userId)),
    staticSummary: `Stream of workout ${workoutId}`,
    staticDetails: 'Fetches the stream of one workout from the lab service and keeps it with the health data.',
  };
}
