import ms from 'ms';
import { describe, expect, test } from 'vitest';
import { GraceEnded, UserUnknown } from '../../client/index.js';
import { LeavingUser } from './leaving-user.js';
import { setStage } from './story.js';

const stage = setStage();

const scheduled = 'You have scheduled this user for deletion.';
const gone = 'Not found';

// proves 315
test('a deletion whose grace runs out is final: the product is reminded before and notified after', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  const { scheduledAt, graceUntil, ...state } = handle.requested ?? { scheduledAt: '', graceUntil: '' };
  expect(Date.parse(graceUntil ?? '') - Date.parse(scheduledAt ?? '')).toBe(ms('7 days'));
  expect(state).toMatchObject({
    userId: leavingUser.userId,
    phase: 'grace',
    scheduledBefore: false,
    connections: ['invented_watch', 'invented_ring'],
    work: [],
  });
  expect(await leavingUser.readUser()).toBe(scheduled);
  await stage.skip('5 days');
  await leavingUser.expectNotifications('deletion_scheduled');
  await stage.skip('25 hours');
  await leavingUser.expectNotifications('deletion_scheduled', 'deletion_reminder');
  await stage.skip('23 hours');
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  expect(await leavingUser.readUser()).toBe(gone);
  expect(leavingUser.notified).toEqual(['deletion_scheduled', 'deletion_reminder', 'deleted']);
  await expect(handle.undo()).rejects.toBeInstanceOf(GraceEnded);
});

describe('an undo', () => {
  // proves 35, 170
  test('an undo on day 6 restores user and data, and names the connections that are lost', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion();
    await stage.skip('6 days');
    const { phase, undo, outcome } = await handle.undo();
    expect({ phase, outcome }).toEqual({ phase: 'undone', outcome: 'undone' });
    expect(undo).toMatchObject({
      by: 'command',
      restored: ['user', 'data'],
      notRestored: ['connections'],
      lostConnections: ['invented_watch', 'invented_ring'],
    });
    expect(await handle.result()).toMatchObject({ outcome: 'undone', undo });
    expect(await leavingUser.readUser()).toBe('present');
    expect(leavingUser.notified).toEqual(['deletion_scheduled', 'deletion_reminder', 'deletion_undone']);
    expect(await handle.undo(), 'once more is success').toMatchObject({ outcome: 'undone', undo });
    await stage.skip('2 days');
    expect(await leavingUser.readUser()).toBe('present');
  });

  test('an undo shortly before the end is carried out', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion();
    const left = Date.parse(handle.requested?.graceUntil ?? '') - Date.parse((await stage.sandbox.clock()).now);
    await stage.skipExactly(left - 300_000);
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
    expect(await leavingUser.readUser()).toBe('present');
  });

  test('an undo one second late is refused, and the user stays deleted', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion();
    const left = Date.parse(handle.requested?.graceUntil ?? '') - Date.parse((await stage.sandbox.clock()).now);
    await stage.skipExactly(left + 1000);
    await expect(handle.undo()).rejects.toBeInstanceOf(GraceEnded);
    expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  });
});

test('a user that the service does not know is reported as such', async () => {
  const leavingUser = new LeavingUser(stage, { user_id: '00000000-0000-4000-8000-000000000000', client_user_id: '' });
  await expect(leavingUser.requestDeletion()).rejects.toBeInstanceOf(UserUnknown);
  const handle = await stage.product.users.deletion(leavingUser.userId);
  expect(await handle.result()).toMatchObject({ outcome: 'unknown_user' });
  expect(leavingUser.notified).toEqual([]);
});
