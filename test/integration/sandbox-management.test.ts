import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inventedOrgId } from '../../sandbox/lab-service/organisation.js';
import { labAccountIds, inventedTeamId } from '../../sandbox/lab-service/seed.js';
import type { Settings } from '../../sandbox/lab-service/settings.js';
import { startLabService } from '../../sandbox/lab-service/server.js';
import type { ServiceConfig } from '../../service/http.js';
import { createLabService, type LabService } from '../../service/lab-service.js';
import { verify } from '../../service/webhook-signature.js';
import { all } from '../rig/all.js';
import {
  sandboxApiKey,
  sandboxManagementKey,
  webhookSecret,
  startReceiver,
  startSandbox,
  type Received,
  type Sandbox,
} from './sandbox-rig.js';

const place = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };
const region = { orgId: inventedOrgId, environment: 'sandbox', region: 'us' };
const otherTeam = { name: 'Other invented team', region: 'eu' };

interface Managing extends Sandbox {
  readonly client: LabService;
  /** A client with other keys. */
  readonly as: (config: Partial<ServiceConfig>) => LabService;
}

async function startManaging(settings: Partial<Settings> = {}): Promise<Managing> {
  const sandbox = await startSandbox(settings);
  const as = (config: Partial<ServiceConfig>): LabService => {
    const client = createLabService({ baseUrl: sandbox.service.url, apiKey: sandboxApiKey, ...config });
    onTestFinished(() => client.close());
    return client;
  };
  return { ...sandbox, as, client: as({ managementKey: sandboxManagementKey }) };
}

function newSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

function isSignedWith({ headers, raw }: Received, ...secrets: string[]): boolean {
  return verify(headers, Buffer.from(raw), secrets, Date.now()).ok;
}

