import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LabOperations } from '../../client/lab-operations.js';
import { createWebhookHandler } from '../../client/webhooks/handler.js';
import { reconcileScheduleId } from '../../protocol/reconcile.js';
import { searchAttributeKeys } from '../../protocol/search-attributes.js';
import { StartFailed } from '../../workers/process.js';
import { readWorkerConfig } from '../../workers/settings/config.js';
import { startWorker } from '../../workers/worker.js';
import { ensureReconcileSchedule } from '../../workers/worker/reconcile-schedule.js';
import { ensureSearchAttributes, SearchAttributesMissing } from '../../workers/worker/search-attributes.js';
import { builtPath, startBuilt } from '../rig/built.js';
import { devServer } from '../rig/environments.js';
import { ingressEnv } from './ingress-env.js';
import { monitoringUrl } from '../rig/monitoring.js';
import { type Proxy, startProxy } from '../rig/temporal-proxy.js';
import { closedPort, orderEvent, secret, signed } from '../unit/webhooks/sending.js';

const rig = devServer({ standing: 'integration' });

const log = pino({ level: 'silent' });

/** The settings of this machine must not affect a test. */
const unset = { SERVICE_BASE_URL: undefined, SERVICE_ENVIRONMENT: undefined, SERVICE_API_KEY: undefined };
const workerEnv = () => ({
  TEMPORAL_ADDRESS: rig.address,
  SERVICE_BASE_URL: 'http://127.0.0.1:9',
  SERVICE_API_KEY: 'sk_invented',
  TASK_QUEUE: 'process-test',
});

test('invalid settings end the worker with status 2 and one line each', async () => {
  const started = await startBuilt('workers/worker.ts', { env: { ...unset, LOG_LEVEL: 'loud' } });
  expect(await started.exit).toEqual({ code: 2, signal: null });
  expect(started.output().trim().split('\n')).toEqual([
    '3 settings are invalid:',
    expect.stringMatching(/^ {2}LOG_LEVEL is not a level: use one of /) as string,
    expect.stringMatching(/^ {2}SERVICE_API_KEY is missing: /) as string,
    expect.stringMatching(/^ {2}SERVICE_BASE_URL is missing: /) as string,
  ]);
});

test('an invalid setting ends the ingress with status 2', async () => {
  const started = await startBuilt('workers/ingress.ts', { env: { ...ingressEnv(rig), WEBHOOK_SECRETS: undefined } });
  expect(await started.exit).toEqual({ code: 2, signal: null });
  expect(started.output()).toMatch(/^One setting is invalid:\n {2}WEBHOOK_SECRETS is missing: /);
});

test('the worker exits with status 1 and one line if Temporal cannot be reached', async () => {
  const address = `127.0.0.1:${await closedPort()}`;
  const env = { ...workerEnv(), LOG_LEVEL: 'error', TEMPORAL_ADDRESS: address };
  const started = await startBuilt('workers/worker.ts', { env });
  expect(await started.exit).toEqual({ code: 1, signal: null });
  const line = new RegExp(`^Temporal cannot be reached at ${address} \\(.+\\): .+TEMPORAL_ADDRESS.+\\n$`);
  expect(started.output()).toMatch(line);
});

test('a worker whose namespace does not exist does not start, and says so in one line', async () => {
  const config = readWorkerConfig({ ...workerEnv(), TEMPORAL_NAMESPACE: 'not-there', NODE_ENV: 'test' });
  const starting = startWorker(config, log);
  await expect(starting).rejects.toThrow(StartFailed);
  await expect(starting).rejects.toThrow(/^Temporal at .+ namespace not-there .+TEMPORAL_NAMESPACE.+$/);
});

let connection: Connection;

beforeAll(async () => {
  connection = await Connection.connect({ address: rig.address });
});
afterAll(() => connection.close());

