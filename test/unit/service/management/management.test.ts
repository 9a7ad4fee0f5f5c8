import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Management } from '../../../../service/lab-service.js';
import { all } from '../../../rig/all.js';
import { answering, brokenRules, readFrom, rejection, serviceAt, serviceWith } from '../recording-server.js';

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
const orgKey = { ...key, role: 'org_admin', team_role_bindings: null, key: shown };
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

const teamPath = '/v1/org/org-1/team';
const keysPath = '/v1/org/org-1/management_key';
const teamKeys = '/v1/org/org-1/team_api_keys/sandbox/eu';
const hookSettings = {
  url: 'https://product.example.com/webhooks',
  description: 'invented',
  rate_limit: 5,
  disabled: false,
  filter_types: ['labtest.order.updated'],
  secret: webhookSecret,
};
const newTeam = { name: 'Invented team', region: 'us', integration_team_id: 'i-1' };
const teamRead = { ...team, created_on: '2026-01-01T00:00:00Z' };
const bothEnvironments = '?include_environment=sandbox&include_environment=production';
const ofOrg = { label: 'Invented', role: 'org_admin' } as const;
const bindings = [{ team_id: 'team-1' }, { team_id: 'team-2' }];
const ofTeams = { label: 'Invented', role: 'team_admin' as const, team_role_bindings: bindings };
const ofTeam = { label: 'Invented', team_id: 'team-1' };
const changed = { url: 'https://other.example.com', description: 'other', rate_limit: 9 };
const fullTeam = { ...newTeam, ...teamSettings };
const disabling = { disabled: true, filter_types: null };
const shownHeaders = { headers: { 'x-invented': '1' }, sensitive: ['authorization'] };
const secretPath = `${hooks}/ep_1/secret`;
const signing = { key: webhookSecret };

type Call = (management: Management) => Promise<unknown>;

/** A call, what it sends, the answer, and what is read from it if that is anything else. */
const calls: [request: string, call: Call, body: unknown, answer: unknown, read?: unknown][] = [
  [`POST ${teamPath}`, ({ teams }) => teams.create('org-1', newTeam), newTeam, team, teamRead],
  [`POST ${teamPath}`, ({ teams }) => teams.create('org-1', fullTeam), fullTeam, team, teamRead],
  [
    `GET ${teamPath}/team-1${bothEnvironments}`,
    ({ teams }) => teams.get('org-1', 'team-1', { includeEnvironment: ['sandbox', 'production'] }),
    undefined,
    { ...team, sandbox: { any: 1 }, production: 'none' },
    { ...teamRead, sandbox: { any: 1 } },
  ],
  [`DELETE ${teamPath}/team-1`, ({ teams }) => teams.delete('org-1', 'team-1'), undefined, 'anything', undefined],
  [`POST ${hooks}`, ({ webhooks }) => webhooks.create(place, hookSettings), hookSettings, hook],
  [`GET ${hooks}/ep_1`, ({ webhooks }) => webhooks.get(place, 'ep_1'), undefined, hook],
  [`PATCH ${hooks}/ep_1`, ({ webhooks }) => webhooks.update(place, 'ep_1', changed), changed, hook],
  [`PATCH ${hooks}/ep_1`, ({ webhooks }) => webhooks.update(place, 'ep_1', disabling), disabling, hook],
  [`DELETE ${hooks}/ep_1`, ({ webhooks }) => webhooks.delete(place, 'ep_1'), undefined, '', undefined],
  [`GET ${hooks}/ep_1/headers`, ({ webhooks }) => webhooks.getHeaders(place, 'ep_1'), undefined, shownHeaders],
  [
    `PUT ${hooks}/ep_1/headers`,
    ({ webhooks }) => webhooks.setHeaders(place, 'ep_1', { authorization: headerValue }),
    { headers: { authorization: headerValue } },
    '',
    undefined,
  ],
  [`GET ${secretPath}`, ({ webhooks }) => webhooks.getSecret(place, 'ep_1'), undefined, signing, webhookSecret],
  [
    `POST ${secretPath}/rotate`,
    ({ webhooks }) => webhooks.rotateSecret(place, 'ep_1', webhookSecret),
    signing,
    '',
    undefined,
  ],
  [`POST ${secretPath}/rotate`, ({ webhooks }) => webhooks.rotateSecret(place, 'ep_1'), {}, '', undefined],
  [`POST ${keysPath}`, ({ managementKeys: keys }) => keys.create('org-1', ofOrg), ofOrg, orgKey],
  [`POST ${keysPath}`, ({ managementKeys: keys }) => keys.create('org-1', ofTeams), ofTeams, { ...key, key: shown }],
  [`DELETE ${keysPath}/key-1`, ({ managementKeys: keys }) => keys.delete('org-1', 'key-1'), undefined, null, undefined],
  [`POST ${teamKeys}`, ({ teamApiKeys }) => teamApiKeys.create(region, ofTeam), ofTeam, apiKey],
  [
    `DELETE ${teamKeys}?api_key_id=key-2&api_key_id=key-3`,
    ({ teamApiKeys }) => teamApiKeys.delete(region, ['key-2', 'key-3']),
    undefined,
    { success: ['key-2'], failure: null, not_found: ['key-3'] },
    { deleted: ['key-2'], failed: [], notFound: ['key-3'] },
  ],
  [
    'GET /v1/org/org-1/lab_account/sandbox/eu?lab_account_id=account-1&team_id=team-1&status=pending',
    ({ labAccounts }) => labAccounts.list(region, { labAccountId: 'account-1', teamId: 'team-1', status: 'pending' }),
    undefined,
    { data: [account] },
    [account],
  ],
  [
    'PATCH /v1/org/org-1/lab_account/sandbox/eu/account-1',
    ({ labAccounts }) => labAccounts.setTeams(region, 'account-1', []),
    { team_id_allowlist: [] },
    { lab_account: account },
    account,
  ],
];