describe('keys', () => {
  // proves 246, 247, 327
  test('keys for management are accepted in the current header and in the deprecated one', async () => {
    const { client, as, service } = await startManaging();
    const old = as({ managementKey: sandboxManagementKey, deprecatedManagementHeader: true, warn: () => undefined });
    for (const { management } of [client, old]) expect(await all(management.teams.list(inventedOrgId))).toHaveLength(1);
    const path = `${service.url}/v1/org/${inventedOrgId}/team`;
    expect((await fetch(path, { headers: { 'X-Service-Org-Key': sandboxManagementKey } })).status).toBe(200);
    expect((await fetch(path, { headers: { 'x-service-api-key': sandboxManagementKey } })).status).toBe(401);
  });

  // proves 250
  test('keys of one kind are refused in place of the other', async () => {
    const { as } = await startManaging();
    await expect(all(as({ apiKey: sandboxManagementKey }).users.list())).rejects.toMatchObject({
      name: 'Unauthorized',
    });
    const { management } = as({ apiKey: 'sk_another', managementKey: sandboxApiKey });
    await expect(all(management.teams.list(inventedOrgId))).rejects.toMatchObject({
      name: 'Unauthorized',
      status: 401,
    });
  });

  // proves 246
  test('keys of an organisation reach no other', async () => {
    const { client } = await startManaging();
    await expect(all(client.management.teams.list(inventedTeamId))).rejects.toMatchObject({ status: 403 });
  });

  // proves 240, 248, 249
  test('are made with all rights, or for two teams and nothing else', async () => {
    const { client, as } = await startManaging();
    const { management } = client;
    const other = await management.teams.create(inventedOrgId, otherTeam);
    const third = await management.teams.create(inventedOrgId, { ...otherTeam, name: 'Third invented team' });
    const org = await management.managementKeys.create(inventedOrgId, { label: 'Invented org key', role: 'org_admin' });
    const team = await management.managementKeys.create(inventedOrgId, {
      ...{ label: 'Invented team key', role: 'team_admin' },
      team_role_bindings: [{ team_id: inventedTeamId }, { team_id: other.id }],
    });
    expect(team.team_role_bindings).toEqual([{ team_id: inventedTeamId }, { team_id: other.id }]);
    await as({ managementKey: org.key }).management.teams.delete(inventedOrgId, third.id);
    expect(await all(management.teams.list(inventedOrgId))).toHaveLength(2);

    const bound = as({ managementKey: team.key }).management;
    expect(await bound.teams.get(inventedOrgId, other.id)).toMatchObject(otherTeam);
    expect(await all(bound.webhooks.list({ ...place, teamId: other.id }))).toEqual([]);
    const refused = { name: 'Unauthorized', status: 403 };
    await expect(bound.teams.create(inventedOrgId, otherTeam)).rejects.toMatchObject(refused);
    await expect(bound.teams.delete(inventedOrgId, other.id)).rejects.toMatchObject(refused);
    await expect(bound.teams.get(inventedOrgId, third.id)).rejects.toMatchObject(refused);
    await expect(all(bound.managementKeys.list(inventedOrgId))).rejects.toMatchObject(refused);
    await expect(bound.teamApiKeys.create(region, { label: 'l', team_id: third.id })).rejects.toMatchObject(refused);
  });

  // proves 241, 242
  test('are listed without their secret, changed, and gone when they are deleted', async () => {
    const { client, as } = await startManaging({ managementPageSize: 2 });
    const { managementKeys } = client.management;
    const made = [];
    for (const label of ['one', 'two', 'three', 'four']) {
      made.push(
        await managementKeys.create(inventedOrgId, {
          label,
          role: 'team_admin',
          team_role_bindings: [{ team_id: inventedTeamId }],
        }),
      );
    }
    const listed = await all(managementKeys.list(inventedOrgId));
    expect(listed.map(({ label }) => label)).toEqual(['Invented first key', 'one', 'two', 'three', 'four']);
    expect(JSON.stringify(listed)).not.toContain('mk_');
    expect(await all(managementKeys.list(inventedOrgId, { role: 'org_admin' }))).toHaveLength(1);
    expect(await all(managementKeys.list(inventedOrgId, { teamId: inventedTeamId }))).toHaveLength(4);
    const { id = '', key = '' } = made[0] ?? {};
    expect(await managementKeys.update(inventedOrgId, id, { label: 'Renamed' })).toMatchObject({ label: 'Renamed' });
    const { teams } = as({ managementKey: key }).management;
    expect(await all(teams.list(inventedOrgId))).toHaveLength(1);
    await managementKeys.delete(inventedOrgId, id);
    await expect(all(teams.list(inventedOrgId))).rejects.toMatchObject({ status: 401 });
    await expect(managementKeys.delete(inventedOrgId, id)).rejects.toMatchObject({ name: 'NotFound' });
  });

  // proves 244, 251
  test('keys of a team are made and deleted by management, and open the team API until then', async () => {
    const { client, as } = await startManaging();
    const { teamApiKeys } = client.management;
    const { id, value } = await teamApiKeys.create(region, { label: 'Invented key', team_id: inventedTeamId });
    const { users } = as({ apiKey: value ?? '' });
    expect(await all(users.list())).toEqual([]);
    expect(await all(teamApiKeys.list(region))).toMatchObject([{ id, label: 'Invented key', team_id: inventedTeamId }]);
    expect(await all(teamApiKeys.list({ ...region, region: 'eu' }))).toEqual([]);
    expect(await teamApiKeys.delete(region, [id, inventedOrgId])).toEqual({
      deleted: [id],
      failed: [],
      notFound: [inventedOrgId],
    });
    await expect(all(users.list())).rejects.toMatchObject({ status: 401 });
  });

  // proves 244
  test('keys for another environment or region open nothing here', async () => {
    const { client, as } = await startManaging();
    for (const elsewhere of [
      { ...region, region: 'eu' },
      { ...region, environment: 'production' },
    ]) {
      const { value } = await client.management.teamApiKeys.create(elsewhere, { label: 'l', team_id: inventedTeamId });
      await expect(all(as({ apiKey: value ?? '' }).users.list())).rejects.toMatchObject({ status: 401 });
    }
  });

  test('are nowhere in the sandbox’s log', async () => {
    const { client, control } = await startManaging();
    await client.management.managementKeys.create(inventedOrgId, { label: 'l', role: 'org_admin' });
    expect(JSON.stringify(await control.requests())).not.toContain('mk_');
  });
});

