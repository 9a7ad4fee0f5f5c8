import { describe, expect, test } from 'vitest';
import {
  DeletionInvalid,
  GraceEnded,
  GraceNotBegun,
  UndoImpossible,
  UndoRefused,
  UserUnknown,
  type User,
} from '../../client/index.js';
import { deleteUserId } from '../../protocol/ids.js';
import { requestUpdate } from '../../protocol/deletion/messages.js';
import { resolveDeletionPolicy } from '../../protocol/deletion/policy.js';
import { eventually } from '../rig/eventually.js';
import { LeavingUser } from './leaving-user.js';
import { setStage } from './story.js';

const stage = setStage();

async function runIdOf({ userId }: LeavingUser): Promise<string> {
  return (await stage.temporal.workflow.getHandle(deleteUserId(userId)).describe()).runId;
}

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
      await expect(stage.product.users.restore(which as { userId: string })).rejects.toBeInstanceOf(DeletionInvalid);
    }
  });

  test.each(['userId', 'clientUserId'])(
    'through the deletion that runs here, which ends, named by %s',
    async (name) => {
      const leavingUser = await LeavingUser.arrive(stage);
      const { userId, clientUserId } = leavingUser;
      const handle = await leavingUser.requestDeletion();
      const which = name === 'userId' ? { userId } : { clientUserId };
      expect(await stage.product.users.restore(which)).toMatchObject({
        user: { user_id: userId },
        deletion: { outcome: 'undone', undo: { by: 'command' } },
      });
      expect(await handle.result()).toMatchObject({ outcome: 'undone' });
      // By `client_user_id` the service restores the user before it is known which deletion that is, and refuses the deletion's own undo,
      // which is sent again once reads can show the deletion.
      const undos = await stage.countRequests('POST', '/v2/user/undo_delete');
      if (name === 'userId') expect(undos).toBe(1);
      else expect(undos).toBeGreaterThan(1);
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
    await expect(stage.product.users.restore({ userId })).rejects.toBeInstanceOf(GraceEnded);
    stage.receiver.isDown = false;
    await handle.result();
    await expect(stage.product.users.restore({ userId })).rejects.toBeInstanceOf(GraceEnded);
    expect(await stage.countRequests('POST', '/v2/user/undo_delete')).toBe(0);
    // Somebody else has.
    await stage.service.users.undoDelete({ userId });
    expect(await stage.product.users.restore({ userId })).toMatchObject({ user: { user_id: userId } });
  });

  test('a user who is deleted elsewhere while the product is still to be notified of the undo here is restored at the service', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const { userId } = leavingUser;
    await leavingUser.requestDeletion();
    await leavingUser.expectNotifications('deletion_scheduled');
    stage.receiver.isDown = true;
    await stage.product.users.restore({ userId });
    await stage.sandbox.deleteUser(userId);
    expect(await stage.product.users.restore({ userId })).toMatchObject({ user: { user_id: userId } });
    expect(await stage.sandbox.deletedUsers()).toEqual([]);
    stage.receiver.isDown = false;
  });
});

