import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { AnswerUnreadable } from '../../../service/errors.js';
import type { ServiceConfig } from '../../../service/http.js';
import type { Management } from '../../../service/lab-service.js';
import { answering, rejection, serviceAt } from './recording-server.js';

const managementKey = 'mk_invented_key';
const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const headerValue = 'Bearer invented-value';
const shown = 'sk_invented_shown_once';

const place = { orgId: 'org-1', teamId: 'team-1', environment: 'production' };
const region = { orgId: 'org-1', environment: 'sandbox', region: 'eu' };
const hooks = '/v1/org/org-1/team/team-1/production/webhook';
const team = { id: 'team-1', name: 'Invented team', created_on: '2026-01-01T00:00:00', region: 'us', next_year: 1 };
const hook = { id: 'ep_1', url: 'https://product.example.com/webhooks', filter_types: null, next_year: 1 };
const key = { id: 'key-1', label: 'Invented', role: 'team_admin', team_role_bindings: [{ team_id: 'team-1' }] };
const apiKey = { id: 'key-2', label: 'Invented', value: shown, team_id: 'team-1' };
const account = { id: 'account-1', status: 'pending', team_id_allowlist: ['team-1'] };

/** Every setting that a creation takes, as the service spells it. */
const teamSettings = {
  ...{ id: 'team-9', integration_team_id: 'i-1', critical_result_notification_email: 'lab@example.com' },
  ...{ lab_tests_patient_sms_communication_enabled: true, lab_tests_patient_email_communication_enabled: false },
  ...{ brand_information: { any: 1 }, logo_url: 'https://logos.example.com/invented.png' },
  ...{ reject_duplicate_connection: true, sdk_per_device_activity_timeseries: false },
  ...{ partial_webhooks_enabled: true, minor_ordering_enabled: false },
};

interface Call {
  name: string;
  run: (management: Management) => Promise<unknown>;
  sent: { method: string; url: string; body?: unknown };
  answer: unknown;
  read: unknown;
}