// proves 10, 136, 234-240, 242, 246, 248, 249, 251
test.each(calls)('%s goes out with the management key and no other, and its answer is read', async (...row) => {
  const [request, call, body, answer, read] = row;
  const { management, requests } = await serviceWith({ body: answer }, { managementKey });
  expect(await call(management)).toEqual(row.length < 5 ? answer : read);
  const [sent] = requests;
  expect(`${sent?.method} ${sent?.url}`).toBe(request);
  expect(sent?.body).toEqual(body);
  const keys = Object.entries(sent?.headers ?? {}).filter(([name]) => /key|token/.test(name));
  expect(keys).toEqual([['x-management-key', managementKey]]);
});

// proves 253
test.each(calls)('%s has neither a key nor a secret in the error of a failure', async (_request, call, body) => {
  const sentence = `${managementKey} may not do ${JSON.stringify(body ?? {})}`;
  const forbidden = await serviceWith({ status: 403, body: { detail: sentence } }, { managementKey });
  const refused = await rejection(call(forbidden.management));
  expect(refused).toMatchObject({ name: 'Unauthorized', status: 403 });
  for (const secret of [managementKey, webhookSecret, 'invented-value']) {
    expect(inspect(refused, { depth: null })).not.toContain(secret);
  }
  const odd = await serviceWith({ body: { id: [shown], key: [shown], value: shown } }, { managementKey });
  const unreadable = await call(odd.management).catch((error: unknown) => error);
  expect(unreadable instanceof Error ? inspect(unreadable, { depth: null }) : '').not.toContain(shown);
});