describe('a deletion that is requested again', () => {
  test('at once is the one that runs, although the service, whose reads lag, still shows the user', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await leavingUser.requestDeletion();
    const stale = { kind: 'answer', status: 200, body: { user_id: leavingUser.userId } } as const;
    await stage.sandbox.addFault({ method: 'GET', path: leavingUser.path, action: stale });
    const again = await leavingUser.requestDeletion();
    await stage.sandbox.removeFaults();
    expect(again.requested).toMatchObject({ phase: 'grace' });
    await stage.skip('1 minute');
    expect(leavingUser.notified).toEqual(['deletion_scheduled']);
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(1);
  });

  test('at once is another one if somebody has restored the user between the two', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await leavingUser.requestDeletion();
    await leavingUser.expectNotifications('deletion_scheduled');
    await stage.service.users.undoDelete({ userId: leavingUser.userId });
    const again = await leavingUser.requestDeletion();
    expect(again.requested).toMatchObject({ phase: 'grace' });
    await stage.skip('1 minute');
    await leavingUser.expectNotifications('deletion_scheduled', 'deletion_undone', 'deletion_scheduled');
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(2);
  });

  test('a deletion that is requested again while it runs is the one that runs', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const { requested } = await leavingUser.requestDeletion();
    await stage.skip('2 days');
    const run = await runIdOf(leavingUser);
    const again = await leavingUser.requestDeletion({ policy: { grace: '1d' } });
    expect(again.requested).toMatchObject({ graceUntil: requested?.graceUntil });
    expect(await runIdOf(leavingUser)).toBe(run);
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(1);
  });

  test('a deletion that is requested again twice at the same time is one deletion', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const [one, other] = await Promise.all([leavingUser.requestDeletion(), leavingUser.requestDeletion()]);
    expect(one.requested).toEqual(other.requested);
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(1);
  });

  test('a deletion that is requested again after an undo starts again, with a grace of its own', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const first = await leavingUser.requestDeletion();
    await stage.skip('2 days');
    await first.undo();
    await first.result();
    const second = await leavingUser.requestDeletion();
    expect(second.requested).toMatchObject({ phase: 'grace', scheduledBefore: false, connections: [] });
    expect(Date.parse(second.requested?.graceUntil ?? '')).toBeGreaterThan(
      Date.parse(first.requested?.graceUntil ?? ''),
    );
    expect(await second.undo()).toMatchObject({ outcome: 'undone' });
    const ids = stage.receiver.accepted.map(({ id }) => id);
    expect(new Set(ids).size, 'notifications of the two differ in their ids').toBe(ids.length);
  });

  test('a deletion that is requested again after an undo that could not be notified does not wait for the product', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const first = await leavingUser.requestDeletion();
    await leavingUser.expectNotifications('deletion_scheduled');
    stage.receiver.isDown = true;
    await first.undo();
    await eventually(() => expect(stage.receiver.attempts).toBeGreaterThan(1));
    const run = await runIdOf(leavingUser);
    const second = await leavingUser.requestDeletion({ policy: { grace: '2d' } });
    expect(second.requested).toMatchObject({ phase: 'grace' });
    expect(await runIdOf(leavingUser), 'the run goes on, with what it has to deliver').toBe(run);
    stage.receiver.isDown = false;
    await stage.skip('3 days');
    expect(await second.result()).toMatchObject({ outcome: 'deleted' });
    expect(leavingUser.notified).toEqual([
      'deletion_scheduled',
      'deletion_undone',
      'deletion_scheduled',
      'deletion_reminder',
      'deleted',
    ]);
  });

  test('a deletion that is requested again after its final end finds no such user', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion({ policy: { grace: '7d' } });
    await stage.skip('8 days');
    expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
    await expect(leavingUser.requestDeletion()).rejects.toBeInstanceOf(UserUnknown);
  });
});

describe('while what the product was not notified of is handed over', () => {
  let isAway = true;
  const handOverNotifications = async () => {
    if (isAway) throw new Error('Temporal does not answer');
  };
  const waiting = setStage({ activities: { handOverNotifications } });

  test('an undo after a new request is not answered with the undo before it', async () => {
    const leavingUser = await LeavingUser.arrive(waiting);
    const handle = await leavingUser.requestDeletion();
    await leavingUser.expectNotifications('deletion_scheduled');
    waiting.receiver.isDown = true;
    await handle.undo();
    await waiting.skip('1 minute');
    const requesting = leavingUser.requestDeletion();
    await leavingUser.untilAccepted(3);
    await expect(handle.undo()).rejects.toBeInstanceOf(GraceNotBegun);
    isAway = false;
    await waiting.skip('5 minutes');
    expect((await requesting).requested).toMatchObject({ phase: 'grace' });
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
    expect(await leavingUser.readUser()).toBe('present');
  });
});

test('a user id means the same in upper and lower case', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  await leavingUser.requestDeletion();
  const shouted = await stage.product.users.requestDeletion({ userId: leavingUser.userId.toUpperCase() });
  expect(shouted.userId).toBe(leavingUser.userId);
  expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(1);
  const found = await stage.product.users.deletion(leavingUser.userId.toUpperCase());
  expect(await found.state()).toMatchObject({ userId: leavingUser.userId, phase: 'grace' });
});

describe('a user who was scheduled for deletion before', () => {
  test('is not deleted twice; the undo is tried', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.deleteUser(leavingUser.userId);
    const handle = await leavingUser.requestDeletion();
    const { scheduledBefore, connections } = handle.requested ?? {};
    expect({ scheduledBefore, connections }).toEqual({ scheduledBefore: true, connections: undefined });
    const { undo } = await handle.undo();
    expect(undo).toMatchObject({ restored: ['user', 'data'], notRestored: ['connections'] });
    expect(undo).not.toHaveProperty('lostConnections');
  });

  test.each([404, 410] as const)(
    'may be gone before our grace ends: the service decides (%s)',
    async (lateUndoStatus) => {
      const leavingUser = await LeavingUser.arrive(stage);
      await stage.sandbox.changeSettings({ lateUndoStatus });
      await stage.sandbox.deleteUser(leavingUser.userId);
      await stage.skip('4 days');
      const handle = await leavingUser.requestDeletion();
      await stage.skip('5 days');
      await expect(handle.undo()).rejects.toMatchObject({ name: UndoRefused.name, status: lateUndoStatus });
      await leavingUser.expectState(handle, { phase: 'grace' });
      await stage.skip('2 days');
      expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
    },
  );
});

