import { randomBytes } from 'node:crypto';
import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import type {
  WebhookEndpoint,
  WebhookHeadersRead,
  WebhookRegistered,
  WebhookSecretRotated,
} from '../../client/index.js';
import { inventedOrgId } from '../../sandbox/lab-service/organisation.js';
import { inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { verify } from '../../service/webhook-signature.js';
import { createLabService } from '../../service/lab-service.js';
import { manageWebhooksId } from '../../protocol/ids.js';
import { startReceiver } from '../integration/sandbox-rig.js';
import { eventually } from '../rig/eventually.js';
import { answer, labops } from './labops.js';
import { expectNothingReadable } from './raw-history.js';
import { stack } from './stack.js';

const encryptionKeys = `invented:${Buffer.from('an-invented-payload-key-32-bytes').toString('base64')}`;
const managementKey = 'mk_test_invented';
const lab = stack({ encryptionKeys, managementKey });
const env = { LABOPS_ENCRYPTION_KEYS: encryptionKeys };

const place = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };
const ofTeam = ['--org-id', inventedOrgId, '--team-id', inventedTeamId, '--environment', 'sandbox'];
const url = 'https://labs.example.com/webhooks';

// proves 234, 239
test('a signing secret is shown to the caller who asks for it, rotated, and readable in no history', async () => {
  const register = ['webhooks', 'register', ...ofTeam, '--url', url];
  const quiet = await labops(lab, register, { env });
  expect(quiet.code).toBe(0);
  expect(quiet.stdout + quiet.stderr).not.toContain('whsec_');
  const shown = await answer<WebhookRegistered>(labops(lab, [...register, '--show-secret', '--json'], { env }));
  expect(shown).toMatchObject({ created: false, secret: expect.stringMatching(/^whsec_/) as string });

  const rotate = ['webhooks', 'rotate', ...ofTeam, shown.endpoint.id, '--json'];
  const { secret } = await answer<WebhookSecretRotated>(labops(lab, [...rotate, '--show-secret'], { env }));
  expect(secret).toMatch(/^whsec_/);
  expect(secret).not.toBe(shown.secret);
  const unseen = await labops(lab, ['webhooks', 'rotate', ...ofTeam, shown.endpoint.id], { env });
  expect(unseen).toMatchObject({ code: 0, stdout: expect.stringContaining(shown.endpoint.id) as string });
  expect(unseen.stdout + unseen.stderr).not.toContain('whsec_');
  const later = await answer<WebhookRegistered>(labops(lab, [...register, '--show-secret', '--json'], { env }));
  expect(later.secret).not.toBe(secret);
  const service = createLabService({ baseUrl: lab.service.url, apiKey: lab.service.apiKey, managementKey });
  expect(await service.management.webhooks.getSecret(place, shown.endpoint.id)).toBe(later.secret);
  await service.close();

  const withoutKeys = new Client({ connection: lab.rig.client.connection });
  const query = `WorkflowId = '${manageWebhooksId(place)}'`;
  let runs = 0;
  for await (const { workflowId, runId } of withoutKeys.workflow.list({ query })) {
    const history = await withoutKeys.workflow.getHandle(workflowId, runId).fetchHistory();
    expectNothingReadable(history, 'invented', /whsec_|labs\.example\.com/);
    runs += 1;
  }
  expect(runs).toBeGreaterThanOrEqual(2);
  expect(lab.worker.output()).not.toContain('whsec_');
});

test('without the keys the command line says so, and shows nothing', async () => {
  const blind = await labops(lab, ['webhooks', 'list', ...ofTeam], {});
  expect(blind).toMatchObject({ code: 1, stdout: '' });
  expect(blind.stderr).toMatch(/^EncryptionKeysMissing: .*LABOPS_ENCRYPTION_KEYS/);
});

