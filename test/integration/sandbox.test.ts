import { describe, expect, test } from 'vitest';
import { labAccountIds, labAccounts, inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { startLabService } from '../../sandbox/lab-service/server.js';
import { demographics } from '../rig/cast.js';
import { sandboxApiKey, callService, startSandbox } from './sandbox-rig.js';

const unknown = '00000000-0000-4000-8000-000000000000';

describe('authentication', () => {
  // proves 171, 244
  test('a request without the team key, or with another one, is answered 401', async () => {
    const { service, call } = await startSandbox();
    expect((await callService(service.url, 'GET', '/v2/user/', undefined, {})).status).toBe(401);
    expect((await call('GET', '/v2/user/', undefined, { 'x-service-api-key': 'another' })).status).toBe(401);
    expect((await call('GET', '/v2/user/')).status).toBe(200);
  });

  // proves 244
  test('the header takes the brand word of the deployment', async () => {
    const service = await startLabService({ port: 0, apiKey: sandboxApiKey, brand: 'Acme' });
    try {
      const ask = async (header: string) =>
        (await callService(service.url, 'GET', '/v2/user', undefined, { [header]: sandboxApiKey })).status;
      expect(await ask('x-acme-api-key')).toBe(200);
      expect(await ask('x-service-api-key')).toBe(401);
    } finally {
      await service.close();
    }
  });
});

describe('users', () => {
  // proves 5, 232
  test('a created user is found by its id, by its client id and in the list', async () => {
    const { call } = await startSandbox();
    const created = await call('POST', '/v2/user', {
      client_user_id: 'client/1 ä',
      fallback_time_zone: 'Europe/Paris',
    });
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({
      team_id: inventedTeamId,
      client_user_id: 'client/1 ä',
      connected_sources: [],
      fallback_time_zone: { id: 'Europe/Paris' },
      fallback_birth_date: null,
    });
    const { body: user } = created;
    expect((await call('GET', `/v2/user/${user.user_id}`)).body).toEqual(user);
    expect((await call('GET', `/v2/user/resolve/${encodeURIComponent('client/1 ä')}`)).body).toEqual(user);
    for (const path of ['/v2/user', '/v2/user/']) {
      expect((await call('GET', path)).body).toEqual({ users: [user], total: 1, offset: 0, limit: 100 });
    }
  });

  // proves 212, 320
  test('the list is paged by offset and limit', async () => {
    const { call, newUser } = await startSandbox();
    const ids = [await newUser(), await newUser(), await newUser()];
    const page = (await call('GET', '/v2/user/?offset=1&limit=1')).body;
    expect(page).toMatchObject({ total: 3, offset: 1, limit: 1 });
    expect(page.users.map((user) => user.user_id)).toEqual([ids[1]]);
  });

  test.each(['limit=0', 'limit=501', 'limit=many', 'offset=-1', 'offset=1.5'])(
    'the list with %s fails with 500 in plain text',
    async (query) => {
      const { call } = await startSandbox();
      const answer = await call('GET', `/v2/user/?${query}`);
      expect(answer).toMatchObject({ status: 500, text: 'Internal Server Error' });
      expect(answer.type).toContain('text/plain');
    },
  );

  // proves 232, 307
  test('a client id that is taken is answered 400 with the existing user', async () => {
    const { call } = await startSandbox();
    const { body: user } = await call('POST', '/v2/user', { client_user_id: 'taken' });
    expect(await call('POST', '/v2/user', { client_user_id: 'taken' })).toMatchObject({
      status: 400,
      body: {
        detail: {
          error_type: 'INVALID_REQUEST',
          error_message: 'Client user id already exists.',
          user_id: user.user_id,
          created_on: user.created_on,
        },
      },
    });
  });

  // proves 213, 305
  test('a user without client id, and a body that is not JSON, are answered 422 with the list of faults', async () => {
    const { call } = await startSandbox();
    expect(await call('POST', '/v2/user', {})).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'missing', loc: ['body', 'client_user_id'], msg: 'Field required', input: {} }] },
    });
    expect(await call('POST', '/v2/user', '{"client_user_id"')).toMatchObject({
      status: 422,
      body: { detail: [{ type: 'json_invalid' }] },
    });
    expect((await call('POST', '/v2/user', '[]')).body.detail[0]?.type).toBe('model_attributes_type');
  });

  test('a sandbox environment with a limit refuses the user beyond it', async () => {
    const { call } = await startSandbox({ maxUsers: 1 });
    await call('POST', '/v2/user', { client_user_id: 'first' });
    const { status, body } = await call('POST', '/v2/user', { client_user_id: 'second' });
    expect([status, body.detail.error_message]).toEqual([400, 'You have reached the maximum of 1 Sandbox users']);
  });

  test('unknown users and ids that are not UUIDs have their own answers', async () => {
    const { call } = await startSandbox();
    expect(await call('GET', `/v2/user/${unknown}`)).toMatchObject({ status: 404, body: { detail: 'Not found' } });
    expect(await call('GET', '/v2/user/resolve/nobody')).toMatchObject({ status: 404, body: { detail: 'Not found' } });
    expect(await call('PATCH', `/v2/user/${unknown}/info`, demographics)).toMatchObject({
      status: 404,
      body: { detail: 'The user does not or no longer exists in this team' },
    });
    expect(await call('GET', '/v2/user/abc')).toMatchObject({
      status: 422,
      body: {
        detail:
          "Invalid format for parameter user_id: error unmarshaling 'abc' text as *uuid.UUID: invalid UUID length: 3",
      },
    });
  });

  // proves 181
  test('demographics are 404 until they are set, then read as they were set', async () => {
    const { call } = await startSandbox();
    const { user_id: id } = (await call('POST', '/v2/user', { client_user_id: 'one' })).body;
    expect((await call('GET', `/v2/user/${id}/info/latest`)).status).toBe(404);
    expect((await call('PATCH', `/v2/user/${id}/info`, demographics)).status).toBe(200);
    expect((await call('GET', `/v2/user/${id}/info/latest`)).body).toMatchObject(demographics);
  });

  test('all faults of demographics come in one answer', async () => {
    const { call, newUser } = await startSandbox();
    const bad = {
      ...demographics,
      email: 'no-address',
      dob: '2999-01-01',
      address: { ...demographics.address, zip: 5 },
    };
    const { status, body } = await call('PATCH', `/v2/user/${await newUser()}/info`, bad);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }) => loc.join('.')).toSorted()).toEqual([
      'body.address.zip',
      'body.dob',
      'body.email',
    ]);
  });
});

