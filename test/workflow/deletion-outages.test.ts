import { describe, expect, test } from 'vitest';
import { GraceEnded, NothingToUndo, ServiceAccessDenied, ServiceDown } from '../../client/index.js';
import type { DeletionHandle } from '../../client/users/deletion-handle.js';
import { deleteUserId } from '../../protocol/ids.js';
import { labAttentionKey } from '../../protocol/search-attributes.js';
import { eventually } from '../rig/eventually.js';
import { LeavingUser } from './leaving-user.js';
import { setStage } from './story.js';

const stage = setStage();

const down = { kind: 'answer', status: 503, body: { detail: 'Down for maintenance' } } as const;
const serviceDown = { path: '/v2/**', action: down };
const undoPath = '/v2/user/undo_delete';

/** A request whose first round of attempts fails, which takes half a minute. */
async function requestInVain(leavingUser: LeavingUser): Promise<DeletionHandle> {
  const requesting = leavingUser.requestDeletion();
  await eventually(async () => expect(await stage.sandbox.requests({ path: leavingUser.path })).not.toEqual([]));
  await leavingUser.untilRequested();
  await stage.skip('90 seconds');
  const handle = await requesting;
  expect(handle.requested).toMatchObject({ phase: 'requested' });
  return handle;
}

function attentionOf({ userId }: LeavingUser): Promise<string[] | undefined> {
  const workflow = stage.temporal.workflow.getHandle(deleteUserId(userId));
  return workflow.describe().then(({ typedSearchAttributes }) => typedSearchAttributes.get(labAttentionKey));
}

describe('a service that is down at the deletion', () => {
  test('delays it: the caller learns it at once, a person later, and the deletion then happens by itself', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault(serviceDown);
    const handle = await requestInVain(leavingUser);
    await leavingUser.skipUntilState(
      handle,
      {
        phase: 'requested',
        attention: [{ reason: 'deletion_delayed', since: expect.any(String) as string }],
      },
      '2 hours',
    );
    await eventually(async () => expect(await attentionOf(leavingUser)).toEqual(['deletion_delayed']));
    await stage.sandbox.removeFaults();
    await leavingUser.skipUntilState(handle, { phase: 'grace', attention: [] }, '15 minutes');
    await leavingUser.expectNotifications(
      'attention_raised deletion_delayed',
      'attention_cleared deletion_delayed',
      'deletion_scheduled',
    );
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  });

  test('is not asked again before the time that it names', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const headers = { 'retry-after': '600' };
    const { path } = leavingUser;
    await stage.sandbox.addFault({ method: 'DELETE', path, times: 1, action: { ...down, headers } });
    const requesting = leavingUser.requestDeletion();
    await stage.expectRequests('DELETE', path);
    await stage.skip('9 minutes');
    expect(await stage.countRequests('DELETE', path)).toBe(1);
    const handle = await requesting;
    await leavingUser.skipUntilState(handle, { phase: 'grace' }, '2 minutes');
  });

  test('a service that answers reads only lets the grace end early, counted from the first attempt', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({ ...serviceDown, method: 'DELETE' });
    const handle = await requestInVain(leavingUser);
    const { scheduledAt } = await handle.state();
    await stage.skip('3 hours');
    await stage.sandbox.removeFaults();
    await stage.skip('15 minutes');
    const state = await leavingUser.expectState(handle, { phase: 'grace', scheduledBefore: false });
    expect(state.scheduledAt).toBe(scheduledAt);
  });

  test('a service that refuses the key makes the request fail, and nothing is deleted', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({
      path: leavingUser.path,
      action: { kind: 'answer', status: 401, body: { detail: 'Invalid' } },
    });
    await expect(leavingUser.requestDeletion()).rejects.toBeInstanceOf(ServiceAccessDenied);
    await stage.sandbox.removeFaults();
    expect(await leavingUser.readUser()).toBe('present');
    expect(await leavingUser.requestDeletion(), 'it can be requested again').toMatchObject({
      requested: { phase: 'grace' },
    });
  });

  test('a service that refuses the key when it is back does not lose the deletion', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault(serviceDown);
    const handle = await requestInVain(leavingUser);
    await stage.sandbox.removeFaults();
    await stage.sandbox.addFault({
      path: leavingUser.path,
      action: { kind: 'answer', status: 401, body: { detail: 'Invalid' } },
    });
    await leavingUser.skipUntilState(
      handle,
      {
        phase: 'requested',
        attention: [{ reason: 'deletion_delayed', since: expect.any(String) as string }],
      },
      '15 minutes',
    );
    await stage.sandbox.removeFaults();
    await leavingUser.skipUntilState(handle, { phase: 'grace', attention: [] }, '61 minutes');
  });
});

