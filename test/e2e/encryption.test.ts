import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { cp, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { afterEach, expect, test, vi } from 'vitest';
import {
  EncryptionKeysMissing,
  labDataConverter,
  LabOperations,
  OrderRefused,
  parseKeyRing,
  RegistrationRefused,
} from '../../client/index.js';
import { kitOrderId, placeKitOrderId } from '../../protocol/ids.js';
import { startBuilt } from '../rig/built.js';
import { projectFolder, startProcess } from '../rig/processes.js';
import { kitFor, personal, registration } from '../rig/cast.js';
import { expectNothingReadable, pathsOf } from './raw-history.js';
import { patience, stack } from './stack.js';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const oldKey = key('old');
const encryptionKeys = `new:${randomBytes(32).toString('base64')},${oldKey}`;

const lab = stack({ encryptionKeys });

afterEach(() => vi.unstubAllEnvs());

/** As somebody sees it who reaches Temporal, but has no keys. */
const withoutKeys = (): Client => new Client({ connection: lab.rig.client.connection });

/** An order that is placed, whose registration is refused and then accepted, and an order that is refused. */
async function playStory(): Promise<string[]> {
  const { handle, orderId, reference } = await lab.place();
  const { kit_sample_id: sampleId } = await lab.sandbox.order(orderId);
  const action = { kind: 'answer', status: 422, body: { detail: 'Testpatient is not known' } } as const;
  await lab.sandbox.addFault({ method: 'POST', path: '/v3/order/testkit/register', times: 1, action });
  await expect(handle.register(registration(sampleId ?? ''))).rejects.toThrow(RegistrationRefused);
  expect(await handle.register(registration(sampleId ?? ''))).toMatchObject({ reference, registered: true });
  await lab.untilIdle(orderId);

  const refusedReference = `refused-${randomUUID()}`;
  const unknownTest = kitFor(await lab.newUser(), refusedReference);
  unknownTest.order.lab_test_id = randomUUID();
  const refusedOrder = await lab.labs.orders.place(unknownTest);
  const refusal: unknown = await refusedOrder.orderId().catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(OrderRefused);
  const { sentence = '', fields = [] } = refusal as Partial<OrderRefused>;
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
  for (const message of [...histories, ...descriptions]) expectNothingReadable(message, 'new', personal);
  const paths = histories.flatMap((history) => pathsOf(history));
  for (const place of places) {
    expect(paths.filter((path) => path.includes(place)).length, place).toBeGreaterThan(0);
  }
}

test('nothing in Temporal can be read without the keys, and the client with keys reads all', async () => {
  expect(lab.worker.output()).toMatch(/"encryptsWithKey":"new"/);
  expect(lab.worker.output()).not.toMatch(/NOT encrypted/);
  await expectEncrypted(await playStory());
  expect(lab.worker.output(), 'everybody has the keys').not.toMatch(/Unencrypted payloads/);
});

test('a query is answered encrypted', async () => {
  const { orderId } = await lab.place();
  const answer = await lab.rig.client.connection.workflowService.queryWorkflow({
    namespace: lab.rig.namespace,
    execution: { workflowId: kitOrderId(orderId) },
    query: { queryType: '__temporal_workflow_metadata' },
  });
  expectNothingReadable(answer, 'new', /Order|Waits|awaiting/);
});

test('a worker from the build, with its prebuilt bundle, encrypts the same', async () => {
  const dist = await build();
  await lab.worker.stop();
  const worker = join(dist, 'workers', 'worker.js');
  const env = { ...lab.workerEnv, LOG_LEVEL: 'info' };
  const built = await startProcess(process.execPath, [worker], { env, ready: /worker started/ });
  try {
    await expectEncrypted(await playStory());
    expect(built.output()).not.toMatch(/Webpack|asset workflow-bundle/);
  } finally {
    await built.stop();
    await rm(dist, { recursive: true });
    await lab.startWorker();
  }
});

/** `npm run build` into a folder of its own. Linked modules are where they would be in a deployment. */
async function build(): Promise<string> {
  const dist = await mkdtemp(join(tmpdir(), 'lab-operations-build-'));
  await cp(join(projectFolder, 'package.json'), join(dist, 'package.json'));
  await symlink(join(projectFolder, 'node_modules'), join(dist, 'node_modules'));
  const run = promisify(execFile);
  const tsc = join(projectFolder, 'node_modules', 'typescript', 'bin', 'tsc');
  await run(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', dist], { cwd: projectFolder });
  await run(process.execPath, [join(dist, 'workers', 'build-bundle.js')]);
  for (const name of ['workflow-bundle.js', 'workflow-bundle-encoded-failures.js']) {
    process.stdout.write(`${name}: ${((await stat(join(dist, name))).size / 1e6).toFixed(2)} MB\n`);
  }
  return dist;
}

test('a client without keys learns what it lacks', async () => {
  const { reference, userId, handle } = await lab.place();
  await handle.orderId();
  const { orders } = new LabOperations(withoutKeys(), { taskQueue: lab.rig.taskQueue });
  await expect(orders.get({ reference })).rejects.toThrow(EncryptionKeysMissing);
  await expect(orders.place(kitFor(userId, reference))).rejects.toThrow(/dataConverter: labDataConverter/);
});

test('a client that connects by itself takes the keys from its setting, or those that it is given', async () => {
  const { reference } = await lab.place();
  vi.stubEnv('TEMPORAL_ADDRESS', lab.rig.address);
  vi.stubEnv('LABOPS_ENCRYPTION_KEYS', encryptionKeys);
  const byItself = await LabOperations.connect({ taskQueue: lab.rig.taskQueue });
  expect(await (await byItself.orders.get({ reference })).state()).toMatchObject({ reference });
  await byItself.close();
  vi.stubEnv('LABOPS_ENCRYPTION_KEYS', key('of-another-deployment'));
  const given = await LabOperations.connect({ encryptionKeys });
  expect(await (await given.orders.get({ reference })).state()).toMatchObject({ reference });
  await given.close();
  await expect(LabOperations.connect({ encryptionKeys: 'nonsense' })).rejects.toThrow(/^The key ring is not /);
});

test('what another key encrypted is readable after a change of keys, and unreadable once that key is gone', async () => {
  const dataConverter = labDataConverter(parseKeyRing(oldKey));
  const before = new Client({ connection: lab.rig.client.connection, dataConverter });
  const reference = `rotated-${randomUUID()}`;
  const { taskQueue } = lab.rig;
  await new LabOperations(before, { taskQueue, deadline: 'none' }).orders.place(kitFor(await lab.newUser(), reference));
  const handle = await lab.labs.orders.get({ reference });
  expect(await handle.state()).toMatchObject({ reference });

  const later = { dataConverter: labDataConverter(parseKeyRing(encryptionKeys.split(',', 1).join())) };
  const { orders } = new LabOperations(new Client({ connection: lab.rig.client.connection, ...later }), { taskQueue });
  await expect(orders.get({ reference })).rejects.toThrow('encrypted with key "old"');
});

test('a worker that has lost a key goes on with everything that needs another', async () => {
  const { handle, orderId } = await lab.place();
  await lab.worker.stop();
  const other = key('other');
  const env = { ...lab.workerEnv, LABOPS_ENCRYPTION_KEYS: other };
  const poor = await startBuilt('workers/worker.ts', {
    env,
    ready: /worker started/,
  });
  try {
    await lab.sandbox.move(orderId, 'transit_customer');
    await poor.waitFor(/the start of this workflow cannot be read: add the key \\"new\\" to/);
    const dataConverter = labDataConverter(parseKeyRing(`${other},${encryptionKeys}`));
    const client = new Client({ connection: lab.rig.client.connection, dataConverter });
    const { orders } = new LabOperations(client, { taskQueue: lab.rig.taskQueue, deadline: 'none' });
    const placed = await orders.place(kitFor(await lab.newUser(), `other-${randomUUID()}`));
    expect(await placed.orderId()).toMatch(/./);
  } finally {
    await poor.stop();
    await lab.startWorker();
  }
  // Temporal lets more and more time pass between the attempts of a task that fails.
  const longPatience = { ...patience, timeout: 200_000 };
  await expect.poll(async () => (await handle.state()).phase, longPatience).toBe('in_transit_to_customer');
});
