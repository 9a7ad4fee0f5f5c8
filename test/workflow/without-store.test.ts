import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { StoreNotConfigured } from '../../client/index.js';
import { deleteUserId, workoutStreamId } from '../../protocol/ids.js';
import { fetchWorkoutStreamName } from '../../protocol/workout-stream.js';
import { taskQueue } from '../rig/environments.js';
import { LeavingUser } from './leaving-user.js';
import { eventsOf } from './recorded.js';
import { setStage } from './story.js';

/** A deployment that keeps no health data: HEALTH_DATA=off. */
const stage = setStage();

async function activitiesOf(workflowId: string): Promise<string[]> {
  const events = await eventsOf(stage, workflowId);
  return events.flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? []);
}

test('a deletion costs nothing more than without health data', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  await stage.skip('8 days');
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  const activities = await activitiesOf(deleteUserId(leavingUser.userId));
  expect(activities.filter((name) => name !== 'notify')).toEqual([
    'findRunningWork',
    'readUser',
    'findRunningWork',
    'scheduleDeletion',
    'readUser',
  ]);
});

test('a notice of a workout stream is counted and starts nothing', async () => {
  const userId = await stage.newUser();
  const workoutId = randomUUID();
  await stage.sandbox.sendHealthData(userId, { kind: 'workout_stream', workout_id: workoutId });
  await stage.sandbox.settleWebhooks();
  expect(await stage.sandbox.deliveries()).toMatchObject([{ state: 'delivered' }]);
  await expect(stage.temporal.workflow.getHandle(workoutStreamId(workoutId)).describe()).rejects.toMatchObject({
    name: 'WorkflowNotFoundError',
  });
});

test('commands on rejected events say that there are none', async () => {
  await expect(stage.product.rejectedEvents.count()).rejects.toBeInstanceOf(StoreNotConfigured);
  await expect(stage.product.rejectedEvents.replay({})).rejects.toBeInstanceOf(StoreNotConfigured);
  await expect(stage.product.rejectedEvents.discard('1', 'why')).rejects.toBeInstanceOf(StoreNotConfigured);
});

test('a stream that an ingress with a store requests waits a week for a worker with one, then fails and says why', async () => {
  const [userId, workoutId] = [randomUUID(), randomUUID()];
  const workflowId = workoutStreamId(workoutId);
  await stage.temporal.workflow.start(fetchWorkoutStreamName, { workflowId, taskQueue, args: [{ userId, workoutId }] });
  await expect(stage.finish(workflowId)).rejects.toMatchObject({ cause: { type: 'StoreNotConfigured' } });
  const activities = await activitiesOf(workflowId);
  expect(activities).toEqual(Array.from({ length: 7 }, () => 'fetchStream'));
});