describe('teams', () => {
  // proves 10, 248
  test('are created, found, read with their settings, changed and deleted', async () => {
    const { client } = await startManaging({ managementPageSize: 1 });
    const { teams } = client.management;
    const created = await teams.create(inventedOrgId, {
      ...otherTeam,
      integration_team_id: 'i-1',
      minor_ordering_enabled: true,
    });
    expect(await all(teams.list(inventedOrgId))).toHaveLength(2);
    expect(await all(teams.list(inventedOrgId, { searchQuery: 'OTHER', region: ['eu'] }))).toEqual([created]);
    await teams.update(inventedOrgId, created.id, { name: 'Renamed', production: { any: 1 } });
    const read = await teams.get(inventedOrgId, created.id, { includeEnvironment: ['production'] });
    expect(read).toMatchObject({
      ...{ name: 'Renamed', integration_team_id: 'i-1', environments: ['production'] },
      production: { any: 1, minor_ordering_enabled: true },
    });
    expect(read).not.toHaveProperty('sandbox');
    await teams.delete(inventedOrgId, created.id);
    await expect(teams.get(inventedOrgId, created.id)).rejects.toMatchObject({ name: 'NotFound' });
  });

  // proves 10, 311
  test("share no customer's id: the conflict names the team that has it", async () => {
    const { client, call } = await startManaging();
    const { teams } = client.management;
    const { id } = await teams.create(inventedOrgId, { ...otherTeam, integration_team_id: 'i-1' });
    await expect(teams.create(inventedOrgId, { ...otherTeam, integration_team_id: 'i-1' })).rejects.toMatchObject({
      status: 409,
    });
    await expect(teams.update(inventedOrgId, inventedTeamId, { integration_team_id: 'i-1' })).rejects.toMatchObject({
      status: 409,
    });
    await teams.update(inventedOrgId, id, { integration_team_id: 'i-1' });
    const body = { ...otherTeam, integration_team_id: 'i-1' };
    const answer = await call('POST', `/v1/org/${inventedOrgId}/team`, body, {
      'x-management-key': sandboxManagementKey,
    });
    expect(JSON.parse(answer.text)).toEqual({ team_id: id });
  });

  // proves 305
  test('are refused with every fault of the request', async () => {
    const { call } = await startManaging();
    const key = { 'x-management-key': sandboxManagementKey };
    const { status, body } = await call('POST', `/v1/org/${inventedOrgId}/team`, { region: 'mars', logo_url: 5 }, key);
    expect(status).toBe(422);
    expect(body.detail.map(({ loc, type }) => `${loc.join('.')} ${type}`)).toEqual([
      ...['body.name missing', 'body.region enum', 'body.logo_url string_type'],
    ]);
    expect((await call('GET', `/v1/org/${inventedOrgId}/team?next_cursor=x`, undefined, key)).status).toBe(422);
  });
});

