import { describe, expect, test } from 'vitest';
import { DeletionRefused, ServiceAccessDenied, ServiceDown } from '../../client/index.js';
import type { DeletionHandle } from '../../client/users/deletion-handle.js';
import { eventually } from '../rig/eventually.js';
import { Leaver } from './leaver.js';
import { setStage } from './story.js';

const stage = setStage();

const down = { kind: 'answer', status: 503, body: { detail: 'Down for maintenance' } } as const;
const proxyPage = { kind: 'answer', status: 404, body: '<html><h1>404 Not Found</h1></html>' } as const;
const refusal = { kind: 'answer', status: 400, body: { detail: 'Not this one' } } as const;
const lost = { kind: 'drop_response' } as const;
const undoPath = '/v2/user/undo_delete';

/** A request of which the service answers nothing for half a minute. */
async function requestInVain(leaver: Leaver): Promise<DeletionHandle> {
  const requesting = leaver.requestDeletion();
  await eventually(async () => expect(await stage.sandbox.requests({ path: leaver.path })).not.toEqual([]));
  // Between two attempts: an undo while one is due would stop the test server's time for ever, which forgets to let go of it.
  await stage.skip('100 seconds');
  const handle = await requesting;
  expect(handle.requested).toMatchObject({ phase: 'requested' });
  return handle;
}

/** The first DELETE is done and its answer lost; the ones after it are met by the fault. */
async function losesTheDeletion(leaver: Leaver, then: typeof down | typeof proxyPage | typeof refusal): Promise<void> {
  await stage.sandbox.addFault({ method: 'DELETE', path: leaver.path, times: 1, action: lost });
  await stage.sandbox.addFault({ method: 'DELETE', path: leaver.path, action: then });
}

describe('a deletion that is requested again after somebody restored the user elsewhere', () => {
  test('begins anew, and the product is told of both', async () => {
    const leaver = await Leaver.arrive(stage);
    const first = await leaver.requestDeletion();
    await stage.skip('2 days');
    await stage.sandbox.restoreUser(leaver.userId);
    await stage.skip('1 day');
    const second = await leaver.requestDeletion();
    expect(second.requested).toMatchObject({ phase: 'grace', scheduledBefore: false });
    expect(Date.parse(second.requested?.graceUntil ?? '')).toBeGreaterThan(
      Date.parse(first.requested?.graceUntil ?? ''),
    );
    expect(await stage.countRequests('DELETE', leaver.path)).toBe(2);
    await stage.skip('8 days');
    expect(await second.result()).toMatchObject({ outcome: 'deleted' });
    expect(leaver.told).toEqual([
      'deletion_scheduled',
      'deletion_undone',
      'deletion_scheduled',
      'deletion_reminder',
      'deleted',
    ]);
  });

  test('begins anew once the service shows that, where it is down at the request', async () => {
    const leaver = await Leaver.arrive(stage);
    await leaver.requestDeletion();
    await stage.skip('2 days');
    await stage.sandbox.restoreUser(leaver.userId);
    await stage.sandbox.addFault({ path: leaver.path, action: down });
    const reads = await stage.countRequests('GET', leaver.path);
    const requesting = leaver.requestDeletion();
    await eventually(async () => expect(await stage.countRequests('GET', leaver.path)).toBeGreaterThan(reads));
    await stage.skip('40 seconds');
    const handle = await requesting;
    expect(handle.requested).toMatchObject({ phase: 'grace' });
    await stage.sandbox.removeFaults();
    await stage.skip('15 minutes');
    await leaver.tells('deletion_scheduled', 'deletion_undone', 'deletion_scheduled');
    await leaver.shows(handle, { phase: 'grace', scheduledBefore: false });
    expect(await stage.countRequests('DELETE', leaver.path)).toBe(2);
  });
});

test('an undo that happened, but whose answer and whose look are lost, is seen as soon as the service is back', async () => {
  const leaver = await Leaver.arrive(stage);
  const handle = await leaver.requestDeletion();
  await stage.sandbox.addFault({ method: 'POST', path: undoPath, times: 1, action: lost });
  await stage.sandbox.addFault({ method: 'POST', path: undoPath, action: down });
  await stage.sandbox.addFault({ method: 'GET', path: leaver.path, action: down });
  const undoing = handle.undo().catch((error: unknown) => error);
  await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
  await stage.skip('4 minutes');
  expect(await undoing).toBeInstanceOf(ServiceDown);
  await stage.sandbox.removeFaults();
  await stage.skip('15 minutes');
  expect(await handle.result()).toMatchObject({ outcome: 'undone', undo: { by: 'command' } });
  expect(leaver.told).toEqual(['deletion_scheduled', 'deletion_undone']);
});