test('the repository, with nothing built, replays what is open with encryption keys', async () => {
  await lab.place();
  const replay = await labops(lab, ['replay', '--open', '5'], { env: lab.workerEnv, program: 'labops.js' });
  expect(replay, replay.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('0 differ') as string });
  const keys = `other:${randomBytes(32).toString('base64')}`;
  const other = { ...lab.workerEnv, LABOPS_ENCRYPTION_KEYS: keys };
  const blind = await labops(lab, ['replay', '--open', '5'], { env: other, program: 'labops.js' });
  expect(blind.stdout).toMatch(
    /^ {2}kit-order\/\S+: .*the start of this workflow cannot be read: add the key to the worker's LABOPS_ENCRYPTION_KEYS/m,
  );
  const nowhere = { ...lab.workerEnv, TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const lost = await labops(lab, ['replay'], { env: nowhere, program: 'labops.js' });
  expect(lost).toMatchObject({ code: 1, stdout: '' });
  expect(lost.stderr).toMatch(/^Temporal cannot be reached at 127\.0\.0\.1:1 \(.*correct TEMPORAL_ADDRESS/);
  expect(lost.stderr).not.toMatch(/^ {4}at /m);
});

test('an address that is a credential in itself may be registered, and is shown whole', async () => {
  const secretUrl = `${url}?token=invented`;
  const register = ['webhooks', 'register', ...ofTeam, '--url', secretUrl, '--json'];
  const registered = await answer<WebhookRegistered>(labops(lab, register, { env }));
  expect(registered).toMatchObject({ created: true, endpoint: { url: secretUrl } });
});

// proves 235, 236, 238, 239, 304
test('an endpoint is moved, disabled, enabled and given headers, and gets a secret that its receiver knew before', async () => {
  const receiver = await startReceiver();
  const { endpoint } = await lab.labs.webhooks.register(place, { url: `${url}/moving` });
  const of = (command: string) => ['webhooks', command, ...ofTeam, endpoint.id, '--json'];
  const change = ['--url', receiver.url, '--event-type', 'labtest.order.created', '--rate-limit', '5', '--disable'];
  const changed = await answer<WebhookEndpoint>(labops(lab, [...of('update'), ...change], { env }));
  const expected = { id: endpoint.id, url: receiver.url, eventTypes: ['labtest.order.created'], rateLimit: 5 };
  expect(changed).toMatchObject({ ...expected, disabled: true });
  await lab.labs.webhooks.update(place, endpoint.id, { description: 'Invented', rateLimit: null, eventTypes: [] });
  await lab.labs.webhooks.enable(place, endpoint.id);
  const shown = await answer<WebhookEndpoint>(labops(lab, of('show'), { env }));
  expect(shown).toMatchObject({ description: 'Invented', eventTypes: [], disabled: false });
  expect(shown).not.toHaveProperty('rateLimit');

  const input = JSON.stringify({ 'X-Invented': 'yes', Authorization: 'invented-credential' });
  await answer(labops(lab, [...of('headers'), '--set-file', '-'], { env, input }));
  const headers = await answer<WebhookHeadersRead>(labops(lab, of('headers'), { env }));
  expect(headers).toMatchObject({ headers: { 'X-Invented': 'yes' }, sensitive: ['Authorization'] });

  const old = (await lab.labs.webhooks.register(place, { url: receiver.url })).secret ?? '';
  const fresh = `whsec_${randomBytes(32).toString('base64')}`;
  const rotate = () => answer(labops(lab, [...of('rotate'), '--secret-file', '-'], { env, input: `${fresh}\n` }));
  expect(await rotate()).toEqual({ webhookId: endpoint.id });
  expect(await rotate()).toEqual({ webhookId: endpoint.id });
  await lab.place();
  const { headers: sent, raw } = await eventually(
    () => receiver.received[0] ?? Promise.reject(new Error('nothing came')),
  );
  expect(sent).toMatchObject({ 'x-invented': 'yes', authorization: 'invented-credential' });
  expect([old, fresh].map((secret) => verify(sent, Buffer.from(raw), [secret], Date.now()).ok)).toEqual([true, true]);
});
