import { describe, expect, test } from 'vitest';
import { NotFound, ServiceRefused } from '../../../service/errors.js';
import { needsPhysician } from '../../../service/lab-tests.js';
import { isScheduledForDeletion } from '../../../service/users.js';
import { all } from '../../rig/all.js';
import { answering, readFrom, rejection, serviceAt, serviceWith } from './recording-server.js';

const inventedUser = { user_id: 'user-1', client_user_id: 'client 1' };

// proves 5, 211, 212, 214, 320, 321, I3
test('the user list is read page by page, a hundred at a time', async () => {
  const everybody = Array.from({ length: 250 }, (_, n) => ({ user_id: `user-${n}` }));
  const { baseUrl, requests } = await answering(({ url }) => {
    const query = new URL(url ?? '', 'http://x').searchParams;
    const [offset, limit] = [Number(query.get('offset')), Number(query.get('limit'))];
    return { body: { users: everybody.slice(offset, offset + limit), total: 250, offset, limit } };
  });
  expect(await all(serviceAt(baseUrl).users.list())).toEqual(everybody);
  const pages = [0, 100, 200].map((offset) => `GET /v2/user/?offset=${offset}&limit=100`);
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(pages);
});

describe('a user', () => {
  const read = (more: object) => readFrom({ ...inventedUser, ...more }, ({ users }) => users.get('user-1'));

  // proves 30
  test('has sources in either form and under either name; one that comes in two forms is both', async () => {
    const slug = { name: 'Invented', slug: 'invented', logo: null };
    const typed = { provider: 'invented', type: 'watch' };
    const both = { slug: 'invented', name: 'Invented' };
    const connected_sources = [
      { source: slug },
      { provider: typed },
      { source: { slug: 'invented', name: null }, provider: { name: 'Invented' } },
      { source: { slug: 'one' }, provider: 'another' },
      { source: 'invented' },
    ];
    expect((await read({ connected_sources })).connected_sources).toMatchObject([
      { source: slug, provider: slug },
      { source: typed, provider: typed },
      { source: both, provider: both },
      { source: { slug: 'one' }, provider: { slug: 'one' } },
      { source: { slug: 'invented' }, provider: { slug: 'invented' } },
    ]);
  });

  test('a user with an untidy connection still has the others', async () => {
    const tidy = { created_on: '2024-01-01T00:00:00Z', source: { slug: 'invented' } };
    const connected_sources = [null, 5, 'text', { source: 5, provider: [] }, tidy];
    const user = await read({ connected_sources });
    expect(user.connected_sources?.at(-1)).toMatchObject(tidy);
    expect(user.connected_sources).toHaveLength(2);
    expect(user.connected_sources?.[0]?.source).toBeUndefined();
  });
});

describe('creating a user', () => {
  const request = { client_user_id: 'client 1' };

  // proves 5, 232
  test('returns the new user', async () => {
    const { users } = await serviceWith({ body: inventedUser });
    expect(await users.create(request)).toMatchObject({ created: true, user: { user_id: 'user-1' } });
  });

  const existing = { user_id: 'user-1', created_on: '2023-02-27T12:31:24+00:00' };

  // proves 232, 307, I8
  test.each([
    ['under detail', { detail: { error_type: 'INVALID_REQUEST', ...existing } }],
    ['at the top', existing],
    ['without a time', { detail: { user_id: 'user-1', created_on: null } }],
  ])('returns the existing user if the conflict names it %s', async (_where, body) => {
    const { baseUrl, requests } = await answering((_request, n) =>
      n === 0 ? { status: 400, body } : { body: inventedUser },
    );
    const answer = await serviceAt(baseUrl).users.create(request);
    expect(answer).toMatchObject({ created: false, user: { user_id: 'user-1', client_user_id: 'client 1' } });
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /v2/user', 'GET /v2/user/user-1']);
  });

  // proves 307
  test('is refused if the 400 is not a conflict', async () => {
    const detail = { error_type: 'INVALID_REQUEST', error_message: 'You have reached the maximum of 50 Sandbox users' };
    const { users } = await serviceWith({ status: 400, body: { detail } });
    const refused = { name: 'ServiceRefused', serviceSentence: detail.error_message };
    expect(await rejection(users.create(request))).toMatchObject(refused);
  });
});

