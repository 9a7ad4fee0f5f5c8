import { describe, expect, test } from 'vitest';
import { RequestInvalid, ServiceRefused } from '../../../service/errors.js';
import { needsPhysician } from '../../../service/lab-tests.js';
import type { User } from '../../../service/users.js';
import { inventedPatient } from './persons.js';
import { answering, rejection, serviceAt } from './recording-server.js';

const inventedUser = {
  user_id: 'user-1',
  client_user_id: 'client 1',
  team_id: 'team-1',
  created_on: '2024-01-01T10:00:00',
};

async function collected(users: AsyncIterable<User>): Promise<string[]> {
  const ids = [];
  for await (const user of users) ids.push(user.user_id);
  return ids;
}

function userPages(total: number, cap: number) {
  return answering(({ url }) => {
    const query = new URL(url ?? '', 'http://x').searchParams;
    const [offset, limit] = [Number(query.get('offset')), Math.min(Number(query.get('limit')), cap)];
    const ids = Array.from({ length: total }, (_, n) => `user-${n}`).slice(offset, offset + limit);
    return { body: { users: ids.map((user_id) => ({ user_id })), total, offset, limit } };
  });
}

describe('the user list', () => {
  // proves 5, 211, 212, 214, 320, 321, I3
  test('is read page by page, a hundred at a time', async () => {
    const { baseUrl, requests } = await userPages(250, 500);
    const ids = await collected(serviceAt(baseUrl).users.list());
    expect(ids).toHaveLength(250);
    expect(new Set(ids).size).toBe(250);
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v2/user/?offset=0&limit=100',
      'GET /v2/user/?offset=100&limit=100',
      'GET /v2/user/?offset=200&limit=100',
    ]);
  });

  // proves 212, 320
  test('loses nobody if the service returns fewer than were requested', async () => {
    const { baseUrl } = await userPages(25, 10);
    expect(new Set(await collected(serviceAt(baseUrl).users.list({ pageSize: 20 }))).size).toBe(25);
  });

  // proves 212
  test.each([{}, { total: null }, { total: 'many' }, { total: true }])(
    'is read until a page is empty if it does not have its length: %j',
    async (counts) => {
      const { baseUrl, requests } = await answering(({ url }) => ({
        body: { users: url?.includes('offset=0&') === true ? [{ user_id: 'user-1' }] : [], ...counts },
      }));
      expect(await collected(serviceAt(baseUrl).users.list())).toEqual(['user-1']);
      expect(requests).toHaveLength(2);
    },
  );

  test('names each user once if the service ignores the offset and does not tell its length', async () => {
    const users = [{ user_id: 'user-1' }, { user_id: 'user-2' }];
    // A third page would be read for nothing; being empty, it ends a list that does not notice.
    const { baseUrl, requests } = await answering((_request, n) => ({ body: { users: n < 2 ? users : [] } }));
    expect(await collected(serviceAt(baseUrl).users.list())).toEqual(['user-1', 'user-2']);
    expect(requests).toHaveLength(2);
  });

  test('requests no page that nobody reads', async () => {
    const { baseUrl, requests } = await userPages(250, 500);
    for await (const user of serviceAt(baseUrl).users.list({ pageSize: 10 })) {
      if (user.user_id === 'user-12') break;
    }
    expect(requests).toHaveLength(2);
  });

  test('ends with an empty page, whatever the total says', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: { users: [], total: 7, offset: 0, limit: 100 } }));
    expect(await collected(serviceAt(baseUrl).users.list())).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  // proves 211
  test('has its path from the configuration', async () => {
    const { baseUrl, requests } = await userPages(1, 1);
    await collected(serviceAt(baseUrl, { usersPath: '/v2/user' }).users.list());
    expect(requests[0]?.url).toBe('/v2/user?offset=0&limit=100');
  });
});

