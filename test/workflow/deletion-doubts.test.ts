import { describe, expect, test } from 'vitest';
import {
  DeletionRefused,
  GraceNotBegun,
  ServiceAccessDenied,
  ServiceDown,
  type DeletionState,
} from '../../client/index.js';
import type { DeletionHandle } from '../../client/users/deletion-handle.js';
import { eventually } from '../rig/eventually.js';
import { LeavingUser } from './leaving-user.js';
import { setStage } from './story.js';

const stage = setStage();

const down = { kind: 'answer', status: 503, body: { detail: 'Down for maintenance' } } as const;
const proxyPage = { kind: 'answer', status: 404, body: '<html><h1>404 Not Found</h1></html>' } as const;
const refusal = { kind: 'answer', status: 400, body: { detail: 'Not this one' } } as const;
const lost = { kind: 'drop_response' } as const;
const undoPath = '/v2/user/undo_delete';

/** A request that the service does not answer at first. */
async function requestInVain(leavingUser: LeavingUser): Promise<DeletionHandle> {
  const requesting = leavingUser.requestDeletion();
  await eventually(async () => expect(await stage.sandbox.requests({ path: leavingUser.path })).not.toEqual([]));
  await leavingUser.untilRequested();
  // Between two attempts: an undo while one is due would stop the test server's time forever, because it forgets to
  // release it.
  await stage.skip('160 seconds');
  const handle = await requesting;
  expect(handle.requested).toMatchObject({ phase: 'requested' });
  return handle;
}

/** A request of the deletion whose answer was lost may arrive until then. */
const untilSettled = '2 minutes';

async function settledUndo(leavingUser: LeavingUser, handle: DeletionHandle): Promise<DeletionState> {
  const undoing = handle.undo();
  await leavingUser.untilAccepted(2);
  await stage.skip(untilSettled);
  return undoing;
}

/** The first DELETE is done and its answer lost; the ones after it are met by the fault. */
async function losesTheDeletion(
  leavingUser: LeavingUser,
  then: typeof down | typeof proxyPage | typeof refusal,
): Promise<void> {
  await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, times: 1, action: lost });
  await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action: then });
}

describe('a deletion that is requested again after somebody restored the user elsewhere', () => {
  test('starts again, and the product is notified of both', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const first = await leavingUser.requestDeletion();
    await stage.skip('2 days');
    await stage.sandbox.restoreUser(leavingUser.userId);
    await stage.skip('1 day');
    const second = await leavingUser.requestDeletion();
    expect(second.requested).toMatchObject({ phase: 'grace', scheduledBefore: false });
    expect(Date.parse(second.requested?.graceUntil ?? '')).toBeGreaterThan(
      Date.parse(first.requested?.graceUntil ?? ''),
    );
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(2);
    await stage.skip('8 days');
    expect(await second.result()).toMatchObject({ outcome: 'deleted' });
    expect(leavingUser.notified).toEqual([
      'deletion_scheduled',
      'deletion_undone',
      'deletion_scheduled',
      'deletion_reminder',
      'deleted',
    ]);
  });

  test('starts again once the service shows the restoration, if it was down at the request', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await leavingUser.requestDeletion();
    await stage.skip('2 days');
    await stage.sandbox.restoreUser(leavingUser.userId);
    await stage.sandbox.addFault({ path: leavingUser.path, action: down });
    const reads = await stage.countRequests('GET', leavingUser.path);
    const requesting = leavingUser.requestDeletion();
    await eventually(async () => expect(await stage.countRequests('GET', leavingUser.path)).toBeGreaterThan(reads));
    await stage.skip('40 seconds');
    const handle = await requesting;
    expect(handle.requested).toMatchObject({ phase: 'grace' });
    await stage.sandbox.removeFaults();
    await stage.skip('15 minutes');
    await leavingUser.expectNotifications('deletion_scheduled', 'deletion_undone', 'deletion_scheduled');
    await leavingUser.expectState(handle, { phase: 'grace', scheduledBefore: false });
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(2);
  });
});

