import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { LabOperations } from '../../client/lab-operations.js';
import { startBuilt } from '../rig/built.js';
import { devServer } from '../rig/environments.js';
import { monitoringUrl } from '../rig/monitoring.js';
import { startProxy, type Proxy } from '../rig/temporal-proxy.js';
import { secret } from '../unit/webhooks/sending.js';

const rig = devServer();

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

test('worker, ingress and client use a new API key of Temporal as soon as its file has been replaced', async () => {
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
  for (const each of [workerProcess, ingressProcess]) {
    expect(each.output()).not.toMatch(/invented-key/);
    expect(await each.stop('SIGTERM')).toEqual({ code: 0, signal: null });
  }
});