describe('a user', () => {
  // proves 2, 326
  test('is read by id, with unknown fields kept and times without a zone read as UTC', async () => {
    const { baseUrl, requests } = await answering(() => ({
      body: { ...inventedUser, next_year: { a: 1 }, fallback_time_zone: null },
    }));
    const user = await serviceAt(baseUrl).users.get('user-1');
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/v2/user/user-1', body: undefined });
    expect(user).toMatchObject({ ...inventedUser, created_on: '2024-01-01T10:00:00Z', next_year: { a: 1 } });
  });

  // proves 18
  test('is resolved by a client id that is free text', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: inventedUser }));
    await serviceAt(baseUrl).users.resolve('3Zru4O8c/EiwGTs XgUQGaQ==');
    expect(requests[0]?.url).toBe('/v2/user/resolve/3Zru4O8c%2FEiwGTs%20XgUQGaQ%3D%3D');
  });

  // proves 30
  test('has sources in either form and under either name', async () => {
    const slug = { name: 'Invented', slug: 'invented', logo: null };
    const typed = { provider: 'invented', type: 'watch' };
    const connected_sources = [
      { created_on: '2024-01-01T00:00:00Z', source: slug },
      { created_on: '2024-01-01T00:00:00Z', provider: typed },
    ];
    const { baseUrl } = await answering(() => ({ body: { ...inventedUser, connected_sources } }));
    const user = await serviceAt(baseUrl).users.get('user-1');
    expect(user.connected_sources).toMatchObject([
      { source: slug, provider: slug },
      { source: typed, provider: typed },
    ]);
  });

  test('has a source that comes in two forms as both', async () => {
    const connected_sources = [
      { created_on: '2024-01-01T00:00:00Z', source: { slug: 'invented', name: null }, provider: { name: 'Invented' } },
      { created_on: '2024-01-01T00:00:00Z', source: { slug: 'one' }, provider: 'another' },
    ];
    const { baseUrl } = await answering(() => ({ body: { ...inventedUser, connected_sources } }));
    const user = await serviceAt(baseUrl).users.get('user-1');
    const both = { slug: 'invented', name: 'Invented' };
    expect(user.connected_sources).toMatchObject([
      { source: both, provider: both },
      { source: { slug: 'one' }, provider: { slug: 'one' } },
    ]);
  });

  // proves 30
  test.each(['name', 'slug', 'logo', 'provider', 'type'])(
    'has no %s of a source if that is of the wrong type',
    async (field) => {
      const connected_sources = [{ source: { name: 'Invented', slug: 'invented', [field]: { odd: 1 } } }];
      const { baseUrl } = await answering(() => ({ body: { ...inventedUser, connected_sources } }));
      const user = await serviceAt(baseUrl).users.get('user-1');
      expect(user.connected_sources?.[0]?.source?.[field]).toBeUndefined();
    },
  );

  test('a user with an untidy connection still has the others', async () => {
    const tidy = { created_on: '2024-01-01T00:00:00Z', source: { slug: 'invented' } };
    const connected_sources = [null, 5, 'text', { source: 5, provider: [] }, tidy];
    const { baseUrl } = await answering(() => ({ body: { ...inventedUser, connected_sources } }));
    const user = await serviceAt(baseUrl).users.get('user-1');
    expect(user.connected_sources?.at(-1)).toMatchObject(tidy);
    expect(user.connected_sources).toHaveLength(2);
    expect(user.connected_sources?.[0]?.source).toBeUndefined();
  });
});

describe('creating a user', () => {
  const request = {
    client_user_id: 'client 1',
    fallback_time_zone: 'Europe/Vienna',
    fallback_birth_date: '1980-02-29',
    ingestion_start: '2026-01-01',
    ingestion_end: '2026-12-31',
  };

  // proves 5, 232
  test('sends the request unchanged and returns the new user', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: inventedUser }));
    expect(await serviceAt(baseUrl).users.create(request)).toMatchObject({
      created: true,
      user: { user_id: 'user-1' },
    });
    expect(requests).toMatchObject([{ method: 'POST', url: '/v2/user', body: request }]);
    expect(requests[0]?.body).toEqual(request);
  });

  // proves 232, 307, I8
  test.each([
    [
      'under detail',
      { detail: { error_type: 'INVALID_REQUEST', user_id: 'user-1', created_on: '2023-02-27T12:31:24+00:00' } },
    ],
    ['at the top', { user_id: 'user-1', created_on: '2023-02-27T12:31:24+00:00' }],
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
    const { baseUrl } = await answering(() => ({ status: 400, body: { detail } }));
    const error = await rejection(serviceAt(baseUrl).users.create(request));
    expect(error).toBeInstanceOf(ServiceRefused);
    expect(error).toMatchObject({ serviceSentence: detail.error_message });
  });

  test('creating a user without a client id is refused before it is sent', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: inventedUser }));
    const error = await rejection(serviceAt(baseUrl).users.create({ client_user_id: ' ' }));
    expect(error).toBeInstanceOf(RequestInvalid);
    expect(error).toMatchObject({ fields: [{ field: 'client_user_id', message: 'must not be empty' }] });
    expect(requests).toEqual([]);
  });
});