describe('webhook endpoints', () => {
  async function started(settings: Partial<Settings> = {}) {
    const managing = await startManaging(settings);
    return { ...managing, webhooks: managing.client.management.webhooks };
  }

  // proves 234, 239
  test('webhook endpoints that were created get deliveries, signed with their own secret', async () => {
    const { url, received } = await startReceiver();
    const { webhooks, control, newKit } = await started();
    const { id } = await webhooks.create(place, { url, description: 'Invented' });
    const { id: orderId } = await newKit();
    await control.settleWebhooks();
    expect(received).toHaveLength(2);
    const secret = await webhooks.getSecret(place, id);
    expect(received.every((message) => isSignedWith(message, secret))).toBe(true);
    expect(received.some((message) => isSignedWith(message, webhookSecret))).toBe(false);
    expect(await control.deliveries({ order_id: orderId })).toMatchObject([
      { endpoint_id: id, state: 'delivered' },
      { endpoint_id: id, state: 'delivered' },
    ]);
  });

  // proves 234
  test('are delivered to beside the address in the settings, each with messages of its own', async () => {
    const [settings, made] = [await startReceiver(), await startReceiver()];
    const { webhooks, control, newKit } = await started({ webhookUrl: settings.url, webhookSecrets: [webhookSecret] });
    const secret = newSecret();
    await webhooks.create(place, { url: made.url, secret });
    await newKit();
    await control.settleWebhooks();
    expect([settings.received.length, made.received.length]).toEqual([2, 2]);
    expect(made.received.every((message) => isSignedWith(message, secret))).toBe(true);
    const ids = [...settings.received, ...made.received].map(({ headers }) => headers['svix-id']);
    expect(new Set(ids).size).toBe(4);
  });

  // proves 239, 304
  test('are signed with both secrets while one is rotated, and with the new one alone a day later', async () => {
    const { url, received } = await startReceiver();
    const { webhooks, control, newKit } = await started();
    const [old, fresh] = [newSecret(), newSecret()];
    const { id } = await webhooks.create(place, { url, secret: old, filter_types: ['labtest.order.created'] });
    await webhooks.rotateSecret(place, id, fresh);
    expect(await webhooks.getSecret(place, id)).toBe(fresh);
    await newKit();
    await control.advanceClock('25h');
    await newKit();
    await control.settleWebhooks();
    const [during, after] = received;
    expect(String(during?.headers['svix-signature']).split(' ')).toHaveLength(2);
    expect([old, fresh].map((secret) => during && isSignedWith(during, secret))).toEqual([true, true]);
    expect([old, fresh].map((secret) => after && isSignedWith(after, secret))).toEqual([false, true]);
  });

  // proves 239
  test('accept a secret that the service makes up', async () => {
    const { webhooks } = await started();
    const { id } = await webhooks.create(place, { url: 'http://127.0.0.1:1/', secret: webhookSecret });
    await webhooks.rotateSecret(place, id);
    const made = await webhooks.getSecret(place, id);
    expect(made).toMatch(/^whsec_/);
    expect(made).not.toBe(webhookSecret);
  });

  // proves 236, 237
  test('get the types that they request, and nothing while they are disabled or once they are deleted', async () => {
    const { url, received } = await startReceiver();
    const { webhooks, control, newKit } = await started();
    const { id } = await webhooks.create(place, { url, filter_types: ['labtest.order.created'], rate_limit: 5 });
    await newKit();
    await control.settleWebhooks();
    expect(received.map(({ json }) => json.event_type)).toEqual(['labtest.order.created']);
    const changed = await webhooks.update(place, id, { filter_types: null, rate_limit: null, description: 'Both' });
    expect(changed).toMatchObject({ filter_types: null, rate_limit: null, description: 'Both', url });
    await newKit();
    await control.settleWebhooks();
    expect(received).toHaveLength(3);
    await webhooks.update(place, id, { disabled: true });
    await newKit();
    await webhooks.update(place, id, { disabled: false });
    await webhooks.delete(place, id);
    await newKit();
    await control.settleWebhooks();
    expect(received).toHaveLength(3);
    await expect(webhooks.get(place, id)).rejects.toMatchObject({ name: 'NotFound' });
  });

  // proves 236
  test('receive at their present address, even what failed before', async () => {
    const { url, received } = await startReceiver();
    const { webhooks, control, newKit } = await started();
    const { id } = await webhooks.create(place, {
      url: 'http://127.0.0.1:1/',
      filter_types: ['labtest.order.created'],
    });
    await newKit();
    await control.settleWebhooks();
    expect(await control.deliveries()).toMatchObject([{ state: 'waiting', attempts: [{ error: 'ECONNREFUSED' }] }]);
    await webhooks.update(place, id, { url });
    await control.advanceClock('6s');
    await control.settleWebhooks();
    expect(received).toHaveLength(1);
    expect(await control.deliveries()).toMatchObject([{ state: 'delivered' }]);
  });

  // proves 238
  test('send their own headers along, and show the sensitive ones by name alone', async () => {
    const { url, received } = await startReceiver();
    const { webhooks, control, newKit } = await started();
    const { id } = await webhooks.create(place, { url });
    const headers = { 'X-Invented': 'shown', Authorization: 'Bearer invented', 'svix-id': 'cannot be replaced' };
    await webhooks.setHeaders(place, id, headers);
    expect(await webhooks.getHeaders(place, id)).toEqual({
      headers: { 'X-Invented': 'shown', 'svix-id': 'cannot be replaced' },
      sensitive: ['Authorization'],
    });
    await newKit();
    await control.settleWebhooks();
    expect(received[0]?.headers).toMatchObject({ 'x-invented': 'shown', authorization: 'Bearer invented' });
    expect(received[0]?.headers['svix-id']).toMatch(/^msg_/);
  });

  // proves 235
  test('are listed page by page, for their team and environment', async () => {
    const { webhooks, client } = await started();
    const other = await client.management.teams.create(inventedOrgId, otherTeam);
    for (const n of [1, 2, 3]) await webhooks.create(place, { url: `http://127.0.0.1:1/${n}` });
    await webhooks.create({ ...place, environment: 'production' }, { url: 'http://127.0.0.1:1/4' });
    await webhooks.create({ ...place, teamId: other.id }, { url: 'http://127.0.0.1:1/5' });
    const listed = await all(webhooks.list(place, { pageSize: 2 }));
    expect(listed.map(({ url }) => url)).toEqual([1, 2, 3].map((n) => `http://127.0.0.1:1/${n}`));
  });

  // proves 234
  test('webhook endpoints of production and of other teams get nothing of what is played here', async () => {
    const { url, received } = await startReceiver();
    const { webhooks, control, newKit } = await started();
    await webhooks.create({ ...place, environment: 'production' }, { url });
    await newKit();
    await control.settleWebhooks();
    expect(received).toEqual([]);
  });

  // proves 234
  test('are forgotten with a reset', async () => {
    const { webhooks, control } = await started();
    await webhooks.create(place, { url: 'http://127.0.0.1:1/' });
    await control.reset();
    expect(await all(webhooks.list(place))).toEqual([]);
  });
});