test('an undo is sent although the service, whose reads lag, still shows the user who was just deleted', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  const stale = { kind: 'answer', status: 200, body: { user_id: leavingUser.userId } } as const;
  await stage.sandbox.addFault({ method: 'GET', path: leavingUser.path, action: stale });
  expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  await stage.sandbox.removeFaults();
  expect(await leavingUser.readUser()).toBe('present');
});

test('an undo whose answer and confirming read are lost is seen as soon as the service is back', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  await stage.sandbox.addFault({ method: 'POST', path: undoPath, times: 1, action: lost });
  await stage.sandbox.addFault({ method: 'POST', path: undoPath, action: down });
  await stage.sandbox.addFault({ method: 'GET', path: leavingUser.path, action: down });
  const undoing = handle.undo().catch((error: unknown) => error);
  await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
  await stage.skip('4 minutes');
  expect(await undoing).toBeInstanceOf(ServiceDown);
  await stage.sandbox.removeFaults();
  await stage.skip('15 minutes');
  expect(await handle.result()).toMatchObject({ outcome: 'undone', undo: { by: 'command' } });
  expect(leavingUser.notified).toEqual(['deletion_scheduled', 'deletion_undone']);
});

test('an undo that the service carries out only after its last attempt was given up is seen: nothing is concluded before', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  await stage.sandbox.addFault({ method: 'POST', path: undoPath, action: down });
  const undoing = handle.undo().catch((error: unknown) => error);
  await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
  await stage.skip('3 minutes');
  expect(await undoing).toBeInstanceOf(ServiceDown);
  await stage.sandbox.restoreUser(leavingUser.userId);
  await stage.skip('1 minute');
  expect(await handle.result()).toMatchObject({ outcome: 'undone', undo: { by: 'command' } });
});

test('while an undo is in doubt, another one is carried out at once', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  const handle = await leavingUser.requestDeletion();
  await stage.sandbox.addFault({ path: '/v2/user/**', action: down });
  const undoing = handle.undo().catch((error: unknown) => error);
  await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
  await stage.skip('4 minutes');
  expect(await undoing).toBeInstanceOf(ServiceDown);
  const doubtful = { reason: 'undo_doubtful' as const, since: expect.any(String) as string };
  await leavingUser.skipUntilState(handle, { phase: 'grace', attention: [doubtful] }, '3 hours');
  await stage.sandbox.removeFaults();
  expect(await handle.undo()).toMatchObject({ outcome: 'undone', attention: [] });
});

describe('after a deletion whose answer was lost', () => {
  test('a 404 that is not the service’s own does not mean that nothing was deleted', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await losesTheDeletion(leavingUser, proxyPage);
    const handle = await requestInVain(leavingUser);
    await leavingUser.expectState(handle, { phase: 'grace', scheduledBefore: false });
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  });

  test('a refusal does not mean that nothing was deleted', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await losesTheDeletion(leavingUser, refusal);
    const handle = await requestInVain(leavingUser);
    await leavingUser.expectState(handle, { phase: 'grace', scheduledBefore: false });
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  });

  test('a key that is refused from then on leaves the deletion open until the key is fixed', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, times: 1, action: lost });
    const noKey = { kind: 'answer', status: 401, body: { detail: 'Invalid' } } as const;
    await stage.sandbox.addFault({ path: leavingUser.path, skip: 1, action: noKey });
    const handle = await requestInVain(leavingUser);
    await stage.sandbox.removeFaults();
    await leavingUser.skipUntilState(handle, { phase: 'grace', scheduledBefore: false }, '61 minutes');
  });
});

test('a deletion that is refused while the user exists fails, also for a key that may not delete', async () => {
  for (const [status, word] of [[400, DeletionRefused] as const, [403, ServiceAccessDenied] as const]) {
    const leavingUser = await LeavingUser.arrive(stage);
    const action = { kind: 'answer', status, body: { detail: 'No' } } as const;
    await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action });
    await expect(leavingUser.requestDeletion()).rejects.toBeInstanceOf(word);
    expect(await leavingUser.readUser()).toBe('present');
  }
});