describe('portal links', () => {
  // proves 34, 177, 306
  test('a user without demographics is refused with 422', async () => {
    const { call, control } = await startSandbox();
    const { user } = await control.createUser({ demographics: false });
    const answer = await call('POST', `/v2/user/${user.user_id}/create_portal_url`, { context: 'launch' });
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]?.msg).toBe('Value error, the user has no demographics');
  });

  // proves 175
  test('launch lives for minutes, communications for weeks, and both lead to the named order', async () => {
    const { call, control, newKit } = await startSandbox();
    const order = await newKit();
    const make = async (context: string) =>
      (await call('POST', `/v2/user/${order.user_id}/create_portal_url`, { context, order_id: order.id })).body;
    const launch = await make('launch');
    const communications = await make('communications');
    expect(launch.expires_in).toBeLessThan(3_600);
    expect(communications.expires_in).toBeGreaterThanOrEqual(14 * 86_400);
    expect(launch.url).toContain(order.id);
    expect(communications.url.length).toBeLessThan(40);
    expect(await control.portalLinks()).toMatchObject([
      { context: 'launch', user_id: order.user_id, order_id: order.id, url: launch.url },
      { context: 'communications', user_id: order.user_id, order_id: order.id, url: communications.url },
    ]);
  });

  // proves 174
  test('an unknown context is refused with 422', async () => {
    const { call, newUser } = await startSandbox();
    const answer = await call('POST', `/v2/user/${await newUser()}/create_portal_url`, { context: 'poster' });
    expect(answer.body.detail).toEqual([
      {
        type: 'enum',
        loc: ['body', 'context'],
        msg: "Input should be 'launch' or 'communications'",
        input: 'poster',
        ctx: { expected: "'launch' or 'communications'" },
      },
    ]);
  });

  test("another user's order cannot be linked", async () => {
    const { call, newKit, newUser } = await startSandbox();
    const body = { context: 'launch', order_id: (await newKit()).id };
    expect((await call('POST', `/v2/user/${await newUser()}/create_portal_url`, body)).status).toBe(404);
  });
});

describe('lab accounts', () => {
  // proves 223
  test('are listed, by id and by status', async () => {
    const { call } = await startSandbox();
    expect((await call('GET', '/v3/lab_test/lab_account')).body).toEqual({ data: labAccounts });
    const ids = async (query: string) =>
      (await call('GET', `/v3/lab_test/lab_account?${query}`)).body.data.map(({ id }) => id);
    expect(await ids(`lab_account_id=${labAccountIds.orderDelegated}`)).toEqual([labAccountIds.orderDelegated]);
    expect(await ids('status=ready_to_launch')).toEqual([labAccountIds.resultDelegated]);
    expect((await call('GET', '/v3/lab_test/lab_account?status=odd')).status).toBe(422);
  });
});

test('a path that does not exist is answered 404 with a detail', async () => {
  const { call } = await startSandbox();
  expect(await call('GET', '/v3/nothing')).toMatchObject({ status: 404, body: { detail: 'Not Found' } });
});

test('two stand-ins in one process share nothing', async () => {
  const [one, other] = [await startSandbox(), await startSandbox()];
  await one.newUser();
  expect((await other.call('GET', '/v2/user')).body.total).toBe(0);
});
