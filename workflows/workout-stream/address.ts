/** One workflow per workout: a notice finds the fetching that is under way. Nobody else builds this ID. */
export function workoutStreamId(workoutId: string): string {
  return `workout-stream/${workoutId}`;
}