test('a 404 to the deletion of a user who exists is not the service’s: the deletion is retried', async () => {
  const leavingUser = await LeavingUser.arrive(stage);
  await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, times: 1, action: proxyPage });
  const handle = await leavingUser.requestDeletion();
  expect(handle.requested).toMatchObject({ phase: 'requested' });
  await stage.skip('15 minutes');
  await leavingUser.expectState(handle, { phase: 'grace', scheduledBefore: false });
});

describe('a 404 to the first read', () => {
  test('a 404 from a proxy does not keep the deletion from being taken at once, if it passes', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({ method: 'GET', path: leavingUser.path, times: 1, action: proxyPage });
    const handle = await leavingUser.requestDeletion();
    expect(handle.requested).toMatchObject({ phase: 'grace', connections: ['invented_watch', 'invented_ring'] });
  });

  test('a 404 to the first read that is not the service’s own ends nothing: the read is retried after the answer', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({ method: 'GET', path: leavingUser.path, times: 2, action: proxyPage });
    const handle = await leavingUser.requestDeletion();
    expect(handle.requested).toMatchObject({ phase: 'requested' });
    await leavingUser.skipUntilState(handle, { phase: 'grace', scheduledBefore: false }, '15 minutes');
  });

  test('a 404 to the first read that is repeated, whoever sent it, means an unknown user, and the product is notified', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({ method: 'GET', path: leavingUser.path, action: proxyPage });
    const handle = await leavingUser.requestDeletion();
    await stage.skip('15 minutes');
    expect(await handle.result()).toMatchObject({ outcome: 'unknown_user' });
    await leavingUser.expectNotifications('deletion_failed unknown_user');
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(0);
  });
});

describe('a 404 at the end of the grace', () => {
  test('a 404 at the end of the grace that is not the service’s own is checked again before anybody is notified', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion();
    await stage.skip('6 days');
    await stage.sandbox.restoreUser(leavingUser.userId);
    await stage.sandbox.addFault({ method: 'GET', path: leavingUser.path, action: proxyPage });
    await stage.skip('24 hours');
    await leavingUser.expectState(handle, { phase: 'confirming' });
    await stage.sandbox.removeFaults();
    await stage.skip('15 minutes');
    expect(await handle.result()).toMatchObject({ outcome: 'undone', undo: { by: 'elsewhere' } });
    expect(leavingUser.notified).not.toContain('deleted');
  });

  test('a 404 at the end of the grace that comes twice, whoever sent it, ends the deletion', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    const handle = await leavingUser.requestDeletion();
    await stage.skip('6 days');
    await stage.sandbox.addFault({ method: 'GET', path: leavingUser.path, action: proxyPage });
    await stage.skip('25 hours');
    expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  });
});

