import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  errors,
  labDataConverter,
  LabOperations,
  parseKeyRing,
  type WebhookRegistered,
  type WebhookSecretRotated,
} from '../../client/index.js';
import { kitOrderId, webhookEndpointsId, placeKitOrderId } from '../../protocol/ids.js';
import { inventedOrgId } from '../../sandbox/lab-service/webhook-endpoints.js';
import { inventedTeamId } from '../../sandbox/lab-service/seed.js';
import { createLabService } from '../../service/lab-service.js';
import { createLog } from '../../workers/log.js';
import { ensureReconcileSchedule } from '../../workers/worker/reconcile-schedule.js';
import { startBuilt } from '../rig/built.js';
import { kitFor, personal, registration } from '../rig/cast.js';
import { answer, labops, labopsProcess } from './labops.js';
import { expectNothingReadable, pathsOf, placesOf } from './raw-history.js';
import { encryptionKeys, managementKey, oldKey, patience, stack } from './stack.js';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

const lab = stack();

afterEach(() => vi.unstubAllEnvs());

/** As somebody sees it who reaches Temporal, but has no keys. */
const withoutKeys = (): Client => new Client({ connection: lab.rig.client.connection });
const withKeys = (keys: string): Client =>
  new Client({ connection: lab.rig.client.connection, dataConverter: labDataConverter(parseKeyRing(keys)) });
const withoutOldKey = encryptionKeys.split(',', 1).join();
const withOldKey = (): Client => withKeys(`${oldKey},${withoutOldKey}`);

/** An order that is placed, whose registration is refused and then accepted, and an order that is refused. */
async function playStory(): Promise<string[]> {
  const { handle, orderId, reference } = await lab.place();
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  const action = { kind: 'answer', status: 422, body: { detail: 'Testpatient is not known' } } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit/register', times: 1, action });
  await expect(handle.register({ registration: registration(sampleId ?? '') })).rejects.toThrow(
    errors.RegistrationRefused,
  );
  expect(await handle.register({ registration: registration(sampleId ?? '') })).toMatchObject({
    reference,
    registered: true,
  });
  await lab.untilIdle(orderId);

  const refusedReference = `refused-${randomUUID()}`;
  const unknownTest = kitFor(await lab.newUser(), refusedReference);
  unknownTest.order.lab_test_id = randomUUID();
  const refusedOrder = await lab.labs.orders.place(unknownTest);
  const refusal: unknown = await refusedOrder.orderId().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(errors.OrderRefused);
  const { sentence = '', fields = [] } = refusal as Partial<errors.OrderRefused>;
  expect(sentence + JSON.stringify(fields), 'the client reads why').toMatch(/lab_test_id|lab test/i);
  return [placeKitOrderId(reference), kitOrderId(orderId), placeKitOrderId(refusedReference)];
}

/** Every place where the story leaves something; nothing else is checked. */
const places = [
  'workflowExecutionStartedEventAttributes.input',
  'workflowExecutionStartedEventAttributes.memo',
  'userMetadata.summary',
  'userMetadata.details',
  'workflowExecutionSignaledEventAttributes.input',
  'workflowExecutionUpdateAcceptedEventAttributes.acceptedRequest.input.args',
  'workflowExecutionUpdateCompletedEventAttributes.outcome.success',
  'workflowExecutionUpdateCompletedEventAttributes.outcome.failure.encodedAttributes',
  'workflowExecutionUpdateCompletedEventAttributes.outcome.failure.applicationFailureInfo.details',
  'activityTaskScheduledEventAttributes.input',
  'activityTaskCompletedEventAttributes.result',
  'activityTaskFailedEventAttributes.failure.encodedAttributes',
  'activityTaskFailedEventAttributes.failure.cause.encodedAttributes',
  'workflowExecutionFailedEventAttributes.failure.encodedAttributes',
];

async function expectEncrypted(workflowIds: readonly string[]): Promise<void> {
  const { workflowService } = lab.rig.client.connection;
  const histories = await Promise.all(
    workflowIds.map((workflowId) => withoutKeys().workflow.getHandle(workflowId).fetchHistory()),
  );
  const descriptions = await Promise.all(
    workflowIds.map((workflowId) =>
      workflowService.describeWorkflowExecution({ namespace: lab.rig.namespace, execution: { workflowId } }),
    ),
  );
  for (const message of [...histories, ...descriptions]) expectNothingReadable(message, 'invented', personal);
  for (const [index, workflowId] of workflowIds.entries()) {
    expect([...placesOf([histories[index], descriptions[index]])]).toEqual([`${lab.rig.namespace} ${workflowId}`]);
  }
  const paths = histories.flatMap((history) => pathsOf(history));
  for (const place of places) {
    expect(paths.filter((path) => path.includes(place)).length, place).toBeGreaterThan(0);
  }
}

