import { ApplicationFailure } from '@temporalio/activity';
import { FeatureNotEnabled, NotFound, ServiceError, Unauthorized } from '../service/errors.js';
import type { LabService } from '../service/lab-service.js';
import type { WorkoutStream } from '../service/timeseries.js';
import type { FetchWorkoutStreamInput, FetchWorkoutStreamResult } from '../protocol/workout-stream.js';
import { type ActivityDependencies, withStore } from './dependencies.js';
import { failureOf } from './failures.js';

/** A refused key or a disabled feature stays that way until a person changes it. */
const untilCorrected = '1 hour';

export function workoutStreamActivities({
  service,
  workerStore,
}: Pick<ActivityDependencies, 'service' | 'workerStore'>) {
  return {
    /** Copies a stream from the service into the store; nothing of it leaves the worker. */
    async fetchStream(workout: FetchWorkoutStreamInput): Promise<Omit<FetchWorkoutStreamResult, 'workoutId'>> {
      return withStore(workerStore, async (store) => {
        const { standing, notice } = await store.streamStanding(workout);
        if (standing !== 'due') return { outcome: standing };
        const stream = await read(service, workout.workoutId);
        const outcome = await store.writeStream({ ...workout, stream, notice });
        return outcome === 'stored' ? { outcome, moments: momentsOf(stream) } : { outcome };
      });
    },
  };
}

/** Nobody waits for the result, so everything that may change is retried: the stream, the service, its key. */
async function read(service: LabService, workoutId: string): Promise<WorkoutStream> {
  try {
    return await service.timeseries.workoutStream(workoutId);
  } catch (error) {
    if (error instanceof NotFound) throw ApplicationFailure.retryable(error.message, 'StreamNotReady');
    if (!(error instanceof ServiceError)) throw error;
    const failure = failureOf(error, 'ServiceRefused');
    if (!(error instanceof Unauthorized || error instanceof FeatureNotEnabled)) throw failure;
    const { message, type, details } = failure;
    throw ApplicationFailure.create({
      message,
      type: type ?? '',
      details: details ?? [],
      nextRetryDelay: untilCorrected,
    });
  }
}

function momentsOf(stream: WorkoutStream): number {
  return Math.max(0, ...Object.values(stream).map((channel) => (Array.isArray(channel) ? channel.length : 0)));
}