describe('a new user with the same client_user_id', () => {
  async function replaced(leavingUser: LeavingUser): Promise<void> {
    await stage.sandbox.createUser({ client_user_id: leavingUser.clientUserId });
  }

  test('makes the undo impossible; the service decides even if the client_user_id is known', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion({ clientUserId: leavingUser.clientUserId });
    await replaced(leavingUser);
    await expect(handle.undo()).rejects.toBeInstanceOf(UndoImpossible);
    expect(await stage.countRequests('POST', '/v2/user/undo_delete')).toBe(1);
    await leavingUser.expectState(handle, { phase: 'grace' });
  });

  test('makes the undo impossible, as the service says, if the client_user_id is not known', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion();
    await replaced(leavingUser);
    await expect(handle.undo()).rejects.toBeInstanceOf(UndoImpossible);
    expect(await stage.countRequests('POST', '/v2/user/undo_delete')).toBe(1);
  });

  test('is searched for by the reference that was given first, whatever a later request gives', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion({ clientUserId: leavingUser.clientUserId });
    await leavingUser.requestDeletion({ clientUserId: 'a-reference-of-nobody' });
    await replaced(leavingUser);
    // The service gives no reason, so only the read by the reference says what it is.
    const refusal = { kind: 'answer', status: 400, body: { detail: 'No' } } as const;
    await stage.sandbox.addFault({ method: 'POST', path: '/v2/user/undo_delete', action: refusal });
    await expect(handle.undo()).rejects.toBeInstanceOf(UndoImpossible);
  });

  test('does not prevent an undo if it is the same user', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion({ clientUserId: leavingUser.clientUserId });
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  });
});

test('several undos at once are one, and all are answered', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  const slow = { kind: 'delay', delayMs: 500 } as const;
  await stage.sandbox.addFault({ method: 'POST', path: '/v2/user/undo_delete', times: 1, action: slow });
  const answers = await Promise.all([handle.undo(), handle.undo(), handle.undo()]);
  expect(answers.map(({ outcome }) => outcome)).toEqual(['undone', 'undone', 'undone']);
  expect(await stage.countRequests('POST', '/v2/user/undo_delete')).toBe(1);
  await handle.result();
  expect(leavingUser.notified).toEqual(['deletion_scheduled', 'deletion_undone']);
});

test('a user who was restored elsewhere is not reported as deleted', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  await stage.skip('3 days');
  await stage.sandbox.restoreUser(leavingUser.userId);
  await stage.skip('5 days');
  expect(await handle.result()).toMatchObject({
    outcome: 'undone',
    undo: { by: 'elsewhere', lostConnections: ['invented_watch', 'invented_ring'] },
  });
  expect(leavingUser.notified).toEqual(['deletion_scheduled', 'deletion_reminder', 'deletion_undone']);
});

test.each([
  ['InvalidCommand', { userId: 'another-user' }],
  ['InvalidCommand', { userId: '../etc' }],
  ['InvalidCommand', {}],
  // It was an option beside the policy: ignored, it would be a grace of seven days.
  ['InvalidCommand', { graceDays: 2 }],
  ['PolicyInvalid', { policy: { grace: '8d' } }],
  ['PolicyInvalid', { policy: { ...resolveDeletionPolicy(), grace: 0 } }],
  ['PolicyInvalid', { policy: { ...resolveDeletionPolicy(), onRunningWork: 'shrug' } }],
  ['PolicyInvalid', { policy: { onRunningWork: 'shrug' } }],
])('invalid input from another language’s client fails with %s: %j', async (type, wrong) => {
  const { userId } = await LeavingUser.arrive(stage);
  const start = { workflowId: deleteUserId(userId), taskQueue: 'lab-operations-test' };
  const input = Object.keys(wrong).length === 0 ? undefined : { userId, ...wrong };
  const handle = await stage.temporal.workflow.start('deleteUser', { ...start, args: [input] });
  await expect(handle.result()).rejects.toMatchObject({ cause: { type } });
  const update = stage.temporal.workflow
    .getHandle(deleteUserId(userId))
    .executeUpdate(requestUpdate, { args: [{ userId }] });
  await expect(update).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
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
  const named = (events ?? []).filter((event) => {
    const payloads = JSON.stringify(event, (key, value: unknown) => (key === 'data' ? text(value) : value));
    return payloads.includes(leavingUser.clientUserId);
  });
  const onlyInput = ['workflowExecutionStartedEventAttributes', 'workflowExecutionUpdateAcceptedEventAttributes'];
  expect(named).not.toEqual([]);
  for (const event of named) expect(onlyInput.some((name) => event[name as keyof typeof event] != null)).toBe(true);
});

function text(value: unknown): unknown {
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value;
}