describe('a deletion whose answer is lost', () => {
  test('has happened: "scheduled already" is success, with the grace of the first attempt', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({
      method: 'DELETE',
      path: leavingUser.path,
      times: 1,
      action: { kind: 'drop_response' },
    });
    const handle = await requestInVain(leavingUser);
    const { scheduledAt } = await handle.state();
    await stage.skip('1 minute');
    await leavingUser.expectState(handle, { phase: 'grace', scheduledBefore: false, scheduledAt: scheduledAt ?? '' });
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(2);
  });

  test('has happened even if its next attempt comes after the whole grace', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({
      method: 'DELETE',
      path: leavingUser.path,
      times: 1,
      action: { kind: 'drop_response' },
    });
    const sixHours = { 'retry-after': String(6 * 3600) };
    await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action: { ...down, headers: sixHours } });
    const handle = await requestInVain(leavingUser);
    await stage.skip('8 days');
    expect(await leavingUser.readUser()).toBe('Not found');
    await stage.sandbox.removeFaults();
    await stage.skip('7 hours');
    expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  });
});

describe('a service that is down at an undo', () => {
  test('is reported to the caller, and the grace goes on', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion();
    await stage.sandbox.addFault({ ...serviceDown, path: undoPath });
    const undoing = handle.undo().catch((error: unknown) => error);
    await stage.expectRequests('POST', undoPath);
    await stage.skip('4 minutes');
    expect(await undoing).toBeInstanceOf(ServiceDown);
    await leavingUser.expectState(handle, { phase: 'grace' });
    await stage.sandbox.removeFaults();
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  });

  test('a service that is down shortly before the end postpones the end until the undo is decided', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion({ policy: { grace: '6d' } });
    const left = Date.parse(handle.requested?.graceUntil ?? '') - Date.parse((await stage.sandbox.clock()).now);
    await stage.skipExactly(left - 90_000);
    await stage.sandbox.addFault({ ...serviceDown, path: undoPath });
    const undoing = handle.undo();
    await stage.expectRequests('POST', undoPath);
    await stage.skip('95 seconds');
    await leavingUser.expectState(handle, { phase: 'grace' });
    const again = handle.undo();
    // The request of the deletion and both undos were accepted.
    await leavingUser.untilAccepted(3);
    await stage.sandbox.removeFaults();
    await stage.skip('20 seconds');
    expect(await undoing).toMatchObject({ outcome: 'undone' });
    expect(await again).toMatchObject({ outcome: 'undone' });
    expect(await handle.result()).toMatchObject({ outcome: 'undone' });
    expect(leavingUser.notified.at(-1)).toBe('deletion_undone');
    expect(await leavingUser.readUser()).toBe('present');
  });
});

test('an undo whose answer is lost has happened: it is sent again, refused, and the user is there', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  await stage.sandbox.addFault({ method: 'POST', path: undoPath, times: 1, action: { kind: 'drop_response' } });
  const undoing = handle.undo();
  await stage.expectRequests('POST', undoPath);
  await stage.skip('40 seconds');
  expect(await undoing).toMatchObject({ outcome: 'undone' });
  expect(await stage.countRequests('POST', undoPath)).toBe(3);
  expect(await leavingUser.readUser()).toBe('present');
});

test('a service that is down at the end of the grace delays the end, which must not be reported wrongly', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  await stage.skip('6 days');
  await stage.sandbox.restoreUser(leavingUser.userId);
  await stage.sandbox.addFault(serviceDown);
  await stage.skip('27 hours');
  await leavingUser.expectState(handle, {
    phase: 'confirming',
    attention: [{ reason: 'confirmation_delayed', since: expect.any(String) as string }],
  });
  await expect(handle.undo()).rejects.toBeInstanceOf(GraceEnded);
  await stage.sandbox.removeFaults();
  await stage.skip('15 minutes');
  expect(await handle.result()).toMatchObject({ outcome: 'undone', undo: { by: 'elsewhere' } });
});

test('a service that refuses to say at the end of the grace whether the user is gone is asked again', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  await stage.skip('6 days');
  await stage.sandbox.addFault({
    path: leavingUser.path,
    action: { kind: 'answer', status: 400, body: { detail: 'No' } },
  });
  await stage.skip('25 hours');
  await leavingUser.expectState(handle, { phase: 'confirming' });
  await stage.sandbox.removeFaults();
  await stage.skip('61 minutes');
  expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  expect(leavingUser.notified).not.toContain('deletion_failed DeletionRefused');
});

test('the product is notified if the service refuses the deletion only after an outage', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  await stage.sandbox.addFault(serviceDown);
  const handle = await requestInVain(leavingUser);
  await stage.sandbox.removeFaults();
  const refusal = { kind: 'answer', status: 400, body: { detail: 'Not this one' } } as const;
  await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action: refusal });
  await stage.skip('15 minutes');
  const refused = handle.result();
  await expect(refused).rejects.toMatchObject({ name: 'DeletionRefused', status: 400 });
  let last: unknown;
  for await (const state of handle.watch()) last = state;
  expect(last, 'whoever watches sees the end').toMatchObject({ phase: 'failed', failure: 'DeletionRefused' });
  await expect(handle.undo()).rejects.toBeInstanceOf(NothingToUndo);
  await leavingUser.expectNotifications('deletion_failed DeletionRefused');
});
