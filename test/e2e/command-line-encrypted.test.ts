import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import type { WebhookRegistered, WebhookSecretRotated } from '../../client/index.js';
import { ORG_ID } from '../../sandbox/lab-service/organisation.js';
import { TEAM_ID } from '../../sandbox/lab-service/seed.js';
import { createLabService } from '../../service/lab-service.js';
import { manageWebhooksId } from '../../protocol/ids.js';
import { answer, labops } from './labops.js';
import { expectNothingReadable } from './raw-history.js';
import { stack } from './stack.js';

const encryptionKeys = `invented:${Buffer.from('an-invented-payload-key-32-bytes').toString('base64')}`;
const managementKey = 'mk_test_invented';
const lab = stack({ encryptionKeys, managementKey });
const env = { LABOPS_ENCRYPTION_KEYS: encryptionKeys };

const place = { orgId: ORG_ID, teamId: TEAM_ID, environment: 'sandbox' };
const ofTeam = ['--org-id', ORG_ID, '--team-id', TEAM_ID, '--environment', 'sandbox'];
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

test('an address that is a credential in itself may be registered, and is shown whole', async () => {
  const secretUrl = `${url}?token=invented`;
  const register = ['webhooks', 'register', ...ofTeam, '--url', secretUrl, '--json'];
  const registered = await answer<WebhookRegistered>(labops(lab, register, { env }));
  expect(registered).toMatchObject({ created: true, endpoint: { url: secretUrl } });
});