describe('lab accounts', () => {
  // proves 10, 136, 223
  test('are listed for the organisation, and their teams can be replaced', async () => {
    const { client } = await startManaging();
    const { labAccounts } = client.management;
    expect(await labAccounts.list(region)).toHaveLength(5);
    expect(await labAccounts.list(region, { status: 'pending' })).toMatchObject([{ id: labAccountIds.pending }]);
    expect(await labAccounts.list({ ...region, region: 'eu' })).toEqual([]);
    const changed = await labAccounts.setTeams(region, labAccountIds.pending, []);
    expect(changed).toMatchObject({ id: labAccountIds.pending, team_id_allowlist: [], org_id: inventedOrgId });
    expect(await labAccounts.list(region, { teamId: inventedTeamId })).toHaveLength(4);
    const [shown] = await client.labTests.listLabAccounts({ labAccountId: labAccountIds.pending });
    expect(shown).toMatchObject({ team_id_allowlist: [] });
  });
});

// proves 253, 308
test('a team without the paid tier is refused as such', async () => {
  const { client } = await startManaging({ closedFeatures: ['management'] });
  await expect(all(client.management.teams.list(inventedOrgId))).rejects.toMatchObject({ name: 'FeatureNotEnabled' });
});

test('a stand-in without a management key lets nobody manage', async () => {
  const service = await startLabService({ port: 0, apiKey: sandboxApiKey });
  onTestFinished(() => service.close());
  const client = createLabService({ baseUrl: service.url, apiKey: sandboxApiKey, managementKey: sandboxManagementKey });
  onTestFinished(() => client.close());
  await expect(all(client.management.teams.list(inventedOrgId))).rejects.toMatchObject({ status: 401 });
});
