import { describe, expect, test } from 'vitest';
import { devServer } from '../rig/environments.js';
import { startProgram } from '../rig/processes.js';
import { closedPort, orderEvent, secret, signed } from '../unit/webhooks/sending.js';

const rig = devServer();

const ingress = 'workers/ingress.ts';
const worker = 'workers/worker.ts';

/** What this machine may have set must not decide about a test. */
const unset = { SERVICE_BASE_URL: undefined, SERVICE_ENVIRONMENT: undefined, SERVICE_API_KEY: undefined };
const ingressEnv = () => ({
  TEMPORAL_ADDRESS: rig.address,
  WEBHOOK_SECRETS: secret,
  INGRESS_HOST: '127.0.0.1',
  INGRESS_PORT: '0',
  TASK_QUEUE: rig.taskQueue,
});
const workerEnv = () => ({
  TEMPORAL_ADDRESS: rig.address,
  SERVICE_BASE_URL: 'http://127.0.0.1:9',
  SERVICE_API_KEY: 'sk_invented',
  TASK_QUEUE: 'process-test',
});

describe('settings that are not right', () => {
  test('end the worker with status 2 and one line for each', async () => {
    const started = await startProgram(worker, { env: { ...unset, LOG_LEVEL: 'loud' } });
    expect(await started.exit).toEqual({ code: 2, signal: null });
    expect(started.output().trim().split('\n')).toEqual([
      '3 settings are not right:',
      expect.stringMatching(/^ {2}LOG_LEVEL is not a level: use one of /) as string,
      expect.stringMatching(/^ {2}SERVICE_API_KEY is missing: /) as string,
      expect.stringMatching(/^ {2}SERVICE_BASE_URL is missing: /) as string,
    ]);
  });

  test('end the ingress with status 2', async () => {
    const started = await startProgram(ingress, { env: { ...ingressEnv(), WEBHOOK_SECRETS: undefined } });
    expect(await started.exit).toEqual({ code: 2, signal: null });
    expect(started.output()).toMatch(/^One setting is not right:\n {2}WEBHOOK_SECRETS is missing: /);
  });
});

describe('the worker', () => {
  test('ends with status 1 and one line when Temporal cannot be reached', async () => {
    const address = `127.0.0.1:${await closedPort()}`;
    const started = await startProgram(worker, { env: { ...workerEnv(), TEMPORAL_ADDRESS: address } });
    expect(await started.exit).toEqual({ code: 1, signal: null });
    const line = new RegExp(`^Temporal cannot be reached at ${address} \\(.+\\): .+TEMPORAL_ADDRESS.+\\n$`);
    expect(started.output()).toMatch(line);
  });

  test('ends with status 1 and one line when its namespace is not there', async () => {
    const started = await startProgram(worker, { env: { ...workerEnv(), TEMPORAL_NAMESPACE: 'not-there' } });
    expect(await started.exit).toEqual({ code: 1, signal: null });
    expect(started.output()).toMatch(/^Temporal at .+ namespace not-there .+TEMPORAL_NAMESPACE.+\n$/);
  });

  test('drains and ends with status 0 on SIGTERM', async () => {
    const started = await startProgram(worker, { env: workerEnv(), ready: /worker started/ });
    expect(await started.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(started.output()).toMatch(/worker stopped/);
  });

  test('drains once on several SIGINT, as a terminal and a package manager send them', async () => {
    const started = await startProgram(worker, { env: workerEnv(), ready: /worker started/ });
    for (let n = 0; n < 3; n++) process.kill(started.pid, 'SIGINT');
    expect(await started.exit).toEqual({ code: 0, signal: null });
    expect(started.output().match(/worker stopped/g)).toHaveLength(1);
  });
});

describe('the ingress', () => {
  test('delivers a webhook, ends with status 0 on SIGTERM, and logs nothing of the patient', async () => {
    const started = await startProgram(ingress, { env: ingressEnv() });
    const [, url = ''] = await started.waitFor(/"url":"([^"]+)"/);
    const response = await fetch(url, signed({ ...orderEvent('process-1'), client_user_id: 'Testperson' }));
    expect(response.status).toBe(204);
    expect(await started.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(started.output()).toMatch(/"orderId":"process-1"/);
    expect(started.output()).not.toMatch(/Testperson|example\.com/);
  });

  test('asked to stop while Temporal is away and a webhook waits for it, it answers and ends with status 0', async () => {
    const address = `127.0.0.1:${await closedPort()}`;
    const started = await startProgram(ingress, { env: { ...ingressEnv(), TEMPORAL_ADDRESS: address } });
    const [, url = ''] = await started.waitFor(/"url":"([^"]+)"/);
    const answer = fetch(url, signed(orderEvent('process-2')));
    await expect.poll(async () => (await fetch(url.replace('webhooks', 'health'))).status).toBe(200);
    const exit = started.stop('SIGTERM');
    expect((await answer).status).toBe(503);
    expect(await exit).toEqual({ code: 0, signal: null });
  });
});