const calls: Call[] = [
  {
    name: 'a team is created',
    run: ({ teams }) => teams.create('org-1', { name: 'Invented team', region: 'us', integration_team_id: 'i-1' }),
    sent: {
      method: 'POST',
      url: '/v1/org/org-1/team',
      body: { name: 'Invented team', region: 'us', integration_team_id: 'i-1' },
    },
    answer: team,
    read: { ...team, created_on: '2026-01-01T00:00:00Z' },
  },
  {
    name: 'a team is created with all that a team can have,',
    run: ({ teams }) => teams.create('org-1', { name: 'Invented team', region: 'us', ...teamSettings }),
    sent: {
      method: 'POST',
      url: '/v1/org/org-1/team',
      body: { name: 'Invented team', region: 'us', ...teamSettings },
    },
    answer: team,
    read: { ...team, created_on: '2026-01-01T00:00:00Z' },
  },
  {
    name: 'a team is read with the settings of its environments',
    run: ({ teams }) => teams.get('org-1', 'team-1', { includeEnvironment: ['sandbox', 'production'] }),
    sent: {
      method: 'GET',
      url: '/v1/org/org-1/team/team-1?include_environment=sandbox&include_environment=production',
    },
    answer: { ...team, sandbox: { any: 1 }, production: 'none' },
    read: { ...team, created_on: '2026-01-01T00:00:00Z', sandbox: { any: 1 } },
  },
  {
    name: 'a team is deleted',
    run: ({ teams }) => teams.delete('org-1', 'team-1'),
    sent: { method: 'DELETE', url: '/v1/org/org-1/team/team-1' },
    answer: 'anything',
    read: undefined,
  },
  {
    name: 'a webhook endpoint is created',
    run: ({ webhooks }) =>
      webhooks.create(place, {
        ...{ url: 'https://product.example.com/webhooks', description: 'invented', rate_limit: 5, disabled: false },
        ...{ filter_types: ['labtest.order.updated'], secret: webhookSecret },
      }),
    sent: {
      method: 'POST',
      url: hooks,
      body: {
        ...{ url: 'https://product.example.com/webhooks', description: 'invented', rate_limit: 5, disabled: false },
        ...{ filter_types: ['labtest.order.updated'], secret: webhookSecret },
      },
    },
    answer: hook,
    read: hook,
  },
  {
    name: 'a webhook endpoint is read',
    run: ({ webhooks }) => webhooks.get(place, 'ep_1'),
    sent: { method: 'GET', url: `${hooks}/ep_1` },
    answer: hook,
    read: hook,
  },
  {
    name: 'a webhook endpoint is changed',
    run: ({ webhooks }) => webhooks.update(place, 'ep_1', { disabled: true, filter_types: null }),
    sent: { method: 'PATCH', url: `${hooks}/ep_1`, body: { disabled: true, filter_types: null } },
    answer: hook,
    read: hook,
  },
  {
    name: 'a webhook endpoint gets another address',
    run: ({ webhooks }) =>
      webhooks.update(place, 'ep_1', { url: 'https://other.example.com', description: 'other', rate_limit: 9 }),
    sent: {
      method: 'PATCH',
      url: `${hooks}/ep_1`,
      body: { url: 'https://other.example.com', description: 'other', rate_limit: 9 },
    },
    answer: hook,
    read: hook,
  },
  {
    name: 'a webhook endpoint is deleted',
    run: ({ webhooks }) => webhooks.delete(place, 'ep_1'),
    sent: { method: 'DELETE', url: `${hooks}/ep_1` },
    answer: '',
    read: undefined,
  },
  {
    name: "an endpoint's headers are read",
    run: ({ webhooks }) => webhooks.getHeaders(place, 'ep_1'),
    sent: { method: 'GET', url: `${hooks}/ep_1/headers` },
    answer: { headers: { 'x-invented': '1' }, sensitive: ['authorization'] },
    read: { headers: { 'x-invented': '1' }, sensitive: ['authorization'] },
  },
  {
    name: "an endpoint's headers are set",
    run: ({ webhooks }) => webhooks.setHeaders(place, 'ep_1', { authorization: headerValue }),
    sent: { method: 'PUT', url: `${hooks}/ep_1/headers`, body: { headers: { authorization: headerValue } } },
    answer: '',
    read: undefined,
  },
  {
    name: "an endpoint's secret is read",
    run: ({ webhooks }) => webhooks.getSecret(place, 'ep_1'),
    sent: { method: 'GET', url: `${hooks}/ep_1/secret` },
    answer: { key: webhookSecret },
    read: webhookSecret,
  },
  {
    name: "an endpoint's secret is rotated to a given one",
    run: ({ webhooks }) => webhooks.rotateSecret(place, 'ep_1', webhookSecret),
    sent: { method: 'POST', url: `${hooks}/ep_1/secret/rotate`, body: { key: webhookSecret } },
    answer: '',
    read: undefined,
  },
  {
    name: "an endpoint's secret is rotated to one that the service makes up",
    run: ({ webhooks }) => webhooks.rotateSecret(place, 'ep_1'),
    sent: { method: 'POST', url: `${hooks}/ep_1/secret/rotate`, body: {} },
    answer: '',
    read: undefined,
  },
  {
    name: 'an org key is created',
    run: ({ managementKeys }) => managementKeys.create('org-1', { label: 'Invented', role: 'org_admin' }),
    sent: { method: 'POST', url: '/v1/org/org-1/management_key', body: { label: 'Invented', role: 'org_admin' } },
    answer: { ...key, role: 'org_admin', team_role_bindings: null, key: shown },
    read: { ...key, role: 'org_admin', team_role_bindings: null, key: shown },
  },
  {
    name: 'a team key for two teams is created',
    run: ({ managementKeys }) =>
      managementKeys.create('org-1', {
        label: 'Invented',
        role: 'team_admin',
        team_role_bindings: [{ team_id: 'team-1' }, { team_id: 'team-2' }],
      }),
    sent: {
      method: 'POST',
      url: '/v1/org/org-1/management_key',
      body: {
        label: 'Invented',
        role: 'team_admin',
        team_role_bindings: [{ team_id: 'team-1' }, { team_id: 'team-2' }],
      },
    },
    answer: { ...key, key: shown },
    read: { ...key, key: shown },
  },
  {
    name: 'a management key is deleted',
    run: ({ managementKeys }) => managementKeys.delete('org-1', 'key-1'),
    sent: { method: 'DELETE', url: '/v1/org/org-1/management_key/key-1' },
    answer: null,
    read: undefined,
  },
  {
    name: 'a team API key is created',
    run: ({ teamApiKeys }) => teamApiKeys.create(region, { label: 'Invented', team_id: 'team-1' }),
    sent: {
      method: 'POST',
      url: '/v1/org/org-1/team_api_keys/sandbox/eu',
      body: { label: 'Invented', team_id: 'team-1' },
    },
    answer: apiKey,
    read: apiKey,
  },
  {
    name: 'team API keys are deleted, and the fate of each is reported',
    run: ({ teamApiKeys }) => teamApiKeys.delete(region, ['key-2', 'key-3']),
    sent: { method: 'DELETE', url: '/v1/org/org-1/team_api_keys/sandbox/eu?api_key_id=key-2&api_key_id=key-3' },
    answer: { success: ['key-2'], failure: null, not_found: ['key-3'] },
    read: { deleted: ['key-2'], failed: [], notFound: ['key-3'] },
  },
  {
    name: "an organisation's lab accounts are listed",
    run: ({ labAccounts }) =>
      labAccounts.list(region, { labAccountId: 'account-1', teamId: 'team-1', status: 'pending' }),
    sent: {
      method: 'GET',
      url: '/v1/org/org-1/lab_account/sandbox/eu?lab_account_id=account-1&team_id=team-1&status=pending',
    },
    answer: { data: [account] },
    read: [account],
  },
  {
    name: 'the teams of a lab account are replaced',
    run: ({ labAccounts }) => labAccounts.setTeams(region, 'account-1', []),
    sent: {
      method: 'PATCH',
      url: '/v1/org/org-1/lab_account/sandbox/eu/account-1',
      body: { team_id_allowlist: [] },
    },
    answer: { lab_account: account },
    read: account,
  },
];

