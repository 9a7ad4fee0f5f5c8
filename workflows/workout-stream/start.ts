import { TypedSearchAttributes } from '@temporalio/common';
import { isAddressable } from '../order/address.js';
import { ofUser } from '../search-attributes.js';
import { workoutStreamId } from './address.js';
import type { FetchWorkoutStreamInput } from './messages.js';

/** How a `fetchWorkoutStream` is started, to be used with signal-with-start. */
export interface WorkoutStreamStart {
  workflowId: string;
  args: [FetchWorkoutStreamInput];
  typedSearchAttributes: TypedSearchAttributes;
  staticSummary: string;
  staticDetails: string;
}

export function workoutStreamStart({ userId, workoutId }: FetchWorkoutStreamInput): WorkoutStreamStart {
  return {
    workflowId: workoutStreamId(workoutId),
    args: [{ userId, workoutId }],
    typedSearchAttributes: new TypedSearchAttributes(isAddressable(userId) ? ofUser(userId) : []),
    staticSummary: `Stream of workout ${workoutId}`,
    staticDetails: 'Fetches the stream of one workout from the lab service and keeps it with the health data.',
  };
}
