import { expect, test } from 'vitest';
import { fetchWorkoutStreamName } from '../../protocol/workout-stream.js';
import { labUserIdKey } from '../../protocol/search-attributes.js';
import { taskQueue } from '../rig/environments.js';
import { eventsOf, textOf } from './recorded.js';
import { setStage } from './story.js';
import { Workout } from './workout.js';

const stage = setStage({ keepsHealthData: true });

const notYet = { kind: 'answer', status: 404, body: { detail: 'Not found' } } as const;
const down = { kind: 'answer', status: 503, body: { detail: 'Down for maintenance' } } as const;

/** The stand-in has no stream for this one. */
const unknownWorkout = '00000000-0000-0000-0000-000000000000';

// proves 7, 215, 264, 303
test('a notice leads to the stream being fetched and kept, by one call of the service and one activity', async () => {
  const workout = await Workout.of(stage);
  await workout.sendNotice();
  expect(await workout.result()).toEqual({ workoutId: workout.workoutId, outcome: 'stored', moments: 60 });
  expect(await workout.stored()).toMatchObject({
    notice: { workout_id: workout.workoutId },
    stream: { power: null, resistance: [], heartrate: expect.arrayContaining([null, 110]) as number[] },
    fetchedAt: expect.any(String) as string,
  });
  expect(await workout.countReads()).toBe(1);
  expect(await workout.activities()).toEqual(['fetchStream']);
  const { typedSearchAttributes } = await stage.temporal.workflow.getHandle(workout.workflowId).describe();
  expect(typedSearchAttributes.get(labUserIdKey)).toBe(workout.userId);
});

test('nothing of the stream enters Temporal', async () => {
  const workout = await Workout.of(stage);
  await workout.sendNotice();
  await workout.result();
  const text = textOf(await eventsOf(stage, workout.workflowId));
  expect(text).toContain(workout.workoutId);
  for (const word of ['heartrate', 'lat', 'altitude', 'sport', 'invented_run']) expect(text).not.toContain(`"${word}"`);
});

test('repeated deliveries of one message fetch the stream once', async () => {
  const workout = await Workout.of(stage);
  await stage.sandbox.addWebhookFault({ times: 1, action: { kind: 'duplicate', copies: 2 } });
  await workout.sendNotice();
  await workout.result();
  expect(await stage.sandbox.deliveries()).toMatchObject([{ state: 'delivered' }]);
  expect(await workout.countReads()).toBe(1);
});

test('an update of the workout fetches the stream again, in a run of its own', async () => {
  const workout = await Workout.of(stage);
  await workout.sendNotice();
  await workout.result();
  const [before, firstRun] = [await workout.stored(), await workout.runId()];
  await workout.sendNotice();
  expect(await workout.runId()).not.toBe(firstRun);
  expect(await workout.result()).toMatchObject({ outcome: 'stored' });
  expect(await workout.countReads()).toBe(2);
  expect((await workout.stored())?.fetchedAt).not.toBe(before?.fetchedAt);
});

test('a notice that comes while the stream is fetched is not lost: an earlier read is repeated', async () => {
  const workout = await Workout.of(stage);
  const slow = { kind: 'delay', delayMs: 10_000, phase: 'after_work' } as const;
  await stage.sandbox.addFault({ path: workout.path, times: 1, action: slow });
  await workout.sendNotice();
  const runId = await workout.runId();
  await workout.expectReads(1);
  await workout.sendNotice();
  expect(await workout.result()).toMatchObject({ outcome: 'stored' });
  expect(await workout.runId()).toBe(runId);
  expect(await workout.countReads()).toBe(2);
  expect(await workout.testStore.store.streamStanding(workout)).toMatchObject({ standing: 'current' });
});

test('a notice of what is already stored costs one activity, and no call of the service', async () => {
  const workout = await Workout.of(stage);
  await workout.sendNotice();
  await workout.result();
  const { userId, workoutId, workflowId } = workout;
  const again = { workflowId, taskQueue, args: [{ userId, workoutId }] };
  await stage.temporal.workflow.start(fetchWorkoutStreamName, again);
  expect(await workout.result()).toEqual({ workoutId, outcome: 'current' });
  expect(await workout.activities()).toEqual(['fetchStream']);
  expect(await workout.countReads()).toBe(1);
});