function managementAt(baseUrl: string, config: Partial<ServiceConfig> = {}): Management {
  return serviceAt(baseUrl, { managementKey, ...config }).management;
}

// proves 10, 136, 234-240, 242, 246, 248, 249, 251
test.each(calls)('$name with the management key and no other', async ({ run, sent, answer, read }) => {
  const { baseUrl, requests } = await answering(() => ({ body: answer }));
  expect(await run(managementAt(baseUrl))).toEqual(read);
  expect(requests).toMatchObject([{ method: sent.method, url: sent.url }]);
  expect(requests[0]?.body).toEqual(sent.body);
  expect(requests[0]?.headers).toHaveProperty('x-management-key', managementKey);
  expect(requests[0]?.headers).not.toHaveProperty('x-service-api-key');
});

describe.each(calls)('$name', ({ run, sent, answer }) => {
  // proves 253
  test('is refused without a key or a secret in the error', async () => {
    const sentence = `${managementKey} may not do ${JSON.stringify(sent.body ?? {})}`;
    const { baseUrl } = await answering((_request, index) =>
      index === 0 ? { status: 403, body: { detail: sentence } } : { body: { id: [shown], key: [shown], value: shown } },
    );
    const management = managementAt(baseUrl);
    const refused = await rejection(run(management));
    expect(refused).toMatchObject({ name: 'Unauthorized', status: 403 });
    for (const secret of [managementKey, webhookSecret, 'invented-value']) {
      expect(inspect(refused, { depth: null })).not.toContain(secret);
    }
    const unreadable = await run(management).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(inspect(unreadable, { depth: null })).not.toContain(shown);
  });

  test('never goes out with an open template', async () => {
    const { baseUrl, requests } = await answering(() => ({ body: answer }));
    await run(managementAt(baseUrl));
    expect(requests[0]?.url).not.toMatch(/[{}]|%7B/);
  });
});