test('while an undo is in doubt, another one is carried out at once', async () => {
  const leaver = await Leaver.arrive(stage);
  const handle = await leaver.requestDeletion();
  await stage.sandbox.addFault({ path: '/v2/user/**', action: down });
  const undoing = handle.undo().catch((error: unknown) => error);
  await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
  await stage.skip('4 minutes');
  expect(await undoing).toBeInstanceOf(ServiceDown);
  await stage.skip('3 hours');
  await leaver.shows(handle, { phase: 'grace' });
  expect((await handle.state()).attention.map(({ reason }) => reason)).toEqual(['undo_doubtful']);
  await stage.sandbox.removeFaults();
  expect(await handle.undo()).toMatchObject({ outcome: 'undone', attention: [] });
});

describe('after a deletion whose answer was lost', () => {
  test('a 404 in nobody’s words does not mean that nothing was deleted', async () => {
    const leaver = await Leaver.arrive(stage);
    await losesTheDeletion(leaver, proxyPage);
    const handle = await requestInVain(leaver);
    await leaver.shows(handle, { phase: 'grace', scheduledBefore: false });
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  });

  test('a refusal does not either', async () => {
    const leaver = await Leaver.arrive(stage);
    await losesTheDeletion(leaver, refusal);
    const handle = await requestInVain(leaver);
    await leaver.shows(handle, { phase: 'grace', scheduledBefore: false });
    expect(await handle.undo()).toMatchObject({ outcome: 'undone' });
  });

  test('a key that is refused from then on leaves it open until the key is mended', async () => {
    const leaver = await Leaver.arrive(stage);
    await stage.sandbox.addFault({ method: 'DELETE', path: leaver.path, times: 1, action: lost });
    const noKey = { kind: 'answer', status: 401, body: { detail: 'Invalid' } } as const;
    await stage.sandbox.addFault({ path: leaver.path, skip: 1, action: noKey });
    const handle = await requestInVain(leaver);
    await stage.sandbox.removeFaults();
    await stage.skip('61 minutes');
    await leaver.shows(handle, { phase: 'grace', scheduledBefore: false });
  });
});

test('a deletion that is refused while the user is there fails, also by a key that may not delete', async () => {
  for (const [status, word] of [[400, DeletionRefused] as const, [403, ServiceAccessDenied] as const]) {
    const leaver = await Leaver.arrive(stage);
    const action = { kind: 'answer', status, body: { detail: 'No' } } as const;
    await stage.sandbox.addFault({ method: 'DELETE', path: leaver.path, action });
    await expect(leaver.requestDeletion()).rejects.toBeInstanceOf(word);
    expect(await leaver.reads()).toBe('present');
  }
});

test('a 404 of the deletion about a user who is there is not the service’s: it is asked again', async () => {
  const leaver = await Leaver.arrive(stage);
  await stage.sandbox.addFault({ method: 'DELETE', path: leaver.path, times: 1, action: proxyPage });
  const handle = await leaver.requestDeletion();
  expect(handle.requested).toMatchObject({ phase: 'requested' });
  await stage.skip('15 minutes');
  await leaver.shows(handle, { phase: 'grace', scheduledBefore: false });
});

describe('a 404 of the first look', () => {
  test('that is a proxy’s and passes does not keep the deletion from being taken at once', async () => {
    const leaver = await Leaver.arrive(stage);
    await stage.sandbox.addFault({ method: 'GET', path: leaver.path, times: 1, action: proxyPage });
    const handle = await leaver.requestDeletion();
    expect(handle.requested).toMatchObject({ phase: 'grace', connections: ['invented_watch', 'invented_ring'] });
  });

  test('that is not in the service’s words ends nothing: the request is answered, and it is asked again', async () => {
    const leaver = await Leaver.arrive(stage);
    await stage.sandbox.addFault({ method: 'GET', path: leaver.path, times: 2, action: proxyPage });
    const handle = await leaver.requestDeletion();
    expect(handle.requested).toMatchObject({ phase: 'requested' });
    await stage.skip('15 minutes');
    await leaver.shows(handle, { phase: 'grace', scheduledBefore: false });
  });

  test('that is said again and again in whatever words is an unknown user, which the product is told', async () => {
    const leaver = await Leaver.arrive(stage);
    await stage.sandbox.addFault({ method: 'GET', path: leaver.path, action: proxyPage });
    const handle = await leaver.requestDeletion();
    await stage.skip('15 minutes');
    expect(await handle.result()).toMatchObject({ outcome: 'unknown_user' });
    await leaver.tells('deletion_failed unknown_user');
    expect(await stage.countRequests('DELETE', leaver.path)).toBe(0);
  });
});

