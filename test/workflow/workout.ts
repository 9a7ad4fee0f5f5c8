import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { StoredStream } from '../../store/health-data-reader.js';
import { workoutStreamId } from '../../protocol/ids.js';
import type { FetchWorkoutStreamResult } from '../../protocol/workout-stream.js';
import { activitiesOf } from './recorded.js';
import type { Stage } from './story.js';

/** A workout of an invented user in a story, whose stream the service can be asked for. */
export class Workout {
  readonly userId: string;
  readonly workoutId = randomUUID();
  private readonly stage: Stage;

  constructor(stage: Stage, userId: string) {
    this.stage = stage;
    this.userId = userId;
    stage.onClear(() => stage.awaitEnd(this.workflowId));
  }

  static async of(stage: Stage): Promise<Workout> {
    return new Workout(stage, await stage.newUser());
  }

  get workflowId(): string {
    return workoutStreamId(this.workoutId);
  }

  get path(): string {
    return `/v2/timeseries/workouts/${this.workoutId}/stream`;
  }

  /** Has the service send its webhook about the stream; settles when the ingress has answered. */
  async sendNotice(): Promise<void> {
    await this.stage.sandbox.sendHealthData(this.userId, { kind: 'workout_stream', workout_id: this.workoutId });
    await this.stage.sandbox.settleWebhooks();
  }

  /** How often the service was asked for the stream. */
  async countReads(): Promise<number> {
    return this.stage.countRequests('GET', this.path);
  }

  /** Lets time pass until the running fetch ends, and returns its result. */
  async result(): Promise<FetchWorkoutStreamResult> {
    return this.stage.finish<FetchWorkoutStreamResult>(this.workflowId);
  }

  async stored(): Promise<StoredStream | undefined> {
    return this.stage.store.workoutStream(this);
  }

  /** The latest run; undefined if there never was one. */
  async runId(): Promise<string | undefined> {
    try {
      return (await this.stage.temporal.workflow.getHandle(this.workflowId).describe()).runId;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return undefined;
      throw error;
    }
  }

  /** The names of the activities of the latest run, in their order. */
  async activities(): Promise<string[]> {
    return activitiesOf(this.stage, this.workflowId);
  }
}