test('nothing in Temporal can be read without the keys, and the client with keys reads all', async () => {
  await expectEncrypted(await playStory());
  expect(lab.worker.output(), 'everybody has the keys').not.toMatch(/Unencrypted payloads/);
});

test('a query is answered encrypted', async () => {
  const { orderId } = await lab.place();
  const answered = await lab.rig.client.connection.workflowService.queryWorkflow({
    namespace: lab.rig.namespace,
    execution: { workflowId: kitOrderId(orderId) },
    query: { queryType: '__temporal_workflow_metadata' },
  });
  expectNothingReadable(answered, 'invented', /Order|Waits|awaiting/);
});

test('a client that connects by itself takes the keys from its setting, or those that it is given', async () => {
  const { reference } = await lab.place();
  vi.stubEnv('TEMPORAL_ADDRESS', lab.rig.address);
  vi.stubEnv('LABOPS_ENCRYPTION_KEYS', encryptionKeys);
  const byItself = await LabOperations.connect({ taskQueue: lab.rig.taskQueue });
  expect(await (await byItself.orders.getHandle({ reference })).state()).toMatchObject({ reference });
  await byItself.close();
  vi.stubEnv('LABOPS_ENCRYPTION_KEYS', key('of-another-deployment'));
  for (const given of [encryptionKeys, async () => encryptionKeys]) {
    const labs = await LabOperations.connect({ encryptionKeys: given });
    expect(await (await labs.orders.getHandle({ reference })).state()).toMatchObject({ reference });
    await labs.close();
  }
  await expect(LabOperations.connect({ encryptionKeys: 'nonsense' })).rejects.toThrow(/^The key ring is not /);
});