describe('lists with a cursor', () => {
  const narrowed = { teamId: 'team-1', region: ['us', 'eu'], searchQuery: 'invented' };
  type List = (management: Management) => AsyncIterable<unknown>;
  const lists: [name: string, list: List, url: string, field: string][] = [
    [
      'teams',
      ({ teams }) => teams.list('org-1', narrowed),
      `${teamPath}?team_id=team-1&region=us&region=eu&search_query=invented`,
      'teams',
    ],
    ['webhook endpoints', ({ webhooks }) => webhooks.list(place, { pageSize: 7 }), `${hooks}?limit=7`, 'data'],
    [
      'management keys',
      ({ managementKeys }) => managementKeys.list('org-1', { teamId: 'team-1', role: 'team_admin' }),
      `${keysPath}?team_id=team-1&role=team_admin`,
      'data',
    ],
    [
      'team API keys',
      ({ teamApiKeys }) => teamApiKeys.list(region, { teamId: 'team-1' }),
      `${teamKeys}?team_id=team-1`,
      'api_keys',
    ],
  ];

  // proves 10, 235, 241, 246, 251
  test.each(lists)('a list of %s is read to its end', async (_name, list, url, field) => {
    const { baseUrl, requests } = await answering(({ url: asked }) => {
      const isLast = asked?.includes('next_cursor=c%2F1');
      return { body: { [field]: [{ id: isLast ? 'b' : 'a', value: 'v' }], next_cursor: isLast ? null : 'c/1' } };
    });
    const { management } = serviceAt(baseUrl, { managementKey });
    expect(await all(list(management))).toMatchObject([{ id: 'a' }, { id: 'b' }]);
    const parameters = (asked = '') => [...new URL(asked, 'http://x').searchParams].map((pair) => pair.join('='));
    const first = parameters(url);
    expect(requests[0]?.url?.split('?')[0]).toBe(url.split('?')[0]);
    expect(new Set(parameters(requests[0]?.url))).toEqual(new Set(first));
    expect(new Set(parameters(requests[1]?.url))).toEqual(new Set([...first, 'next_cursor=c/1']));
    for (const { headers } of requests) expect(headers).toHaveProperty('x-management-key', managementKey);
  });

  test.each(lists)('a list of %s ends if the cursor is not a string', async (_name, list, _url, field) => {
    const body = { [field]: [{ id: 'a', value: 'v' }], next_cursor: { odd: 1 } };
    const { management, requests } = await serviceWith({ body }, { managementKey });
    expect(await all(list(management))).toMatchObject([{ id: 'a' }]);
    expect(requests).toHaveLength(1);
  });
});

// proves 249
test.each<[field: string, call: (management: Management) => Promise<unknown>]>([
  ['name', ({ teams }) => teams.create('org-1', { name: '', region: 'us' })],
  ['name', ({ teams }) => teams.create('org-1', { name: 'x'.repeat(81), region: 'us' })],
  ['url', ({ webhooks }) => webhooks.create(place, { url: 'product' })],
  ['url', ({ webhooks }) => webhooks.create(place, { url: 'ftp://example.com' })],
  ['secret', ({ webhooks }) => webhooks.create(place, { ...hookSettings, secret: 'secret' })],
  // Short enough to guess.
  ['secret', ({ webhooks }) => webhooks.create(place, { ...hookSettings, secret: 'whsec_c2hvcnQ=' })],
  ['key', ({ webhooks }) => webhooks.rotateSecret(place, 'ep_1', 'secret')],
  ['headers.a', ({ webhooks }) => webhooks.setHeaders(place, 'e', { a: 'ä' })],
  ['team_role_bindings', ({ managementKeys }) => managementKeys.create('org-1', { label: 'l', role: 'team_admin' })],
  ['team_role_bindings', ({ managementKeys }) => managementKeys.create('org-1', { ...ofTeams, role: 'org_admin' })],
  ['keyIds', ({ teamApiKeys }) => teamApiKeys.delete(region, [])],
  ['team_id', ({ webhooks }) => webhooks.get({ ...place, teamId: '' }, 'ep_1')],
])('a request with a fault in %s does not go out (%#)', async (field, call) => {
  const broken = await brokenRules(({ management }) => call(management));
  expect(broken.map((rule) => rule.split(' ')[0])).toEqual([field]);
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
  const body = { success: 'all', failure: { odd: 1 }, not_found: 0 };
  const fate = await readFrom(body, ({ management }) => management.teamApiKeys.delete(region, ['key-2']));
  expect(fate).toEqual({ deleted: [], failed: [], notFound: [] });
});