describe('while the service does not answer', () => {
  test('a deletion of a user who could not be read is withdrawn by asking the service, though nothing was sent', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({ path: leavingUser.path, action: down });
    const handle = await requestInVain(leavingUser);
    await stage.sandbox.removeFaults();
    const undone = await handle.undo();
    expect(undone).toMatchObject({ outcome: 'undone', undo: { by: 'command', restored: [], notRestored: [] } });
    expect(await stage.countRequests('POST', undoPath)).toBe(1);
    await stage.skip('1 day');
    expect(await leavingUser.readUser()).toBe('present');
    expect(await stage.countRequests('DELETE', leavingUser.path)).toBe(0);
    expect(await handle.result()).toMatchObject({ outcome: 'undone' });
  });

  test('a deletion that is being sent is withdrawn afterwards, and does not arrive later', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action: down });
    const handle = await requestInVain(leavingUser);
    await stage.sandbox.removeFaults();
    const held = { kind: 'delay', phase: 'before_work', delayMs: 8_000 } as const;
    await stage.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action: held });
    const deletes = () => stage.sandbox.requests({ method: 'DELETE', path: leavingUser.path });
    const before = (await deletes()).length;
    // In short steps, because no time is skipped while the service works on it.
    while ((await deletes()).length === before) await stage.skip('1 second');
    await leavingUser.expectState(handle, { phase: 'requested' });
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
    await eventually(async () => expect((await deletes()).at(-1)?.status).toBe(200));
    expect(await leavingUser.readUser()).toBe('present');
  });

  test('a deletion that may have arrived is withdrawn by asking the service', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await losesTheDeletion(leavingUser, down);
    const handle = await requestInVain(leavingUser);
    expect(await leavingUser.readUser()).toMatch(/scheduled/);
    expect(await settledUndo(leavingUser, handle)).toMatchObject({
      outcome: 'undone',
      undo: { restored: ['user', 'data'] },
    });
    expect(await leavingUser.readUser()).toBe('present');
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    expect(await leavingUser.readUser(), 'nothing is sent any more').toBe('present');
  });

  test('a request that follows a withdrawal, while that is being carried out, is a new deletion', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await losesTheDeletion(leavingUser, down);
    const handle = await requestInVain(leavingUser);
    const undoing = handle.undo();
    await leavingUser.untilAccepted(2);
    const requesting = leavingUser.requestDeletion();
    await leavingUser.untilAccepted(3);
    // It would have to undo the new deletion, not the one before.
    await expect(handle.undo()).rejects.toBeInstanceOf(GraceNotBegun);
    await stage.sandbox.removeFaults();
    await stage.skip(untilSettled);
    expect(await undoing).toMatchObject({ outcome: 'undone' });
    expect((await requesting).requested).toMatchObject({ phase: 'grace', scheduledBefore: false });
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  });

  test('several withdrawals that fail are each answered, and the deletion goes on', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await losesTheDeletion(leavingUser, down);
    const handle = await requestInVain(leavingUser);
    await stage.sandbox.addFault({ path: '/v2/user/**', action: down });
    const undoing = [1, 2, 3].map(() => handle.undo().catch((error: unknown) => error));
    await leavingUser.untilAccepted(1 + undoing.length);
    await stage.skip(untilSettled);
    await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
    for (const _ of undoing) {
      await stage.skip('4 minutes');
      await leavingUser.expectState(handle, {});
    }
    for (const refused of await Promise.all(undoing)) expect(refused).toBeInstanceOf(ServiceDown);
    await stage.sandbox.removeFaults();
    await leavingUser.skipUntilState(handle, { phase: 'grace', scheduledBefore: false }, '15 minutes');
  });

  test('a withdrawal that fails lets the deletion go on', async () => {
    const leavingUser = await LeavingUser.arrive(stage);
    await losesTheDeletion(leavingUser, down);
    const handle = await requestInVain(leavingUser);
    await stage.sandbox.addFault({ path: '/v2/user/**', action: down });
    const undoing = handle.undo().catch((error: unknown) => error);
    await leavingUser.untilAccepted(2);
    await stage.skip(untilSettled);
    await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
    await stage.skip('4 minutes');
    expect(await undoing).toBeInstanceOf(ServiceDown);
    await stage.sandbox.removeFaults();
    await leavingUser.skipUntilState(handle, { phase: 'grace', scheduledBefore: false }, '15 minutes');
  });
});

describe('a service that is slower than the worker waits', () => {
  const slow = setStage({ headersTimeoutMs: 1_000 });

  test('cannot delete a user after the deletion was withdrawn: the undo waits until the request must have arrived', async () => {
    const leavingUser = await LeavingUser.arrive(slow);
    // Nothing reaches the service after the first request, which it carries out though nobody waits for its answer.
    const held = { kind: 'delay', phase: 'before_work', delayMs: 8_000 } as const;
    await slow.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, times: 1, action: held });
    await slow.sandbox.addFault({ method: 'DELETE', path: leavingUser.path, action: down });
    const requesting = leavingUser.requestDeletion();
    await eventually(async () => expect(await slow.countRequests('DELETE', leavingUser.path)).toBe(1));
    await leavingUser.untilRequested();
    await slow.skip('40 seconds');
    const handle = await requesting;
    expect(handle.requested).toMatchObject({ phase: 'requested' });
    expect(await leavingUser.readUser()).toBe('present');
    const undoing = handle.undo();
    await eventually(async () => expect(await leavingUser.readUser()).toMatch(/scheduled/));
    await slow.skip(untilSettled);
    expect(await undoing).toMatchObject({ outcome: 'undone', undo: { restored: ['user', 'data'] } });
    expect(await leavingUser.readUser()).toBe('present');
  });
});
