import { describe, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { errors, type User } from '../../client/index.js';
import { LeavingUser } from './leaving-user.js';
import { deleteUserId, workoutStreamId } from '../../protocol/ids.js';
import { activitiesOf, textOf } from './recorded.js';
import { eventually } from '../rig/eventually.js';
import { fetchWorkoutStreamName } from '../../protocol/workout-stream.js';
import { setStage } from './story.js';
import { taskQueue } from '../rig/environments.js';

/* A user's deletion and its undo, and what only a server shows of them; every other rule has a life in test/unit/deletion. */

const stage = setStage();

describe('a user is restored', () => {
  test('at the service if no deletion runs here, by either id, and safely twice', async () => {
    const { userId, clientUserId } = await LeavingUser.arrive(stage);
    for (const which of [{ userId: userId.toUpperCase() }, { clientUserId }]) {
      await stage.sandbox.deleteUser(userId);
      expect(await stage.product.users.restore(which)).toEqual({
        user: expect.objectContaining({ user_id: userId }) as User,
      });
      expect(await stage.sandbox.deletedUsers()).toEqual([]);
    }
    expect(await stage.product.users.restore({ userId })).toMatchObject({ user: { user_id: userId } });
    expect(await stage.countRequests('POST', '/v2/user/undo_delete')).toBe(2);
    for (const which of [{}, { userId, clientUserId }, { userId: '../team' }, { clientUserId: '' }]) {
      await expect(stage.product.users.restore(which as { userId: string })).rejects.toBeInstanceOf(
        errors.DeletionInvalid,
      );
    }
  });

  test.each(['userId', 'clientUserId'])(
    'through the deletion that runs here, which ends, named by %s',
    async (name) => {
      const leavingUser = await LeavingUser.arrive(stage);
      const { userId, clientUserId } = leavingUser;
      const handle = await leavingUser.requestDeletion();
      // Right after the request a read may be older than it, and the undo would be sent again.
      await stage.skip('1 minute');
      const which = name === 'userId' ? { userId } : { clientUserId };
      expect(await stage.product.users.restore(which)).toMatchObject({
        user: { user_id: userId },
        deletion: { outcome: 'undone', undo: { by: 'command' } },
      });
      expect(await handle.result()).toMatchObject({ outcome: 'undone' });
      expect(await handle.undo(), 'once more is success').toMatchObject({ outcome: 'undone' });
      // By `client_user_id` the service restores the user before it is known which deletion that is, and refuses the second undo.
      expect(await stage.countRequests('POST', '/v2/user/undo_delete')).toBe(name === 'userId' ? 1 : 2);
    },
  );

  test('through the deletion that runs here, or at the service, although reads right after it lag', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const { userId, path } = leavingUser;
    const body = { detail: 'You have scheduled this user for deletion.' };
    const stale = { kind: 'answer', status: 404, body } as const;
    await leavingUser.requestDeletion();
    await stage.sandbox.addFault({ method: 'GET', path, times: 3, action: stale });
    expect(await stage.product.users.restore({ userId })).toMatchObject({
      user: { user_id: userId },
      deletion: { outcome: 'undone' },
    });
    await stage.sandbox.removeFaults();
    const other = await LeavingUser.arrive(stage);
    await stage.sandbox.deleteUser(other.userId);
    await stage.sandbox.addFault({ method: 'GET', path: other.path, times: 2, action: stale });
    expect(await stage.product.users.restore({ userId: other.userId })).toMatchObject({
      user: { user_id: other.userId },
    });
    // Somebody else has restored the user between the read and the undo.
    await stage.sandbox.addFault({ method: 'GET', path: other.path, times: 1, action: stale });
    expect(await stage.product.users.restore({ userId: other.userId })).toMatchObject({
      user: { user_id: other.userId },
    });
  });

  test('a user whose deletion has ended here for good is not restored at the service, also while the product is notified', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const { userId } = leavingUser;
    const handle = await leavingUser.requestDeletion({ policy: { grace: '1d' } });
    await leavingUser.expectNotifications('deletion_scheduled');
    stage.receiver.isDown = true;
    await stage.skip('25 hours');
    await eventually(async () => expect(await handle.state()).toMatchObject({ outcome: 'deleted' }));
    await expect(stage.product.users.restore({ userId })).rejects.toBeInstanceOf(errors.GraceEnded);
    stage.receiver.isDown = false;
    await handle.result();
    await expect(stage.product.users.restore({ userId })).rejects.toBeInstanceOf(errors.GraceEnded);
    expect(await stage.countRequests('POST', '/v2/user/undo_delete')).toBe(0);
    // Somebody else has.
    await stage.service.users.undoDelete({ userId });
    expect(await stage.product.users.restore({ userId })).toMatchObject({ user: { user_id: userId } });
  });
});

test('a deletion that is requested again after an undo starts again, with a grace of its own', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const first = await leavingUser.requestDeletion();
  await stage.skip('2 days');
  await first.undo();
  await first.result();
  const second = await leavingUser.requestDeletion();
  expect(second.requested).toMatchObject({ phase: 'grace', scheduledBefore: false, connections: [] });
  expect(Date.parse(second.requested?.graceUntil ?? '')).toBeGreaterThan(Date.parse(first.requested?.graceUntil ?? ''));
  expect(await second.undo()).toMatchObject({ outcome: 'undone' });
  const ids = stage.receiver.accepted.map(({ id }) => id);
  expect(new Set(ids).size, 'notifications of the two differ in their ids').toBe(ids.length);
});

test('nothing that Temporal shows in the clear names the person', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion({ clientUserId: leavingUser.clientUserId });
  const workflow = stage.temporal.workflow.getHandle(deleteUserId(leavingUser.userId));
  await stage.skip('8 days');
  const result = await handle.result();
  const { workflowId, typedSearchAttributes, memo } = await workflow.describe();
  const shown = JSON.stringify([workflowId, typedSearchAttributes, memo, result, stage.receiver.accepted]);
  expect(shown).toContain(leavingUser.userId);
  expect(shown).not.toContain(leavingUser.clientUserId);
  const { events } = await workflow.fetchHistory();
  const named = (events ?? []).filter((event) => textOf(event).includes(leavingUser.clientUserId));
  const onlyInput = ['workflowExecutionStartedEventAttributes', 'workflowExecutionUpdateAcceptedEventAttributes'];
  expect(named).not.toEqual([]);
  for (const event of named) expect(onlyInput.some((name) => event[name as keyof typeof event] != null)).toBe(true);
});

/** The usual stage: HEALTH_DATA=off. */
test('a stream that an ingress with a store requests of a deployment without one waits a week, then fails and says why', async () => {
  const [userId, workoutId] = [randomUUID(), randomUUID()];
  const workflowId = workoutStreamId(workoutId);
  const start = { workflowId, taskQueue, args: [{ userId, workoutId }] };
  await stage.temporal.workflow.start(fetchWorkoutStreamName, start);
  await expect(stage.finish(workflowId)).rejects.toMatchObject({ cause: { type: 'StoreNotConfigured' } });
  expect(await activitiesOf(stage, workflowId)).toEqual(Array.from({ length: 7 }, () => 'fetchStream'));
});