test('a stream that does not exist yet is waited for', async () => {
  const workout = await Workout.of(stage);
  await stage.sandbox.addFault({ path: workout.path, times: 4, action: notYet });
  await workout.sendNotice();
  expect(await workout.result()).toMatchObject({ outcome: 'stored' });
  expect(await workout.activities(), 'the waiting is not in the history').toEqual(['fetchStream']);
  expect(await workout.countReads()).toBe(5);
});

test('a stream that does not come within a day is given up after some thirty reads; a later notice starts again', async () => {
  const workout = await Workout.of(stage, unknownWorkout);
  await workout.sendNotice();
  expect(await workout.result()).toEqual({ workoutId: unknownWorkout, outcome: 'not_found' });
  expect(await workout.countReads()).toBeLessThan(40);
  expect(await workout.stored()).toMatchObject({ stream: null, fetchedAt: null });
  const runId = await workout.runId();
  await workout.sendNotice();
  expect(await workout.runId()).not.toBe(runId);
});

test('a service that is down for two days delays the stream, as does a key that is refused', async () => {
  const workout = await Workout.of(stage);
  await stage.sandbox.addFault({ path: workout.path, action: down });
  await workout.sendNotice();
  await stage.skip('2 days');
  await stage.sandbox.removeFaults();
  await stage.sandbox.addFault({ path: workout.path, times: 1, action: { ...down, status: 401 } });
  expect(await workout.result()).toMatchObject({ outcome: 'stored' });
});

test('a database that is away delays the stream', async () => {
  const workout = await Workout.of(stage);
  await stage.sandbox.addFault({ path: workout.path, times: 1, action: down });
  await workout.sendNotice();
  await workout.expectReads(1);
  workout.testStore.isDown = true;
  await stage.skip('2 hours');
  workout.testStore.isDown = false;
  expect(await workout.result()).toMatchObject({ outcome: 'stored' });
});

test('a service that refuses the stream is not asked again', async () => {
  const workout = await Workout.of(stage);
  await stage.sandbox.addFault({ path: workout.path, action: { ...down, status: 422 } });
  await workout.sendNotice();
  expect(await workout.result()).toMatchObject({ outcome: 'refused' });
  expect(await workout.countReads()).toBe(1);
});

test('a user whose data were deleted has no stream fetched: before the notice, and while it is waited for', async () => {
  const before = await Workout.of(stage);
  await before.testStore.store.deleteUserData(before.userId);
  await before.sendNotice();
  expect(await before.runId()).toBeUndefined();

  const meanwhile = await Workout.of(stage);
  await stage.sandbox.addFault({ path: meanwhile.path, action: notYet });
  await meanwhile.sendNotice();
  await meanwhile.expectReads(1);
  await meanwhile.testStore.store.deleteUserData(meanwhile.userId);
  expect(await meanwhile.result()).toMatchObject({ outcome: 'user_deleted' });
  expect(await meanwhile.stored()).toBeUndefined();
});

test('a user who is deleted while the service answers has nothing kept', async () => {
  const workout = await Workout.of(stage);
  const slow = { kind: 'delay', delayMs: 10_000, phase: 'after_work' } as const;
  await stage.sandbox.addFault({ path: workout.path, times: 1, action: slow });
  await workout.sendNotice();
  await workout.expectReads(1);
  await workout.testStore.store.deleteUserData(workout.userId);
  expect(await workout.result()).toMatchObject({ outcome: 'user_deleted' });
  expect(await workout.stored()).toBeUndefined();
});

test.each([
  {},
  { userId: 'a-user' },
  { userId: 'a-user', workoutId: '../etc' },
  { userId: 'a-user', workoutId: 'other' },
])('invalid input from another language’s client fails: %j', async (wrong) => {
  const workflowId = `workout-stream/wrong-${JSON.stringify(wrong).length}`;
  const handle = await stage.temporal.workflow.start(fetchWorkoutStreamName, { workflowId, taskQueue, args: [wrong] });
  await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidCommand' } });
});