describe('lists with a cursor', () => {
  const lists: [
    name: string,
    list: (management: Management) => AsyncIterable<unknown>,
    url: string,
    page: (items: unknown[], next: string | null) => unknown,
  ][] = [
    [
      'teams',
      ({ teams }) => teams.list('org-1', { teamId: 'team-1', region: ['us', 'eu'], searchQuery: 'invented' }),
      '/v1/org/org-1/team?team_id=team-1&region=us&region=eu&search_query=invented',
      (teams, next_cursor) => ({ teams, next_cursor }),
    ],
    [
      'webhook endpoints',
      ({ webhooks }) => webhooks.list(place, { pageSize: 7 }),
      `${hooks}?limit=7`,
      (data, next_cursor) => ({ data, next_cursor }),
    ],
    [
      'management keys',
      ({ managementKeys }) => managementKeys.list('org-1', { teamId: 'team-1', role: 'team_admin' }),
      '/v1/org/org-1/management_key?team_id=team-1&role=team_admin',
      (data, next_cursor) => ({ data, next_cursor }),
    ],
    [
      'team API keys',
      ({ teamApiKeys }) => teamApiKeys.list(region, { teamId: 'team-1' }),
      '/v1/org/org-1/team_api_keys/sandbox/eu?team_id=team-1',
      (api_keys, next_cursor) => ({ api_keys, next_cursor }),
    ],
  ];

  // proves 10, 235, 241, 246, 251
  test.each(lists)('a list of %s is read to its end', async (_name, list, url, page) => {
    const { baseUrl, requests } = await answering(({ url: asked }) =>
      (asked ?? '').includes('next_cursor=c%2F1')
        ? { body: page([{ id: 'b', value: 'v' }], null) }
        : { body: page([{ id: 'a', value: 'v' }], 'c/1') },
    );
    const ids = [];
    for await (const item of list(managementAt(baseUrl))) ids.push((item as { id: string }).id);
    expect(ids).toEqual(['a', 'b']);
    const parameters = (asked = '') => [...new URL(asked, 'http://x').searchParams].map((pair) => pair.join('='));
    const first = parameters(url);
    expect(requests[0]?.url?.split('?')[0]).toBe(url.split('?')[0]);
    expect(new Set(parameters(requests[0]?.url))).toEqual(new Set(first));
    expect(new Set(parameters(requests[1]?.url))).toEqual(new Set([...first, 'next_cursor=c/1']));
    for (const { headers } of requests) expect(headers).toHaveProperty('x-management-key', managementKey);
  });

  test.each(lists)('a list of %s ends if the cursor is not a string', async (_name, list, _url, page) => {
    const { baseUrl, requests } = await answering(() => ({
      body: page([{ id: 'a', value: 'v' }], { odd: 1 } as unknown as null),
    }));
    const items: unknown[] = [];
    for await (const item of list(managementAt(baseUrl))) items.push(item);
    expect(items).toEqual([expect.objectContaining({ id: 'a' })]);
    expect(requests).toHaveLength(1);
  });
});