describe('lab accounts', () => {
  // proves 136, 223, 322, I3
  test('are listed, narrowed by id and status', async () => {
    const account = { id: 'account-1', status: 'active', delegated_flow: 'a_flow_of_next_year', extra: 1 };
    const { labTests, requests } = await serviceWith({ body: { data: [account] } });
    expect(await labTests.listLabAccounts({ labAccountId: 'account-1', status: 'active' })).toEqual([account]);
    await labTests.listLabAccounts();
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v3/lab_test/lab_account?lab_account_id=account-1&status=active',
      'GET /v3/lab_test/lab_account',
    ]);
  });

  // proves 137, 138, 221
  test.each([
    ['order_delegated', true],
    ['fully_delegated', true],
    ['ORDER_DELEGATED', true],
    ['result_delegated', false],
    ['not_delegated', false],
    ['a_flow_of_next_year', false],
    [null, false],
  ])('lab accounts of the flow %j need a physician: %j', (delegated_flow, needed) => {
    expect(needsPhysician({ delegated_flow })).toBe(needed);
  });
});

test.each([{}, { success: null }, { success: true, more: 1 }])(
  'a deletion has happened if it is answered %j',
  async (body) => {
    const { users } = await serviceWith({ body });
    await expect(users.delete('user-1')).resolves.toBeUndefined();
  },
);

test.each([
  [{ detail: 'Something went wrong' }, 'AnswerUnreadable'],
  [{ error: 'Bad Request', message: 'no' }, 'AnswerUnreadable'],
  [{ success: false }, 'ServiceRefused'],
])(
  'a deletion, or an undo, that is answered %j with status 200 may have happened unless success is denied: %s',
  async (body, name) => {
    const { users } = await serviceWith({ body });
    for (const call of [users.delete('user-1'), users.undoDelete({ userId: 'user-1' })])
      expect(await rejection(call)).toMatchObject({ name, status: 200 });
  },
);

test('a change of a user accepts an answer without a body', async () => {
  const { users } = await serviceWith({ status: 204, body: '' });
  await expect(users.update('user-1', { client_user_id: null })).resolves.toBeUndefined();
});

describe('a 404', () => {
  const call = { method: 'DELETE', path: '/v2/user/{user_id}', status: 404 };
  const said = (sentence: string) => new NotFound(call, { sentence, fields: [] });

  test.each([
    'You have scheduled this user for deletion.',
    'The user has been scheduled for deletion as per your previous request',
    'Deletion of this user is already SCHEDULED',
    'User is scheduled to be deleted',
  ])('says that the user is scheduled for deletion: %s', (reason) => {
    expect(isScheduledForDeletion(said(reason))).toBe(true);
  });

  test('says so also in the list of faults', () => {
    const fields = [{ field: 'user_id', message: 'scheduled for deletion' }];
    expect(isScheduledForDeletion(new NotFound(call, { fields }))).toBe(true);
  });

  test.each(['Not found', 'The user does not or no longer exists in this team', 'deleted', 'scheduled', ''])(
    'says nothing of the kind: %s',
    (reason) => expect(isScheduledForDeletion(said(reason))).toBe(false),
  );

  test('is the only status that does: a refusal with another status says nothing of the kind', () => {
    const refusal = { sentence: 'scheduled for deletion', fields: [] };
    expect(isScheduledForDeletion(new ServiceRefused({ ...call, status: 400 }, refusal))).toBe(false);
    expect(isScheduledForDeletion(new Error('scheduled for deletion'))).toBe(false);
  });
});