describe('demographics', () => {
  const address = { first_line: '1 Nowhere Lane', city: 'Phantomville', state: 'AZ', zip: '85004', country: 'US' };

  // proves 181
  test('are read as the latest ones', async () => {
    const { baseUrl, requests } = await answering(() => ({
      body: { ...inventedPatient, address, race: null, next_year: 1 },
    }));
    const demographics = await serviceAt(baseUrl).users.getDemographics('user-1');
    expect(requests[0]).toMatchObject({ method: 'GET', url: '/v2/user/user-1/info/latest' });
    expect(demographics).toMatchObject({ ...inventedPatient, address, next_year: 1 });
  });

  // proves 181
  test('are set field by field', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: { ...inventedPatient, address } }));
    const { users } = serviceAt(baseUrl);
    const proxy = {
      ...{ first_name: 'Testperson', last_name: 'Invented', phone_number: '+15550100' },
      address: { ...address, zip: 'A1 2BC', country: 'Nowhere' },
    };
    const more = {
      medical_proxy: proxy,
      ...{ race: 'invented', ethnicity: 'invented', sexual_orientation: 'invented', gender_identity: 'invented' },
      address: { ...address, second_line: 'Flat 2', access_notes: 'Gate code invented' },
    };
    await users.upsertDemographics('user-1', { ...inventedPatient, address });
    await users.upsertDemographics('user-1', { ...inventedPatient, ...more });
    for (const { method, url } of requests) expect(`${method} ${url}`).toBe('PATCH /v2/user/user-1/info');
    expect(requests.map(({ body }) => body)).toEqual([
      { ...inventedPatient, address },
      { ...inventedPatient, ...more },
    ]);
  });

  test('demographics with a bad e-mail address and birth date are refused before they are sent', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    const request = { ...inventedPatient, email: 'nobody', dob: '1980-02-30', address };
    const error = await rejection(serviceAt(baseUrl).users.upsertDemographics('user-1', request));
    expect(error).toMatchObject({ fields: [{ field: 'email' }, { field: 'dob' }] });
    expect(requests).toEqual([]);
  });
});

describe('a portal link', () => {
  const link = { url: 'https://portal.example.com/x', expires_in: 600 };

  // proves 9, 172-176, 325
  test('is requested with its context, and with the order if one is named', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: link }));
    const { portal } = serviceAt(baseUrl);
    expect(await portal.createUrl('user-1', { context: 'communications', orderId: 'order-1' })).toEqual(link);
    await portal.createUrl('user-1', { context: 'launch' });
    await portal.createUrl('user-1', { context: 'a-context-of-next-year', orderId: null });
    for (const { method, url, headers } of requests) {
      expect({ method, url }).toEqual({ method: 'POST', url: '/v2/user/user-1/create_portal_url' });
      expect(headers).toHaveProperty('x-service-api-key');
    }
    expect(requests.map(({ body }) => body)).toEqual([
      { context: 'communications', order_id: 'order-1' },
      { context: 'launch' },
      { context: 'a-context-of-next-year', order_id: null },
    ]);
  });

  // proves 36, 37, 176
  test.each([600, 2_419_200, 0])('lives for %j as the service says, whatever the unit', async (expires_in) => {
    const { baseUrl } = await answering(() => ({ body: { ...link, expires_in, next_year: 1 } }));
    expect(await serviceAt(baseUrl).portal.createUrl('user-1', { context: 'launch' })).toEqual({
      ...{ url: link.url, expires_in, next_year: 1 },
    });
  });
});

describe('lab accounts', () => {
  const account = {
    id: 'account-1',
    lab: 'invented',
    status: 'active',
    delegated_flow: 'a_flow_of_next_year',
    extra: 1,
  };

  // proves 136, 223, 322, I3
  test('are listed, narrowed by id and status', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: { data: [account] } }));
    const { labTests } = serviceAt(baseUrl);
    expect(await labTests.listLabAccounts({ labAccountId: 'account-1', status: 'active' })).toEqual([account]);
    await labTests.listLabAccounts();
    expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /v3/lab_test/lab_account?lab_account_id=account-1&status=active',
      'GET /v3/lab_test/lab_account',
    ]);
  });

  test('are none if the answer has no data', async () => {
    const { baseUrl } = await answering(() => ({ body: {} }));
    expect(await serviceAt(baseUrl).labTests.listLabAccounts()).toEqual([]);
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