describe('an invalid request is not sent', () => {
  // proves 249
  test.each<[string, (management: Management) => Promise<unknown>, string]>([
    ['a team without a name', ({ teams }) => teams.create('org-1', { name: '', region: 'us' }), 'name'],
    ['a name of 81 characters', ({ teams }) => teams.create('org-1', { name: 'x'.repeat(81), region: 'us' }), 'name'],
    ['an endpoint that is not a URL', ({ webhooks }) => webhooks.create(place, { url: 'product' }), 'url'],
    ['an address that is not http', ({ webhooks }) => webhooks.create(place, { url: 'ftp://example.com' }), 'url'],
    [
      'an invalid secret',
      ({ webhooks }) => webhooks.create(place, { url: 'https://example.com', secret: 'secret' }),
      'secret',
    ],
    [
      'a secret that is short enough to guess',
      ({ webhooks }) => webhooks.create(place, { url: 'https://example.com', secret: 'whsec_c2hvcnQ=' }),
      'secret',
    ],
    ['a rotation to a secret that is invalid', ({ webhooks }) => webhooks.rotateSecret(place, 'ep_1', 'secret'), 'key'],
    ['a header that no message can carry', ({ webhooks }) => webhooks.setHeaders(place, 'e', { a: 'ä' }), 'headers.a'],
    [
      'a team key without a team',
      ({ managementKeys }) => managementKeys.create('org-1', { label: 'l', role: 'team_admin' }),
      'team_role_bindings',
    ],
    [
      'an org key with teams',
      ({ managementKeys }) =>
        managementKeys.create('org-1', { label: 'l', role: 'org_admin', team_role_bindings: [{ team_id: 't' }] }),
      'team_role_bindings',
    ],
    ['the deletion of no key', ({ teamApiKeys }) => teamApiKeys.delete(region, []), 'keyIds'],
    ['a path without its team', ({ webhooks }) => webhooks.get({ ...place, teamId: '' }, 'ep_1'), 'team_id'],
  ])('%s', async (_what, run, field) => {
    const { baseUrl, requests } = await answering(() => ({ body: {} }));
    expect(await rejection(run(managementAt(baseUrl)))).toMatchObject({ name: 'RequestInvalid', fields: [{ field }] });
    expect(requests).toEqual([]);
  });
});

// proves 10, 311
test("a conflict over a customer's own id of a team is a refusal with its status", async () => {
  const { baseUrl } = await answering(() => ({ status: 409, body: { team_id: 'team-2' } }));
  const call = managementAt(baseUrl).teams.create('org-1', { name: 'n', region: 'us', integration_team_id: 'i-1' });
  expect(await rejection(call)).toMatchObject({ name: 'ServiceRefused', status: 409 });
});

// proves 11, 246
test('the management API may have an address of its own', async () => {
  const team = await answering(() => ({ body: { data: [] } }));
  const management = await answering(() => ({ body: { data: [] } }));
  const service = serviceAt(team.baseUrl, { managementKey, managementBaseUrl: management.baseUrl });
  await service.labTests.listLabAccounts();
  await service.management.labAccounts.list(region);
  expect(team.requests.map(({ url }) => url)).toEqual(['/v3/lab_test/lab_account']);
  expect(management.requests.map(({ url }) => url)).toEqual(['/v1/org/org-1/lab_account/sandbox/eu']);
});

// proves 251
test('the fate of keys is reported as far as the answer goes', async () => {
  const { baseUrl } = await answering(() => ({ body: { success: 'all', failure: { odd: 1 }, not_found: 0 } }));
  const answer = await managementAt(baseUrl).teamApiKeys.delete(region, ['key-2']);
  expect(answer).toEqual({ deleted: [], failed: [], notFound: [] });
});

// proves 136
test('invalid lab accounts are unreadable', async () => {
  const { baseUrl } = await answering(() => ({ body: { data: 'none', lab_account: 'none' } }));
  const { labAccounts } = managementAt(baseUrl);
  expect(await rejection(labAccounts.list(region))).toBeInstanceOf(AnswerUnreadable);
  expect(await rejection(labAccounts.setTeams(region, 'account-1', []))).toBeInstanceOf(AnswerUnreadable);
});

// proves 253
test('a tier without the management API is reported as not enabled', async () => {
  const { baseUrl } = await answering(() => ({ status: 403, body: 'The management API is not enabled for this team' }));
  const call = managementAt(baseUrl).labAccounts.list(region);
  expect(await rejection(call)).toMatchObject({ name: 'FeatureNotEnabled', status: 403 });
});
