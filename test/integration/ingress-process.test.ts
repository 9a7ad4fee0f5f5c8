import { describe, expect, test } from 'vitest';
import { devServer } from '../rig/environments.js';
import { startBuilt } from '../rig/built.js';
import { closedPort, orderEvent, secret, signed } from '../unit/webhooks/sending.js';

const rig = devServer();

const ingress = 'workers/ingress.ts';
const worker = 'workers/worker.ts';

/** The settings of this machine must not affect a test. */
const unset = { SERVICE_BASE_URL: undefined, SERVICE_ENVIRONMENT: undefined, SERVICE_API_KEY: undefined };
const ingressEnv = () => ({
  TEMPORAL_ADDRESS: rig.address,
  WEBHOOK_SECRETS: secret,
  INGRESS_HOST: '127.0.0.1',
  INGRESS_DRAIN_SECONDS: '0',
  INGRESS_PORT: '0',
  TASK_QUEUE: rig.taskQueue,
});
const workerEnv = () => ({
  TEMPORAL_ADDRESS: rig.address,
  SERVICE_BASE_URL: 'http://127.0.0.1:9',
  SERVICE_API_KEY: 'sk_invented',
  TASK_QUEUE: 'process-test',
});

describe('invalid settings', () => {
  test('end the worker with status 2 and one line each', async () => {
    const started = await startBuilt(worker, { env: { ...unset, LOG_LEVEL: 'loud' } });
    expect(await started.exit).toEqual({ code: 2, signal: null });
    expect(started.output().trim().split('\n')).toEqual([
      '3 settings are invalid:',
      expect.stringMatching(/^ {2}LOG_LEVEL is not a level: use one of /) as string,
      expect.stringMatching(/^ {2}SERVICE_API_KEY is missing: /) as string,
      expect.stringMatching(/^ {2}SERVICE_BASE_URL is missing: /) as string,
    ]);
  });

  test('end the ingress with status 2', async () => {
    const started = await startBuilt(ingress, { env: { ...ingressEnv(), WEBHOOK_SECRETS: undefined } });
    expect(await started.exit).toEqual({ code: 2, signal: null });
    expect(started.output()).toMatch(/^One setting is invalid:\n {2}WEBHOOK_SECRETS is missing: /);
  });
});

test('the ingress starts without Temporal, and says at once that it cannot be used', async () => {
  const env = { ...ingressEnv(), TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}` };
  const started = await startBuilt(ingress, { env, ready: /ingress started/ });
  await started.waitFor(/the ingress is not ready: Temporal cannot be used: .*TEMPORAL_ADDRESS/);
  expect(await started.stop('SIGTERM')).toEqual({ code: 0, signal: null });
});

describe('the worker', () => {
  test('exits with status 1 and one line if Temporal cannot be reached', async () => {
    const address = `127.0.0.1:${await closedPort()}`;
    const started = await startBuilt(worker, { env: { ...workerEnv(), TEMPORAL_ADDRESS: address } });
    expect(await started.exit).toEqual({ code: 1, signal: null });
    const line = new RegExp(`^Temporal cannot be reached at ${address} \\(.+\\): .+TEMPORAL_ADDRESS.+\\n$`);
    expect(started.output()).toMatch(line);
  });

  test('exits with status 1 and one line if its namespace does not exist', async () => {
    const started = await startBuilt(worker, { env: { ...workerEnv(), TEMPORAL_NAMESPACE: 'not-there' } });
    expect(await started.exit).toEqual({ code: 1, signal: null });
    expect(started.output()).toMatch(/^Temporal at .+ namespace not-there .+TEMPORAL_NAMESPACE.+\n$/);
  });

  test('drains and exits with status 0 on SIGTERM', async () => {
    const started = await startBuilt(worker, { env: workerEnv(), ready: /worker started/ });
    expect(await started.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(started.output()).toMatch(/worker stopped/);
  });

  test('drains once on several SIGINT, as a terminal and a package manager send them', async () => {
    const started = await startBuilt(worker, { env: workerEnv(), ready: /worker started/ });
    for (let n = 0; n < 3; n++) process.kill(started.pid, 'SIGINT');
    expect(await started.exit).toEqual({ code: 0, signal: null });
    expect(started.output().match(/worker stopped/g)).toHaveLength(1);
  });
});

describe('the ingress', () => {
  test('delivers a webhook, exits with status 0 on SIGTERM, and logs nothing of the patient', async () => {
    const started = await startBuilt(ingress, { env: ingressEnv() });
    const [, url = ''] = await started.waitFor(/"url":"([^"]+)"/);
    const response = await fetch(url, signed({ ...orderEvent('process-1'), client_user_id: 'Testperson' }));
    expect(response.status).toBe(204);
    expect(await started.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(started.output()).toMatch(/"orderId":"process-1"/);
    expect(started.output()).not.toMatch(/Testperson|example\.com/);
  });

  test('answers and exits with status 0 if it is stopped while Temporal is away and a webhook waits for it', async () => {
    const address = `127.0.0.1:${await closedPort()}`;
    const started = await startBuilt(ingress, { env: { ...ingressEnv(), TEMPORAL_ADDRESS: address } });
    const [, url = ''] = await started.waitFor(/"url":"([^"]+)"/);
    const answer = fetch(url, signed(orderEvent('process-2')));
    await expect.poll(async () => (await fetch(url.replace('webhooks', 'health'))).status).toBe(200);
    const exit = started.stop('SIGTERM');
    expect((await answer).status).toBe(503);
    expect(await exit).toEqual({ code: 0, signal: null });
  });
});