/** A namespace that knows none of our search attributes, usable at once. */
async function bareNamespace(): Promise<string> {
  const namespace = `bare-${randomUUID()}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await expect
    .poll(() =>
      connection.operatorService.listSearchAttributes({ namespace }).then(
        () => 'known',
        () => 'unknown',
      ),
    )
    .toBe('known');
  return namespace;
}

const names = searchAttributeKeys.map(({ name }) => name);

describe('search attributes at the start of a worker', () => {
  test('are registered if they are missing, and nothing is done the second time', async () => {
    const namespace = await bareNamespace();
    expect(await ensureSearchAttributes(connection, namespace)).toEqual(names);
    expect(await ensureSearchAttributes(connection, namespace)).toEqual([]);
  });

  test('are needed by webhooks, which are answered 503 until they are registered, then 204', async () => {
    const namespace = await bareNamespace();
    const temporal = new Client({ connection, namespace });
    const handler = createWebhookHandler({ temporal, secrets: [secret], deadlineMs: 60_000 });
    const event = signed(orderEvent(randomUUID()));
    expect((await handler.handle(event)).status).toBe(503);
    expect(handler.counts().answers.temporal_refused).toBe(1);
    await ensureSearchAttributes(connection, namespace);
    expect((await handler.handle(event)).status).toBe(204);
  });

  test('two workers that start at once both find them registered', async () => {
    const namespace = await bareNamespace();
    await Promise.all([ensureSearchAttributes(connection, namespace), ensureSearchAttributes(connection, namespace)]);
    expect(await ensureSearchAttributes(connection, namespace)).toEqual([]);
  });

  test('search attributes of another type under our name end the worker’s start with the commands to run', async () => {
    const namespace = await bareNamespace();
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { LabPhase: 3 } });
    const ensured = ensureSearchAttributes(connection, namespace);
    await expect(ensured).rejects.toThrow(SearchAttributesMissing);
    await expect(ensured).rejects.toThrow(/remove --yes .*--name LabPhase && .*--name LabPhase --type Keyword$/);
  });
});

const ensure = (taskQueue: string, reconcileEveryMinutes = 60) =>
  ensureReconcileSchedule(rig.client, { taskQueue, reconcileEveryMinutes }, log);

async function actionOf(taskQueue: string) {
  const { action, spec } = await rig.client.schedule.getHandle(reconcileScheduleId(taskQueue)).describe();
  return { taskQueue: action.taskQueue, every: spec.intervals?.map(({ every }) => every) };
}

test('each task queue has a schedule of its own: the workers of two accounts do not share one', async () => {
  await ensure('team-us');
  await ensure('team-eu', 30);
  expect(await actionOf('team-us')).toEqual({ taskQueue: 'team-us', every: [3_600_000] });
  expect(await actionOf('team-eu')).toEqual({ taskQueue: 'team-eu', every: [1_800_000] });
  await ensure('team-us', 15);
  expect(await actionOf('team-us')).toEqual({ taskQueue: 'team-us', every: [900_000] });
  await ensure('team-us', 0);
  await ensure('team-us', 0);
  await expect(actionOf('team-us')).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
  expect(await actionOf('team-eu')).toEqual({ taskQueue: 'team-eu', every: [1_800_000] });
});

test.each([60, 0])(
  'a schedule that points to another task queue is refused at start (every %i minutes)',
  async (every) => {
    const scheduleId = reconcileScheduleId('team-ap');
    await ensure('team-ap');
    await rig.client.schedule.getHandle(scheduleId).update(({ spec, policies, state, action }) => ({
      ...{ spec, policies, state },
      action: { ...action, type: 'startWorkflow', taskQueue: 'team-other' },
    }));
    const refused = ensure('team-ap', every);
    await expect(refused).rejects.toThrow(StartFailed);
    await expect(refused).rejects.toThrow(/reconcile-orders\/team-ap .+ TASK_QUEUE.+temporal schedule delete/);
    expect(await actionOf('team-ap')).toMatchObject({ taskQueue: 'team-other' });
    await rig.client.schedule.getHandle(scheduleId).delete();
  },
);

let folder: string;
let file: string;
const proxies: Proxy[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lab-key-file-'));
  file = join(folder, 'key');
});
afterAll(async () => {
  vi.unstubAllEnvs();
  for (const proxy of proxies) await proxy.close();
  await rm(folder, { recursive: true });
});

/** A way to Temporal of a process of its own, and the settings that lead there with the key in the file. */
async function way(): Promise<{ proxy: Proxy; env: Record<string, string> }> {
  const proxy = await startProxy(rig.address);
  proxies.push(proxy);
  // A key alone would switch TLS on, which the development server does not have.
  return { proxy, env: { TEMPORAL_ADDRESS: proxy.address, TEMPORAL_TLS: 'false', TEMPORAL_API_KEY_FILE: file } };
}

test('worker, ingress and client use a new API key of Temporal as soon as its file has been replaced; the worker drains once on several SIGINT, the ingress delivers, logs nothing of the patient and ends on SIGTERM', async () => {
  await writeFile(file, 'invented-key-1\n');
  const [worker, ingress, client] = await Promise.all([way(), way(), way()]);
  const own = {
    worker: {
      ...{ SERVICE_BASE_URL: 'http://127.0.0.1:9', SERVICE_API_KEY: 'sk_invented' },
      ...{ TASK_QUEUE: 'key-file', METRICS_PORT: '0' },
    },
    ingress: { WEBHOOK_SECRETS: secret, INGRESS_HOST: '127.0.0.1', INGRESS_PORT: '0', INGRESS_DRAIN_SECONDS: '0' },
  };
  const [workerProcess, ingressProcess] = await Promise.all([
    startBuilt('workers/worker.ts', { env: { ...worker.env, ...own.worker }, ready: /worker started/ }),
    startBuilt('workers/ingress.ts', { env: { ...ingress.env, ...own.ingress }, ready: /ingress started/ }),
  ]);
  for (const [name, value] of Object.entries(client.env)) vi.stubEnv(name, value);
  const lab = await LabOperations.connect();
  const ingressUrl = /"url":"(http[^"]+)\/webhooks"/.exec(ingressProcess.output())?.[1] ?? '';
  /** They call Temporal when they are asked something; a poll of the worker may last a minute. */
  const keys = async () => {
    await Promise.all([fetch(`${monitoringUrl(workerProcess)}/ready`), fetch(`${ingressUrl}/ready`), lab.hasWorker()]);
    return [worker, ingress, client].map(({ proxy }) => proxy.lastKey());
  };
  await expect.poll(keys).toEqual(Array(3).fill('invented-key-1'));

  await writeFile(file, '');
  for (const each of [workerProcess, ingressProcess])
    await each.waitFor(/TEMPORAL_API_KEY_FILE names an empty file: the last key is used/);
  expect(await keys()).toEqual(Array(3).fill('invented-key-1'));

  await writeFile(file, 'invented-key-2');
  await expect.poll(keys).toEqual(Array(3).fill('invented-key-2'));
  await lab.close();

  const event = signed({ ...orderEvent('process-1'), client_user_id: 'Testperson' });
  await expect.poll(async () => (await fetch(`${ingressUrl}/webhooks`, event)).status).toBe(204);
  expect(await ingressProcess.stop('SIGTERM')).toEqual({ code: 0, signal: null });
  expect(ingressProcess.output()).toMatch(/"orderId":"process-1"/);
  expect(ingressProcess.output()).not.toMatch(/Testperson|example\.com/);
  // As a terminal and a package manager send them.
  void workerProcess.stop('SIGINT');
  await workerProcess.waitFor(/worker stops/);
  expect(await workerProcess.stop('SIGINT')).toEqual({ code: 0, signal: null });
  expect(workerProcess.output().match(/worker stopped/g)).toHaveLength(1);
  for (const each of [workerProcess, ingressProcess]) expect(each.output()).not.toMatch(/invented-key/);
});

/** The packages that a built program imports before it does anything. */
async function loaded(file: string, seen = new Set<string>()): Promise<Set<string>> {
  const text = await readFile(file, 'utf8');
  for (const [, from = ''] of text.matchAll(/^(?:import|export|\})[^;'"]*"([^"]+)";$/gm)) {
    if (!from.startsWith('.')) seen.add(from);
    const path = join(dirname(file), from);
    if (from.startsWith('.') && !seen.has(path)) await loaded(path, seen.add(path));
  }
  return seen;
}

test("the codec server loads nothing of Temporal's that it does not need: its native core takes as long", async () => {
  const packages = await loaded(builtPath('workers/codec-server.ts'));
  expect(packages).toContain('@temporalio/proto');
  const unneeded = ['@temporalio/worker', '@temporalio/client'];
  expect([...packages].filter((name) => unneeded.includes(name))).toEqual([]);
});

test("labops loads Temporal's client only once a command needs it", async () => {
  const packages = await loaded(builtPath('workers/labops.ts'));
  expect(packages).toContain('node:readline/promises');
  expect([...packages].filter((name) => name.startsWith('@temporalio/'))).toEqual([]);
});