test('what another key encrypted is readable after a change of keys, and unreadable once that key is gone', async () => {
  const reference = `rotated-${randomUUID()}`;
  const { taskQueue } = lab.rig;
  await new LabOperations(withOldKey(), { taskQueue, deadline: 'none' }).orders.place(
    kitFor(await lab.newUser(), reference),
  );
  const handle = await lab.labs.orders.getHandle({ reference });
  expect(await handle.state()).toMatchObject({ reference });

  const { orders } = new LabOperations(withKeys(withoutOldKey), { taskQueue });
  await expect(orders.getHandle({ reference })).rejects.toThrow('encrypted with key "old"');

  // Also once it has ended: the worker encrypts with "invented".
  await (await lab.labs.orders.getHandle({ reference })).cancel();
  const other = key('other');
  const late = new LabOperations(withKeys(other), { taskQueue });
  await expect(late.orders.getHandle({ reference })).rejects.toThrow(errors.EncryptionKeyUnknown);
  const options = { env: { LABOPS_ENCRYPTION_KEYS: other } };
  const shown = await labops(lab, ['orders', 'show', '--reference', reference], options);
  expect(shown).toMatchObject({ code: 1, stdout: '' });
  expect(shown.stderr).toMatch(/^EncryptionKeyUnknown: A payload was encrypted with key "/);
  expect(await labops(lab, ['orders', 'list', '-o', 'json'], options)).toMatchObject({ code: 0 });
});

test('an ingress with a key of its own, with which the others only decrypt, delivers what it receives, and reads nothing of theirs', async () => {
  const { webhookUrl } = await lab.sandbox.settings();
  onTestFinished(async () => void (await lab.sandbox.changeSettings({ webhookUrl })));
  await lab.sandbox.changeSettings({ webhookUrl: await lab.startIngress({ LABOPS_ENCRYPTION_KEYS: oldKey }) });
  const { handle, orderId, reference } = await lab.place();
  await lab.sandbox.move(orderId, 'transit_customer');
  await expect.poll(async () => (await handle.state()).phase, patience).toBe('in_transit_to_customer');
  const { orders } = new LabOperations(withKeys(oldKey), { taskQueue: lab.rig.taskQueue });
  const reading = orders.getHandle({ reference }).then((found) => found.state());
  await expect(reading).rejects.toThrow('encrypted with key "invented"');
});

const endpointPlace = { orgId: inventedOrgId, teamId: inventedTeamId, environment: 'sandbox' };
const ofTeam = ['--org-id', inventedOrgId, '--team-id', inventedTeamId, '--environment', 'sandbox'];
const url = 'http://127.0.0.1:9/ours';

// proves 234, 239
test('a signing secret is shown to the caller who asks for it, rotated, and readable in no history', async () => {
  const register = ['webhooks', 'register', ...ofTeam, '--url', url];
  const quiet = await labops(lab, register);
  expect(quiet.code).toBe(0);
  expect(quiet.stdout + quiet.stderr).not.toContain('whsec_');
  const shown = await answer<WebhookRegistered>(labops(lab, [...register, '--show-secret', '-o', 'json']));
  expect(shown).toMatchObject({ created: false, secret: expect.stringMatching(/^whsec_/) as string });

  const rotate = ['webhooks', 'rotate', ...ofTeam, shown.endpoint.id, '-o', 'json'];
  const { secret } = await answer<WebhookSecretRotated>(labops(lab, [...rotate, '--show-secret']));
  expect(secret).toMatch(/^whsec_/);
  expect(secret).not.toBe(shown.secret);
  const unseen = await labops(lab, ['webhooks', 'rotate', ...ofTeam, shown.endpoint.id]);
  expect(unseen).toMatchObject({ code: 0, stdout: expect.stringContaining(shown.endpoint.id) as string });
  expect(unseen.stdout + unseen.stderr).not.toContain('whsec_');
  const later = await answer<WebhookRegistered>(labops(lab, [...register, '--show-secret', '-o', 'json']));
  expect(later.secret).not.toBe(secret);
  const service = createLabService({ baseUrl: lab.service.url, apiKey: lab.service.apiKey, managementKey });
  expect(await service.management.webhooks.getSecret(endpointPlace, shown.endpoint.id)).toBe(later.secret);
  await service.close();

  const query = `WorkflowId = '${webhookEndpointsId(endpointPlace)}'`;
  let runs = 0;
  for await (const { workflowId, runId } of withoutKeys().workflow.list({ query })) {
    const history = await withoutKeys().workflow.getHandle(workflowId, runId).fetchHistory();
    expectNothingReadable(history, 'invented', /whsec_|:9\/ours/);
    runs += 1;
  }
  expect(runs).toBeGreaterThanOrEqual(2);
  expect(lab.worker.output()).not.toContain('whsec_');
});

test('the repository, with nothing built, replays what is open with encryption keys, and names the key that it lacks', async () => {
  const { orderId } = await lab.place();
  const { links } = new LabOperations(withOldKey(), { taskQueue: lab.rig.taskQueue, deadline: 'none' });
  await (await links.start({ userId: await lab.newUser(), provider: 'invented_watch' })).url();
  const keys = { LABOPS_ENCRYPTION_KEYS: withoutOldKey };
  const args = ['replay', '--open', '5'];
  const replay = await labopsProcess(lab, args, { env: { ...lab.workerEnv, ...keys }, program: 'labops.js' });
  expect(replay, replay.stderr).toMatchObject({ code: 1 });
  // Other tests may have left orders open that need the old key.
  expect(replay.stdout).toMatch(/^kitOrder: [1-9]\d* replayed, \d differ$/m);
  expect(replay.stdout).not.toContain(kitOrderId(orderId));
  expect(replay.stdout).toMatch(
    /^ {2}link-provider\/\S+: .*the start of this workflow cannot be read: add the key "old" to the worker's LABOPS_ENCRYPTION_KEYS/m,
  );
});

test('a worker that has lost a key goes on with everything that needs another, and takes up the rest once its file has the key', async () => {
  const { orderId } = await lab.place();
  await lab.worker.stop();
  const { client: temporal, taskQueue } = lab.rig;
  const schedule = { taskQueue, reconcileEveryMinutes: 60 };
  await (
    await ensureReconcileSchedule(temporal, schedule, createLog({ logLevel: 'silent', logFormat: 'names' }, 'test'))
  ).stop();
  const other = key('other');
  const file = join(await mkdtemp(join(tmpdir(), 'keys-')), 'keys');
  await writeFile(file, other);
  const poor = await startBuilt('workers/worker.ts', {
    env: {
      ...lab.workerEnv,
      ...{ LABOPS_ENCRYPTION_KEYS: undefined, LABOPS_ENCRYPTION_KEYS_FILE: file, RECONCILE_EVERY_MINUTES: '60' },
    },
    ready: /worker started/,
  });
  try {
    await lab.sandbox.move(orderId, 'transit_customer');
    expect(poor.output()).toMatch(/"encryptsWithKey":"other"/);
    expect(poor.output()).not.toMatch(/NOT encrypted/);
    await poor.waitFor(/the start of this workflow cannot be read: add the key \\"invented\\" to/);
    const client = withKeys(`${other},${encryptionKeys}`);
    const { orders } = new LabOperations(client, { taskQueue, deadline: 'none' });
    const placed = await orders.place(kitFor(await lab.newUser(), `other-${randomUUID()}`));
    const readable = await placed.orderId();
    expect(readable).toMatch(/./);
    // Nobody else here has its key.
    await lab.rig.client.workflow.getHandle(kitOrderId(readable)).terminate();
    await writeFile(file, `${other},${encryptionKeys}`);
    // Temporal lets more and more time pass between the attempts of a task that fails.
    const longPatience = { ...patience, timeout: 200_000 };
    const known = await orders.getHandle({ orderId });
    await expect.poll(async () => (await known.state()).phase, longPatience).toBe('in_transit_to_customer');
    await lab.rig.client.workflow.getHandle(kitOrderId(orderId)).terminate();
  } finally {
    await poor.stop();
    await rm(file);
    await lab.startWorker();
  }
});
