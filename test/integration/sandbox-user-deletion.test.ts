import { describe, expect, test } from 'vitest';
import { startSandbox, testkitBody } from './sandbox-rig.js';

const scheduledToRead = 'You have scheduled this user for deletion.';
const scheduledToChange = 'The user has been scheduled for deletion as per your previous request';
const unknownToChange = 'The user does not or no longer exists in this team';

async function withUser(settings: Parameters<typeof startSandbox>[0] = {}) {
  const sandbox = await startSandbox(settings);
  const { user } = await sandbox.control.createUser();
  await sandbox.control.connect(user.user_id, { provider: 'invented_watch', webhook: false });
  const path = `/v2/user/${user.user_id}`;
  const undo = (query: string) => sandbox.call('POST', `/v2/user/undo_delete${query}`);
  return { ...sandbox, user, path, undo };
}

const refused = (status: number, detail: unknown) => ({ status, body: { detail } });

describe('a user who is deleted', () => {
  test('is scheduled for deletion: every call says so in its own way', async () => {
    const { call, path, user } = await withUser();
    expect(await call('DELETE', path)).toMatchObject({ status: 200, body: { success: true } });
    expect(await call('GET', path)).toMatchObject(refused(404, scheduledToRead));
    expect(await call('DELETE', path)).toMatchObject(refused(404, scheduledToChange));
    expect(await call('PATCH', path, { fallback_time_zone: 'UTC' })).toMatchObject(refused(404, scheduledToChange));
    expect(await call('POST', `${path}/create_portal_url`, { context: 'launch' })).toMatchObject(
      refused(404, scheduledToRead),
    );
    const resolved = await call('GET', `/v2/user/resolve/${String(user.client_user_id)}`);
    expect(resolved).toMatchObject(refused(404, 'Not found'));
    expect((await call('GET', '/v2/user/')).body.total).toBe(0);
    const order = await call('POST', '/v3/order/testkit', testkitBody(user.user_id));
    expect(order).toMatchObject(refused(404, 'User does not exist on this team'));
  });

  // proves 35, 170, 233
  test('comes back by an undo, without the connections', async () => {
    const { call, path, user, undo } = await withUser();
    expect((await call('GET', path)).body).toMatchObject({
      connected_sources: [{ source: { slug: 'invented_watch' } }],
    });
    await call('DELETE', path);
    expect(await undo(`?user_id=${user.user_id}`)).toMatchObject({ status: 200, body: { success: true } });
    expect((await call('GET', path)).body).toMatchObject({ user_id: user.user_id, connected_sources: [] });
    expect((await call('GET', `${path}/info/latest`)).status).toBe(200);
  });

  // proves 233
  test('comes back by an undo that names the client_user_id', async () => {
    const { call, path, user, undo } = await withUser();
    await call('DELETE', path);
    expect((await undo(`?client_user_id=${String(user.client_user_id)}`)).status).toBe(200);
    expect((await call('GET', path)).status).toBe(200);
  });

  // proves 35, 170, 315
  test('is gone after 7 days of the stand-in', async () => {
    const { call, control, path, undo, user } = await withUser();
    await call('DELETE', path);
    await control.advanceClock('7d');
    expect(await call('GET', path)).toMatchObject(refused(404, 'Not found'));
    expect(await call('DELETE', path)).toMatchObject(refused(404, unknownToChange));
    expect((await undo(`?user_id=${user.user_id}`)).status).toBe(404);
    expect(await control.deletedUsers()).toEqual([]);
  });

  test('is gone after 7 compressed days, by itself', async () => {
    const { call, path } = await withUser({ daySeconds: 0.02 });
    await call('DELETE', path);
    await expect.poll(async () => (await call('GET', path)).body.detail).toBe('Not found');
  });

  // proves 35, 315
  test('stays when the undo came in time', async () => {
    const { call, control, path, undo, user } = await withUser();
    await call('DELETE', path);
    await control.advanceClock('6d');
    await undo(`?user_id=${user.user_id}`);
    await control.advanceClock('30d');
    expect((await call('GET', path)).status).toBe(200);
  });
});

describe('an undo is refused', () => {
  test('an undo is refused if a new user has taken the client_user_id', async () => {
    const { call, path, user, undo } = await withUser();
    await call('DELETE', path);
    expect((await call('POST', '/v2/user', { client_user_id: user.client_user_id })).status).toBe(200);
    expect(await undo(`?user_id=${user.user_id}`)).toMatchObject(refused(409, 'Client user id already exists'));
  });

  test.each([404, 410] as const)(
    'an undo is refused after the grace, with the status that is set (%s)',
    async (lateUndoStatus) => {
      const { call, control, path, user, undo } = await withUser({ lateUndoStatus });
      await call('DELETE', path);
      await control.advanceClock('8d');
      expect((await undo(`?user_id=${user.user_id}`)).status).toBe(lateUndoStatus);
    },
  );

  test.each(['', '?user_id=no-uuid', '?user_id=00000000-0000-4000-8000-000000000000&client_user_id=x'])(
    'an undo is refused with 422 for the query "%s"',
    async (query) => {
      const { undo } = await withUser();
      expect((await undo(query)).status).toBe(422);
    },
  );
});

describe('a change of a user', () => {
  test('changes what is named, and nothing else', async () => {
    const { call, path, user } = await withUser();
    expect((await call('PATCH', path, { client_user_id: 'renamed', fallback_time_zone: 'Europe/Paris' })).status).toBe(
      204,
    );
    const { body } = await call('GET', '/v2/user/resolve/renamed');
    expect(body).toMatchObject({ user_id: user.user_id, fallback_time_zone: { id: 'Europe/Paris' } });
    expect((await call('GET', `/v2/user/resolve/${String(user.client_user_id)}`)).status).toBe(404);
  });

  test('an empty change, one to a taken client_user_id, or one of an unknown user is refused', async () => {
    const { call, path, control } = await withUser();
    const other = await control.createUser({ client_user_id: 'taken' });
    expect(await call('PATCH', path, {})).toMatchObject(refused(400, 'Nothing to patch'));
    const taken = await call('PATCH', path, { client_user_id: other.user.client_user_id });
    expect(taken).toMatchObject(refused(409, 'Client user id already exists'));
    const unknown = '/v2/user/00000000-0000-4000-8000-000000000000';
    expect(await call('PATCH', unknown, { client_user_id: 'x' })).toMatchObject(refused(404, unknownToChange));
  });
});

test('a user is deleted and restored in the dashboard', async () => {
  const { call, control, path, user } = await withUser();
  await control.deleteUser(user.user_id);
  expect(await control.deletedUsers()).toMatchObject([{ user_id: user.user_id }]);
  expect(await call('GET', path)).toMatchObject(refused(404, scheduledToRead));
  await control.restoreUser(user.user_id);
  expect((await call('GET', path)).status).toBe(200);
});