describe('a 404 at the end of the grace', () => {
  test('that is not in the service’s words is asked about again before anybody is told', async () => {
    const leaver = await Leaver.arrive(stage);
    const handle = await leaver.requestDeletion();
    await stage.skip('6 days');
    await stage.sandbox.restoreUser(leaver.userId);
    await stage.sandbox.addFault({ method: 'GET', path: leaver.path, action: proxyPage });
    await stage.skip('24 hours');
    await leaver.shows(handle, { phase: 'confirming' });
    await stage.sandbox.removeFaults();
    await stage.skip('15 minutes');
    expect(await handle.result()).toMatchObject({ outcome: 'undone', undo: { by: 'elsewhere' } });
    expect(leaver.told).not.toContain('deleted');
  });

  test('that says so twice in whatever words is the end', async () => {
    const leaver = await Leaver.arrive(stage);
    const handle = await leaver.requestDeletion();
    await stage.skip('6 days');
    await stage.sandbox.addFault({ method: 'GET', path: leaver.path, action: proxyPage });
    await stage.skip('25 hours');
    expect(await handle.result()).toMatchObject({ outcome: 'deleted' });
  });
});

describe('while the service does not answer', () => {
  test('a deletion that was never sent is withdrawn at once', async () => {
    const leaver = await Leaver.arrive(stage);
    await stage.sandbox.addFault({ path: '/v2/user/**', action: down });
    const handle = await requestInVain(leaver);
    const undone = await handle.undo();
    expect(undone).toMatchObject({ outcome: 'undone', undo: { by: 'command', restored: [], notRestored: [] } });
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    expect(await leaver.reads()).toBe('present');
    expect(await stage.countRequests('DELETE', leaver.path)).toBe(0);
    expect(await handle.result()).toMatchObject({ outcome: 'undone' });
  });

  test('one that may have arrived is withdrawn by asking the service', async () => {
    const leaver = await Leaver.arrive(stage);
    await losesTheDeletion(leaver, down);
    const handle = await requestInVain(leaver);
    expect(await leaver.reads()).toMatch(/scheduled/);
    expect(await handle.undo()).toMatchObject({ outcome: 'undone', undo: { restored: ['user', 'data'] } });
    expect(await leaver.reads()).toBe('present');
    await stage.sandbox.removeFaults();
    await stage.skip('1 day');
    expect(await leaver.reads(), 'nothing is sent any more').toBe('present');
  });

  test('several withdrawals that fail are each answered, and the deletion goes on', async () => {
    const leaver = await Leaver.arrive(stage);
    await losesTheDeletion(leaver, down);
    const handle = await requestInVain(leaver);
    await stage.sandbox.addFault({ path: '/v2/user/**', action: down });
    const undoing = [1, 2, 3].map(() => handle.undo().catch((error: unknown) => error));
    await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
    for (let round = 0; round < undoing.length; round += 1) {
      await stage.skip('4 minutes');
      await leaver.shows(handle, {});
    }
    for (const refused of await Promise.all(undoing)) expect(refused).toBeInstanceOf(ServiceDown);
    await stage.sandbox.removeFaults();
    await stage.skip('15 minutes');
    await leaver.shows(handle, { phase: 'grace', scheduledBefore: false });
  });

  test('a withdrawal that fails lets the deletion go on', async () => {
    const leaver = await Leaver.arrive(stage);
    await losesTheDeletion(leaver, down);
    const handle = await requestInVain(leaver);
    await stage.sandbox.addFault({ path: '/v2/user/**', action: down });
    const undoing = handle.undo().catch((error: unknown) => error);
    await eventually(async () => expect(await stage.countRequests('POST', undoPath)).toBeGreaterThan(0));
    await stage.skip('4 minutes');
    expect(await undoing).toBeInstanceOf(ServiceDown);
    await stage.sandbox.removeFaults();
    await stage.skip('15 minutes');
    await leaver.shows(handle, { phase: 'grace', scheduledBefore: false });
  });
});
